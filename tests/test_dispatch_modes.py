"""Dispatch modes: what they see and change, how they nest, what they leave behind."""

import gc
import threading
import weakref

import pytest

import imode
from imode.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
)


class Log(TorchDispatchMode):
    def __init__(self, calls, name="", change=None):
        super().__init__()
        self.calls, self.name, self.change = calls, name, change

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls.append(f"{self.name}{func.overloadpacket.name}")
        result = func(*args, **(kwargs or {}))
        return self.change(result) if self.change else result


def seen(function):
    calls = []
    with Log(calls):
        function()
    return calls


def test_a_fast_case_of_a_composite_does_not_hide_its_parts():
    x = imode.ones(2, 3, requires_grad=True)
    assert seen(lambda: x @ x.t()) == ["t", "mm"]
    with imode.inference_mode():
        assert seen(lambda: x @ imode.ones(3, 2)) == ["ones", "mm"]
        y = imode.ones(3)
        assert "sort" in seen(lambda: y.quantile(0.5))
        assert "masked_select" in seen(lambda: imode.combinations(y))
        assert "stack" in seen(lambda: imode.cartesian_prod(y, y))


def test_backward_is_seen():
    x = imode.ones(2, requires_grad=True)
    y = (x * x).sum()
    assert "mul" in seen(y.backward)
    assert x.grad.tolist() == [2, 2]


def test_backward_within_backward_is_seen_in_its_thread():
    class Again(imode.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            with imode.enable_grad():
                x = imode.ones(2, requires_grad=True)
                x.exp().sum().backward()
            return grad * x.grad

    x = imode.ones(2, requires_grad=True)
    y = Again.apply(x).sum()
    assert "exp" in seen(y.backward)


def test_the_keys_are_those_of_a_kernel():
    class Keys(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.excluded = imode.excluded_keys()
            return func(*args, **(kwargs or {}))

    with Keys() as mode:
        imode.ones(2)
    assert repr(mode.excluded) == "DispatchKeySet(Autograd, ADInplaceOrView)"
    assert repr(imode.excluded_keys()) == "DispatchKeySet()"


def test_the_state_is_restored_after_an_error():
    class Fails(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), Fails():
        imode.ones(2)
    assert repr(imode.excluded_keys()) == "DispatchKeySet()"
    assert _get_current_dispatch_mode() is None


def test_a_mode_of_another_thread_sees_nothing():
    calls = []
    with Log(calls):
        thread = threading.Thread(target=lambda: imode.ones(2) + 1)
        thread.start()
        thread.join()
    assert calls == []


def test_the_stack_of_modes():
    outer, inner = Log([]), Log([])
    with outer, inner:
        assert _get_current_dispatch_mode_stack() == [outer, inner]
        with _disable_current_modes() as modes:
            assert modes == [outer, inner] and _get_current_dispatch_mode() is None
        assert _get_current_dispatch_mode() is inner
    assert _get_current_dispatch_mode_stack() == []


def test_a_mode_left_inside_its_own_method():
    class Leaves(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with pytest.raises(RuntimeError, match="this mode is not on in this thread"):
                self.__exit__(None, None, None)
            return func(*args, **(kwargs or {}))

    with Leaves():
        assert imode.ones(1).item() == 1


def test_a_mode_in_a_generator_that_ends_late():
    def body(mode):
        with mode:
            yield

    calls = []
    outer, inner = Log(calls, "outer "), Log(calls, "inner ")
    running = body(outer)
    next(running)
    with inner:
        with pytest.raises(RuntimeError, match="left out of order"):
            running.close()
        imode.ones(1)
    assert calls == ["inner ones"]


def test_an_argument_that_comes_back_as_the_result_keeps_its_history():
    class Identity(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return args[0]

    x = imode.ones(2, requires_grad=True)
    with Identity():
        y = x * 3
    assert x.is_leaf and y is not x and y.grad_fn.name() == "MulBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_view_given_twice_is_tracked_once_each():
    x = imode.ones(4)
    kept = x.view(4)

    class Kept(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return kept

    with Kept():
        first, second = x.view(4), x.view(4)
    assert first is not second and first._base is x and second._base is x


def test_results_of_writes_are_their_targets():
    class Other(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            func(*args, **(kwargs or {}))
            return "anything"

    x, out = imode.ones(2), imode.empty(2)
    with Other():
        assert x.add_(1) is x and imode.add(x, x, out=out) is out
    assert out.tolist() == [4, 4]


def test_modes_are_freed():
    mode = Log([], change=lambda result: result)
    alive = weakref.ref(mode)
    with mode:
        imode.ones(2)
    del mode
    gc.collect()
    assert alive() is None


def test_a_trace_within_a_mode_and_a_mode_within_a_trace():
    with imode.trace_dispatch() as trace, Log([]):
        imode.ones(2, requires_grad=True) * 2
    assert [name for name, _ in trace] == ["ones", "mul", "mul"]
    with imode.trace_dispatch() as outer, imode.trace_dispatch() as inner:
        imode.ones(2)
    assert outer == inner and len(outer) == 1


def test_an_operator_says_its_name_as_in_pytorch():
    operator = imode._core.dispatch.get_operator("max.dim")
    assert str(operator) == "aten.max.dim" and operator.__name__ == "max.dim"
    assert operator.overloadpacket is imode.ops.aten.max and operator.namespace == "aten"
    assert operator.overloadpacket.__name__ == "max"


def test_an_argument_that_a_mode_does_not_take():
    with pytest.raises(TypeError, match="drop the argument _dispatch_key"):
        TorchDispatchMode(_dispatch_key="CPU")
    with (
        pytest.raises(NotImplementedError, match="has no method __torch_dispatch__"),
        TorchDispatchMode.push(),
    ):
        imode.ones(1)


def test_a_view_that_is_replaced_is_no_view():
    class Copies(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {})).clone()

    x = imode.ones(4, requires_grad=True)
    y = x * 2
    with Copies():
        z = y.view(2, 2)
    assert z._base is None and z.grad_fn.name() == "ViewBackward0"
    z.mul_(3)
    assert y.tolist() == [2, 2, 2, 2] and y.grad_fn.name() == "MulBackward0"
    z.sum().backward()
    assert x.grad.tolist() == [6, 6, 6, 6]
