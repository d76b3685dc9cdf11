"""Hooks: their order, what they are given, what they may return, handles."""

import copy
import gc
import io
import pickle
import warnings
import weakref

import pytest

import imode


def leaf(*values):
    return imode.tensor(values or (1.0, 2.0), requires_grad=True)


def test_all_kinds_in_their_order():
    log = []
    x = leaf()
    y = x * 2
    y.retain_grad()
    y.grad_fn.register_hook(lambda given, arrived: log.append("y post"))
    y.grad_fn.register_prehook(lambda arrived: log.append(("y pre", y.grad.tolist())))
    y.register_hook(lambda grad: log.append("y tensor"))
    x.register_post_accumulate_grad_hook(lambda x: log.append(("accumulated", x.grad.tolist())))
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(lambda given, arrived: log.append(("x post", given)))
    node.register_prehook(lambda arrived: log.append("x pre"))
    x.register_hook(lambda grad: log.append(("x tensor", x.grad)))
    y.sum().backward()
    assert log == [
        "y tensor",
        ("y pre", [1, 1]),
        "y post",
        ("x tensor", None),
        "x pre",
        ("accumulated", [2, 2]),
        ("x post", ()),
    ]


def test_each_hook_sees_what_the_one_before_returned():
    x = leaf()
    y = x * 2
    y.register_hook(lambda grad: grad + 1)
    y.register_hook(lambda grad: grad * 10)
    y.retain_grad()
    y.grad_fn.register_prehook(lambda grads: (grads[0] + 100,))
    y.grad_fn.register_hook(lambda given, arrived: (given[0] + arrived[0], *given[1:]))
    x.register_hook(lambda grad: None)
    y.sum().backward()
    assert y.grad.tolist() == [20, 20]
    assert x.grad.tolist() == [360, 360]


def test_a_hook_stays_with_the_value_it_was_registered_on():
    log = []
    x = leaf()
    y = x.clone()
    y.register_hook(lambda grad: log.append(("before", grad.tolist())))
    y.mul_(2)
    y.register_hook(lambda grad: log.append(("after", grad.tolist())))
    y.sum().backward()
    assert log == [("after", [1, 1]), ("before", [2, 2])]


def test_hooks_see_the_tensor_as_it_is_where_they_are_registered():
    a = imode.ones(2, 3, requires_grad=True)
    x = a * 1
    shapes = []
    x.register_hook(lambda grad: shapes.append(tuple(grad.shape)))
    x.t_()
    x.register_hook(lambda grad: shapes.append(tuple(grad.shape)))
    x.sum().backward()
    assert shapes == [(3, 2), (2, 3)]


def test_retained_gradients_follow_in_place_writes():
    x = leaf()
    y = x.clone()
    y.retain_grad()
    y.mul_(2)
    y.sum().backward()
    assert y.grad.tolist() == [1, 1]


def test_hooks_and_captured_gradients():
    x = leaf()
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    total = (y * 3).sum()
    # Where the node of a wanted tensor runs too, the hook comes after the gradient was taken.
    assert [g.tolist() for g in imode.autograd.grad(total, (y, x), retain_graph=True)] == [
        [3, 3],
        [60, 60],
    ]
    assert imode.autograd.grad(total, y)[0].tolist() == [30, 30]


def test_a_hook_may_be_taken_away_and_added_while_it_runs():
    log = []
    x = leaf()
    handles = []

    def once(grad):
        log.append("once")
        handles[0].remove()
        x.register_hook(lambda grad: log.append("late"))

    handles.append(x.register_hook(once))
    (x * 2).sum().backward()
    assert log == ["once"]
    (x * 2).sum().backward()
    assert log == ["once", "late"]


def test_handles():
    x = leaf()
    with x.register_hook(lambda grad: grad * 100) as handle:
        x.sum().backward()
    x.sum().backward()
    assert x.grad.tolist() == [101, 101]
    handle.remove()
    other = x.register_hook(lambda grad: None)
    assert isinstance(handle, imode.utils.hooks.RemovableHandle) and other.id > handle.id


def test_a_handle_keeps_no_graph_alive():
    y = leaf() * 2
    handle = y.grad_fn.register_hook(lambda *grads: None)
    node = weakref.ref(y.grad_fn)
    del y
    gc.collect()
    assert node() is None
    handle.remove()


REGISTER = {
    "tensor": lambda x, y, hook: y.register_hook(lambda grad: hook),
    "leaf": lambda x, y, hook: x.register_hook(lambda grad: hook),
    "after": lambda x, y, hook: x.register_post_accumulate_grad_hook(lambda x: hook),
    "pre": lambda x, y, hook: y.grad_fn.register_prehook(lambda grads: hook),
    "post": lambda x, y, hook: y.grad_fn.register_hook(lambda given, arrived: hook),
}
WRONG = [
    ("tensor leaf after", 3, TypeError, "expected Variable, but hook returned 'int'"),
    ("tensor leaf after", (None,), TypeError, "expected Variable, but hook returned 'tuple'"),
    ("tensor leaf after", "shape", RuntimeError, "hook '<lambda>' has changed the size of value"),
    (
        "tensor leaf after",
        "dtype",
        RuntimeError,
        r"has changed the type of value \(was torch.FloatTensor got torch.DoubleTensor\)",
    ),
    ("pre post", 3, TypeError, "expected tuple, but hook returned 'int'"),
    ("pre post", (), RuntimeError, r"an incorrect number of values \(got 0, but expected"),
    ("pre", (3,), TypeError, "expected Variable, but hook returned 'int'"),
    ("post", (3, None), TypeError, "expected Variable, but hook returned 'int'"),
]


