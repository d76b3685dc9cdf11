"""Operators with compiled kernels for a few elements: random shapes, layouts and dtypes, and the
numbers drawn, beside PyTorch."""

import math
import random

import pytest

from .observe import differences, observe

NAN, INF = float("nan"), float("inf")
DTYPES = ["float32"] * 4 + ["float64", "int64", "bool", "uint8", "float16", "complex64", "int32"]
NUMBERS = [0.0, -0.0, 1.0, 1.0, 2.0, -3.0, NAN, INF]


def _values(r, n, dtype):
    if dtype.startswith("float"):
        return [r.choice([*NUMBERS, r.random()]) for _ in range(n)]
    if dtype == "bool":
        return [r.random() < 0.5 for _ in range(n)]
    if dtype == "complex64":
        return [complex(r.randint(0, 2), r.randint(0, 2)) for _ in range(n)]
    return [r.randint(0 if dtype == "uint8" else -3, 5) for _ in range(n)]


def _call(name, r, shape):
    """A call of an operator with random arguments, good ones mostly."""
    nd, size = len(shape), math.prod(shape)
    dim, flag = r.randint(-nd - (r.random() < 0.1), max(nd - 1, 0)), r.random() < 0.5
    dims = r.sample(range(-nd, 0), r.randint(0, nd))
    shift, k = r.randint(-9, 9), r.randint(0, 4)
    repeats = [r.randint(0, 3) for _ in range(nd + r.randint(0, 1))]
    pads = [r.randint(-1 if r.random() < 0.1 else 0, 2) for _ in range(2 * r.randint(0, nd))]
    mask = [r.random() < 0.5 for _ in range(size)]
    classes, fill = r.choice([-1, 3, 9]), r.choice([0, 1.5, 2, 1e30])
    return {
        "flip": lambda lib, t: t.flip(dims),
        "roll": lambda lib, t: t.roll(shift, dim) if flag else t.roll(shift),
        "repeat": lambda lib, t: t.repeat(repeats),
        "pad": lambda lib, t: lib.nn.functional.pad(t, pads, value=fill),
        "one_hot": lambda lib, t: lib.nn.functional.one_hot(t, classes),
        "sort": lambda lib, t: lib.sort(t, stable=True, dim=dim, descending=flag),
        "argsort": lambda lib, t: t.argsort(dim=dim, descending=flag, stable=True),
        "topk": lambda lib, t: t.topk(k, dim, flag)[0].abs(),
        "nonzero": lambda lib, t: t.nonzero(),
        "unique": lambda lib, t: t.unique().abs(),
        "masked_select": lambda lib, t: t.masked_select(
            lib.tensor(mask, dtype=lib.bool).reshape(t.shape)
        ),
        "triangle": lambda lib, t: t.tril(shift) if flag else t.triu(shift),
        "count_nonzero": lambda lib, t: t.count_nonzero() if flag else t.count_nonzero(dim),
        "outer": lambda lib, t: lib.outer(t, t),
        "new_full": lambda lib, t: t.new_full([2, k], fill),
        "eye": lambda lib, t: lib.eye(k, dtype=t.dtype),
    }[name]


NAMES = [
    "flip", "roll", "repeat", "pad", "one_hot", "sort", "argsort", "topk", "nonzero", "unique",
    "masked_select", "triangle", "count_nonzero", "outer", "new_full", "eye",
]  # fmt: skip


def _attempt(function, lib, tensor):
    try:
        result = function(lib, tensor)
    except Exception as error:
        return type(error).__name__
    results = result if isinstance(result, tuple) else (result,)
    return [observe(each) for each in results]


@pytest.mark.parametrize("name", NAMES)
def test_rearranged(lib, torch, name):
    r = random.Random(name)
    for _ in range(150):
        nd = r.choice([0, 1, 1, 2, 2, 3])
        shape = [r.choice([1, 2, 3, 4]) for _ in range(nd)]
        dtype = "int64" if name == "one_hot" else r.choice(DTYPES)
        order = r.sample(range(nd), nd) if r.random() < 0.3 and 1 not in shape else range(nd)
        values, call = _values(r, math.prod(shape), dtype), _call(name, r, shape)
        seen = []
        for library in (lib, torch):
            tensor = library.tensor(values, dtype=getattr(library, dtype))
            seen.append(_attempt(call, library, tensor.reshape(shape).permute(tuple(order))))
        if isinstance(seen[0], str) or isinstance(seen[1], str):
            assert seen[0] == seen[1], (name, dtype, shape, list(order), seen)
            continue
        # How often a result was written while it was made is each library's own affair.
        found = [d for a, b in zip(*seen, strict=True) for d in differences(a, b)]
        found = [d for d in found if d[0] != "version"]
        assert not found, (name, dtype, shape, list(order), found)


