"""Operators, kernels and derivatives from outside: registered, called, taken back."""

import contextlib
import copy
import gc
import pickle
import subprocess
import sys
import threading
import time

import pytest

import imode
from imode import Tensor, library
from imode._core.dispatch import all_operators
from imode._core.layers import check_calls
from imode.library import Library, custom_op, opcheck

ns = iter(f"t{i}" for i in range(10**6))


@pytest.fixture
def lib():
    with Library(next(ns), "DEF") as lib:
        yield lib


@pytest.fixture
def ops(lib):
    return getattr(imode.ops, lib.ns)


def ones(**words):
    return imode.ones(2, **words)


# ---- defining and calling ----


def test_an_operator_is_called_by_name_and_by_overload(lib, ops):
    assert lib.define("f(Tensor x, int n=2, *, float by=1.0) -> Tensor") == "f"
    assert lib.define("f.pair(Tensor x, Tensor y) -> Tensor") == "f.pair"
    lib.impl("f", lambda x, n=2, *, by=1.0: x * n * by, "CPU")
    lib.impl("f.pair", lambda x, y: x - y, "CPU")
    assert ops.f(ones(), 3, by=2.0).tolist() == [6, 6]
    assert ops.f(x=ones()).tolist() == [2, 2]
    assert ops.f(ones(), ones()).tolist() == [0, 0]
    assert ops.f.pair(ones(), ones()).tolist() == [0, 0]
    assert ops.f.overloads() == ["default", "pair"]
    assert ops.f.default.schema == "f(Tensor x, int n=2, *, float by=1.0) -> Tensor"
    assert repr(ops.f) == f"<operator {lib.ns}.f, overloads default, pair>"
    assert f"<operator {lib.ns}::f(" in repr(ops.f.default)
    assert "f" in dir(ops) and "pair" in dir(ops.f)


def test_a_kernel_gets_what_is_not_a_default(lib, ops):
    given = []
    lib.define("f(Tensor x, int a=1, *, float b=2.0, str c='x') -> ()")
    lib.impl("f", lambda *args, **words: given.append((args[1:], words)), "CPU")
    x = ones()
    ops.f(x)
    ops.f(x, 1, b=2.0, c="x")
    ops.f(x, 2, c="y")
    ops.f(x, b=3)
    assert given == [((), {}), ((), {}), ((2,), {"c": "y"}), ((), {"b": 3})]


@pytest.mark.parametrize(
    ("schema", "args", "bad"),
    [
        ("f(int[2] x) -> Tensor", ([1, 2],), ("a",)),
        ("f(int[2] x=1) -> Tensor", (), (1.5,)),
        ("f(int[]? x=None) -> Tensor", (None,), (2.5,)),
        ("f(float[] x=[1.0, 2]) -> Tensor", ([2, 3.0],), (["a"],)),
        ("f(bool[]? x=None) -> Tensor", ([True],), ([2],)),
        ("f(ScalarType x=float32) -> Tensor", (imode.int64,), ("a",)),
        ("f(Device? x=None) -> Tensor", ("cpu",), (1, 2)),
        ('f(Device x="cpu") -> Tensor', (), (1, 2)),
        ("f(Scalar x=1.5) -> Tensor", (2,), ("a",)),
        ("f(Tensor[] x) -> Tensor", ([imode.ones(1)],), ([1],)),
        ("f(Tensor? x) -> Tensor", (None,), (1,)),
        ("f(SymInt x, str y='a', bool z=True) -> Tensor", (1, "b", False), (1, 2)),
        ("f(Generator? x=None, MemoryFormat? y=None) -> Tensor", (), (1,)),
    ],
)
def test_arguments_of_every_type(lib, ops, schema, args, bad):
    lib.define(schema)
    lib.impl("f", lambda *args: imode.zeros(1), "CPU")
    assert ops.f(*args).tolist() == [0]
    with pytest.raises(RuntimeError, match="Declaration: "):
        ops.f(*bad)


@pytest.mark.parametrize(
    ("schema", "value", "bad"),
    [
        ("f() -> int", 3, "a"),
        ("f() -> float", 2.5, "a"),
        ("f() -> bool", True, 1),
        ("f() -> str", "a", 1),
        ("f() -> Scalar", 2.5, "a"),
        ("f() -> ()", None, 1),
        ("f() -> Tensor?", None, 1),
        ("f() -> (int, float)", (1, 2.0), (1, "a")),
        ("f() -> (int n, bool b)", (1, True), (1,)),
    ],
)
def test_results_of_every_type(lib, ops, schema, value, bad):
    lib.define(schema)
    lib.impl("f", lambda: value, "CPU")
    assert ops.f() == value
    lib.impl("f", lambda: bad, "CPU", allow_override=True)
    with pytest.raises(RuntimeError, match=r"Its kernel for CPU is .*<lambda>, at .*test_library"):
        ops.f()


@pytest.mark.parametrize("value", [None, 3, [1], [imode.ones(1), None], {}])
def test_a_list_of_tensors_holds_tensors(lib, ops, value):
    lib.define("f(Tensor x) -> Tensor[]")
    lib.impl("f", lambda x: (x + 1, x + 2), "CPU")
    assert type(ops.f(ones())) is list
    lib.impl("f", lambda x: value, "CPU", allow_override=True)
    with pytest.raises(RuntimeError, match="Unable to cast"):
        ops.f(ones())


