"""Functions of imode.masked beside PyTorch's: values, dtypes, gradients, what raises."""

import itertools
import zlib

import numpy as np
import pytest

from .observe import failure

INF = float("inf")
DTYPES = ("float32", "float64", "float16", "complex64", "int64", "int32", "uint8", "bool")
MASKS = ("none", "some", "whole rows", "all", "a row", "int64")
REDUCTIONS = ["sum", "prod", "amax", "amin", "mean", "logsumexp", "var", "std", "norm"]
OPTIONS = [
    *({}, {"dim": 1}, {"dim": (0, -1), "keepdim": True}, {"dim": (), "keepdim": None}),
    *({"dim": 0, "dtype": "float64"}, {"dtype": "int32"}, {"dim": (0, 0)}, {"dim": 3}),
]
OF_ONE = [
    *({"dim": 0}, {"dim": -1}, {"dim": 1, "dtype": "float64"}, {"dim": 0, "dtype": "int32"}),
    *({"dim": 2},),
]
CALLS = [
    *itertools.product(REDUCTIONS, OPTIONS),
    *itertools.product(["argmax", "argmin"], [{}, {"keepdim": True}, *OF_ONE]),
    *itertools.product(["cumsum", "cumprod", "softmax", "log_softmax", "softmin"], OF_ONE),
    *itertools.product(["median"], [{}, {"keepdim": True}, *OF_ONE]),
    *itertools.product(["norm"], [{"ord": o, "dim": 1} for o in (1, INF, -INF, 0, 3.5, None)]),
    *itertools.product(["normalize"], [{"ord": o, "dim": 0} for o in (2, 1.0, INF)]),
    *itertools.product(
        ["var", "std"], [{"correction": 2}, {"unbiased": False, "dim": 0},
                         {"unbiased": True, "correction": 1}]),
]  # fmt: skip


def arrays(dtype, mask, seed):
    """Return an input and a mask, or None, as arrays."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2 if dtype == "bool" else 5, (3, 4)).astype(dtype)
    if dtype.startswith(("float", "complex")):
        x = (x + rng.standard_normal((3, 4))).astype(dtype)
    m = rng.integers(0, 2, (3, 4)).astype(bool)
    if mask == "whole rows":
        m[1], m[:, 2] = False, False
    if mask == "all":
        m[...] = False
    if mask == "a row":
        m = m[0]
    return x, None if mask == "none" else m.astype("int64") if mask == "int64" else m


def run(lib, name, x, m, options):
    """Return what a call gives in a library: (dtype, values, gradient), or what it raises."""
    options = {k: getattr(lib, v) if k == "dtype" else v for k, v in options.items()}
    x, m = lib.from_numpy(x.copy()), None if m is None else lib.from_numpy(m.copy())
    if x.is_floating_point() or x.is_complex():
        x.requires_grad_()
    try:
        if name == "logaddexp":
            result = lib.masked.logaddexp(x, x * 2, input_mask=m, **options)
        else:
            result = getattr(lib.masked, name)(x, mask=m, **options)
        if result.requires_grad:
            (result.real if result.is_complex() else result).sum().backward()
    except Exception as error:
        return failure(error)
    grad = None if x.grad is None else x.grad.numpy()
    return str(result.dtype).split(".")[-1], result.detach().numpy(), grad


def close(a, b, cut=False):
    if a is None or b is None:
        return a is b
    tolerance = 2e-2 if a.dtype == np.float16 else 1e-5
    if cut:  # a variance as an integer: the last bit of 1.9999999 decides
        tolerance = 1
    return a.shape == b.shape and np.allclose(a, b, tolerance, tolerance, equal_nan=True)


@pytest.mark.parametrize("name", sorted({name for name, _ in CALLS} | {"logaddexp"}))
def test_masked(lib, torch, name):
    calls = [options for n, options in CALLS if n == name] or [{}, {"dtype": "float64"}]
    for options, dtype, mask in itertools.product(calls, DTYPES, MASKS):
        x, m = arrays(dtype, mask, zlib.crc32(f"{name}{dtype}{mask}".encode()))
        ours, theirs = run(lib, name, x, m, options), run(torch, name, x, m, options)
        said = f"{name}(x, {options}) of {dtype} {x.tolist()}, mask {None if m is None else m}"
        if isinstance(ours, str) or isinstance(theirs, str):
            assert ours == theirs, said
            continue
        cut = name in ("var", "std") and options.get("dtype") == "int32"
        assert ours[0] == theirs[0] and close(ours[1], theirs[1], cut), (said, ours, theirs)
        assert close(ours[2], theirs[2]), (said, ours, theirs)


def test_a_mask_of_more_dimensions(lib, torch):
    x, m = np.ones((3,), "float32"), np.ones((2, 3), bool)
    assert run(lib, "sum", x, m, {}) == run(torch, "sum", x, m, {})
