"""utils.checkpoint here and in PyTorch: values, gradients, how often functions run, what raises."""

import contextlib
import importlib
import random
import warnings

import pytest

STEPS = {
    "sin": lambda lib, x: x.sin(),
    "cos": lambda lib, x: x.cos(),
    "mul": lambda lib, x: x * x,
    "weigh": lambda lib, x: x * lib.linspace(-1, 1, x.numel(), dtype=x.dtype).view(x.shape),
    "exp": lambda lib, x: (x * 0.1).exp(),
    "view": lambda lib, x: x.view(-1).tanh().view(x.shape),
    "sum": lambda lib, x: x - x.mean(0),
    "add": lambda lib, x: x + 0.5,
    "dropout": lambda lib, x: lib.nn.functional.dropout(x, 0.5).tanh(),
    "inplace": lambda lib, x: (x * 1).mul_(2).sigmoid(),
    "softmax": lambda lib, x: x.softmax(-1),
    "detach": lambda lib, x: x * x.detach(),
    "twice": lambda lib, x: x.sin() * x.cos(),
    "inner": lambda lib, x: inner_gradient(lib, x),
}


def inner_gradient(lib, x):
    y = x.sin().cos()
    (g,) = lib.autograd.grad(y.sum(), x, retain_graph=True) if x.requires_grad else (y,)
    return y * g.detach()


def build(lib, plan, counts, **options):
    """The function of a plan: names of steps, and lists, which are checkpointed."""
    checkpoint = importlib.import_module(f"{lib.__name__}.utils.checkpoint").checkpoint

    def run(x):
        for step in plan:
            if isinstance(step, list):
                x = checkpoint(build(lib, step, counts, **options), x, **options)
            else:
                counts.append(step)
                x = STEPS[step](lib, x)
        return x

    return run


def random_plan(rng, depth=0):
    names = sorted(set(STEPS) - {"inner"})
    return [
        random_plan(rng, depth + 1) if depth < 3 and rng.random() < 0.4 else rng.choice(names)
        for _ in range(rng.randint(1, 4))
    ]