BAD_SCHEMAS = (
    *(
        "",
        "f",
        "f(",
        "f()",
        "f(Tensor x)",
        "f(Tensor x) ->",
        "(Tensor x) -> Tensor",
        "f(Tensor) -> ()",
    ),
    *("f(Tensor x=3) -> ()", "f(int x='a') -> ()", "f(int x=1.5) -> ()", "f(int[] x=['a']) -> ()"),
    *(
        "f(int x=1, int y) -> ()",
        "f(*, *, int x) -> ()",
        "f(int x, int x) -> ()",
        "f(int x) -> int[]",
    ),
    *("f(Tensor?[] x) -> ()", "f(Tensor(a x) -> ()", "f(Tensor x) -> Tensor(a)", "f() -> () ()"),
    *("f(Tensor|Scalar x) -> ()", "f(Tensor(a!) x) -> Tensor(a)", "f;() -> ()", "f.() -> ()"),
    "f(" + ", ".join(f"int x{i}" for i in range(25)) + ") -> ()",
)


@pytest.mark.parametrize("schema", BAD_SCHEMAS)
def test_a_schema_that_does_not_parse_leaves_nothing(lib, ops, schema):
    with pytest.raises(RuntimeError, match="here:\n"):
        lib.define(schema)
    assert dir(ops) == []


@pytest.mark.parametrize("bad", [None, 3, b"f() -> ()"])
def test_a_schema_is_a_string(lib, bad):
    with pytest.raises(TypeError, match="the schema must be str"):
        lib.define(bad)


def test_what_a_library_cannot_be():
    with pytest.raises(ValueError, match="Unsupported kind: X"):
        Library("a", "X")
    for name in ("aten", "imode", "prim", "add", "schema", "__x"):
        with pytest.raises(ValueError, match="reserved namespace"):
            Library(name, "DEF")
    for name in ("", "a b", 3, None):
        for kind in ("DEF", "IMPL"):
            with pytest.raises(ValueError, match="expected the name of a namespace"):
                Library(name, kind)
    with pytest.raises(RuntimeError, match="its kind is IMPL"):
        Library("a", "IMPL").define("f() -> ()")


@pytest.mark.parametrize("bad", [3, None, "f"])
def test_a_kernel_is_callable(lib, bad):
    lib.define("f() -> ()")
    with pytest.raises(TypeError, match="required to be a callable"):
        lib.impl("f", bad, "CPU")
    with pytest.raises(TypeError, match="required to be a callable"):
        Library("_", "IMPL").fallback(bad, "Tracer")
    with pytest.raises(RuntimeError, match="either a name or an OpOverload"):
        lib.impl(3, print, "CPU")


def test_operators_are_pickled_and_copied_by_name(lib, ops):
    lib.define("f(Tensor x) -> Tensor")
    for value in (ops.f, ops.f.default, imode.ops.aten.add, imode.ops.aten.add.Tensor):
        assert pickle.loads(pickle.dumps(value)) is value
        assert copy.deepcopy(value) is value


# ---- what schemas say of memory ----


def test_a_write_bumps_the_version_once_and_a_view_is_recorded(lib, ops):
    lib.define("up_(Tensor(a!) x) -> Tensor(a!)")
    lib.impl("up_", lambda x: x.add_(1).mul_(1), "CPU")
    lib.define("flat(Tensor(a) x) -> Tensor(a)")
    lib.impl("flat", lambda x: x.view(-1), "CPU")
    lib.define("both(Tensor x, *, Tensor(a!) y, Tensor(b!) z) -> ()")
    lib.impl("both", lambda x, *, y, z: (y.copy_(x), z.copy_(x), None)[2], "CPU")
    x = imode.ones(2, 2)
    assert ops.up_(x) is x and x._version == 1
    view = ops.flat(x)
    assert view._is_view() and view._base is x and view._version == 1
    ops.up_(view)
    assert x._version == 2 and x.tolist() == [[3, 3], [3, 3]]
    y, z = imode.zeros(2, 2), imode.zeros(2, 2)
    ops.both(x, y=y, z=z)
    assert (x._version, y._version, z._version) == (2, 1, 1)


