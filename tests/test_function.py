"""Custom functions: what `forward` may do, what `backward` gets and returns, memory, threads."""

import gc
import inspect
import threading
import weakref

import numpy as np
import pytest

import imode
from imode.autograd import Function
from imode.autograd.function import (
    BackwardCFunction,
    FunctionCtx,
    InplaceFunction,
    once_differentiable,
)


def make(forward, backward=None, name="Made", **attributes):
    """A custom function of these static methods."""
    methods = {"forward": staticmethod(forward)}
    if backward is not None:
        methods["backward"] = staticmethod(backward)
    return type(name, (Function,), methods | attributes)


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result


class Mul(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y, grad * x


@pytest.fixture
def x():
    return imode.tensor([0.5, -1.0], requires_grad=True)


# ---- the graph ----


def test_gradient(x):
    y = Exp.apply(x)
    (y * 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([0.5, -1.0]), rtol=1e-6)


def test_setup_context(x):
    y = imode.tensor([3.0, 4.0], requires_grad=True)
    Mul.apply(x, y).sum().backward()
    assert x.grad.tolist() == [3, 4] and y.grad.tolist() == [0.5, -1]


def test_node(x):
    y = Exp.apply(x * 1)
    node = y.grad_fn
    assert node.name() == "ExpBackward" and type(node) is Exp._backward_cls
    assert isinstance(node, (Exp._backward_cls, BackwardCFunction, FunctionCtx))
    assert isinstance(node, imode.autograd.Node)
    assert [(n.name(), k) for n, k in node.next_functions] == [("MulBackward0", 0)]
    assert "grad_fn=<ExpBackward>" in repr(y)
    node.metadata["mine"] = 1
    assert y.grad_fn.metadata == {"mine": 1} and y.grad_fn is node
    assert node.needs_input_grad == (True,) and node.requires_grad


def test_edges_are_the_tensors_alone(x):
    F = make(lambda ctx, a, n, b, c: a * n + c, lambda ctx, g: (g * 2, None, None, g))
    y = F.apply(x, 2, imode.ones(2), x)
    assert [n and n.name() for n, _ in y.grad_fn.next_functions] == [
        "torch::autograd::AccumulateGrad", None, "torch::autograd::AccumulateGrad",
    ]  # fmt: skip
    assert y.grad_fn.needs_input_grad == (True, False, False, True)
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_context_is_the_node(x):
    def forward(ctx, a):
        ctx.note = "kept"
        seen.append(ctx)
        return a * 2

    seen = []
    y = make(forward, lambda ctx, g: seen.append(ctx.note) or g).apply(x)
    assert y.grad_fn is seen[0] and y.grad_fn.note == "kept"
    y.sum().backward()
    assert seen[1] == "kept"


def test_hooks_on_the_node(x):
    y = Exp.apply(x)
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + 1,))
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 10 * np.exp([0.5, -1.0]) + 1, rtol=1e-6)


def test_counts(x):
    with imode.counters() as c:
        Exp.apply(x)
        Exp.apply(x.detach())
    assert c.nodes == 1


def test_order_is_that_of_the_call(x):
    order = []
    first = make(lambda ctx, a: a * 1, lambda ctx, g: order.append("first") or g)
    second = make(lambda ctx, a: a * 1, lambda ctx, g: order.append("second") or g)
    (first.apply(x) + second.apply(x)).sum().backward()
    assert order == ["second", "first"]


def test_many_arguments_and_results():
    xs = [imode.tensor(float(i), requires_grad=True) for i in range(40)]
    F = make(lambda ctx, *a: tuple(t * 2 for t in a), lambda ctx, *g: tuple(t * 3 for t in g))
    results = F.apply(*xs)
    assert [t.output_nr for t in results] == list(range(40))
    sum(results[::2]).backward()
    assert [t.grad.item() for t in xs] == [3, 0] * 20


# ---- arguments ----


def test_keywords_and_defaults(x):
    class Scale(Function):
        @staticmethod
        def forward(a, factor=2, offset=0):
            return a * factor + offset

        @staticmethod
        def setup_context(ctx, inputs, output):
            assert len(inputs) == 3
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None, None

    assert Scale.apply(x).tolist() == [1, -2]
    assert Scale.apply(x, offset=1).tolist() == [2, -1]
    Scale.apply(a=x, factor=5).sum().backward()
    assert x.grad.tolist() == [5, 5]
    F = make(lambda ctx, a, factor: a * factor, lambda ctx, g: (g, None))
    assert F.apply(x, factor=3).tolist() == [1.5, -3]
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'y'"):
        F.apply(x, y=1)
    with pytest.raises(TypeError, match=r"multiple values for argument 'a'"):
        F.apply(x, 2, a=x)
    with pytest.raises(TypeError, match=r"missing required argument: 'a' \(position 0\)"):
        F.apply(factor=2)
    with pytest.raises(TypeError, match=r"missing"):
        F.apply(x)


