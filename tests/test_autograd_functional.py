"""Jacobians, Hessians and their products: shapes, both kinds of products, strict mode, errors."""

import pytest

import imode
from imode.autograd import functional
from imode.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

ALL = (vjp, jvp, jacobian, hessian, vhp, hvp)
X, Y = imode.tensor([0.5, 1.5, 2.5]), imode.tensor([2.0, 3.0])


def cubes(x, y):
    return (x**3).sum() * y, x.sum()


def scalar(x, y):
    return (x**2).sum() * (y**3).sum()


def test_shapes_of_a_jacobian():
    assert jacobian(imode.sin, X).shape == (3, 3)
    assert jacobian(lambda x: (x.sum(), x * 2), X)[1].shape == (3, 3)
    assert jacobian(imode.sin, (X,))[0].shape == (3, 3)
    rows = jacobian(cubes, (X, Y))
    assert [[tuple(t.shape) for t in row] for row in rows] == [[(2, 3), (2, 2)], [(3,), (2,)]]
    assert isinstance(rows, tuple) and isinstance(rows[0], tuple)


def test_shapes_of_a_hessian():
    assert hessian(lambda x: (x**3).sum(), X).tolist() == (6 * X * imode.eye(3)).tolist()
    blocks = hessian(scalar, (X, Y))
    assert [[tuple(t.shape) for t in row] for row in blocks] == [[(3, 3), (3, 2)], [(2, 3), (2, 2)]]
    assert imode.allclose(blocks[0][1], blocks[1][0].t())


@pytest.mark.parametrize("create_graph", [False, True])
def test_products_are_products(create_graph):
    x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
    rows, v = jacobian(cubes, (x, y)), (imode.tensor([1.0, -2.0]), imode.tensor(3.0))
    outputs, product = vjp(cubes, (x, y), v, create_graph)
    assert imode.allclose(product[0], v[0] @ rows[0][0] + v[1] * rows[1][0])
    assert imode.allclose(product[1], v[0] @ rows[0][1] + v[1] * rows[1][1])
    assert outputs[0].requires_grad == product[0].requires_grad == create_graph
    v = (imode.tensor([1.0, -2.0, 0.5]), imode.tensor([3.0, 1.0]))
    outputs, product = jvp(cubes, (x, y), v, create_graph)
    assert imode.allclose(product[0], rows[0][0] @ v[0] + rows[0][1] @ v[1])
    assert imode.allclose(product[1], rows[1][0] @ v[0] + rows[1][1] @ v[1])
    assert outputs[0].requires_grad == product[0].requires_grad == create_graph
    blocks = hessian(scalar, (x, y), create_graph=create_graph)
    assert blocks[0][0].requires_grad == create_graph
    for product in (vhp, hvp):
        output, (a, b) = product(scalar, (x, y), v, create_graph)
        assert output.requires_grad == a.requires_grad == create_graph
        assert imode.allclose(a, blocks[0][0] @ v[0] + blocks[0][1] @ v[1])
        assert imode.allclose(b, blocks[1][0] @ v[0] + blocks[1][1] @ v[1])
    assert x.grad is None and y.grad is None


def test_what_the_function_captures_does_not_count():
    x = X.clone().requires_grad_()
    assert jacobian(lambda y: x * y, x).tolist() == (X * imode.eye(3)).tolist()
    (through,) = imode.autograd.grad(jacobian(lambda y: x * y, x, create_graph=True).sum(), x)
    assert through.tolist() == [1.0, 1.0, 1.0]


def test_works_without_grad_mode():
    with imode.no_grad():
        assert jacobian(imode.exp, X).shape == (3, 3)
        assert hessian(lambda x: (x**3).sum(), X).shape == (3, 3)
        for product in (vhp, hvp):
            assert product(lambda x: (x**3).sum(), X, X)[1].tolist() == (6 * X * X).tolist()
        assert vjp(imode.exp, X, X)[1].tolist() == jvp(imode.exp, X, X)[1].tolist()


