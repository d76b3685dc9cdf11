"""`define` and `impl` by an operator's whole name; versions; the smaller modules."""

import itertools

from .side_by_side import agrees, error

_numbers = itertools.count()


@agrees
def test_operators_by_name(lib):
    library, ns = lib.library, f"by_name_{lib.__name__}_{next(_numbers)}"
    x = lib.tensor([1.0, 2.0])
    for name in ("f", "g", "h"):
        library.define(f"{ns}::{name}", "(Tensor x) -> Tensor")

    space = getattr(lib.ops, ns)

    @library.impl(f"{ns}::f", "cpu")
    def f(x):
        return x + 1

    library.impl(f"{ns}::g", ("cpu",), lambda x: x * 2)
    library.impl(f"{ns}::h", "default", lambda x: x * 3)
    owner = library.Library(ns + "_own", "FRAGMENT")

    @library.define(owner, "p(Tensor x) -> Tensor")
    def p(x):
        return x * 5

    owner.define("q(Tensor x) -> Tensor")

    @library.impl(owner, "q", "CPU")
    def q(x):
        return x - 1

    own = getattr(lib.ops, ns + "_own")
    return [
        space.f(x), space.g(x), space.h(x), own.p(x), own.q(x),
        error(lambda: library.define("f", "(Tensor x) -> Tensor")),
        error(lambda: library.impl("f", "cpu", lambda x: x)),
    ]  # fmt: skip


@agrees
def test_versions(lib):
    V = lib.torch_version.TorchVersion
    v = V("2.13.0+cpu")
    return [
        v > "2.2", v >= (2, 13), v == "2.13.0+cpu", v < "1.0", v != "2.12", isinstance(v, str),
        v > "parrot", V("2.1.0a0") < "2.1", V("2.1rc1") > V("2.1a3"), V("2.1") == V("2.1.0"),
        v >= "2.13", v <= (2, 12, 9), str(v), hash(v) == hash("2.13.0+cpu"),
    ]  # fmt: skip


@agrees
def test_modules_where_pytorch_has_them(lib):
    return [
        lib.autograd.anomaly_mode.detect_anomaly is lib.autograd.detect_anomaly,
        lib.profiler.profiler.profile is lib.profiler.profile,
        isinstance(lib.ones(1), lib.autograd.variable.Variable),
        lib.utils.dlpack.from_dlpack(lib.to_dlpack(lib.ones(2))),
    ]