def test_views_and_writes_in_the_modes(lib, ops):
    lib.define("up_(Tensor(a!) x) -> Tensor(a!)")
    lib.impl("up_", lambda x: x.add_(1), "CPU")
    lib.define("flat(Tensor(a) x) -> Tensor(a)")
    lib.impl("flat", lambda x: x.view(-1), "CPU")
    normal = ones()
    with imode.inference_mode():
        inside = ones()
        assert ops.up_(inside) is inside and ops.flat(inside).is_inference()
        assert not ops.flat(normal).is_inference() and ops.up_(normal)._version == 1
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        ops.up_(inside)
    with imode.no_grad():
        view = ops.flat(imode.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        ops.up_(view)


def test_a_view_is_differentiated_by_its_geometry(lib, ops):
    lib.define("row(Tensor(a) x, int i) -> Tensor(a)")
    lib.impl("row", lambda x, i: x[i], "CPU")
    x = imode.ones(2, 3, requires_grad=True)
    y = x * 2
    (ops.row(y, 1) * 3).sum().backward()
    assert x.grad.tolist() == [[0, 0, 0], [6, 6, 6]]
    y = x * 2
    row = ops.row(y, 0)
    y.mul_(5)
    assert row.requires_grad and not row.is_leaf
    x.grad = None
    row.sum().backward()
    assert x.grad.tolist() == [[10, 10, 10], [0, 0, 0]]


def test_a_declared_view_may_be_a_copy_and_its_argument_itself(lib, ops):
    lib.define("maybe(Tensor(a) x) -> Tensor(a)")
    lib.impl("maybe", lambda x: x.contiguous(), "CPU")
    x = imode.ones(2, 3)
    assert ops.maybe(x) is x and not x._is_view()
    copied = ops.maybe(x.t())
    assert not copied._is_view() and copied.shape == (3, 2)


def test_views_in_a_list(lib, ops):
    lib.define("cut(Tensor(a) x) -> Tensor(a)[]")
    lib.impl("cut", lambda x: [x[:1], x[1:]], "CPU")
    x = imode.ones(2, requires_grad=True)
    y = x * 1
    first, second = ops.cut(y)
    assert first._base is y and second._base is y
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        first.sum().backward()
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        second.add_(1)


def test_a_write_without_a_derivative_raises_in_backward_and_at_a_leaf(lib, ops):
    lib.define("up_(Tensor(a!) x) -> Tensor(a!)")
    lib.impl("up_", lambda x: x.add_(1), "CPU")
    x = ones(requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        ops.up_(x)
    assert x.tolist() == [1, 1] and x._version == 0
    for y in (x * 1, (x * 1)[:1]):
        ops.up_(y)
        with pytest.raises(RuntimeError, match="no autograd formula was registered"):
            y.sum().backward()
    with imode.no_grad():
        ops.up_(x)
    assert x.tolist() == [2, 2]


def test_an_argument_that_comes_back_is_no_history_of_its_own(lib, ops):
    lib.define("same(Tensor x) -> Tensor")
    lib.impl("same", lambda x: x, "CPU")
    x = ones(requires_grad=True)
    y = ops.same(x)
    assert y is not x and x.is_leaf and x.grad_fn is None and y.requires_grad


def test_debug_builds_find_undeclared_writes_and_views_at_the_call(lib, ops):
    lib.define("write(Tensor x) -> Tensor")
    lib.impl("write", lambda x: x.add_(1) * 2, "CPU")
    lib.define("view(Tensor x) -> Tensor")
    lib.impl("view", lambda x: x.view(-1), "CPU")
    lib.define("views(Tensor[] x) -> Tensor[]")
    lib.impl("views", lambda x: [x[0][:1]], "CPU")
    before = check_calls(True)
    try:
        with pytest.raises(RuntimeError, match="wrote to the argument 'x', which the schema does"):
            ops.write(ones())
        with pytest.raises(RuntimeError, match="A result has the memory of its argument 'x'"):
            ops.view(ones())
        with pytest.raises(RuntimeError, match="A result has the memory of its argument 'x'"):
            ops.views([ones()])
    finally:
        check_calls(before)
    if not before:
        ops.write(ones()), ops.view(ones())


# ---- replacing kernels ----


def tables():
    return {name: op.kernel_table for name, op in all_operators().items()}


def test_a_kernel_of_imodes_own_is_replaced_for_a_block_in_all_threads():
    before = tables()
    x = imode.tensor([3.0, 4.0], requires_grad=True)
    for space in ("aten", "imode"):
        with Library(space, "IMPL") as lib:
            lib.impl("add.Tensor", lambda a, b, *, alpha=1: a * b, "CPU")
            elsewhere = []
            thread = threading.Thread(
                target=lambda found: found.append((x + x).tolist()), args=(elsewhere,)
            )
            thread.start()
            thread.join()
            assert elsewhere == [[9, 16]] == [(x + x).tolist()]
            assert type((x + 2).grad_fn).__name__ == "AddBackward0"
            assert imode.ops.aten.add.Tensor(x, 2).tolist() == [6, 8]
        assert (x + x).tolist() == [6, 8]
    assert tables() == before


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_libraries_are_closed_in_any_order(order):
    before = tables()
    libs = [Library("aten", "IMPL") for _ in range(3)]
    left = [0, 1, 2]
    for i, lib in enumerate(libs):
        lib.impl("neg", lambda x, i=i: imode.full((), float(i)), "CPU")
    for i in order:
        assert imode.neg(ones()).item() == left[-1]
        libs[i].close()
        left.remove(i)
    assert imode.neg(ones()).tolist() == [-1, -1] and tables() == before


def test_a_block_that_fails_half_way_takes_all_back():
    before = tables()
    with pytest.raises(ZeroDivisionError), Library(space := next(ns), "DEF") as lib:
        lib.define("f() -> ()")
        with Library("aten", "IMPL") as other, Library("_", "IMPL") as third:
            other.impl("relu", lambda x: x + 1, "CPU")
            other.impl("hstack", lambda x: x[0])
            third.fallback(lambda op, *args: None, "Tracer")
            library.register_autograd(f"{space}::f", lambda ctx: None, lib=other)
            1 / 0  # noqa: B018
    assert tables() == before and imode.relu(ones()).tolist() == [1, 1]
    assert imode.hstack([ones(), ones()]).shape == (4,)
    assert not hasattr(getattr(imode.ops, space), "f")
    with Library(space, "DEF") as lib:
        lib.define("f() -> ()")


def test_a_library_that_nobody_holds_is_taken_back():
    Library("aten", "IMPL").impl("neg", lambda x: x + 1, "CPU")
    gc.collect()
    assert imode.neg(ones()).tolist() == [-1, -1]


def test_a_closed_library_takes_nothing_more(lib, ops):
    lib.define("f() -> ()")
    f, default = ops.f, ops.f.default
    lib.close()
    lib.close()
    assert lib.closed
    for use in (
        lambda: lib.define("g() -> ()"),
        lambda: lib.impl("f", print, "CPU"),
        lambda: lib.fallback(print, "CPU"),
        lambda: lib.__enter__(),
    ):
        with pytest.raises(RuntimeError, match="is closed: nothing can be registered"):
            use()
    for call in (f, default):
        with pytest.raises(RuntimeError, match=f"::f is not defined any more: Library.'{lib.ns}'"):
            call()
    with pytest.raises(AttributeError, match="was closed"):
        f.default  # noqa: B018
    with Library(lib.ns, "DEF") as again:
        again.define("f() -> int")
        again.impl("f", lambda: 7, "CPU")
        assert f() == 7 == ops.f() and ops.f is f
        with pytest.raises(RuntimeError, match="is not defined any more"):
            default()


def test_a_library_closed_while_its_operator_runs():
    lib = Library(space := next(ns), "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.define("up_(Tensor(a!) x) -> Tensor(a!)")
    running, closed, found, holder = threading.Event(), threading.Event(), [], [lib]

    def slow(x):
        running.set()
        assert closed.wait(10)
        return x * 2

    lib.impl("f", slow, "CPU")
    lib.impl("up_", lambda x: (holder[0].close(), x.add_(1))[1], "CPU")
    f, up_ = getattr(imode.ops, space).f, getattr(imode.ops, space).up_
    thread = threading.Thread(target=lambda: found.append(f(ones(requires_grad=True)).tolist()))
    thread.start()
    assert running.wait(10)
    x = ones()
    assert up_(x) is x and x._version == 1 and lib.closed
    del slow, lib, holder[0]
    gc.collect()
    closed.set()
    thread.join()
    assert found == [[2, 2]]
    with pytest.raises(RuntimeError, match="was closed"):
        f(ones())


def test_registration_while_other_threads_call(lib, ops):
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x * 2, "CPU")
    done, errors = threading.Event(), []

    def call():
        try:
            while not done.is_set():
                assert (imode.ones(3) + 1).tolist() in ([2, 2, 2], [0, 0, 0])
                assert ops.f(imode.ones(2)).tolist() in ([2, 2], [3, 3])
                imode.hstack([imode.ones(1), imode.ones(1)])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(300):
        with Library("aten", "IMPL") as other, Library(lib.ns, "FRAGMENT") as third:
            other.impl("add", lambda a, b, **words: a - b, "CPU")
            other.impl("hstack", lambda tensors: tensors[0] * 1)
            third.define(f"g{i}() -> ()")
            third.impl("f", lambda x: x * 3, "CPU")
    done.set()
    for thread in threads:
        thread.join()
    assert errors == [] and (imode.ones(1) + 1).item() == 2


def test_one_custom_operator_made_and_closed_by_several_threads():
    """The last one counts; a call finds the operator whole, or closed."""
    name, stop, found = f"{next(ns)}::f", time.monotonic() + 1, []
    schema, before = "(Tensor x) -> Tensor", sys.getswitchinterval()

    def work():
        x = ones(requires_grad=True)
        try:
            while time.monotonic() < stop:
                with custom_op(name, lambda x: x * 2, mutates_args=(), schema=schema) as f:
                    try:
                        f.register_autograd(lambda ctx, grad: grad * 2)
                        f(x)
                    except RuntimeError as error:
                        assert "closed" in str(error)
        except BaseException as error:
            found.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert found == []
    with custom_op(name, lambda x: x, mutates_args=(), schema=schema):  # nothing is left behind
        pass


def test_replaced_kernels_must_keep_the_schema():
    x = imode.ones(2, 2)
    with Library("aten", "IMPL") as lib:
        for name, call in {
            "relu": lambda: x.relu(),
            "view": lambda: x.view(4),
            "split": lambda: x.split(1),
            "max.dim": lambda: x.max(0),
            "add_": lambda: x.add_(1),
            "add.out": lambda: imode.add(x, x, out=imode.empty(2, 2)),
            "unbind": lambda: x.unbind(),
        }.items():
            for value in (None, 3, "a", (), [None], (x, 3), imode.ones(1)):
                if name == "relu" and isinstance(value, Tensor):
                    continue
                if name in ("split", "unbind") and value == ():
                    continue
                with Library("aten", "IMPL") as lib:
                    lib.impl(name, lambda *args, value=value, **words: value, "CPU")
                    with pytest.raises(RuntimeError, match="Its kernel for CPU"):
                        call()
        lib = Library("aten", "IMPL")
        lib.impl("relu", lambda x: x, "CPU")
        with pytest.raises(RuntimeError, match="A result has the memory of its argument 'self'"):
            x.relu()
        lib.impl("t", lambda x: x, "CPU")
        assert x.t() is not x and x.t()._base is x
    lib.close()


def test_out_is_a_keyword_of_a_replaced_kernel():
    target = imode.empty(2)
    with Library("aten", "IMPL") as lib:
        lib.impl("add.out", lambda a, b, *, out, **words: out.fill_(9), "CPU")
        assert imode.add(ones(), ones(), out=target) is target
    assert target.tolist() == [9, 9] and target._version == 1


def test_a_library_of_imodes_own_names():
    aten = imode.ops.aten
    assert aten.add.Tensor is aten.add.Scalar is aten.add.default is imode.ops.add
    assert aten.max.dim.overload == "dim" and aten.sum.dim_IntList.overload == "dim"
    assert aten.pow.Tensor_Scalar is aten.pow.default and aten.add.out.overload == "out"
    assert imode.ops.imode.mul.Tensor is imode.ops.mul
    for name in ("nonesuch", "__x__"):
        assert not hasattr(aten, name)
    with pytest.raises(AttributeError, match="has no overload name 'nonesuch'"):
        aten.add.nonesuch  # noqa: B018
    with pytest.raises(RuntimeError, match="has no overload name 'nonesuch'"):
        Library("aten", "IMPL").impl("add.nonesuch", print, "CPU")


def test_a_kernel_redispatches(lib, ops):
    seen = []

    def above(keys, x):
        seen.append(keys.highest_priority().name)
        return ops.f.default.redispatch(keys.below("Autograd"), x) + 1

    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x * 2, "CPU")
    lib.impl("f", above, "Autograd", with_keyset=True)
    assert ops.f(ones()).tolist() == [3, 3] and seen == ["Autograd"]
    with imode.inference_mode():
        assert ops.f(ones()).tolist() == [2, 2]


def test_a_kernel_of_other_operators_is_recorded_by_them(lib, ops):
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x * x)
    x = ones(requires_grad=True)
    ops.f(x).sum().backward()
    assert x.grad.tolist() == [2, 2] and ops.f(ones()).grad_fn is None
    with imode.inference_mode():
        assert ops.f(ones()).is_inference()
    lib.impl("f", lambda x: x * 2, "CPU")
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        ops.f(x).sum().backward()