def test_vector_may_be_left_out_for_one_element():
    one = imode.tensor([2.0])
    assert vjp(lambda x: x**3, one)[1].tolist() == [12.0]
    assert jvp(lambda x: x**3, one)[1].tolist() == [12.0]
    assert vhp(lambda x: x**3, one)[1].tolist() == [12.0]
    assert hvp(lambda x: x**3, one)[1].tolist() == [12.0]
    for call in (vjp, jvp):
        with pytest.raises(RuntimeError, match=r"^The vector v can only be None if the "):
            call(lambda x: x**3, X)
    for call in (vhp, hvp):
        with pytest.raises(RuntimeError, match=r"^The vector v can only be None if the input to "):
            call(lambda x: x.sum(), X)


def test_vectorize_and_strategy():
    plain = jacobian(imode.tanh, X)
    assert jacobian(imode.tanh, X, vectorize=True).tolist() == plain.tolist()
    forward = jacobian(imode.tanh, X, vectorize=True, strategy="forward-mode")
    assert forward.tolist() == plain.tolist()
    assert jacobian(lambda x: x[:0], X, vectorize=True).shape == (0, 3)
    assert jacobian(lambda x: x * 1j, X, vectorize=True).shape == (3, 3)
    cube = lambda x: (x**3).sum()
    outer = hessian(cube, X, vectorize=True, outer_jacobian_strategy="forward-mode")
    assert outer.tolist() == hessian(cube, X).tolist()
    options = {"strategy": "forward-mode"}
    for more, error, sentence in (
        ({}, NotImplementedError, "only implemented for `vectorize=True`"),
        ({"create_graph": True}, NotImplementedError, "`create_graph=True` and `strategy=.forwa"),
        ({"strict": True}, RuntimeError, "`strict=True` and `strategy=.forward-mode.` are not"),
    ):
        with pytest.raises(error, match=sentence):
            jacobian(imode.tanh, X, **options, **more)
    with pytest.raises(NotImplementedError, match=r"of complex tensors is not there"):
        jacobian(lambda x: x * 1j, X, vectorize=True, **options)
    with pytest.raises(RuntimeError, match=r"`strict=True` and `vectorized=True` are not supporte"):
        jacobian(imode.tanh, X, strict=True, vectorize=True)
    with pytest.raises(AssertionError, match=r'^Expected strategy to be either "forward-mode" or'):
        jacobian(imode.tanh, X, strategy="sideways")
    with pytest.raises(AssertionError, match=r'^Expected strategy to be either "forward-mode" or'):
        hessian(cube, X, outer_jacobian_strategy="sideways")


@pytest.mark.parametrize("call", ALL)
def test_only_tensors(call):
    with pytest.raises(
        TypeError, match=rf"^The inputs given to {call.__name__} must be either a T"
    ):
        call(lambda x: x, 3)
    with pytest.raises(TypeError, match=rf"given to {call.__name__} .* value at index 1 has type"):
        call(lambda x, y: x, (X, "a"))
    one = imode.ones(1)
    with pytest.raises(TypeError, match=r"^The outputs of the user-provided function given to "):
        call(lambda x: [x], one)
    if call not in (jacobian, hessian):
        with pytest.raises(TypeError, match=rf"^The v given to {call.__name__} must be either a T"):
            call(lambda x: x.sum(), one, 3)
    with pytest.raises(
        RuntimeError, match=r"only Tensors of floating point dtype can require grad"
    ):
        call(lambda x: x.sum(), imode.tensor([1]))


@pytest.mark.parametrize("call", [vjp, jvp, vhp, hvp])
def test_vectors_that_do_not_fit(call):
    function = (lambda x: x * 2) if call in (vjp, jvp) else (lambda x: x.sum())
    pair = (lambda x, y: (x, y)) if call in (vjp, jvp) else (lambda x, y: x.sum() + y.sum())
    with pytest.raises(RuntimeError, match=r"^v has invalid size: should be .*\[3\]"):
        call(function, X, imode.ones(2))
    with pytest.raises(RuntimeError, match=r"^The given v should contain a single Tensor."):
        call(function, X, (X, X))
    with pytest.raises(RuntimeError, match=r"^Entry 1 in v has invalid size: should be"):
        call(pair, (X, Y), (X, X))
    with pytest.raises(RuntimeError, match=r"^v is a tuple of invalid length: should be 2 but go"):
        call(pair, (X, Y), X)


