"""Custom functions: what they save, and when nodes and saved tensors are freed."""

import gc
import weakref

import numpy as np
import pytest

import imode
from tests.functions import Exp, make


@pytest.fixture
def x():
    return imode.tensor([0.5, -1.0], requires_grad=True)


# ---- saving ----


def test_saved_input_is_the_same_object(x):
    F = make(lambda ctx, a: ctx.save_for_backward(a, None) or a * 2, lambda ctx, g: g)
    y = F.apply(x)
    saved, none = y.grad_fn.saved_tensors
    assert saved is x and none is None
    assert len(y.grad_fn._raw_saved_tensors) == 2
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated"):
        assert y.grad_fn.saved_variables[0] is x


def test_saved_result_is_connected(x):
    y = Exp.apply(x)
    (saved,) = y.grad_fn.saved_tensors
    assert saved is not y and saved.grad_fn is y.grad_fn and saved.output_nr == 0
    assert saved.data_ptr() == y.data_ptr()


def test_written_since_it_was_saved(x):
    a = x * 1
    y = make(lambda ctx, t: ctx.save_for_backward(t) or t * 2,
             lambda ctx, g: ctx.saved_tensors[0] * g).apply(a)  # fmt: skip
    a.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.* is at version 1; "
                                           r"expected version 0"):  # fmt: skip
        y.sum().backward()


def test_freed(x):
    y = Exp.apply(x)
    y.sum().backward()
    for access in (lambda: y.grad_fn.saved_tensors, lambda: y.grad_fn._raw_saved_tensors):
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second"):
            access()
    z = make(lambda ctx, t: t * 2, lambda ctx, g: g).apply(x)
    z.sum().backward()
    z.sum().backward()  # it saved nothing, so nothing is missing
    assert x.grad.tolist()[0] == pytest.approx(np.exp(0.5) + 2)


def test_retained(x):
    y = Exp.apply(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([0.5, -1.0]), rtol=1e-6)


def test_clear_saved_tensors_on_access(x):
    F = make(lambda ctx, a: ctx.save_for_backward(a) or a * 2, lambda ctx, g: g,
             clear_saved_tensors_on_access=True)  # fmt: skip
    node = F.apply(x).grad_fn
    assert node.saved_tensors[0] is x
    with pytest.raises(RuntimeError, match="saved_tensors can only be accessed once"):
        node.saved_tensors  # noqa: B018


def test_saving_what_is_no_tensor(x):
    F = make(lambda ctx, a: ctx.save_for_backward(a, 3) or a * 2)
    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument "
                                        "1 is of type int"):  # fmt: skip
        F.apply(x)
    F.apply(x.detach())  # not recorded: nothing is saved


def test_inference_tensors_are_not_saved(x):
    with imode.inference_mode():
        made = imode.ones(2)
    F = make(lambda ctx, a, b: ctx.save_for_backward(b) or a * 2, lambda ctx, g: (g, None))
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        F.apply(x, made)
    assert not F.apply(x.detach(), made).requires_grad
    with imode.inference_mode():
        assert F.apply(x, made).is_inference()


def test_saved_tensor_hooks_apply(x):
    packed = []
    with imode.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or 7, lambda t: z):
        y = Exp.apply(x)
    z = imode.full((2,), 3.0)
    assert len(packed) == 1 and packed[0].tolist() == y.tolist()
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
    (raw,) = Exp.apply(x).grad_fn._raw_saved_tensors
    raw.register_hooks(lambda t: packed.append(t), lambda t: z)
    assert len(packed) == 2


def test_anomaly_names_the_function(x):
    F = make(lambda ctx, a: a * 2, lambda ctx, g: g * float("nan"))
    with pytest.warns(UserWarning), imode.autograd.detect_anomaly():
        y = F.apply(x).sum()
        with pytest.raises(RuntimeError, match="Function 'MadeBackward' returned nan values"):
            y.backward()


def test_saved_for_forward_is_for_nobody(x):
    F = make(lambda ctx, a: ctx.save_for_forward(a) or a * 2, lambda ctx, g: g)
    assert F.apply(x).grad_fn.saved_tensors == ()
    with pytest.raises(AssertionError, match="save_for_forward expects all arguments"):
        make(lambda ctx, a: ctx.save_for_forward(3)).apply(x)


# ---- memory ----


def test_graph_is_freed_at_once(x):
    """Without the garbage collector, whatever was saved and returned."""

    def both(ctx, a):
        b = a * 2
        ctx.save_for_backward(a, b)
        return b, a

    def written(ctx, a):
        a.mul_(2)
        ctx.mark_dirty(a)
        ctx.save_for_backward(a)
        return a

    def bare(ctx, a):
        b = a * 2
        ctx.save_for_backward(b)
        ctx.mark_non_differentiable(b)
        return b, a * 3

    gc.collect()
    gc.disable()
    try:
        for forward, argument in [
            (both, lambda: x), (written, lambda: x * 1), (written, lambda: (x * 1)[:1]),
            (bare, lambda: x), (lambda ctx, a: ctx.save_for_backward(a) or a, lambda: x),
        ]:  # fmt: skip
            result = make(forward, lambda ctx, *g: g[0]).apply(argument())
            result = result if type(result) is tuple else (result,)
            nodes = [weakref.ref(t.grad_fn) for t in result if t.grad_fn is not None]
            assert nodes
            del result
            assert [node() for node in nodes] == [None] * len(nodes)
    finally:
        gc.enable()


def test_users_cycles_are_collected(x):
    def forward(ctx, a):
        ctx.result = b = a * 2
        ctx.itself = ctx
        return b

    y = make(forward, lambda ctx, g: g).apply(x)
    node, tensor = weakref.ref(y.grad_fn), weakref.ref(y)
    del y
    assert node() is not None
    gc.collect()
    assert node() is None and tensor() is None


def test_class_is_collected(x):
    F = make(lambda ctx, a: a * 2, lambda ctx, g: g)
    F.apply(x).sum().backward()
    reference = weakref.ref(F)
    del F
    gc.collect()
    assert reference() is None


def test_saved_tensors_are_released_by_backward(x):
    def forward(ctx, a):
        b = a * 2
        kept.append(weakref.ref(b))
        ctx.save_for_backward(b)
        return a * 3

    kept = []
    y = make(forward, lambda ctx, g: g + 0 * ctx.saved_tensors[0]).apply(x)
    assert kept[0]() is not None
    y.sum().backward()
    assert kept[0]() is None


def test_long_chain_is_freed_without_recursion():
    F = make(lambda ctx, a: a + 1, lambda ctx, g: g)
    x = y = imode.zeros(1, requires_grad=True)
    for _ in range(100_000):
        y = F.apply(y)
    y.backward()
    del y
    assert x.grad.tolist() == [1]
