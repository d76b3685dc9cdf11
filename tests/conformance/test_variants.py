"""Random variants of every operator's samples: operands of other dtypes, sizes and layouts, other
numbers, gradients of any layout, once and twice. Results and gradients are PyTorch's: values,
dtypes, shapes, strides, whether they require grad, and what the results' nodes are called.
"""

import copy
import random
import zlib

import numpy as np
import pytest

from tests.samples import D, T, load

from . import differences
from .calls import called, function, tensors_of
from .observe import Values, dtype_name, failure, layout, node_name

SAMPLES = called(load(of_pytorch=True), "variants")
RULES = differences.load()
COUNT = 8  # variants of each operator
DTYPES = ["float64", "float64", "float32", "complex128", "complex64", "float16"]
VIEWS = [None, "offset", "strided", "permuted", "expanded", "transposed"]
POOLS = [None, None, [0.0, -0.0, 1, -1, 0.5, 2, -2, 3, -6], [0.0, 1, 1, 2, 0, -1, -1], [1.5], [0.0]]
TOLERANCE = {"float16": (1e-2, 1e-2), "float32": (5e-4, 5e-5), "complex64": (5e-4, 5e-5)}
PLAIN = (1e-7, 1e-8)


def nested(value):
    return isinstance(value, (list, tuple)) and any(
        isinstance(item, (T, D, list, tuple)) for item in value
    )