def outcome(lib, program):
    """What a program gives: numbers and strings, or the error's class and first sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return program()
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0].split(". ")[0].rstrip(".")


def close(a, b):
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b))
    return (
        a == pytest.approx(b, rel=1e-4, abs=1e-5, nan_ok=True) if isinstance(a, float) else a == b
    )


def programs(plan, options):
    """Ways to use a plan, as functions of a library."""

    def backward(lib, times=1, **given):
        def program():
            counts = []
            lib.manual_seed(3)
            x = lib.linspace(-1, 1, 6, dtype=lib.float64).view(2, 3).requires_grad_()
            y = build(lib, [plan], counts, **options)(x)
            forward = len(counts)
            for i in range(times):
                y.sum().backward(retain_graph=i + 1 < times)
            grad = None if x.grad is None else x.grad.tolist()
            after = lib.rand(2).tolist()
            return y.tolist(), grad, forward, len(counts), after

        return program

    def gradient(lib, create_graph=False):
        def program():
            counts = []
            lib.manual_seed(3)
            x = lib.linspace(-1, 1, 6, dtype=lib.float64).view(2, 3).requires_grad_()
            y = build(lib, [plan], counts, **options)(x)
            (g,) = lib.autograd.grad(y.sum(), x, create_graph=create_graph)
            if create_graph and g.requires_grad:
                (g,) = lib.autograd.grad(g.sum(), x)
            return g.tolist(), len(counts)

        return program

    def written(lib):
        def program():
            x = lib.ones(2, 3, requires_grad=True)
            z = x * 1
            y = build(lib, [plan], [], **options)(z)
            with lib.no_grad():
                z.mul_(2)
            y.sum().backward()
            return x.grad.tolist()

        return program

    def in_mode(mode):
        def make(lib):
            def program():
                lib.manual_seed(3)
                x = lib.ones(2, 3, requires_grad=True)
                with getattr(lib, mode)():
                    y = build(lib, [plan], [], **options)(x)
                return y.requires_grad, y.is_inference(), y.tolist()

            return program

        return make

    yield backward
    yield lambda lib: backward(lib, times=2)
    yield gradient
    yield lambda lib: gradient(lib, create_graph=True)
    yield written
    yield in_mode("no_grad")
    yield in_mode("inference_mode")


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_random_functions(lib, torch, seed, reentrant):
    rng = random.Random(seed)
    for _ in range(6):
        plan = random_plan(rng)
        options = {"use_reentrant": reentrant}
        if rng.random() < 0.3:
            options["preserve_rng_state"] = False
        if not reentrant and rng.random() < 0.3:
            options["early_stop"] = False
        for number, make in enumerate(programs(plan, options)):
            here, there = outcome(lib, make(lib)), outcome(torch, make(torch))
            assert close(here, there), (plan, options, number, here, there)


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_gradient_inside(lib, torch, reentrant):
    options = {"use_reentrant": reentrant}
    for plan in (["inner"], ["sin", "inner", "mul"], [["inner"], "cos"]):
        for number, make in enumerate(programs(plan, options)):
            here, there = outcome(lib, make(lib)), outcome(torch, make(torch))
            assert close(here, there), (plan, number, here, there)


def mistakes(lib):
    utils = importlib.import_module(f"{lib.__name__}.utils.checkpoint")
    check, x = utils.checkpoint, lib.ones(3, requires_grad=True)
    runs = []

    def changing(first, second):
        def function(x):
            runs.append(x)
            return first(x) if len(runs) % 2 else second(x)

        return lambda: check(function, x, use_reentrant=False).sum().backward()

    with lib.inference_mode():
        made_inside = lib.ones(3)

    @contextlib.contextmanager
    def suppressing():
        with contextlib.suppress(ValueError):
            yield

    def failing(x):
        raise ValueError("failed")

    yield changing(lambda x: x.sin().cos(), lambda x: x.sin())
    yield changing(lambda x: x.sin(), lambda x: x[:2].sin())
    yield lambda: check(lambda x, y: x + y, x, made_inside, use_reentrant=False)
    yield lambda: check(lambda x, y: x + y, x, made_inside, use_reentrant=True)
    yield lambda: check(lambda x: x, x, use_reentrant=True, other=1)
    yield lambda: check(lambda x: x, x, use_reentrant=True, debug=True)
    yield lambda: check(lambda x: x, x, use_reentrant=False, determinism_check="all")
    yield lambda: check(lambda x: x, x, use_reentrant=False, other=1)
    yield lambda: check(failing, x, use_reentrant=False)
    yield lambda: check(
        failing, x, use_reentrant=False, context_fn=lambda: (suppressing(), suppressing())
    )
    yield lambda: check(
        failing, x, use_reentrant=False, debug=True, context_fn=lambda: (suppressing(),) * 2
    )
    yield lambda: check(lambda x: x.detach(), x, use_reentrant=True).sum().backward()
    yield lambda: utils.checkpoint_sequential([lib.sin], 2, x, use_reentrant=False)
    yield lambda: utils.checkpoint_sequential([lib.sin], 1, x, use_reentrant=False, other=1)
    yield lambda: check(lambda x: (x.sin(), 3), x, use_reentrant=True)[1]


def test_mistakes(lib, torch):
    for number, (here, there) in enumerate(zip(mistakes(lib), mistakes(torch), strict=True)):
        assert outcome(lib, here) == outcome(torch, there), number


@pytest.mark.parametrize("segments", [1, 2, 3])
def test_sequential(lib, torch, segments):
    def program(lib):
        utils = importlib.import_module(f"{lib.__name__}.utils.checkpoint")
        x = lib.linspace(-1, 1, 4).requires_grad_()
        steps = lib.nn.Sequential(lib.nn.Tanh(), lib.nn.Sigmoid(), lib.nn.Softplus(), lib.nn.ELU())
        y = utils.checkpoint_sequential(steps, segments, x, use_reentrant=False)
        y.sum().backward()
        return y.tolist(), x.grad.tolist()

    assert close(program(lib), program(torch))
