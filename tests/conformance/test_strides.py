"""Random layouts of every operator's operands: the strides of results, of gradients and of `.grad`
are PyTorch's, in dimensions of size 1, too, by which later results are laid out.
"""

import copy
import random
import zlib

import pytest

from tests.samples import D, T, load

from .calls import called, function, tensors_of

SAMPLES = called(load(of_pytorch=True), "strides")
COUNT = 12  # programs of each operator
KINDS = ["rows", "permuted", "permuted", "gaps", "expanded", "channels last", "odd"]
# Conjugates are no views here; half complex numbers are wider.
APART = {"adjoint", "conj", "complex", "view_as_complex", "view_as_complex_copy"}
# Results that PyTorch fills instead of computing, and odd operands of sums: strides of size 1.
LOOSE = {
    "adaptive_avg_pool2d", "all", "aminmax", "any", "batch_norm", "broadcast_tensors", "cdist",
    "binary_cross_entropy_with_logits", "clamp", "conv1d", "conv2d", "isfinite", "isinf", "isreal",
    "logit", "multinomial", "nansum", "pow", "prod", "sinc", "view_as_real",
    "view_as_real_copy",
}  # fmt: skip

# Backward of integers that have a history, and of images that are not contiguous: PyTorch raises.
REFUSED = {
    "bernoulli_.Tensor", "nll_loss",
    # gradients that are there, of matrices' condition; a history that `cov` has of weights
    "cov", "linalg_cond", "linalg_cond.p_str",
    # PyTorch's views of its operands fail where these have gaps
    "conv_tbc",
    # LAPACK's drivers refuse a gradient in PyTorch
    "linalg_lstsq",
}  # fmt: skip
# Gates of another number than the states ask for, of which PyTorch's library takes the first.
# Matrices of equal rows, of which the last pivot is 0 or not by how MKL rounds on the processor.
TAKEN = {"lstm.input", "linalg_lu_factor"}
# Gradients that are computed in rows, or column by column, whatever the operands' layout: of
# networks and of decompositions, where PyTorch's follow the steps of its own formulas.
OWN_LAYOUT = {
    "_upsample_bicubic2d_aa", "_upsample_bicubic2d_aa.vec", "upsample_bicubic2d.vec",
    "upsample_nearest3d.vec", "avg_pool3d", "conv_transpose2d", "fft_ihfft2", "gru.data",
    "gru_cell", "linalg_householder_product", "linalg_matrix_power", "linalg_solve_triangular",
    "lstm.input", "orgqr", "ormqr", "rms_norm", "rnn_relu.data", "rnn_relu_cell", "rnn_tanh.input",
    "rnn_tanh_cell",
}  # fmt: skip


def drawn_strides(rng, shape):
    """Return strides for a tensor of this shape: of any order, with gaps, expanded, odd."""
    kind, order = rng.choice(KINDS), list(range(len(shape)))
    if kind in ("permuted", "gaps", "expanded"):
        rng.shuffle(order)
    elif kind == "channels last" and len(shape) > 2:
        order = [0, *range(2, len(shape)), 1]
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        step *= 2 if kind == "gaps" and rng.random() < 0.5 else 1
        strides[d] = 0 if kind == "expanded" and rng.random() < 0.4 else step
        step *= shape[d]
    for d, n in enumerate(shape):
        if n == 1 and rng.random() < (0.7 if kind == "odd" else 0.2):
            strides[d] = rng.choice([0, 1, 2, 3, 5, 7, 12, 100, step, *strides])
    return strides


def laid_out(lib, tensor, strides):
    """Return a leaf with the numbers of `tensor`, or some of them where a stride is 0."""
    shape, offset = tuple(tensor.shape), 2
    length = offset + 1 + sum((n - 1) * step for n, step in zip(shape, strides))
    made = lib.zeros(length, dtype=tensor.dtype).as_strided(shape, strides, offset)
    target = made
    for d, (n, step) in enumerate(zip(shape, strides)):
        if step == 0 and n > 1:
            tensor, target = tensor.narrow(d, 0, 1), target.narrow(d, 0, 1)
    target.copy_(tensor)
    return made.detach()


