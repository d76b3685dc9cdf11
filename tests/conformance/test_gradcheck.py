"""gradcheck and gradgradcheck of random functions, right and wrong: the same verdict as PyTorch."""

import random

import pytest

from .observe import failure

UNARY = ["sin", "exp", "tanh", "abs", "sigmoid", "neg", "conj", "angle"]
SHAPES = [(), (1,), (3,), (2, 2), (0,)]
N = 150


def change(rng):
    """Return a wrong (or right) treatment of a gradient; None where there is none."""
    treat = _change(rng)
    return lambda g: None if g is None else treat(g)


def _change(rng):
    kind = rng.choice(["scale", "conj", "zero", "shift", "detach", "nan", "none", "none", "none"])
    if kind == "scale":
        factor = rng.choice([1.0, 1.01, 1.0 + 1e-9, -1.0, 1j])
        return lambda g: g * factor if g.is_complex() or factor != 1j else g
    if kind == "shift":
        amount = rng.choice([1e-2, 1e-6, 1e-12])
        return lambda g: g + amount
    return {
        "conj": lambda g: g.conj().resolve_conj(),
        "zero": lambda g: g * 0,
        "detach": lambda g: g.detach(),
        "nan": lambda g: g * float("nan"),
        "none": lambda g: None,
    }[kind]


def step(lib, rng, values):
    """Return a random operator over the values so far."""
    kind = rng.choice(
        ["unary", "unary", "unary", "binary", "real", "sum", "detach", "round", "view"]
    )
    a, b = rng.randrange(len(values)), rng.randrange(len(values))
    name = rng.choice(UNARY)
    x, y = values[a], values[b]
    if kind == "unary" and rng.random() < 0.1 and not x.is_complex():
        return x.floor()
    if kind == "unary":
        return getattr(lib, name)(x)
    if kind == "binary":
        y = y if x.shape == y.shape else y.sum()
        return rng.choice([lambda: x * y, lambda: x + y, lambda: x / (y.abs() + 2)])()
    if kind == "real":
        if not x.is_complex():
            return x * (1 + 2j)
        pairs = lib.view_as_real(x.resolve_conj())
        return rng.choice([pairs, x.real, x.imag])
    if kind == "sum":
        return x.sum()
    if kind == "detach":
        return x.detach()
    if kind == "round":
        return x.abs().round()
    return x.reshape(-1)


def function(lib, seed):
    """Return a random function of several tensors; the same in both libraries."""

    def f(*inputs):
        rng = random.Random(seed)
        values = list(inputs)
        for _ in range(rng.randint(1, 4)):
            made = step(lib, rng, values)
            treat = change(rng)
            if made.requires_grad and made is not inputs[0]:
                made.register_hook(treat)
            values.append(made)
        results = values[len(inputs) :][-rng.randint(1, 2) :]
        return results[0] if len(results) == 1 else tuple(results)

    return f


def inputs(lib, seed):
    rng = random.Random(seed + 10**6)
    made = []
    shape = rng.choice(SHAPES)
    for _ in range(rng.randint(1, 2)):
        dtype = rng.choice(["float64", "float64", "complex128"])
        n = 1
        for s in shape:
            n *= s
        numbers = [rng.uniform(0.2, 1.2) for _ in range(n)]
        if dtype == "complex128":
            numbers = [x + 1j * rng.uniform(0.2, 1.2) for x in numbers]
        t = lib.tensor(numbers, dtype=getattr(lib, dtype)).reshape(shape)
        made.append(t.requires_grad_(rng.random() < 0.9))
    return tuple(made)


def options(seed):
    rng = random.Random(seed + 2 * 10**6)
    made = {"fast_mode": rng.random() < 0.4, "raise_exception": rng.random() < 0.8}
    if rng.random() < 0.2:
        made["nondet_tol"] = 1e-3
    if rng.random() < 0.2:
        made["check_undefined_grad"] = False
    if rng.random() < 0.1:
        made["masked"] = True
    if rng.random() < 0.1:
        made["check_backward_ad"] = False
    if rng.random() < 0.1:
        made["eps"], made["atol"] = 1e-4, 1e-3
    return made


def verdict(lib, check, seed):
    try:
        return getattr(lib.autograd, check)(function(lib, seed), inputs(lib, seed), **options(seed))
    except Exception as error:
        return failure(error)


def recorded(torch, seed):
    """Whether each output requires grad."""
    outputs = function(torch, seed)(*inputs(torch, seed))
    return [t.requires_grad for t in (outputs if isinstance(outputs, tuple) else (outputs,))]


