"""Custom functions: their nodes, arguments, modes, double backward, threads, classes."""

import inspect
import threading

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
from tests.functions import Exp, Mul, make


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


def test_an_attribute_named_name_is_not_the_name_of_the_node(x):
    def forward(ctx, x):
        ctx.name = 5
        ctx.save_for_backward(x)
        return x.exp()

    y = make(forward, lambda ctx, grad: (grad, grad)).apply(x)
    assert y.grad_fn.name == 5 and "grad_fn=<MadeBackward>" in repr(y)
    assert repr(y.grad_fn).startswith("<MadeBackward object")
    assert "MadeBackward" in str(imode.autograd.graph.draw(y))
    with pytest.raises(AttributeError, match="'MadeBackward' object has no attribute 'missing'"):
        y.grad_fn.missing  # noqa: B018
    with pytest.raises(RuntimeError, match="function MadeBackward returned an incorrect number"):
        y.sum().backward()
    with imode.no_grad():
        x.mul_(2)
    with pytest.raises(RuntimeError, match="Saved by MadeBackward"):
        y.grad_fn.saved_tensors  # noqa: B018


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
