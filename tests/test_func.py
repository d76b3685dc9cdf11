"""Gradients of functions, `imode.func`, and stacked models. Without PyTorch."""

import pytest

import imode
from imode import func


def cubes(x):
    return (x**3).sum()


def test_gradients_to_any_order():
    x = imode.tensor(2.0)
    third = func.grad(func.grad(func.grad(lambda x: x**4)))
    assert third(x).item() == 48 and not third(x).requires_grad
    mixed = func.grad(lambda x, y: func.grad(lambda y: x * y**2)(y), argnums=(0, 1))
    assert [g.item() for g in mixed(x, imode.tensor(3.0))] == [6.0, 4.0]


def test_what_is_captured_is_constant_inside_and_differentiable_outside():
    x, w = imode.tensor([1.0, 2.0]), imode.tensor(3.0, requires_grad=True)
    assert func.grad(lambda y: (y * x).sum())(x).tolist() == [1.0, 2.0]
    found = func.grad(lambda y: (y * y * w).sum())(x)
    found.sum().backward()
    assert w.grad.item() == 6.0 and x.grad is None
    assert not func.grad(lambda y: (y * y).sum() + w)(x).requires_grad
    _, value = func.grad_and_value(lambda y: (y * y).sum() + w)(x)
    assert value.requires_grad
    assert not func.grad_and_value(cubes)(x)[1].requires_grad
    y = x.clone().requires_grad_()
    (again,) = imode.autograd.grad(func.grad(cubes)(y).sum(), y)
    assert again.tolist() == [6.0, 12.0]


@pytest.mark.parametrize("mode", [imode.no_grad, imode.inference_mode])
def test_modes_around_take_the_graph_off(mode):
    x = imode.tensor([1.0, 2.0], requires_grad=True)
    with mode():
        found = func.grad(cubes)(x)
        made_inside = func.grad(cubes)(imode.tensor([1.0, 2.0]))
        assert not imode.is_grad_enabled()
    assert found.tolist() == made_inside.tolist() == [3.0, 12.0]
    assert not found.requires_grad and not found.is_inference()


def test_structures_and_what_is_given_beside():
    given = {"a": imode.ones(2), "b": [imode.tensor(3.0)]}
    found, (value, more) = func.grad_and_value(
        lambda d, k=1: (d["a"].sum() * d["b"][0] * k, {"twice": d["a"] * 2}), has_aux=True
    )(given, k=2)
    assert found["a"].tolist() == [6.0, 6.0] and found["b"][0].item() == 4.0
    assert value.item() == 12.0 and not more["twice"].requires_grad
    model = imode.nn.Linear(2, 1)
    parameters = dict(model.named_parameters())

    def loss(parameters):
        return func.functional_call(model, parameters, imode.ones(2)).sum()

    assert func.grad(loss)(parameters)["weight"].tolist() == [[1.0, 1.0]]
    assert model.weight.grad is None


def test_vjp():
    x = imode.tensor([1.0, 2.0])
    (square, total), back = func.vjp(lambda x, y: (x * y, x.sum()), x, x)
    assert not square.requires_grad and total.item() == 3.0
    for _ in range(2):
        by_x, by_y = back((imode.ones(2), imode.tensor(10.0)))
        assert by_x.tolist() == [11.0, 12.0] and by_y.tolist() == [1.0, 2.0]
    v = imode.ones(2, requires_grad=True)
    _, back = func.vjp(lambda x: x * x, x)
    back(v)[0].sum().backward()
    assert v.grad.tolist() == [2.0, 4.0]
    value, back, more = func.vjp(lambda x: (x * x, x), x, has_aux=True)
    assert more.tolist() == [1.0, 2.0] and value.tolist() == [1.0, 4.0]
    with imode.inference_mode():
        assert func.vjp(cubes, x)[1](imode.tensor(1.0))[0].tolist() == [3.0, 12.0]