class Variant:
    """A sample with parts of it replaced at random, and how it is run; the same for one seed."""

    def __init__(self, name, sample, rng):
        self.name, self.rng = name, rng
        self.dtype = rng.choice([*DTYPES, "mixed", "mixed"])
        self.pool, self.start = rng.choice(POOLS), rng.randrange(100)
        self.sizes = {n: rng.choice([0, 1, 2, 3, n, n]) for n in range(8)}
        self.resized, self.laid_out = rng.random() < 0.4, rng.random() < 0.4
        self.numbers, self.order = rng.random() < 0.5, rng.choice([1, 1, 2])
        self.incoming = rng.choice(["drawn", "drawn", "zeros", "expanded", "transposed"])
        self.tensors = []
        self.sample = copy.copy(sample)
        self.sample.args = [self.changed(value) for value in sample.args]
        self.sample.kwargs = {k: self.changed(value) for k, value in sample.kwargs.items()}

    def changed(self, value):
        if isinstance(value, T):
            self.tensors.append(self.tensor(copy.copy(value)))
            return self.tensors[-1]
        if nested(value):
            return type(value)(self.changed(item) for item in value)
        return self.number(value) if self.numbers and self.rng.random() < 0.4 else value

    def tensor(self, t):
        rng = self.rng
        if t.floating:
            t.dtype = rng.choice([*DTYPES, "int64"]) if self.dtype == "mixed" else self.dtype
            t.requires_grad = t.floating and rng.random() < 0.9
        if t.values is None and not callable(t.view):
            if self.resized:
                t.shape = tuple(self.sizes.get(n, n) for n in t.shape)
            if self.laid_out:
                t.view = rng.choice(VIEWS[: (1, 5, 6)[min(len(t.shape), 2)]])
        return t

    def number(self, value):
        rng = self.rng
        if isinstance(value, bool):
            return rng.choice([True, False])
        if isinstance(value, int):
            return rng.choice([value, -value, value + 1, value - 1, 0, 1, -1, 2])
        if isinstance(value, float):
            return rng.choice([value, 0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -0.5, 1])
        return value

    def run(self, lib):
        """Return {observable: value}, or None where the arguments cannot be made."""
        lib.manual_seed(0)
        try:
            args, kwargs, tensors = self.sample.make(lib)
        except Exception:
            return None
        self.fill(lib, tensors)
        leaves = [
            t for t, made in zip(tensors, self.tensors) if made.floating and made.requires_grad
        ]
        for t in leaves:
            t.requires_grad_()
        call = (self.sample.torch if lib.__name__ == "torch" else None) or function(lib, self.name)
        try:
            if self.name.partition(".")[0].endswith("_") and args[0].requires_grad:
                args[0] = args[0].clone()
            outputs = tensors_of(call(*args, **kwargs), lib)
        except Exception as error:
            return {"outcome": failure(error)}
        seen = {"outcome": "ok"}
        for i, t in enumerate(outputs):
            seen |= look(f"result{i}", t, self.sample.values)
            seen[f"result{i}.grad_fn"] = node_name(t.grad_fn)
        outputs = [t for t in outputs if t.requires_grad and not any(t is leaf for leaf in leaves)]
        if outputs and self.sample.values:
            try:
                seen |= self.gradients(lib, outputs, leaves)
            except Exception as error:
                seen["outcome"] = seen["backward"] = failure(error)
        return seen

    def fill(self, lib, tensors):
        for k, t in enumerate(tensors if self.pool and not self.sample.fixed else ()):
            if (t.is_floating_point() or t.is_complex()) and 0 not in t.stride():
                n, pool = t.numel(), self.pool
                numbers = [
                    pool[(7 * i + 3 * k + i // 3 + self.start) % len(pool)] for i in range(n)
                ]
                t.copy_(lib.tensor(numbers, dtype=t.dtype).reshape(t.shape))

    def weight(self, lib, t, place):
        if self.incoming == "zeros":
            return lib.zeros(t.shape, dtype=t.dtype)
        if self.incoming == "expanded":
            return lib.tensor(1.5, dtype=t.dtype).expand(t.shape)
        rng = np.random.default_rng(place)
        numbers = rng.standard_normal(tuple(t.shape)).round(1)
        if t.is_complex():
            numbers = numbers + 1j * rng.standard_normal(tuple(t.shape)).round(1)
        made = lib.tensor(numbers.tolist(), dtype=t.dtype).reshape(t.shape)
        if self.incoming == "transposed" and made.dim() > 1:
            made = made.transpose(0, -1).contiguous().transpose(0, -1)
        return made

    def gradients(self, lib, outputs, leaves):
        weights = [self.weight(lib, t, i) for i, t in enumerate(outputs)]
        twice, options = self.order == 2, {"allow_unused": True}
        for weight in weights if twice else ():
            weight.requires_grad_()
        grads = lib.autograd.grad(outputs, leaves, weights, create_graph=twice, **options)
        seen = {}
        for i, g in enumerate(grads):
            seen |= {f"grad{i}": None} if g is None else look(f"grad{i}", g)
        again = [g for g in grads if g is not None and g.requires_grad]
        if twice and again:
            ones = [0.7 * lib.ones_like(g) for g in again]
            for i, g in enumerate(lib.autograd.grad(again, leaves + weights, ones, **options)):
                # Zeros, rounding errors that stand for them and no gradient are one thing here.
                small = g is None or not g.numel() or bool((g.abs() < 1e-7).all())
                seen |= {} if small else look(f"twice{i}", g)
                seen.pop(f"twice{i}.strides", None)
        return seen


def look(what, tensor, values=True):
    dtype = dtype_name(tensor)
    seen = {"dtype": dtype, "shape": tuple(tensor.shape), "requires_grad": tensor.requires_grad}
    seen["strides"] = layout(tensor)
    if values:
        wide = tensor.detach().resolve_conj()
        seen["values"] = Values(wide, TOLERANCE.get(dtype, PLAIN)) if tensor.numel() else None
    return {f"{what}.{name}": value for name, value in seen.items()}


def short(value):
    return " ".join(repr(value).split())[:100]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_variants(lib, torch, name):
    samples = [sample for sample in SAMPLES[name] if sample.raises is None]
    lines = []
    for seed in range(COUNT if samples else 0):
        rng = random.Random(zlib.crc32(f"{name} {seed}".encode()))
        variant = Variant(name, rng.choice(samples), rng)
        there = variant.run(torch)
        # What PyTorch cannot differentiate, or fails an internal check in, has nothing to compare.
        if there is None or "backward" in there:
            continue
        here = variant.run(lib)
        for path in [*there, *(path for path in here if path not in there)]:
            a, b = here.get(path, "missing"), there.get(path, "missing")
            both = path == "outcome" and a != "ok" != b
            if both or (type(a) is type(b) and a == b):
                continue
            allowed = RULES.sample(name, "variant", path, a, b)
            if not allowed:
                lines.append(f"  {seed}: {variant.sample!r}: {path}: {short(a)}, {short(b)} there")
            if not allowed or path == "outcome":
                break
    assert not lines, f"{name}\n" + "\n".join(lines)
