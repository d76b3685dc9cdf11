"""Custom functions: what `forward` and `backward` return, and what is made of it."""

import numpy as np
import pytest

import imode
from imode.autograd import Function
from tests.functions import Exp, make


@pytest.fixture
def x():
    return imode.tensor([0.5, -1.0], requires_grad=True)


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