def test_a_fallthrough_leaves_the_call_to_the_next_key(lib, ops):
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x * 2, "CPU")
    lib.impl("f", library.fallthrough_kernel, "Autograd")
    assert not ops.f(ones(requires_grad=True)).requires_grad


def test_a_second_kernel_of_a_library_warns(lib, ops):
    lib.define("f() -> int")
    lib.impl("f", lambda: 1, "CPU")
    with pytest.warns(UserWarning, match="overrides its own kernel"):
        lib.impl("f", lambda: 2, "CPU")
    lib.impl("f", lambda: 3, "CPU", allow_override=True)
    assert ops.f() == 3


def test_a_kernel_that_calls_its_own_operator_is_a_recursion(lib, ops):
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: ops.f(x), "CPU")
    with pytest.raises(RecursionError):
        ops.f(ones())


def test_a_kernel_that_raises_leaves_the_thread_as_it_was(lib, ops):
    lib.define("up_(Tensor(a!) x) -> ()")
    lib.impl("up_", lambda x: 1 / 0, "CPU")
    before = imode.included_keys(), imode.excluded_keys()
    x = ones()
    with pytest.raises(ZeroDivisionError):
        ops.up_(x)
    assert (imode.included_keys(), imode.excluded_keys()) == before and x._version == 0