@pytest.mark.parametrize("call", [hessian, vhp, hvp])
def test_only_functions_of_one_element(call):
    v = () if call is hessian else (X,)
    with pytest.raises(
        RuntimeError, match=rf"function given to {call.__name__} should return a si"
    ):
        call(lambda x: (x.sum(),), X, *v)
    with pytest.raises(
        RuntimeError, match=rf"given to {call.__name__} should contain a single ele"
    ):
        call(lambda x: x * 2, X, *v)


# ---- strict ----


def strict(call, function, inputs=(X, Y), v=None, **options):
    arguments = () if call in (jacobian, hessian) else (v,)
    return call(function, inputs, *arguments, strict=True, **options)


def test_strict_outputs():
    ones = (imode.ones(3), imode.ones(2))
    for call in ALL:
        with pytest.raises(
            RuntimeError, match=r"^Output 0 of the user-provided function does not "
        ):
            strict(call, lambda x, y: imode.ones(()), v=imode.ones(()) if call is vjp else ones)
    for call in (jacobian, vjp):
        with pytest.raises(
            RuntimeError, match=r"utput .*of the user-provided function is independ"
        ):
            strict(call, lambda x, y: x.sum(), v=imode.ones(()))
    with pytest.raises(RuntimeError, match=r"^The output of the user-provided function is indepen"):
        strict(jvp, lambda x, y: x.sum(), v=ones)


def test_strict_gradients():
    ones = (imode.ones(3), imode.ones(2))
    with pytest.raises(RuntimeError, match=r"^The jacobian of the user-provided function is indep"):
        strict(jacobian, lambda x: x * 2, X.clone().requires_grad_(), create_graph=True)
    with pytest.raises(RuntimeError, match=r"^The jacobian of the user-provided function is indep"):
        strict(vjp, lambda x: x * 2, X.clone().requires_grad_(), X, create_graph=True)
    with pytest.raises(RuntimeError, match=r"^The gradient with respect to input 0 is independent"):
        strict(jvp, lambda x: x.floor(), X, X)
    for call in (hessian, vhp, hvp):
        with pytest.raises(
            RuntimeError, match=r"^While computing the hessian, found that the jaco"
        ):
            strict(call, lambda x, y: x.sum() + (y * y).sum(), v=ones)
        with pytest.raises(
            RuntimeError, match=r"input 1 is independent of the input|of input 1. T"
        ):
            strict(call, lambda x, y: (x * x).sum(), v=ones)


def test_strict_second_derivatives():
    ones = (imode.ones(3), imode.ones(2))
    apart = lambda x, y: (x * x).sum() + (y * y).sum()
    assert strict(vhp, apart, v=ones)[1][1].tolist() == [2.0, 2.0]
    with pytest.raises(
        RuntimeError, match=r"^Output 0 of the user-provided function is independen"
    ):
        strict(hessian, apart)
    square = lambda x: (x * x).sum()
    for call in (vhp, hvp):
        with pytest.raises(
            RuntimeError, match=r"^The hessian of the user-provided function is ind"
        ):
            strict(call, square, X.clone().requires_grad_(), X, create_graph=True)


def test_functional_is_imported_when_used():
    assert imode.autograd.functional is functional
    with pytest.raises(AttributeError, match=r"module 'imode.autograd' has no attribute 'forward"):
        imode.autograd.forward_ad  # noqa: B018


def test_what_forward_mode_refuses():
    x, options = imode.ones(2), {"strategy": "forward-mode", "vectorize": True}
    with pytest.raises(TypeError, match=r"^The inputs given to jacobian must be either a Tensor"):
        jacobian(imode.sin, [x], strategy="forward-mode")
    with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
        jacobian(imode.sin, x, strategy="forward-mode")
    with pytest.raises(AssertionError, match=r"^Expected at least one tensor"):
        jacobian(imode.sin, (), **options)
    with pytest.raises(ValueError, match=r"^Expected primal to be floating point or complex, but"):
        jacobian(imode.sin, imode.arange(2), **options)
    with pytest.raises(TypeError, match=r"^The outputs given to None must be either a Tensor"):
        jacobian(lambda x: 3, x, **options)
