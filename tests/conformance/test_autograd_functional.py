"""autograd.functional of random functions, inputs, vectors and options: the same as in PyTorch."""

import random
from math import prod

import pytest

from .observe import failure, observe

CALLS = ["jacobian", "hessian", "vjp", "jvp", "vhp", "hvp"]
SHAPES = [(), (1,), (3,), (2, 2), (1, 2)]


def function(lib, rng, scalar):
    """Return a random function of the inputs; for `scalar` mostly of one result of one element."""
    steps = [
        (rng.choice(["sin", "exp", "tanh", "mul", "add", "cube", "floor", "number", "detach"]),
         rng.random(), rng.random())
        for _ in range(rng.randint(1, 4))
    ]  # fmt: skip
    last = rng.choice(["sum"] * 8 + ["plain", "tuple"] if scalar else
                      ["sum", "plain", "plain", "tuple", "pair", "list", "constant"])  # fmt: skip

    def step(kind, x, y):
        return {
            "mul": lambda: x * y,
            "add": lambda: x + y,
            "cube": lambda: x**3,
            "floor": lambda: x.floor(),
            "number": lambda: x * 2.5,
            "detach": lambda: x.detach() * y,
        }.get(kind, lambda: getattr(lib, kind)(x))()

    def f(*inputs):
        values = list(inputs)
        for kind, a, b in steps:
            x, y = values[int(a * len(values))], values[int(b * len(values))]
            values.append(step(kind, x, y if x.shape == y.shape else y.sum()))
        x = values[-1]
        return {
            "sum": lambda: x.sum(),
            "plain": lambda: x,
            "tuple": lambda: (x,),
            "pair": lambda: (x, values[-2] * 2),
            "list": lambda: [x],
            "constant": lambda: lib.ones(2),
        }[last]()

    return f


def tensors(lib, rng, shapes, dtypes, grads=0.5):
    made = []
    for shape in shapes:
        dtype = rng.choice(dtypes)
        numbers = [rng.uniform(0.3, 1.5) for _ in range(prod(shape))]
        if dtype.startswith("complex"):
            numbers = [number + 1j * rng.uniform(-1, 1) for number in numbers]
        t = lib.tensor(numbers, dtype=getattr(lib, dtype)).reshape(shape)
        made.append(t.requires_grad_(rng.random() < grads))
    return made


def flat(result, lib):
    """Yield what a result consists of: the nesting, and every tensor."""
    if isinstance(result, (tuple, list)):
        yield f"tuple of {len(result)}"
        for item in result:
            yield from flat(item, lib)
    else:
        seen = observe(result)
        names = ("values", "dtype", "shape", "stride", "requires_grad")
        yield {k: seen[k] for k in names if k in seen}


def run(lib, seed, dtypes):
    rng = random.Random(seed)
    name = rng.choice(CALLS)
    shapes = [rng.choice(SHAPES) for _ in range(rng.randint(1, 3))]
    f = function(lib, rng, name in ("hessian", "vhp", "hvp"))
    inputs = tensors(lib, rng, shapes, dtypes)
    given = inputs[0] if len(inputs) == 1 and rng.random() < 0.6 else tuple(inputs)
    options = {"create_graph": rng.random() < 0.4, "strict": rng.random() < 0.4}
    arguments = []
    if name in ("jacobian", "hessian"):
        if rng.random() < 0.3:
            options["vectorize"] = True
        if rng.random() < 0.1:
            options["strategy" if name == "jacobian" else "outer_jacobian_strategy"] = rng.choice(
                ["forward-mode", "reverse-mode", "nothing"]
            )
    elif rng.random() < 0.9:
        if name == "vjp":
            try:
                outputs = f(*inputs)
            except Exception as error:
                return failure(error)
            wanted = [tuple(t.shape) for t in (outputs if isinstance(outputs, (tuple, list)) else
                                               [outputs])]  # fmt: skip
            one = not isinstance(outputs, tuple)
        else:
            wanted, one = shapes, not isinstance(given, tuple)
        if rng.random() < 0.1:
            wanted = [*wanted, (2,)][rng.randint(0, 1) :]
        if rng.random() < 0.1:
            wanted = [(5,), *wanted[1:]]
        v = tensors(lib, rng, wanted, dtypes, 0.3)
        arguments = [v[0] if one and len(v) == 1 else tuple(v)]
    try:
        if rng.random() < 0.2:
            with lib.no_grad():
                result = getattr(lib.autograd.functional, name)(f, given, *arguments, **options)
        else:
            result = getattr(lib.autograd.functional, name)(f, given, *arguments, **options)
    except Exception as error:
        return failure(error)
    seen = list(flat(result, lib))
    hidden = ()
    if options.get("vectorize"):  # history without dependence, in PyTorch
        hidden = ("requires_grad",)
    if "forward-mode" in options.values():  # there of the output's dtype
        hidden = ("requires_grad", "dtype")
    for part in seen:
        for name in hidden if isinstance(part, dict) else ():
            part.pop(name, None)
    if options["create_graph"] and not hidden:
        # Differentiate what came out once more.
        outputs = [t for t in leaves(result) if t.requires_grad]
        known = [t for t in inputs if t.requires_grad]
        if outputs and known:
            total = sum((t * t.conj()).real.sum() for t in outputs)
            for g in lib.autograd.grad(total, known, allow_unused=True):
                seen.append(None if g is None else observe(g)["values"])
    return seen


def leaves(result):
    if isinstance(result, (tuple, list)):
        return [t for item in result for t in leaves(item)]
    return [result]


@pytest.mark.parametrize("seed", range(300))
def test_same(lib, torch, seed):
    assert run(lib, seed, ["float64"]) == run(torch, seed, ["float64"])


@pytest.mark.parametrize("seed", range(200))
def test_same_of_complex_numbers(lib, torch, seed):
    dtypes = ["complex128", "complex128", "float64", "float32"]
    there = run(torch, seed, dtypes)
    if there == "RuntimeError: Boolean value of Tensor with more than one value is ambiguous":
        pytest.skip("PyTorch fails to say what is wrong with the vector")
    assert run(lib, seed, dtypes) == there