# ---- fallbacks ----


def test_a_fallback_serves_all_operators_without_a_kernel_and_is_taken_back():
    seen, x = [], imode.ones(2, requires_grad=True)

    def note(op, keys, *args, **words):
        seen.append(op.name)
        return op.redispatch(keys.below("Tracer"), *args, **words)

    before = tables()
    keys = imode.included_keys(), imode.excluded_keys()
    with Library("_", "IMPL") as lib, Library(next(ns), "DEF") as other:
        lib.fallback(note, "Tracer", with_keyset=True)
        other.define("f(Tensor x) -> Tensor")
        other.impl("f", lambda x: x * 2, "CPU")
        assert (x * 2).tolist() == [2, 2] and seen == []
        imode.set_local_keys(keys[0] | imode.DispatchKeySet("Tracer"), keys[1])
        try:
            y = imode.add(x, 1, alpha=2)
            getattr(imode.ops, other.ns).f(ones())
        finally:
            imode.set_local_keys(*keys)
    assert y.tolist() == [3, 3] and type(y.grad_fn).__name__ == "AddBackward0"
    assert seen == ["add", "ones", "f", "mul"] and tables() == before
    with pytest.raises(RuntimeError, match='on the global namespace "_" but it is aten'):
        Library("aten", "IMPL").fallback(note, "Tracer")
    with pytest.raises(RuntimeError, match="A fallback needs a dispatch key"):
        Library("_", "IMPL").fallback(note)


PROGRAM = """
import imode, sys
assert "imode.library" not in sys.modules
with imode.library.Library("_", "IMPL") as lib, imode.library.Library("x", "DEF") as other:
    other.define("f() -> ()")
    lib.fallback(lambda op, *args, **words: op.name, "Tracer")
    late = imode.ops.erfc if hasattr(imode.ops, "erfc") else imode.ops.tril
    assert late.has_kernel_for("Tracer") and late.has_kernel_for("CPU")
assert not late.has_kernel_for("Tracer") and not imode.ops.add.has_kernel_for("Tracer")
assert imode.ones(2).add(1).tolist() == [2, 2]
# An import that fails takes back what it declared, and no more.
from imode.ops import schema
with imode.library.Library("y", "DEF") as lib:
    mark = schema.mark()
    lib.define("g() -> int")
    lib.impl("g", lambda: 3, "CPU")
    schema.op("only_here(Tensor self) -> Tensor", lambda x: x, differentiable=False)
    schema.undo(mark)
    assert imode.ops.y.g() == 3
"""


def test_libraries_and_operators_that_are_imported_later():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


# ---- custom operators ----


def custom(function, schema, name="f", **words):
    words = {"mutates_args": (), "schema": schema} | words
    return custom_op(f"{next(ns)}::{name}", function, **words)


def test_a_function_becomes_an_operator():
    @custom_op(f"{next(ns)}::f", mutates_args=())
    def f(x: Tensor, by: float = 2.0) -> Tensor:
        return x * by

    with f:
        assert f(ones()).tolist() == [2, 2] and f(ones(), by=3).tolist() == [3, 3]
        assert repr(f) == f"<CustomOpDef({f._qualname})>" and pickle.loads(pickle.dumps(f)) is f
        assert f._opoverload.schema == "f(Tensor x, float by=2.0) -> Tensor"
        with imode.inference_mode():
            assert f(ones()).is_inference()
    with pytest.raises(RuntimeError, match="was closed"):
        f(ones())
    with pytest.raises(RuntimeError, match="was closed"):
        f._opoverload  # noqa: B018
    with pytest.raises(RuntimeError, match="There is no operator"):
        pickle.dumps(f) and pickle.loads(pickle.dumps(f))


def test_a_custom_operator_made_again_replaces_the_first():
    name = f"{next(ns)}::f"
    first = custom_op(name, lambda: 1, mutates_args=(), schema="() -> int")
    with pytest.raises(RuntimeError, match="here:"):
        custom_op(name, lambda: 2, mutates_args=(), schema="() -> Nothing")
    assert first() == 1
    with custom_op(name, lambda: 2, mutates_args=(), schema="() -> int") as second:
        assert first() == second() == 2
    with pytest.raises(RuntimeError, match="was closed"):
        first()


