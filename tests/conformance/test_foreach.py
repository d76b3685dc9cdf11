"""`_foreach_add`, `_assert` and their kin, by PyTorch's private names in both libraries."""

import pytest

from .side_by_side import agrees, error

pytest.importorskip("torch", reason="torch is not installed: nothing to compare with")

UNARY = [
    *("abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor"),
    *("frac", "lgamma", "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt"),
    *("sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
]


def tensors(lib):
    return [lib.tensor([0.1, 0.5, 0.9]), lib.tensor([[0.8, 0.3]])]


def both(lib, name, *operands, **options):
    """What both forms give, and whether the in-place one returns its list."""
    target = tensors(lib)
    made = getattr(lib, f"_foreach_{name}")(tensors(lib), *operands, **options)
    written = getattr(lib, f"_foreach_{name}_")(target, *operands, **options)
    return [type(made).__name__, made, written is target, target]


@agrees
def test_of_one_list(lib):
    return [both(lib, name) for name in UNARY]


@agrees
def test_of_two(lib):
    seen = []
    for name in ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "clamp_min", "clamp_max"):
        operands = [2, [2.0, 0.3], tensors(lib)]
        operands += [lib.tensor(2.0)] if name in ("add", "mul", "div") else []
        seen += [both(lib, name, other) for other in operands]
        seen += [error(lambda name=name, other=other: both(lib, name, other))
                 for other in ([1], tensors(lib)[:1])]  # fmt: skip
    seen += [both(lib, name, tensors(lib), alpha=3) for name in ("add", "sub")]
    seen += [both(lib, "lerp", tensors(lib), w) for w in (0.5, tensors(lib), [0.1, 0.2])]
    return [*seen, lib._foreach_pow(2, tensors(lib)), lib._foreach_copy_(*2 * [tensors(lib)])]


@agrees
def test_of_three(lib):
    values = [{}, {"value": 2}, {"scalars": [2, 3]}, {"scalars": lib.tensor([2.0, 3.0])}]
    parts = tensors(lib), tensors(lib)
    return [both(lib, name, *parts, **v) for name in ("addcdiv", "addcmul") for v in values]


@agrees
def test_others(lib):
    x = lib.ones(2, requires_grad=True)
    (made,) = lib._foreach_mul([x * 1], 3)
    made.sum().backward()
    with lib.no_grad():
        lib._foreach_add_([x], 1)
    return [
        x, x.grad, x._version, lib._foreach_zero_(tensors(lib)), lib._foreach_max(tensors(lib)),
        [lib._foreach_norm(tensors(lib), n) for n in (2, 1, float("inf"))],
        lib._foreach_powsum(tensors(lib), 3), lib._foreach_clone(tensors(lib)),
        lib._foreach_mm([lib.ones(2, 3)], [lib.ones(3, 1)]),
        error(lambda: lib._foreach_add([], 1)), error(lambda: lib._foreach_exp(lib.ones(2))),
        error(lambda: lib._foreach_add(tensors(lib), lib.ones(2))),
    ]  # fmt: skip


@agrees
def test_conditions(lib):
    some = lib.tensor([True, False])
    calls = [
        lambda: lib._assert(True, "x"), lambda: lib._assert(False, "x"),
        lambda: lib._assert(some[1], "y"), lambda: lib._check(True), lambda: lib._check(False),
        lambda: lib._check(False, lambda: "hi"), lambda: lib._check(False, 3),
        lambda: lib._check(3), lambda: lib._check(some[0]), lambda: lib._check_index(False),
        lambda: lib._check_value(False, lambda: "v"), lambda: lib._check_type(False),
        lambda: lib._check_not_implemented(False), lambda: lib._check_is_size(3),
        lambda: lib._check_is_size(-1), lambda: lib._check_with(KeyError, False, lambda: "k"),
        lambda: lib._check_tensor_all(some), lambda: lib._check_tensor_all(some[:1]),
        lambda: lib._check_tensor_all(3),
    ]  # fmt: skip
    return [error(call) for call in calls]