class Laid(T):
    """A tensor argument in other sizes and another layout, as a `T` is made."""

    def __init__(self, given, rng, sizes):
        self.__dict__.update(given.__dict__)
        self.view = given.view if callable(given.view) else None
        if given.values is None and self.view is None:
            self.shape = tuple(sizes.get(n, n) for n in given.shape)
        self.strides = drawn_strides(rng, self.shape)

    def make(self, lib, *args):
        made = super().make(lib, *args)
        return made if self.view else laid_out(lib, made, self.strides)

    def __repr__(self):
        return f"{super().__repr__()}@{self.strides}"


class Program:
    """A sample whose operands lie in memory at random, and how it is run."""

    def __init__(self, name, sample, rng):
        self.name, self.rng, self.tensors = name, rng, []
        self.sizes = {n: rng.choice([1, 1, 2, n, n]) for n in range(1, 10)}
        self.sizes = self.sizes if rng.random() < 0.7 else {}
        self.grad, self.seed = rng.random() < 0.6, rng.random()
        self.sample = copy.copy(sample)
        self.sample.args = [self.changed(value) for value in sample.args]
        self.sample.kwargs = {k: self.changed(value) for k, value in sample.kwargs.items()}

    def changed(self, value):
        if isinstance(value, T):
            self.tensors.append(Laid(value, self.rng, self.sizes))
            if self.name.endswith(".data") and not value.floating:
                self.tensors[-1].strides = [1]  # sizes of batches: PyTorch reads them as in a row
            return self.tensors[-1]
        if isinstance(value, (list, tuple)) and any(
            isinstance(item, (T, D, list, tuple)) for item in value
        ):
            return type(value)(self.changed(item) for item in value)
        return value

    def run(self, lib):
        """Return {what: (shape, strides)}; None where it raises, as it must in both libraries."""
        lib.manual_seed(0)
        try:
            args, kwargs, tensors = self.sample.make(lib)
            call = (self.sample.torch if lib.__name__ == "torch" else None) or function(
                lib, self.name
            )
            pairs = zip(tensors, self.tensors)
            leaves = [t for t, made in pairs if self.grad and made.differentiable]
            for t in leaves:
                t.requires_grad_()
            if self.name.partition(".")[0].endswith("_") and args[0].requires_grad:
                args[0] = args[0].clone()
            results = tensors_of(call(*args, **kwargs), lib)
            seen = {f"result{i}": geometry(t) for i, t in enumerate(results)}
            roots = [t for t in results if t.grad_fn is not None]
            weights = [self.weight(lib, t) for t in roots]
            if roots:
                options = {"retain_graph": True, "allow_unused": True}
                grads = lib.autograd.grad(roots, leaves, weights, **options)
                seen |= {f"grad{i}": geometry(t) for i, t in enumerate(grads)}
                lib.autograd.backward(roots, weights)
                seen |= {f"grad of leaf {i}": geometry(t.grad) for i, t in enumerate(leaves)}
        except Exception:
            return None
        return seen

    def weight(self, lib, t):
        strides = drawn_strides(random.Random(self.seed), tuple(t.shape))
        return laid_out(lib, lib.ones(t.shape, dtype=t.dtype), strides)


def geometry(tensor):
    """The shape and strides; None where there are no elements, whose strides may be any."""
    if tensor is None or not tensor.numel():
        return None
    return tuple(tensor.shape), tensor.stride()


def long_ones(found):
    """The strides of dimensions longer than 1."""
    return found and (found[0], [step for n, step in zip(*found) if n > 1])


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_strides(lib, torch, name):
    base = name.partition(".")[0]
    same = long_ones if base.rstrip("_") in LOOSE else lambda found: found
    lines = []
    for number in range(0 if base in APART else COUNT):
        rng = random.Random(zlib.crc32(f"{name} {number}".encode()))
        program = Program(name, rng.choice(SAMPLES[name]), rng)
        there, here = program.run(torch), program.run(lib)
        if (there is None) != (here is None) and name not in (REFUSED if here else TAKEN):
            lines.append(f"  {program.sample!r}: raises {'there' if here else 'here'} alone")
        for what in there if there and here else ():
            if name in OWN_LAYOUT and what.startswith("grad"):
                continue
            if same(here[what]) != same(there[what]):
                lines.append(f"  {program.sample!r}: {what}: {here[what]}, {there[what]} there")
    assert not lines, f"{name}\n" + "\n".join(lines)