def test_a_custom_operator_that_is_wrong_leaves_nothing():
    space = next(ns)
    with Library(space, "DEF") as lib:
        lib.define("taken() -> ()")
        for make, error in [
            (
                lambda: custom_op(f"{space}::taken", print, mutates_args=(), schema="() -> ()"),
                RuntimeError,
            ),
            (
                lambda: custom_op(f"{space}::f", print, mutates_args=(), schema="g() -> ()"),
                ValueError,
            ),
            (
                lambda: custom_op(
                    f"{space}::f", print, mutates_args=("x",), schema="(Tensor x) -> ()"
                ),
                ValueError,
            ),
            (
                lambda: custom_op(
                    f"{space}::f", print, mutates_args=(), schema="() -> ()", device_types="opengl"
                ),
                RuntimeError,
            ),
            (lambda: custom_op(f"{space}::f", 3, mutates_args=(), schema="() -> ()"), TypeError),
            (lambda: custom_op("f", print, mutates_args=(), schema="() -> ()"), ValueError),
        ]:
            with pytest.raises(error):
                make()
            assert dir(getattr(imode.ops, space)) == ["taken"]


@pytest.mark.parametrize(
    "function", [lambda x: x, lambda x: x[:1], lambda x: x.detach(), lambda x: x.numpy() and None]
)
def test_a_custom_operator_returns_new_memory(function):
    with custom(function, "(Tensor x) -> Tensor") as f, pytest.raises((RuntimeError, ValueError)):
        f(ones())


def test_results_share_no_memory_with_each_other():
    def twice(x):
        y = x * 2
        return y, y

    said = "A result has the memory of another of its results"
    with (
        custom(twice, "(Tensor x) -> (Tensor, Tensor)") as f,
        pytest.raises(RuntimeError, match=said),
    ):
        f(ones())


def test_kernels_by_device():
    with custom(lambda x: x * 2, "(Tensor x) -> Tensor", device_types="cpu") as f:
        f.register_kernel("cpu")(lambda x: x * 5)
        assert f(ones()).tolist() == [5, 5]
        for bad, said in (
            ("opengl", "is not registered"),
            ("nonesuch", "^Expected one of cpu, cuda, .* device string: nonesuch"),
            (["cpu", "CUDA"], "^Expected one of cpu, cuda, .* device string: CUDA"),
            ("cuda:0", "^Expected device_type string to not have a device index; got cuda:0$"),
        ):
            with pytest.raises(RuntimeError, match=said):
                f.register_kernel(bad, lambda x: x)
        with Library(f._namespace, "IMPL") as lib:
            library.register_kernel(f, ["cpu", "privateuseone"], lambda x: x * 7, lib=lib)
            assert f(ones()).tolist() == [7, 7]
        assert f(ones()).tolist() == [5, 5]
    for register in (
        lambda: library.register_kernel("nonesuch::f", "cpu", print),
        lambda: library.register_fake("nonesuch::f", print),
        lambda: library.register_autograd("nonesuch::f", print),
    ):
        with pytest.raises(RuntimeError, match="There is no operator nonesuch::f"):
            register()
    with pytest.raises(ValueError, match="expected an operator, or its name"):
        library.register_kernel(3, "cpu", print)


def test_kernels_for_devices_that_are_not_there_are_never_called():
    def never(x):
        raise AssertionError

    with custom(lambda x: x * 2, "(Tensor x) -> Tensor") as f:
        for device in ("cuda", "xpu", "mps", ["hip", "xla"]):
            assert f.register_kernel(device, never) is never
        assert f(ones()).tolist() == [2, 2]
        with f.set_kernel_enabled("cuda", False):
            assert f(ones()).tolist() == [2, 2]
    with custom(never, "(Tensor x) -> Tensor", device_types="cuda") as f:
        with pytest.raises(NotImplementedError, match=r"^Could not run '.*' with arguments from"):
            f(ones())
        f.register_kernel("cpu")(lambda x: x * 3)
        assert f(ones()).tolist() == [3, 3]
    with Library("aten", "IMPL", "CUDA") as lib:
        for key in ("", "AutogradCUDA", "SparseCUDA", "AutocastCUDA", "QuantizedCPU", "XPU"):
            lib.impl("relu", never, key)
        lib.impl("hstack", never)
        assert imode.relu(ones(requires_grad=True)).tolist() == [1, 1]
        with pytest.raises(RuntimeError, match="There is no operator"):
            lib.impl("nonesuch", never)
    with Library("_", "IMPL") as lib:
        lib.fallback(never, "CUDA")
        assert imode.relu(ones()).tolist() == [1, 1]


# ---- derivatives ----


def test_a_derivative_and_when_it_is_entered():
    entered = []

    def setup_context(ctx, inputs, output):
        entered.append(inputs[1:])
        ctx.save_for_backward(inputs[0], output)
        ctx.n = inputs[1]

    def backward(ctx, grad):
        x, _ = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return grad * ctx.n * x ** (ctx.n - 1), None

    with custom(lambda x, n=2: x**n, "(Tensor x, int n=2) -> Tensor") as f:
        f.register_autograd(backward, setup_context=setup_context)
        f(ones())
        with imode.no_grad():
            f(ones(requires_grad=True))
        with imode.inference_mode():
            f(ones(requires_grad=True))
            f(ones())
        assert entered == []
        x = imode.tensor([2.0, 3.0], requires_grad=True)
        y = f(x)
        assert entered == [(2,)]
        assert type(y.grad_fn).__name__ == f"GeneratedBackwardFor_{f._namespace}_f_defaultBackward"
        (grad,) = imode.autograd.grad(y.sum(), x, create_graph=True)
        assert grad.tolist() == [4, 6]
        assert imode.autograd.grad(grad.sum(), x)[0].tolist() == [2, 2]
        double = imode.tensor([2.0, 3.0], dtype=imode.float64, requires_grad=True)
        assert imode.autograd.gradcheck(lambda x: f(x, 3), (double,))


