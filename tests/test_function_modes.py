"""Function modes and __torch_function__: what is on and off again, in which thread; errors."""

import subprocess
import sys
import threading

import pytest

import imode
from imode import overrides


class Log(overrides.BaseTorchFunctionMode):
    def __init__(self):
        self.calls = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls.append(func)
        return super().__torch_function__(func, types, args, kwargs)


def add(x):
    return imode.add(x, x)


def test_code_that_has_run_often_is_seen_and_then_no_longer():
    x = imode.ones(2)
    for _ in range(100):  # CPython now calls the C functions directly
        add(x), x.add(x), x + x, x[0]
    with Log() as mode:
        add(x), x.add(x), x + x, x[0]
    method = imode.Tensor.add
    assert mode.calls == [imode.add, method, method, imode.Tensor.__getitem__]
    add(x), x.add(x), x + x, x[0]
    assert len(mode.calls) == 4


def test_functions_are_found_in_dicts_while_a_mode_is_on():
    handled = {imode.add: "add", imode.Tensor.add: "method"}
    with Log() as mode:
        assert handled[imode.add] == "add"
        imode.ones(1) + 1
    assert handled[mode.calls[-1]] == "method"


def test_all_ways_to_call():
    x = imode.ones(2)
    with Log() as mode:
        imode.add.__call__(x, x)
        imode.add(*(x, x), alpha=2)
        imode.Tensor.add(x, x)
        x.add.__call__(x)
        (lambda f: f(x))(x.add)
    assert len(mode.calls) == 5


def test_attributes_and_methods_that_are_no_operators():
    x = imode.ones(2, 2)
    with Log() as mode:
        assert x.shape == (2, 2) and x.dim() == 2 and len(x) == 2 and x[0, 0].item() == 1
        dim = x.dim
        assert dim() == 2 and dim.__name__ == "dim"
        x.grad = x.data
        del x.grad
        with overrides.DisableTorchFunction():
            assert x.H.shape == (2, 2) and bool(x[0, 0]) and 1 in x and repr(x)
        assert mode.calls[0] == imode.Tensor.shape.__get__ and mode.calls[1] is imode.Tensor.dim
    assert overrides.resolve_name(mode.calls[0]) == "imode.Tensor.shape.__get__"
    assert overrides.resolve_name(mode.calls[-1]) is None  # of `del`, as in PyTorch
    seen = " ".join(call.__name__ for call in mode.calls)
    assert seen == "__get__ dim __len__ __getitem__ item dim __get__ __set__ __delete__"
    before = len(mode.calls)
    assert x.shape == (2, 2) and x.dim() == 2 and len(x) == 2 and x.grad is None
    assert len(mode.calls) == before


def test_all_modes_see_attributes_the_innermost_first():
    order = []

    class Named(overrides.BaseTorchFunctionMode):
        def __init__(self, name):
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            order.append((self.name, func == imode.Tensor.shape.__get__, func == imode.Tensor.dim))
            return super().__torch_function__(func, types, args, kwargs)

    x = imode.ones(2)
    with Named("outer"), Named("inner"):
        assert x.shape == (2,) and x.dim() == 1
    outer, inner = [(name, True, False) for name in ("outer", "inner")]
    assert order == [inner, outer, ("inner", False, True), ("outer", False, True)]