def test_keyword_only_is_refused(x):
    class F(Function):
        @staticmethod
        def forward(a, *, k=1):
            return a * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

    with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
        F.apply(x, k=2)


def test_varargs_with_setup_context(x):
    class Sum(Function):
        @staticmethod
        def forward(*tensors):
            return sum(tensors)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.n = len(inputs)

        @staticmethod
        def backward(ctx, grad):
            return (grad,) * ctx.n

    Sum.apply(x, x, x).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_results_that_are_no_tensors(x):
    F = make(lambda ctx, a: (None, 3, a * 2, "text"), lambda ctx, *g: seen.extend(g) or g[2])
    seen = []
    none, three, y, text = F.apply(x)
    assert (none, three, text) == (None, 3, "text") and y.output_nr == 2
    y.sum().backward()
    assert seen[0] is seen[1] is seen[3] is None
    assert make(lambda ctx, a: [a * 2]).apply(x)[0].grad_fn is None
    assert make(lambda ctx, a: ()).apply(x) == ()
    assert make(lambda ctx, a: None).apply(x) is None


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


# ---- what backward returns ----


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda g: (g, g), r"function MadeBackward returned an incorrect number of gradients "
                           r"\(expected 1, got 2\)"),
        (lambda g: [g], r"expected Variable or None \(got list\)"),
        (lambda g: 3, r"expected Variable or None \(got int\)"),
        (lambda g: imode.ones(7), r"Function MadeBackward returned an invalid gradient at index 0 "
                                  r"- got \[7\] but expected shape compatible with \[2\]"),
        (lambda g: g * 1j, r"Expected isFloatingType\(grad.scalar_type\(\)\)"),
    ],
)  # fmt: skip
def test_wrong_gradients(x, returned, message):
    y = make(lambda ctx, a: a * 2, lambda ctx, g: returned(g)).apply(x)
    with pytest.raises(RuntimeError, match=message):
        y.sum().backward()


def test_gradient_of_what_is_no_tensor(x):
    y = make(lambda ctx, a, n: a * n, lambda ctx, g: (g, g)).apply(x, 3)
    with pytest.raises(RuntimeError, match="a gradient different than None at position 2"):
        y.sum().backward()


@pytest.mark.parametrize(
    ("returned", "grad"),
    [
        (lambda g: (g, None, None), [1, 1]),
        (lambda g: None, None),
        (lambda g: g.double() * 2, [2, 2]),
        (lambda g: imode.ones(3, 2), [3, 3]),
    ],
)
def test_gradients_made_to_fit(x, returned, grad):
    y = make(lambda ctx, a: a * 2, lambda ctx, g: returned(g)).apply(x)
    y.sum().backward()
    assert x.grad is None if grad is None else x.grad.tolist() == grad
    assert x.grad is None or x.grad.dtype is imode.float32


def test_backward_is_missing(x):
    y = make(lambda ctx, a: a * 2).apply(x)
    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp"):
        y.sum().backward()
    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        Function.apply(x)


def test_vjp_is_backward(x):
    y = make(lambda ctx, a: a * 2, vjp=staticmethod(lambda ctx, g: g * 2)).apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]
    both = make(lambda ctx, a: a * 2, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g))
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        both.apply(x).sum().backward()


def test_boxed_gradients(x):
    def backward(ctx, grads):
        assert type(grads) is list
        return grads.pop() + grads.pop()

    F = make(lambda ctx, a: (a * 2, a * 3), backward, boxed_grads_call=True)
    a, b = F.apply(x)
    (a + b).sum().backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="boxed_grads_call must be a bool, got int"):
        make(lambda ctx, a: a, boxed_grads_call=1).apply(x)


def test_apply_of_the_node(x):
    y = Exp.apply(x)
    np.testing.assert_allclose(y.grad_fn.apply(imode.ones(2)).detach().numpy(),
                               np.exp([0.5, -1.0]), rtol=1e-6)  # fmt: skip


# ---- gradients that did not arrive ----


