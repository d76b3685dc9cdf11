"""Random tensors printed with random options, here and in PyTorch, character by character."""

import math
import random

import numpy as np
import pytest

from imode._tensor import printing

DTYPES = ["float32", "float64", "float16", "int64", "int32", "uint8", "int8", "bool"]
DTYPES += ["complex64", "complex128"]
EDGES = (math.nan, math.inf, -math.inf, 0.0, -0.0)


def floats(rng, n):
    kind = rng.randrange(6)
    if kind == 0:
        return np.zeros(n)
    values = np.array([rng.gauss(0, 1) for _ in range(n)]) * 10.0 ** rng.randint(-6, 6)
    if kind == 1:
        values = np.round(values)
    elif kind == 2:
        values *= 10.0 ** np.array([rng.randint(-5, 5) for _ in range(n)])
    if n and rng.random() < 0.3:
        for value in EDGES:
            values[rng.randrange(n)] = value
    return values


def random_array(rng):
    dtype = np.dtype(rng.choice(DTYPES))
    nd = rng.randrange(5)
    longest = rng.choice((5, 12)) if nd > 1 else rng.choice((40, 1500))
    shape = [rng.randint(0 if rng.random() < 0.1 else 1, longest) for _ in range(nd)]
    n = math.prod(shape)
    if dtype.kind in "fc":
        values = floats(rng, n)
        if dtype.kind == "c":
            values = values + 1j * floats(rng, n)
    else:
        values = np.array([rng.randint(-9 if dtype.kind == "i" else 0, 99) for _ in range(n)])
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(dtype).reshape(shape)


def random_options(rng):
    if rng.random() < 0.7:
        return {}
    return {
        "precision": rng.randrange(8),
        "threshold": rng.randint(1, 50),
        "edgeitems": rng.randrange(5),
        "linewidth": rng.randint(20, 200),
        "sci_mode": rng.choice((None, True, False)),
    }


@pytest.mark.parametrize("seed", range(8))
def test_printing(lib, torch, seed):
    rng = random.Random(seed)
    for _ in range(40):
        array, options = random_array(rng), random_options(rng)
        t = torch.from_numpy(array.copy())
        kept = printing.get_printoptions()
        with torch._tensor_str.printoptions(**options):
            expected = repr(t).replace("torch.", "imode.")
        printing.set_printoptions(**options)
        try:
            assert repr(lib.from_numpy(array)) == expected, (array.dtype, array.shape, options)
        finally:
            printing.set_printoptions(**kept)