def test_what_a_mode_gives_for_an_attribute_is_what_the_program_gets():
    class Lies(overrides.BaseTorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return {"__get__": "shape", "__len__": 7, "__bool__": []}.get(func.__name__, "other")

    x = imode.ones(2)
    with Lies():
        assert (x.shape, len(x), bool(x), x.numpy()) == ("shape", 7, False, "other")
        assert repr(x) == "other"
    with pytest.raises(AttributeError, match="no attribute 'missing'"), Log():
        x.missing  # noqa: B018


def test_a_program_of_many_modes_and_subclasses_made_in_one():
    program = """
import imode
from imode import overrides
x = imode.ones(2)
imode.ops.load_all()  # methods of operators that are not loaded are others
own = dict(vars(imode.Tensor))
for n in range(300):
    with overrides.BaseTorchFunctionMode():
        x.shape
        if n == 0:
            class Sub(imode.Tensor):
                pass
            y = x.as_subclass(Sub)
            print(y.shape, y.dim(), type(y.data).__name__, y.requires_grad)
    if n == 50:
        assert all(vars(imode.Tensor)[name] is value for name, value in own.items())
print(x.shape, x.dim(), y.shape, y.numpy(), imode.Tensor.dim == own["dim"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "imode.Size([2]) 1 Sub False",
        "imode.Size([2]) 1 imode.Size([2]) [1. 1.] True",
    ], done.stdout + done.stderr


def test_other_threads_see_nothing():
    x, calls = imode.ones(2), []

    def run():
        calls.append([add(x), x.add(x), x + x, x[0], -x, x**2, x == x])
        x[0] = 1
        y = x.clone()
        y += 1
        y **= 2

    with Log() as mode:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert mode.calls == [] and len(calls[0]) == 7


def test_an_operator_imported_while_a_mode_is_on_is_seen():
    program = """
import imode
from imode import overrides
seen = []
class Log(overrides.BaseTorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)
x = imode.ones(4)
with Log():
    imode.fliplr(x.view(2, 2))
    x.cumsum(0)
    x.cumsum(0)
imode.fliplr(x.view(2, 2)), x.cumsum(0)
print(seen)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "['view', 'fliplr', 'cumsum', 'cumsum']" or (
        done.stdout.count("cumsum") == 2
    ), done.stdout + done.stderr


def test_errors_turn_modes_off():
    class Fails(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise KeyError("mine")

    x = imode.ones(2)
    for use in (lambda: x + 1, lambda: add(x), lambda: x.exp(), lambda: x[0], lambda: -x):
        with pytest.raises(KeyError, match="mine"), Fails():
            use()
    with pytest.raises(KeyError, match="mine"), Fails():
        x[0] = 1
    assert overrides._get_current_function_mode_stack() == []
    assert (x + 1).tolist() == [2, 2]


def test_modes_left_out_of_order():
    outer, inner = Log(), Log()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="Log was left out of order"):
        outer.__exit__(None, None, None)
    assert overrides._get_current_function_mode() is inner
    inner.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="this mode is not on in this thread"):
        inner.__exit__(None, None, None)
    imode.ones(1) + 1
    assert outer.calls == inner.calls == []


def test_a_mode_without_a_method_and_one_that_does_not_answer():
    class Silent(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    x = imode.ones(1)
    with (
        pytest.raises(NotImplementedError, match="has no method __torch_function__"),
        overrides.TorchFunctionMode(),
    ):
        x + 1
    with pytest.raises(TypeError, match=r"failed for 'imode\.Tensor\.add'"), Silent():
        x + 1


def test_names_of_overridable_functions():
    functions = overrides.get_overridable_functions()
    assert imode.add in functions[imode] and imode.Tensor.exp in functions[imode.Tensor]
    assert imode.nn.functional.linear in functions[imode.nn.functional]
    assert imode.is_tensor in overrides.get_ignored_functions()
    assert overrides.resolve_name(imode.ops.add) == "aten.add.default"
    assert overrides.resolve_name(imode.Tensor.shape.__get__) == "imode.Tensor.shape.__get__"


def test_testing_overrides():
    table = imode.overrides.get_testing_overrides()
    assert set(table) == {
        f for fs in imode.overrides.get_overridable_functions().values() for f in fs
    }
    assert table[imode.add](1, 2) == table[imode.Tensor.sum](None) == -1
    with pytest.raises(TypeError):
        table[imode.add](1, 2, 3, 4)
    with imode.overrides.enable_reentrant_dispatch():
        assert (imode.ones(1) + 1).item() == 2
