"""Operators from outside under autocast and in dispatch modes: as in PyTorch."""

import pytest

from .side_by_side import agrees

pytestmark = pytest.mark.filterwarnings("ignore")


def made(lib, space):
    name = f"{space}::twice"
    library = lib.library.Library(space, "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CompositeExplicitAutograd")
    return library, name, getattr(lib.ops, space).twice


@agrees
def test_custom_operators_cast(lib):
    def twice(x, y):
        seen.append([str(x.dtype), str(y.dtype), lib.is_autocast_enabled("cpu")])
        return x + x

    seen = []
    twice.__annotations__ = {"x": lib.Tensor, "y": lib.Tensor, "return": lib.Tensor}
    op = lib.library.custom_op("rules_one::twice", twice, mutates_args=())
    lib.library.register_autocast("rules_one::twice", "cpu", lib.bfloat16)
    called = op, lib.ops.rules_one.twice, lib.ops.rules_one.twice.default
    for dtype in ("float32", "float64", "int32", "float16"):
        x = lib.ones(2, dtype=getattr(lib, dtype))
        with lib.autocast("cpu"):
            seen += [str(call(x, x + 1).dtype) for call in called]
        seen += [str(call(x, x + 1).dtype) for call in called]
        with lib.autocast("cpu", enabled=False):
            seen.append(str(op(x, x).dtype))
    return seen


@agrees
def test_rules_of_modes(lib):
    base = lib.utils._python_dispatch.TorchDispatchMode
    library, name, op = made(lib, "rules_three")
    seen = []

    class Mode(base):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    class Other(Mode):
        pass

    @lib.library.register_torch_dispatch(name, Mode, lib=library)
    def rule(mode, func, types, args, kwargs):
        seen.append([type(mode).__name__, str(func), len(args), list(kwargs)])
        return args[0] + 5

    x = lib.ones(1)
    with Mode():
        results = [op(x)]
    results.append(op(x))
    with Other():
        results.append(op(x))
    return [*seen, *results]