@pytest.mark.parametrize("materialise", [True, False])
def test_materialised_gradients(x, materialise):
    def forward(ctx, a):
        ctx.set_materialize_grads(materialise)
        index = a.argsort()
        plain = a * 4
        ctx.mark_non_differentiable(plain)
        return a * 2, a.double(), index, plain

    def backward(ctx, *grads):
        seen.extend(grads)
        return grads[0]

    seen = []
    make(forward, backward).apply(x)[0].sum().backward()
    assert seen[0].tolist() == [1, 1]
    if materialise:
        assert [(g.tolist(), g.dtype) for g in seen[1:]] == [
            ([0, 0], imode.float64), ([0, 0], imode.int64), ([0, 0], imode.float32),
        ]  # fmt: skip
    else:
        assert seen[1:] == [None] * 3


def test_materialise_needs_a_bool(x):
    with pytest.raises(TypeError, match="set_materialize_grads received an invalid"):
        make(lambda ctx, a: ctx.set_materialize_grads(1)).apply(x)


def test_non_differentiable(x):
    def forward(ctx, a):
        b = a * 2
        ctx.mark_non_differentiable(b)
        return b, a * 3

    b, c = make(forward, lambda ctx, g, h: h).apply(x)
    assert not b.requires_grad and b.is_leaf and c.requires_grad
    with pytest.raises(RuntimeError, match="mark_non_differentiable only accepts variable"):
        make(lambda ctx, a: ctx.mark_non_differentiable(1)).apply(x)


# ---- inputs as results, views, writes ----


def test_input_returned_is_a_view(x):
    y = make(lambda ctx, a: a, lambda ctx, g: g * 5).apply(x)
    assert y is not x and y._is_view() and y._base is x and y.grad_fn.name() == "MadeBackward"
    with pytest.raises(
        RuntimeError,
        match="Output 0 of Made is a view and is being modified inplace",
    ):
        y.add_(1)  # fmt: skip
    y.sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_view_of_an_input(x):
    a = x * 1
    y = make(lambda ctx, t: t[:1], lambda ctx, g: g.expand(2)).apply(a)
    a.mul_(2)
    with pytest.raises(
        RuntimeError,
        match="Output 0 of Made is a view and its base or another "
        "view of its base has been modified inplace",
    ):
        y.grad_fn  # noqa: B018  # fmt: skip


def test_several_views(x):
    _, b = make(lambda ctx, t: (t[:1], t[1:]), lambda ctx, g, h: imode.cat([g, h])).apply(x * 1)
    with pytest.raises(RuntimeError, match=r"Output 1 of Made is a view .*multiple views"):
        b.add_(1)


def test_write(x):
    def forward(ctx, a):
        a.exp_()
        ctx.mark_dirty(a)
        ctx.save_for_backward(a)
        return a

    a = x * 1
    y = make(forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(a)
    assert y is a and a._version == 2 and a.grad_fn.name() == "MadeBackward"
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([0.5, -1.0]), rtol=1e-6)


@pytest.mark.parametrize("place", [0, 1])
def test_write_to_a_view(x, place):
    """The gradient of the larger tensor is right, whatever argument the view is."""

    def forward(ctx, *args):
        args[place].mul_(3)
        ctx.mark_dirty(args[place])
        return args[place]

    def backward(ctx, grad):
        grads = [grad * 100, grad * 100]
        grads[place] = grad * 3
        return tuple(grads)

    w = imode.ones(1, requires_grad=True)
    a = x * 1
    view = a[:1]
    y = make(forward, backward).apply(*[(view, w), (w, view)][place])
    assert y is view and a.grad_fn.name() == "torch::autograd::CopySlices"
    a.sum().backward()
    assert x.grad.tolist() == [3, 1] and w.grad.tolist() == [100]


def test_write_to_a_view_with_no_gradient(x):
    F = make(lambda ctx, a: ctx.mark_dirty(a) or a.zero_(), lambda ctx, g: None)
    a = x * 1
    F.apply(a[:1])
    a.sum().backward()
    assert x.grad.tolist() == [0, 1]


def test_written_results_keep_retained_gradients(x):
    def forward(ctx, a, b):
        a.mul_(2)
        b.mul_(3)
        ctx.mark_dirty(a, b)
        return a, b

    a, b = x * 1, x * 1
    b.retain_grad()
    make(forward, lambda ctx, g, h: (g * 2, h * 3)).apply(a, b)
    (a + b * 5).sum().backward()
    assert b.grad.tolist() == [5, 5] and x.grad.tolist() == [17, 17]