DRAWN = {
    "rand": lambda lib, t: lib.rand(t.shape, dtype=t.dtype),
    "randn": lambda lib, t: lib.randn(t.shape, dtype=t.dtype),
    "randint": lambda lib, t: lib.randint(-5, 9, t.shape, dtype=t.dtype),
    "normal of numbers": lambda lib, t: lib.normal(1.0, 2.0, t.shape, dtype=t.dtype),
    "rand_like": lambda lib, t: lib.rand_like(t),
    "randn_like": lambda lib, t: lib.randn_like(t),
    "randint_like": lambda lib, t: lib.randint_like(t, 7),
    "uniform_": lambda lib, t: t.uniform_(-2, 5),
    "uniform_ of an empty range": lambda lib, t: t.uniform_(5, -2),
    "normal_": lambda lib, t: t.normal_(3, 0.5),
    "normal_, std below 0": lambda lib, t: t.normal_(3, -0.5),
    "random_": lambda lib, t: t.random_(),
    "random_ to": lambda lib, t: t.random_(2),
    "random_ from to": lambda lib, t: t.random_(0, 100),
    "bernoulli_": lambda lib, t: t.bernoulli_(0.25),
    "bernoulli_, p above 1": lambda lib, t: t.bernoulli_(1.5),
    "bernoulli": lambda lib, t: t.fill_(0.3).bernoulli(),
    "normal of tensors": lambda lib, t: lib.normal(t.fill_(1.5), lib.full_like(t, 0.5)),
    "multinomial": lambda lib, t: t.fill_(1).multinomial(1),
    "multinomial of three": lambda lib, t: t.fill_(1).multinomial(3),
    "randperm": lambda lib, t: lib.randperm(t.numel(), dtype=t.dtype),
    "dropout": lambda lib, t: lib.nn.functional.dropout(t.fill_(2), 0.3),
}


@pytest.mark.parametrize("name", DRAWN)
def test_drawn(lib, torch, name):
    for shape in ((4,), (2, 3), (), (17,), (2, 2500)):
        for dtype in ("float32", "float64", "float16", "int64", "int32", "bool"):
            seen = []
            for library in (lib, torch):
                library.manual_seed(5)
                tensor = library.zeros(shape, dtype=getattr(library, dtype))
                try:
                    made = DRAWN[name](library, tensor)
                except Exception as error:
                    seen.append(type(error).__name__)
                else:  # what is drawn next shows how much was drawn
                    seen.append((made.tolist(), tuple(made.shape), library.rand(3).tolist()))
            assert seen[0] == seen[1], (name, shape, dtype)


def _number(r):
    return r.choice(
        [*NUMBERS, -INF, 2.5, -2.5, 0.1, 1 / 3, 7.0, -7.0, r.uniform(-9, 9), r.uniform(-1e6, 1e6)]
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_remainders(lib, torch, name, dtype):
    """Exact, zeros with their signs: quotients near whole numbers, and what takes the slow way."""
    r = random.Random(name)
    a, b = ([_number(r) for _ in range(4000)] for _ in range(2))
    divisors = [r.uniform(-9, 9) for _ in range(4000)]
    a += [d * r.randint(-1000, 1000) for d in divisors]
    b += divisors
    seen = []
    for library in (lib, torch):
        kind = getattr(library, dtype)
        result = getattr(library, name)(
            library.tensor(a, dtype=kind), library.tensor(b, dtype=kind)
        )
        seen.append([repr(v) for v in result.tolist()])
    wrong = [(x, y, s, t) for x, y, s, t in zip(a, b, *seen, strict=True) if s != t]
    assert not wrong, wrong[:5]