def test_a_derivative_with_lists_keywords_and_several_results():
    def forward(xs, n, *, by):
        return sum(xs) * by, xs[0] * n

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        ctx.by, ctx.n = keyword_only_inputs["by"], inputs[1]
        assert len(inputs) == 2 and len(output) == 2

    def backward(ctx, first, second):
        assert ctx.needs_input_grad == ([True, False], False)
        return [first * ctx.by + second * ctx.n, None], None

    with custom(forward, "(Tensor[] xs, int n, *, float by) -> (Tensor, Tensor)") as f:
        f.register_autograd(backward, setup_context=setup_context)
        x = ones(requires_grad=True)
        a, b = f([x, ones()], 3, by=2.0)
        (a + b).sum().backward()
        assert x.grad.tolist() == [5, 5]
        x.grad = None
        f([x, ones()], 3, by=2.0)[1].sum().backward()
        assert x.grad.tolist() == [3, 3]


def test_a_list_of_results_has_gradients():
    with custom(lambda x: [x * 2, x * 3], "(Tensor x) -> Tensor[]") as f:
        f.register_autograd(lambda ctx, grads: grads[0] * 2 + grads[1] * 3)
        x = ones(requires_grad=True)
        sum(f(x)).sum().backward()
        assert x.grad.tolist() == [5, 5]


def test_a_backward_that_raises_names_the_operator_and_the_line():
    def backward(ctx, grad):
        raise ValueError("boom")

    with custom(lambda x: x * 2, "(Tensor x) -> Tensor") as f:
        f.register_autograd(backward)
        line = backward.__code__.co_firstlineno
        with pytest.raises(ValueError, match="boom") as caught:
            f(ones(requires_grad=True)).sum().backward()
        note = f"In the backward of {f._qualname}, at {__file__}:{line}."
        assert caught.value.__notes__ == [note]
        f.register_autograd(lambda ctx, grad: grad, setup_context=lambda ctx, inputs, output: 1 / 0)
        with pytest.raises(ZeroDivisionError) as caught:
            f(ones(requires_grad=True))
        assert caught.value.__notes__[0].startswith(f"In the setup_context of {f._qualname}, at ")


@pytest.mark.parametrize("given", [(), (None, None, 1), (3, None), (None, 3), ([None], None), "ab"])
def test_a_backward_that_returns_what_it_should_not(given):
    with custom(lambda x, n: x * n, "(Tensor x, int n) -> Tensor") as f:
        f.register_autograd(lambda ctx, grad: given)
        with pytest.raises(RuntimeError, match=r"The backward of .*::f, at .*test_library.py"):
            f(ones(requires_grad=True), 2).sum().backward()


def test_what_backward_saved_is_checked_for_writes():
    with custom(lambda x: x * x, "(Tensor x) -> Tensor") as f:
        f.register_autograd(
            lambda ctx, grad: grad * 2 * ctx.saved_tensors[0],
            setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
        )
        x = ones(requires_grad=True) * 1
        y = f(x)
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
        with imode.inference_mode():
            inside = ones()
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
            custom_grad = imode.ones(2, requires_grad=True)
            with custom(lambda x, y: x * y, "(Tensor x, Tensor y) -> Tensor") as g:
                g.register_autograd(
                    lambda ctx, grad: (grad, None),
                    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
                )
                g(custom_grad, inside)


def test_derivatives_are_taken_back_with_their_library(lib, ops):
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x * 2, "CPU")
    x = ones(requires_grad=True)
    with Library(lib.ns, "IMPL") as other:
        library.register_autograd(ops.f, lambda ctx, grad: grad * 7, lib=other)
        ops.f(x).sum().backward()
        assert x.grad.tolist() == [7, 7]
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        ops.f(x).sum().backward()
    for bad in (3, None):
        with pytest.raises(TypeError, match="expected functions"):
            library.register_autograd(ops.f, bad)
    with pytest.raises(TypeError, match="expected functions"):
        library.register_autograd(ops.f, print, setup_context=3)
    with pytest.raises(RuntimeError, match="aten::mul has a derivative of its own"):
        library.register_autograd("aten::mul", print)


# ---- opcheck ----


def test_opcheck_finds_what_the_schema_does_not_say(lib, ops):
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x * 2, "CPU")
    x = ones(requires_grad=True)
    with pytest.raises(library.OpCheckError, match="There was no fake impl registered"):
        opcheck(ops.f, (x,))
    library.register_fake(ops.f, lambda x: imode.empty_like(x))
    names = ["test_schema", "test_autograd_registration", "test_faketensor"]
    assert opcheck(ops.f, (x,), test_utils=names) == dict.fromkeys(names, "SUCCESS")
    with pytest.raises(library.OpCheckError, match="no autograd formula was registered"):
        opcheck(ops.f, (x,))
    found = opcheck(ops.f.default, (), {"x": x}, test_utils="test_schema")
    assert found == {"test_schema": "SUCCESS"}
    for kernel in (lambda x: x.view(-1), lambda x: x.add_(1) * 1):
        with contextlib.closing(Library(lib.ns, "IMPL")) as other:
            other.impl("f", kernel, "CPU")
            found = opcheck(ops.f, (x,), raise_exception=False)
            assert type(found["test_schema"]) is RuntimeError
            assert found["test_faketensor"] == "SUCCESS"
    for fake in (lambda x: imode.empty(3), lambda x: x.double(), lambda x: [x, x]):
        with Library(lib.ns, "IMPL") as other:
            other.impl("f", fake, "Meta")
            with pytest.raises(library.OpCheckError, match="its fake kernel gives the"):
                opcheck(ops.f, (x,), test_utils=("test_faketensor",))
    assert x.tolist() == [1, 1]
    for bad in ("nonesuch", 3, ("test_schema", "x")):
        with pytest.raises(ValueError, match="expected test_utils to be subset"):
            opcheck(ops.f, (x,), test_utils=bad)
    with pytest.raises(ValueError, match="op must be instance of"):
        opcheck(3, ())
    with pytest.raises(RuntimeError, match="has the overloads default, other, dim; name one"):
        opcheck(imode.ops.aten.max, (x,))


