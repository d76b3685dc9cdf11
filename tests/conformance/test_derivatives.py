"""Gradients of every operator's samples at awkward places: complex operands, ties, NaN, twice.

Each way of running a sample replaces its operands, or the gradients that come in, and compares
results and gradients with PyTorch's: values, dtypes, shapes, whether they require grad, and errors.
"""

import numpy as np
import pytest

from tests.samples import load

from . import differences
from .calls import called, function, tensors_of
from .observe import Values, failure

SAMPLES = called(load(of_pytorch=True), "derivatives")
RULES = differences.load()
NAN, INF = float("nan"), float("inf")
TOLERANCE = {"float16": (4e-3, 4e-3), "float32": (1e-4, 1e-5), "complex64": (1e-4, 1e-5)}
PLAIN = (1e-7, 1e-8)


def numbers(pool):
    """Operands whose elements are taken from `pool` in turn."""

    def fill(lib, tensors):
        for k, t in enumerate(tensors):
            if t.is_floating_point() and 0 not in t.stride():
                values = [pool[(7 * i + 3 * k + i // 3) % len(pool)] for i in range(t.numel())]
                t.copy_(lib.tensor(values, dtype=t.dtype).reshape(t.shape))

    return fill


def mixed(first, rest):
    """Dtypes for the first floating operand and the others."""
    return lambda place, t: (rest if place else first) if t.floating else None


def one(dtype):
    return lambda place, t: dtype if t.dtype.startswith("float") else None


def drawn(lib, tensor, place):
    rng = np.random.default_rng(place)
    made = rng.standard_normal(tuple(tensor.shape)).round(1)
    if tensor.is_complex():
        made = made + 1j * rng.standard_normal(tuple(tensor.shape)).round(1)
    return lib.tensor(made.tolist(), dtype=tensor.dtype).reshape(tensor.shape)


def odd(lib, tensor, place):
    values = [(0.0, 1.0, INF, NAN, -1.0)[i % 5] for i in range(tensor.numel())]
    return lib.tensor(values, dtype=tensor.dtype).reshape(tensor.shape)


def transposed(lib, tensor, place):
    made = drawn(lib, tensor, place)
    return made.transpose(0, -1).contiguous().transpose(0, -1) if made.dim() > 1 else made


# name -> (dtypes of the operands, what fills them, gradients that come in, order)
WAYS = {
    "complex": (mixed("complex128", "complex128"), None, drawn, 1),
    "complex first": (mixed("complex128", "float64"), None, drawn, 1),
    "complex rest": (mixed("float64", "complex128"), None, drawn, 1),
    "special": (one("float64"), numbers([0.0, -0.0, 1, -1, NAN, INF, -INF, 0.5, 2, -2]), drawn, 1),
    "ties": (one("float64"), numbers([0.0, 1, 1, 2, 0, -1, -1, 2, 3]), drawn, 1),
    "constant": (one("float64"), numbers([1.5]), drawn, 1),
    "half": (one("float16"), None, drawn, 1),
    "odd gradients": (one("float64"), None, odd, 1),
    "transposed gradients": (one("float64"), None, transposed, 1),
    "twice": (one("float64"), None, drawn, 2),
}


# Its own gradients read outside of the input where a place is NaN.
CRASHES = {(f"grid_sample{n}", "special") for n in ("", "r", "r_2d", "r_3d")}


def run(lib, name, sample, way):
    """Return {observable: value} of the results and of the gradients of one call."""
    dtypes, fill, incoming, order = WAYS[way]
    lib.manual_seed(0)
    args, kwargs, tensors = sample.make(lib, dtype=dtypes)
    if fill:
        fill(lib, tensors)
    leaves = [t for t in tensors if t.is_floating_point() or t.is_complex()]
    for t in leaves:
        t.requires_grad_()
    call = (sample.torch if lib.__name__ == "torch" else None) or function(lib, name)
    try:
        if name.partition(".")[0].endswith("_") and args[0].requires_grad:
            args[0] = args[0].clone()
        outputs = tensors_of(call(*args, **kwargs), lib)
        seen = {f"result{i}": look(t, sample.values) for i, t in enumerate(outputs)}
    except Exception as error:
        return {"raised": failure(error)}
    outputs = [t for t in outputs if t.requires_grad and not any(t is leaf for leaf in tensors)]
    if not outputs or not sample.values:
        return seen
    weights = [incoming(lib, t, i) for i, t in enumerate(outputs)]
    try:
        grads = gradients(lib, outputs, leaves, weights, order)
    except Exception as error:
        if "Expected isFloatingType(grad.scalar_type())" in str(error):
            return (
                None  # a check inside PyTorch: complex gradients of real tensors, in a few places
            )
        return seen | {"backward": failure(error)}
    return seen | {f"grad{i}": None if g is None else look(g) for i, g in enumerate(grads)}


def gradients(lib, outputs, leaves, weights, order):
    if order == 1:
        return lib.autograd.grad(outputs, leaves, weights, allow_unused=True)
    for weight in weights:
        weight.requires_grad_()
    grads = lib.autograd.grad(outputs, leaves, weights, allow_unused=True, create_graph=True)
    again = [g for g in grads if g is not None and g.requires_grad]
    if not again:
        return grads
    twice = lib.autograd.grad(
        again, leaves + weights, [0.7 * lib.ones_like(g) for g in again], allow_unused=True
    )
    # Zeros, rounding errors that stand for them and no gradient are one thing here.
    return [*grads, *(None if g is None or (g.abs() < 1e-7).all() else g for g in twice)]


def look(tensor, values=True):
    dtype = str(tensor.dtype).rpartition(".")[2]
    seen = {"dtype": dtype, "shape": tuple(tensor.shape), "requires_grad": tensor.requires_grad}
    if values:
        wide = tensor.detach().resolve_conj()
        seen["values"] = Values(wide, TOLERANCE.get(dtype, PLAIN)) if tensor.numel() else None
    return seen


def different(here, there, way):
    if "raised" in here or "raised" in there:
        a, b = here.get("raised", "ok"), there.get("raised", "ok")
        # What is not defined for complex numbers is refused by many kernels, in as many words.
        if a != b and not (way.startswith("complex") and "ok" not in (a, b)):
            yield "outcome", a, b
        return
    if here.get("backward", "ok") != there.get("backward", "ok"):
        yield "outcome", here.get("backward", "ok"), there.get("backward", "ok")
        here, there = (only_results(seen) for seen in (here, there))
    for key in [*here, *(k for k in there if k not in here)]:
        a, b = here.get(key, "missing"), there.get(key, "missing")
        if a != b and isinstance(a, dict) and isinstance(b, dict):
            for part in a:
                if a.get(part) != b.get(part):
                    yield f"{key}.{part}", a[part], b.get(part)
        elif a != b:
            yield key, a, b


def only_results(seen):
    return {key: value for key, value in seen.items() if key.startswith("result")}


def short(value):
    return " ".join(repr(value).split())[:100]


# PyTorch's loops over vectors differ from those over single elements where a number is not finite,
# and which of them an element meets depends on how wide the CPU's vectors are.
BY_WIDTH = {"celu", "elu", "hardswish", "logit", "selu"}
# Which complex products of infinities and NaN are NaN depends on the processor's maker in MKL.
BY_MAKER = {"linear"}


def only_odd(ours, theirs):
    """Whether two tensors' values agree but for numbers that are not finite."""
    if not isinstance(ours, Values) or ours.data.shape != theirs.data.shape:
        return False
    known = np.isfinite(ours.data) & np.isfinite(theirs.data)
    return not known.all() and np.allclose(ours.data[known], theirs.data[known], 1e-6, 0)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_gradients(lib, torch, name):
    lines = []
    narrow = torch.backends.cpu.get_cpu_capability() != "AVX512" and name in BY_WIDTH
    for sample in SAMPLES[name]:
        for way in WAYS if sample.raises is None else ():
            if (name, way) in CRASHES or (sample.fixed and WAYS[way][1] is not None):
                continue
            try:
                there = run(torch, name, sample, way)
            except Exception:  # the sample cannot be made so
                continue
            if there is None:
                continue
            for path, a, b in different(run(lib, name, sample, way), there, way):
                by_maker = name in BY_MAKER and "complex" in repr(sample)
                if (narrow or by_maker) and only_odd(a, b):
                    continue
                if not RULES.sample(name, way, path, a, b):
                    lines.append(f"  {way}: {sample!r}: {path}: {short(a)} here, {short(b)} there")
                    break
    assert not lines, f"{name}\n" + "\n".join(lines[:25])


# ---- complex numbers at the edges ----

EDGES = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]
UNARY = [
    "abs", "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "cos", "cosh", "cumprod",
    "cumsum", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "mean", "neg", "prod",
    "reciprocal", "rsqrt", "sigmoid", "sin", "sinc", "sinh", "sqrt", "square", "sum", "tan",
    "tanh", "var",
]  # fmt: skip
BINARY = ["add", "sub", "mul", "div", "pow", "rsub"]


def edges(lib, first, second):
    return lib.tensor([complex(x, y) for x in first for y in second], dtype=lib.complex128)


def valued(lib, function, *given):
    """Values of a function and gradients, real and imaginary parts apart."""
    inputs = [t.clone().requires_grad_() if isinstance(t, lib.Tensor) else t for t in given]
    result = function(*inputs)
    leaves = [t for t in inputs if isinstance(t, lib.Tensor)]
    grads = lib.autograd.grad(result, leaves, lib.ones_like(result))
    parts = [lib.view_as_real(t.detach().resolve_conj() + 0j) for t in (result, *grads)]
    return [Values(t, PLAIN) for t in parts]


@pytest.mark.parametrize("name", UNARY)
def test_complex_functions_at_the_edges(lib, torch, name):
    along = (0,) if name in ("cumprod", "cumsum") else ()
    for x in EDGES:
        here, there = (
            valued(of, lambda z, of=of: getattr(of, name)(z, *along), edges(of, [x], EDGES))
            for of in (lib, torch)
        )
        if name in ("cumprod", "prod"):  # sums of what is not finite, in another order
            here, there = here[:1], there[:1]
        assert here == there, x


@pytest.mark.parametrize("name", BINARY)
def test_complex_arithmetic_at_the_edges(lib, torch, name):
    for number in (*EDGES, 0.5, 2, 3, 1j, complex(0.0, INF)):
        seen = []
        for of in (lib, torch):
            function, z = getattr(of, name), edges(of, EDGES, EDGES)
            real = of.tensor(EDGES * len(EDGES), dtype=of.float64)
            seen.append(valued(of, function, z, number))
            seen[-1] += valued(of, function, z, real) + valued(of, function, real, z)
        assert seen[0] == seen[1], number
