"""Gradients of functions in both libraries: values, and what requires grad outside."""

import pytest


def seen(value, lib):
    if isinstance(value, lib.Tensor):
        name = None if value.grad_fn is None else "recorded"
        return (
            value.shape,
            [round(x, 4) + 0.0 for x in value.flatten().tolist()],
            value.requires_grad,
            name,
        )
    if isinstance(value, dict):
        return {key: seen(item, lib) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [seen(item, lib) for item in value]
    return "function" if callable(value) else value


def outcome(program, lib):
    x = lib.tensor([0.5, -1.0, 2.0])
    w = lib.tensor(1.5, requires_grad=True)
    try:
        return seen(program(lib, x, w), lib)
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0].split(". ")[0][:60]


def pulled(lib, function, *primals, cotangents):
    value, back = lib.func.vjp(function, *primals)
    return value, back(cotangents)


def under(mode, program):
    def inside(lib, x, w):
        with getattr(lib, mode)():
            return program(lib, x, w)

    return inside


def unrecorded(lib, x):
    with lib.no_grad():
        c = x**2
    return (x**2 - c * x).sum()


def of_captured(lib, x, w):
    return lib.func.grad(lambda y: (y * y * w * x).sum())(x)


PROGRAMS = {
    "plain": lambda lib, x, w: lib.func.grad(lambda y: (y**3).sum())(x),
    "captured": of_captured,
    "added": lambda lib, x, w: lib.func.grad_and_value(lambda y: (y**2).sum() + w)(x),
    "of a leaf": lambda lib, x, w: lib.func.grad(lambda v: v**3)(w),
    "of a result": lambda lib, x, w: lib.func.grad(lambda v: v**3)(w * 2),
    "constant": lambda lib, x, w: lib.func.grad(lambda y: w * 1)(x),
    "a number that is no function": lambda lib, x, w: lib.func.grad(lambda y: x.sum())(x),
    "twice": lambda lib, x, w: lib.func.grad(
        lambda y: lib.func.grad(lambda z: (z**3 * y).sum())(x).sum()
    )(x),
    "nested and captured": lambda lib, x, w: lib.func.grad(
        lambda v: lib.func.grad(lambda z: (z**3 * v * w).sum())(x).sum()
    )(x.sum()),
    "beside": lambda lib, x, w: lib.func.grad(lambda y: (y.sum(), {"w": w * 1, "y": y}), 0, True)(
        x
    ),
    "structures": lambda lib, x, w: lib.func.grad(lambda d: d["x"].sum() * d["l"][0])(
        {"x": x, "l": [w.detach()]}
    ),
    "two": lambda lib, x, w: lib.func.grad(lambda a, b: (a * b).sum(), argnums=(1, -2))(x, x + 1),
    "unrecorded inside": lambda lib, x, w: lib.func.grad(lambda y: unrecorded(lib, y))(x),
    "in place": lambda lib, x, w: lib.func.grad(lambda y: (y * 1).mul_(y).sum())(x),
    "no_grad": under("no_grad", of_captured),
    "inference_mode": under("inference_mode", lambda lib, x, w: PROGRAMS["plain"](lib, x, w)),
    "complex": lambda lib, x, w: lib.func.grad(lambda y: y.sum() * 1j)(x),
    "vjp": lambda lib, x, w: pulled(lib, lambda y: y**2, x, cotangents=x),
    "vjp of a leaf": lambda lib, x, w: pulled(lib, lambda y: y**2, w, cotangents=w.detach()),
    "vjp by a leaf": lambda lib, x, w: pulled(lib, lambda y: y**2, w.detach(), cotangents=w),
    "vjp of two": lambda lib, x, w: pulled(
        lib, lambda a, b: {"p": a * b, "s": [a.sum()]}, x, x, cotangents={"p": x, "s": [w.detach()]}
    ),
    "vjp of an integer": lambda lib, x, w: lib.func.vjp(lambda y: y.long(), x),
    "vjp of nothing": lambda lib, x, w: lib.func.vjp(lambda y: (), x),
    "vjp of a number": lambda lib, x, w: lib.func.vjp(lambda y: 3, x),
    "a number": lambda lib, x, w: lib.func.grad(lambda y: y)(3.0),
    "an integer": lambda lib, x, w: lib.func.grad(lambda y: y.sum())(x.long()),
    "not a scalar": lambda lib, x, w: lib.func.grad(lambda y: y)(x),
    "no tensor": lambda lib, x, w: lib.func.grad(lambda y: 3)(x),
    "no such argument": lambda lib, x, w: lib.func.grad(lambda y: y.sum(), 1)(x),
    "nothing beside": lambda lib, x, w: lib.func.grad(lambda y: y.sum(), has_aux=True)(x),
    "not a tensor beside": lambda lib, x, w: lib.func.grad(lambda y: (y.sum(), 3), has_aux=True)(x),
    "jacobian": lambda lib, x, w: lib.func.jacrev(lambda y: y**2 * w)(x),
    "jacobian of a tree": lambda lib, x, w: lib.func.jacrev(
        lambda d, k: {"a": d["u"] * k, "b": (d["v"][0].sum(),)}, argnums=(0, 1)
    )({"u": x, "v": [x]}, w.detach()),
    "jacobian of a constant": lambda lib, x, w: lib.func.jacrev(lambda y: w * lib.ones(2))(x),
    "jacobian of itself": lambda lib, x, w: lib.func.jacrev(lambda y: y, chunk_size=2)(x),
    "jacobian of nothing": lambda lib, x, w: lib.func.jacrev(lambda y: y)(x[:0]),
    "jacobian by a leaf": lambda lib, x, w: lib.func.jacrev(lambda y: y**2)(w),
    "jacobian of complex numbers": lambda lib, x, w: lib.func.jacrev(lambda y: y * 1j)(x),
    "jacobian by complex numbers": lambda lib, x, w: lib.func.jacrev(lambda y: y)(x * 1j),
    "jacobian of an integer": lambda lib, x, w: lib.func.jacrev(lambda y: y.long())(x),
    "jacobian by no argument": lambda lib, x, w: lib.func.jacrev(lambda y: y, argnums=1)(x),
    "jacobian beside": lambda lib, x, w: lib.func.jacrev(lambda y: (y, y * w), has_aux=True)(x),
    "jacobian in no_grad": under("no_grad", lambda lib, x, w: lib.func.jacrev(lambda y: y * w)(x)),
    "gradient of a jacobian": lambda lib, x, w: lib.func.grad(
        lambda y: lib.func.jacrev(lambda z: z**2 * y)(x).sum()
    )(x),
    "hessian": lambda lib, x, w: lib.func.hessian(lambda y: (y**3).sum() * w)(x),
    "hessian of two": lambda lib, x, w: lib.func.hessian(
        lambda a, b: (a * a * b).sum(), argnums=(0, 1)
    )(x, x + 1),
    "hessian of a tree": lambda lib, x, w: lib.func.hessian(lambda d: (d["a"] ** 2).sum() + d["b"])(
        {"a": x, "b": w.detach()}
    ),
    "hessian of many": lambda lib, x, w: lib.func.hessian(lambda y: y**3)(x),
    "hessian of a line": lambda lib, x, w: lib.func.hessian(lambda y: y.sum())(x),
    "hessian of an integer": lambda lib, x, w: lib.func.hessian(lambda y: y.long())(x),
    "models": lambda lib, x, w: [
        {k: (v.shape[0], v.is_leaf, v.requires_grad) for k, v in state.items()}
        for state in lib.func.stack_module_state([lib.nn.BatchNorm1d(2) for _ in range(3)])
    ],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(lib, torch, name):
    assert outcome(PROGRAMS[name], lib) == outcome(PROGRAMS[name], torch)