def test_jacobians_and_hessians():
    x, y = imode.tensor([1.0, 2.0]), imode.tensor(3.0)
    found = func.jacrev(lambda x, y: {"a": x * y, "b": x.sum()}, argnums=(0, 1))(x, y)
    assert found["a"][0].tolist() == [[3.0, 0.0], [0.0, 3.0]] and found["b"][1].item() == 0.0
    assert found["a"][1].tolist() == [1.0, 2.0] and not found["a"][1].requires_grad
    assert func.hessian(cubes)(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert func.jacrev(lambda x: x)(x[:0]).shape == (0, 0)
    assert func.grad(lambda x: func.jacrev(lambda z: z**2 * x)(x).sum())(x).tolist() == [4.0, 8.0]
    with imode.inference_mode():
        assert func.hessian(cubes)(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]


x = imode.ones(2)
REFUSED = [
    (lambda: func.grad(cubes)(imode.arange(3)), RuntimeError, "only Tensors of floating point"),
    (lambda: func.grad(cubes)(3.0), ValueError, "Thing passed to transform API must be Tensor"),
    (
        lambda: func.grad(lambda x: x)(x),
        RuntimeError,
        "to return a scalar Tensor, got tensor with 1",
    ),
    (lambda: func.grad(lambda x: 3)(x), RuntimeError, "to return a Tensor, got <class 'int'>"),
    (lambda: func.grad(cubes, 2)(x), RuntimeError, "Got argnum=2, but only 1 positional inputs"),
    (lambda: func.grad(cubes, ())(x), RuntimeError, "argnums must be non-empty"),
    (lambda: func.grad(cubes, (0, 0))(x), RuntimeError, r"must be unique, got \(0, 0\)"),
    (lambda: func.grad(cubes, "a")(x), RuntimeError, r"argnums must be int or Tuple\[int, ...\]"),
    (lambda: func.grad(cubes, ("a",))(x), RuntimeError, "argnum must be int, got"),
    (lambda: func.grad(cubes, has_aux=True)(x), RuntimeError, "should be a tuple"),
    (lambda: func.vjp(cubes, x)[1]((x,)), RuntimeError, "Expected pytree structure of cotangents"),
    (lambda: func.vjp(cubes, x)[1](x), RuntimeError, "Mismatch in shape"),
    (lambda: func.vjp(lambda x: (), x), RuntimeError, "non-empty output"),
    (lambda: func.vjp(lambda x: 3, x), RuntimeError, "got unsupported type <class 'int'>"),
    (lambda: func.vjp(lambda x: x.long(), x), RuntimeError, "must be floating-point or complex"),
    (lambda: func.vjp(cubes, x, has_aux=True), RuntimeError, "should be a tuple"),
    (lambda: func.vjp(lambda x: (x, 3), x, has_aux=True), RuntimeError, "Expected tensors, got un"),
    (lambda: func.jacrev(cubes, chunk_size=0), ValueError, "`chunk_size` should be greater than 0"),
    (lambda: func.jacrev(cubes)(x * 1j), RuntimeError, "Expected all inputs to be real"),
    (lambda: func.jacrev(lambda x: x * 1j)(x), RuntimeError, "Expected all outputs to be real"),
    (lambda: func.stack_module_state([]), RuntimeError, "Expected at least one model, got 0"),
    (lambda: stacked(lambda m: m.eval()), RuntimeError, "the same training/eval mode"),
    (lambda: stacked(lambda m: imode.nn.ReLU()), RuntimeError, "of the same class"),
    (lambda: stacked(lambda m: m.requires_grad_(False)), RuntimeError, "the same .requires_grad"),
]


def stacked(change):
    return func.stack_module_state([imode.nn.Linear(2, 1), change(imode.nn.Linear(2, 1))])


@pytest.mark.parametrize(("call", "error", "text"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
    assert imode.is_grad_enabled()


def test_models_in_one():
    models = [imode.nn.BatchNorm1d(2) for _ in range(3)]
    parameters, buffers = func.stack_module_state(models)
    assert parameters["weight"].shape == (3, 2) and parameters["weight"].is_leaf
    assert parameters["weight"].requires_grad and not buffers["running_mean"].requires_grad
    assert buffers["num_batches_tracked"].tolist() == [0, 0, 0]