@pytest.mark.parametrize(("kinds", "value", "error", "message"), WRONG)
def test_what_hooks_must_not_return(kinds, value, error, message):
    value = {"shape": imode.ones(3), "dtype": imode.ones(2, dtype=imode.float64)}.get(
        value if isinstance(value, str) else None, value
    )
    for kind in kinds.split():
        x = leaf()
        y = x * 2
        REGISTER[kind](x, y, value)
        with pytest.raises(error, match=message):
            y.sum().backward()


def test_nothing_cannot_be_replaced():
    x = leaf()
    first, second = x.unbind()
    second.register_hook(lambda grad: imode.ones(()))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        first.backward()


def test_none_from_a_nodes_hook_means_no_gradient():
    x = leaf()
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (None,))
    y.sum().backward()
    assert x.grad is None


def test_where_hooks_cannot_be_registered():
    x = leaf()
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't"):
        imode.ones(1).register_hook(print)
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't"):
        imode.ones(1).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor"):
        imode.ones(1).retain_grad()
    for register in (x.register_hook, (x * 2).grad_fn.register_hook):
        with pytest.raises(TypeError, match="expected a callable hook, got int"):
            register(3)


def test_an_error_in_a_hook_leaves_everything_right():
    x = leaf()
    y = x * x
    handle = y.register_hook(lambda grad: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    handle.remove()
    assert x.grad is None and imode.is_grad_enabled()
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_a_retained_gradient_is_a_copy_of_its_own():
    x = leaf()
    y = x * 2
    y.retain_grad()
    seen = []
    y.register_hook(seen.append)
    y.sum().backward()
    assert y.grad is not seen[0] and y.grad.is_contiguous()


@pytest.mark.parametrize("register", ["register_hook", "register_post_accumulate_grad_hook"])
def test_a_hook_that_returns_an_array_is_named_in_full(register):
    x = imode.ones(2, requires_grad=True)
    getattr(x, register)(lambda tensor: imode.ones(2).numpy())
    with pytest.raises(TypeError, match=r"expected Variable, but hook returned 'numpy\.ndarray'"):
        x.sum().backward()


def test_copies_and_files_warn_of_hooks_that_they_lack():
    x = leaf()
    y = x * 2
    parameter = imode.nn.Parameter(imode.ones(2))
    for tensor in (x, y, parameter):
        tensor.register_hook(print)
    ways = (copy.copy, pickle.dumps, lambda tensor: imode.save(tensor, io.BytesIO()))
    for way in ways[:2]:
        for tensor in (x, y):
            with pytest.warns(UserWarning, match="backward hook <built-in function print> on tens"):
                way(tensor)
    with pytest.warns(UserWarning, match="will not be serialized"):
        ways[2](x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copy.deepcopy(x)
        for way in ways:
            way(parameter)
            way(leaf())
        marked = leaf()
        marked.register_hook(imode.utils.hooks.unserializable_hook(lambda grad: None))
        for way in ways:
            way(marked)


# ---- callbacks at the end of backward ----


def test_callbacks_are_called_when_all_gradients_are_there():
    queue = imode.autograd.Variable._execution_engine.queue_callback
    seen = []
    x, y = leaf(), leaf()

    def last():
        seen.append((x.grad is not None, y.grad is not None, imode.is_grad_enabled()))

    z = x * y
    z.register_hook(lambda grad: queue(lambda: queue(last)))
    z.sum().backward()
    assert seen == [(True, True, True)]
    z = x * 2
    z.register_hook(lambda grad: queue(lambda: seen.append(imode.is_grad_enabled())))
    total = z.sum()
    with imode.no_grad():
        imode.autograd.grad(total, x)
    assert seen[1:] == [False]


def test_a_backward_within_backward_has_callbacks_of_its_own():
    queue = imode.autograd.Variable._execution_engine.queue_callback
    order = []

    def inner(grad):
        queue(lambda: order.append("outer"))
        x = leaf()
        x.register_hook(lambda g: queue(lambda: order.append("inner")))
        with imode.enable_grad():
            (x * 1).sum().backward()
        order.append("between")

    y = leaf() * 1
    y.register_hook(inner)
    y.sum().backward()
    assert order == ["inner", "between", "outer"]


def test_what_a_callback_raises_backward_raises():
    queue = imode.autograd.Variable._execution_engine.queue_callback
    x = leaf()

    def fail():
        raise KeyError("late")

    x.register_hook(lambda grad: queue(fail))
    with pytest.raises(KeyError, match="late"):
        (x * 1).sum().backward()
    assert x.grad is not None and imode.is_grad_enabled()