@pytest.mark.parametrize(
    ("forward", "argument", "message"),
    [
        (lambda ctx, a: ctx.mark_dirty(a) or a, "leaf",
         "a leaf Variable that requires grad has been used in an in-place operation"),
        (lambda ctx, a: ctx.mark_dirty(a) or a, "view of a leaf",
         "a view of a leaf Variable that requires grad is being used in an in-place operation"),
        (lambda ctx, a: ctx.mark_dirty(a) or a * 2, "",
         "Some elements marked as dirty during the forward method were not returned as output"),
        (lambda ctx, a: ctx.mark_dirty(a) or (a, a * 2), "view",
         "your Function cannot return more than one Tensor"),
        (lambda ctx, a: ctx.mark_dirty(3), "", "mark_dirty can only accept variables"),
        (lambda ctx, a: ctx.mark_dirty(a) or a, "no_grad view",
         "A view was created in no_grad mode and is being modified inplace"),
        (lambda ctx, a: ctx.mark_dirty(a) or a, "one of several",
         "Output 0 of Unbind is a view and is being modified inplace"),
        (lambda ctx, a: setattr(ctx, "dirty_tensors", [a]) or a, "",
         "dirty_tensors attribute is expected to be a tuple but is list"),
    ],
)  # fmt: skip
def test_writes_that_are_refused(x, forward, argument, message):
    with imode.no_grad():
        silent = (x.detach() * 1)[:1]
    arguments = {
        "leaf": x, "view of a leaf": x[:1], "": x * 1, "view": (x * 1)[:1],
        "one of several": (x * 1).unbind(0)[0],
    }  # fmt: skip
    F = make(lambda ctx, a, b: forward(ctx, a), lambda ctx, g: (g, None))
    with pytest.raises(RuntimeError, match=message):
        F.apply(arguments.get(argument, silent), x)


def test_inference_tensor_is_not_written(x):
    with imode.inference_mode():
        made = imode.ones(2)
    F = make(lambda ctx, a, b: ctx.mark_dirty(b) or b, lambda ctx, g: (g, g))
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
        F.apply(x, made)
    with imode.inference_mode():
        assert F.apply(x, made) is made


def test_dirty_but_no_input_warns(x):
    F = make(lambda ctx, a: (b := a * 2, ctx.mark_dirty(b))[0], lambda ctx, g: g)
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        assert F.apply(x).grad_fn.name() == "MadeBackward"


def test_input_returned_and_saved_apart(x):
    class F(Function):
        @staticmethod
        def forward(a):
            return a

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

    with pytest.raises(RuntimeError, match="returned as-is as output is being saved for backward"):
        F.apply(x)


# ---- modes ----


def test_forward_is_not_recorded(x):
    def forward(ctx, a):
        seen.append((imode.is_grad_enabled(), (a * 2).requires_grad))
        return a * 2

    seen = []
    make(forward, lambda ctx, g: g).apply(x)
    assert seen == [(False, False)] and imode.is_grad_enabled()


def test_mode_is_put_back(x):
    def forward(ctx, a):
        imode.set_grad_enabled(True)
        return a * 2

    with imode.no_grad():
        make(forward).apply(x)
        assert not imode.is_grad_enabled()

    def fail(ctx, a):
        raise KeyError("forward")

    with pytest.raises(KeyError):
        make(fail).apply(x)
    assert imode.is_grad_enabled()


@pytest.mark.parametrize("mode", [imode.no_grad, imode.inference_mode])
def test_unrecorded(x, mode):
    with mode():
        y = Exp.apply(x)
        same = make(lambda ctx, a: a, lambda ctx, g: g).apply(x)
    assert y.grad_fn is None and not y.requires_grad
    assert y.is_inference() is (mode is imode.inference_mode)
    assert same is not x and not same.requires_grad and same.data_ptr() == x.data_ptr()


@pytest.mark.parametrize("create_graph", [False, True])
def test_backward_is_recorded_under_create_graph(x, create_graph):
    def backward(ctx, grad):
        seen.append(imode.is_grad_enabled())
        return grad * 2

    seen = []
    y = make(lambda ctx, a: a * 2, backward).apply(x)
    imode.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert seen == [create_graph]


# ---- twice ----


def test_double_backward(x):
    y = Exp.apply(x)
    (first,) = imode.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = imode.autograd.grad(first.sum(), x, create_graph=True)
    second.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([0.5, -1.0]), rtol=1e-6)