@pytest.mark.parametrize("seed", range(N))
def test_same_verdict(lib, torch, seed):
    if options(seed)["fast_mode"] and recorded(torch, seed) == [False, True]:
        pytest.skip("PyTorch compares the first output with the second's gradient")
    assert verdict(lib, "gradcheck", seed) == verdict(torch, "gradcheck", seed)


@pytest.mark.parametrize("seed", range(N, 2 * N))
def test_same_verdict_of_second_derivatives(lib, torch, seed):
    if "check_backward_ad" in options(seed):
        pytest.skip("an option of gradcheck")
    if not any(recorded(torch, seed)):
        pytest.skip("nothing to differentiate: PyTorch calls the function without arguments")
    ours, theirs = (verdict(library, "gradgradcheck", seed) for library in (lib, torch))
    if "max(): Expected reduction dim" in str(theirs):  # of an empty Jacobian, in its message
        assert str(ours).startswith("GradcheckError: Jacobian mismatch")
    else:
        assert ours == theirs


# ---- derivatives written by hand, wrong in one way each ----


def written(lib, kind):
    """Return a custom function whose backward is wrong in this way."""
    calls = []

    class Wrong(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            ctx.set_materialize_grads(kind != "not materialised")
            return x * y, x + y

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            calls.append(1)
            if kind == "not materialised":
                return g * y + h, g * x + h
            if kind == "no gradient of y":
                return g * y + h, None
            if kind == "random":
                return (g * y + h) * (1 + 1e-5 * len(calls)), g * x + h
            if kind == "constant":
                return g * y + h + 1e-8, g * x + h
            if kind == "raises":
                raise RuntimeError("no backward. Really")
            if kind == "not conjugated":
                return g * y + h, g * x + h
            if kind == "detached":
                return g.detach() * y.detach().conj() + h.detach(), g * x.conj() + h
            factor = {"scaled": 1.1, "right": 1.0, "nearly": 1 + 1e-6}[kind]
            return factor * (g * y.conj() + h), g * x.conj() + h

    return Wrong.apply


WAYS = ["right", "nearly", "scaled", "not materialised", "no gradient of y", "random", "constant",
        "raises", "not conjugated", "detached"]  # fmt: skip


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
def test_custom_functions(lib, torch, kind, dtype, fast):
    if fast and kind == "detached":
        pytest.skip("PyTorch compares the first output with the second's gradient")
    seen = []
    for of in (lib, torch):
        numbers = [0.5, 1.25, -0.75]
        if dtype == "complex128":
            numbers = [n + 0.5j for n in numbers]
        x = of.tensor(numbers, dtype=getattr(of, dtype), requires_grad=True)
        y = of.tensor(numbers[::-1], dtype=getattr(of, dtype), requires_grad=True)
        for check in ("gradcheck", "gradgradcheck"):
            try:
                seen.append(getattr(of.autograd, check)(written(of, kind), (x, y), fast_mode=fast))
            except Exception as error:
                seen.append(failure(error).replace("lib:", ""))
    assert seen[:2] == seen[2:]


@pytest.mark.parametrize("check", ["gradcheck", "gradgradcheck"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize("undefined", [False, True])
def test_calls_are_as_many(lib, torch, check, dtype, fast, undefined):
    """Functions that count their calls, or draw numbers, see the same."""
    seen = []
    for of in (lib, torch):
        x = of.ones(2, dtype=getattr(of, dtype), requires_grad=True)
        y = of.ones(2, dtype=of.float64, requires_grad=True)
        calls = []

        def f(x, y, calls=calls):
            calls.append(1)
            return x * y, x + y

        options = {"fast_mode": fast, "check_undefined_grad": undefined}
        getattr(of.autograd, check)(f, (x, y), **options)
        seen.append(len(calls))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize("shape", [(), (1,), (2, 1)])
def test_results_of_changing_shape(lib, torch, fast, shape):
    seen = []
    for of in (lib, torch):
        calls = []

        def f(x, of=of, calls=calls):
            calls.append(1)
            return of.cat([x.reshape(-1)] * (1 + len(calls) % 2))

        x = of.ones(shape, dtype=of.float64, requires_grad=True)
        with pytest.raises(AssertionError) as caught:
            of.autograd.gradcheck(f, x, fast_mode=fast)
        seen.append(str(caught.value).replace(of.__name__, "lib"))
    assert seen[0] == seen[1]