def test_opcheck_calls_again_and_compares_results_writes_and_gradients(lib, ops):
    lib.define("f(Tensor x, Tensor(a!)? y=None) -> Tensor")
    library.register_fake(ops.f, lambda x, y=None: imode.empty_like(x))
    calls = []

    def write(x, y=None):
        calls.append(y.fill_(len(calls)))
        return x * 2

    kernels = {
        "results": lambda x, y=None: x * (calls.append(0) or len(calls)),
        "arguments": write,
        "": lambda x, y=None: imode.rand(x.shape),
    }
    for what, kernel in kernels.items():
        with Library(lib.ns, "IMPL") as other:
            other.impl("f", kernel, "CPU")
            given = (ones(), imode.zeros(2))
            found = opcheck(ops.f, given, test_utils="ALL", raise_exception=False)
            assert found["test_schema"] == "SUCCESS"
            for name in ("test_aot_dispatch_static", "test_aot_dispatch_dynamic"):
                assert f"it gives other {what}" in str(found[name]) if what else "SUCCESS"
    with custom(lambda x: x * 2, "(Tensor x) -> Tensor") as f:
        f.register_fake(imode.empty_like)
        f.register_autograd(lambda ctx, grad: grad * (calls.append(0) or len(calls)))
        with pytest.raises(library.OpCheckError, match="it gives other gradients"):
            opcheck(f, (ones(requires_grad=True),))
        opcheck(f, (ones(requires_grad=True),), atol=1e9)


def test_tags_of_operators(lib, ops):
    tag = imode.Tag
    lib.define("f() -> ()", tags=tag.core)
    lib.define("g() -> ()", tags=[tag.core, tag.inplace])
    assert ops.f.default.tags == [tag.core] and ops.g.default.tags == [tag.core, tag.inplace]
    with pytest.raises(TypeError, match=r"tags: expected imode\.Tag, or several, got 'core'"):
        lib.define("h() -> ()", tags=["core"])
    assert not hasattr(ops, "h") and int(tag.view_copy) == 19 and repr(tag.core) == "<Tag.core: 0>"
    assert tag.nondeterministic_seeded in imode.ops.aten.bernoulli.default.tags


def test_kernels_are_turned_off_for_a_block():
    with custom(lambda x: x + 1, "(Tensor x) -> Tensor") as f:
        x = imode.zeros(1)
        with f.set_kernel_enabled("cpu", enabled=False):  # there is none: nothing to turn off
            assert f(x).item() == 1
        f.register_kernel("cpu", lambda x: x + 10)
        with f.set_kernel_enabled("cpu", enabled=False):
            assert f(x).item() == 1
            with f.set_kernel_enabled("cpu"):
                assert f(x).item() == 10
            assert f(x).item() == 1
        assert f(x).item() == 10
        with pytest.raises(RuntimeError, match=r"^Expected one of cpu, cuda"):
            f.set_kernel_enabled("npu", enabled=False).__enter__()
        block = f.set_kernel_enabled("cpu", enabled=False)
        block.__enter__()
    block.__exit__(None, None, None)  # the operator is gone meanwhile


def test_define_and_impl_by_qualified_names(lib, ops):
    library.define(f"{lib.ns}::f", "(Tensor x) -> Tensor", lib=lib, tags=imode.Tag.core)
    assert library.impl(f"{lib.ns}::f", ("cpu", "Meta"), lib=lib)(lambda x: x * 2) is None
    assert ops.f(ones()).tolist() == [2, 2]
    older = library.define(lib, "g(Tensor x) -> Tensor")(lambda x: x * 3)
    assert older(2) == 6 and ops.g(ones()).tolist() == [3, 3]
    assert library.impl(lib, "g", "CPU")(lambda x: x * 4)(2) == 8
    assert ops.g(ones()).tolist() == [4, 4]
    library.define(kept := f"{next(ns)}::h", "(Tensor x) -> Tensor")
    library.impl(kept, "default", lambda x: x * 5)
    space, _, name = kept.partition("::")
    gc.collect()
    assert getattr(getattr(imode.ops, space), name)(ones()).tolist() == [5, 5]
    for bad in (3, "f", "a::b::c"):
        with pytest.raises(ValueError, match=r"qualname"):
            library.define(bad, "() -> ()")
    with pytest.raises(ValueError, match="expected schema to look like"):
        library.define(f"{lib.ns}::k", "k() -> ()")


def test_the_schema_of_an_operator_taken_apart(lib, ops):
    lib.define("f.x(Tensor(a!) x, Tensor? y, *, int[2] k=1, Scalar s=2) -> (Tensor(a!), Tensor[])")
    schema = ops.f.x._schema
    assert (schema.name, schema.overload_name, schema.is_mutable) == (f"{lib.ns}::f", "x", True)
    assert [(a.name, a.type, a.kwarg_only, a.is_write) for a in schema.arguments] == [
        ("x", "Tensor", False, True),
        ("y", "Optional[Tensor]", False, False),
        ("k", "List[int]", True, False),
        ("s", "number", True, False),
    ]
    assert schema.arguments[0].alias_info.before_set == {"a"}
    assert [a.has_default_value() for a in schema.arguments] == [False, False, True, True]
    assert schema.arguments[2].default_value == (1, 1)
    assert [result.type for result in schema.returns] == ["Tensor", "List[Tensor]"]
    assert str(schema).startswith(f"{lib.ns}::f.x(Tensor(a!) x")


def test_opcheck_of_writes_views_and_imodes_own():
    x = imode.ones(2, 2)
    schema = "(Tensor x, Tensor(a!) y) -> ()"
    with custom(lambda x, y: (y.copy_(x), None)[1], schema, mutates_args=["y"]) as f:
        assert set(opcheck(f, (x, imode.zeros(2, 2))).values()) == {"SUCCESS"}
    for op, args in [("add_", (x, x)), ("t", (x,)), ("split", (x, 1)), ("hstack", ([x],))]:
        opcheck(getattr(imode.ops.aten, op).default, args)