def test_double_backward_through_a_custom_backward(x):
    class Inner(Function):
        @staticmethod
        def forward(ctx, grad, a):
            ctx.save_for_backward(grad, a)
            return grad * 2 * a

        @staticmethod
        def backward(ctx, g):
            grad, a = ctx.saved_tensors
            return g * 2 * a, g * 2 * grad

    square = make(lambda ctx, a: ctx.save_for_backward(a) or a * a,
                  lambda ctx, g: Inner.apply(g, *ctx.saved_tensors))  # fmt: skip
    (first,) = imode.autograd.grad(square.apply(x).sum(), x, create_graph=True)
    first.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_once_differentiable(x):
    @once_differentiable
    def backward(ctx, grad):
        """What it says."""
        seen.append(imode.is_grad_enabled())
        return grad * 2, None

    seen = []
    assert backward.__doc__ == "What it says."
    F = make(lambda ctx, a, b: a * 2, backward)
    (first,) = imode.autograd.grad((F.apply(x, x.detach()) ** 2).sum(), x, create_graph=True)
    assert seen == [False] and first.requires_grad and first.grad_fn is not None
    assert first.grad_fn.name() == "torch::autograd::Error"
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was "
                                           "marked with @once_differentiable"):  # fmt: skip
        first.sum().backward()
    F.apply(x, x.detach()).sum().backward()
    assert x.grad.tolist() == [2, 2]


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


# ---- threads ----


def test_threads():
    """Calls and backwards of one function in many threads, on a shared leaf."""
    shared = imode.zeros(2, requires_grad=True)
    failed = []

    def work(k):
        try:
            for _ in range(200):
                own = imode.full((2,), float(k), requires_grad=True)
                Mul.apply(Exp.apply(own * 0), own + shared.detach()).sum().backward()
                assert own.grad.tolist() == [1, 1]
                Mul.apply(shared, own.detach()).sum().backward()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and shared.grad.tolist() == [200 * sum(range(8))] * 2


# ---- the classes ----


def test_function_is_not_instantiated():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        made = Exp()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward"):
        made(1)
    with pytest.warns(DeprecationWarning):
        assert InplaceFunction(True).inplace


def test_forward_mode_and_vmap_are_refused():
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        Exp.jvp(None, 1)
    with pytest.raises(NotImplementedError, match="you must either override the vmap"):
        Exp.vmap(None, None)
    with pytest.raises(NotImplementedError, match="setup_context is not implemented"):
        Exp.setup_context(None, None, None)


def test_bare_context():
    """A FunctionCtx of its own serves to call `forward` by hand."""
    ctx = FunctionCtx()
    result = Exp.forward(ctx, imode.zeros(1))
    assert ctx.to_save == (result,)
    ctx.mark_dirty(result)
    ctx.mark_non_differentiable(result)
    ctx.set_materialize_grads(False)
    assert (ctx.dirty_tensors, ctx.non_differentiable) == ((result,), (result,))
    assert ctx.materialize_grads is False
    with pytest.warns(FutureWarning, match="`mark_shared_storage` is deprecated"):
        ctx.mark_shared_storage((result, result))


def test_bare_node_is_harmless():
    node = BackwardCFunction()
    assert node.needs_input_grad is None and node.saved_tensors == () and not node.next_functions
    node.needs_input_grad = (True,)
    assert node.needs_input_grad == (True,)
    node.maybe_clear_saved_tensors()
    with pytest.raises(RuntimeError, match="second time"):
        node.saved_tensors  # noqa: B018
    F = make(lambda ctx, a: a)
    F._backward_cls = int
    with pytest.raises(TypeError, match="_backward_cls is not the class of a context"):
        F.apply(1)
    with pytest.raises(TypeError, match="apply\\(\\) is a class method"):
        Function.__dict__["apply"].__func__()


def test_documented():
    assert str(inspect.signature(Exp.apply)) == "(*args, **kwargs)"
    assert Exp.apply.__doc__.startswith("Run the function")
    for name in ("save_for_backward", "mark_dirty", "mark_non_differentiable",
                 "set_materialize_grads", "save_for_forward"):  # fmt: skip
        assert getattr(FunctionCtx, name).__doc__


def test_inherited(x):
    class Child(Exp):
        pass

    y = Child.apply(x)
    assert y.grad_fn.name() == "ChildBackward"
    y.sum().backward()
    assert x.grad is not None


def test_zeros_for_a_result_without_gradient_were_written_once():
    seen = []

    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            seen.append((first._version, second._version, second.tolist()))
            return first

    x = imode.ones(2, requires_grad=True)
    Two.apply(x)[0].sum().backward()
    assert seen == [(0, 1, [0, 0])]
