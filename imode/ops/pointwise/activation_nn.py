"""Activations as nn.functional has them: with an `inplace` parameter, compositions, gates."""

import numpy as np

from imode import errors, ops
from imode._core.layout import empty_like
from imode._core.loops import run_loop
from imode._core.numbers import number_as
from imode._core.tensor import Tensor
from imode.kernels.pointwise import glu_fast, loops
from imode.kernels.shapes.views import wrap_dim
from imode.ops.gradient_checks import expect
from imode.ops.reductions import dims
from imode.ops.schema import functional, op

# ---- composites ---------------------------------------------------------------------------------


@functional("softsign")
def softsign(input):
    """Return ``x / (1 + abs(x))``.

    >>> imode.nn.functional.softsign(imode.ones(1))
    tensor([0.5000])
    """
    return input / (input.abs() + 1)


@functional("tanhshrink")
def tanhshrink(input):
    """Return ``x - tanh(x)``.

    >>> imode.nn.functional.tanhshrink(imode.ones(1))
    tensor([0.2384])
    """
    return input - input.tanh()


def _split(array, axis):
    """The two halves along `axis`: np.split takes longer than a small glu."""
    half, before = array.shape[axis] // 2, (slice(None),) * axis
    return array[(*before, slice(half))], array[(*before, slice(half, None))]


def _halves(x, dim):
    """The two halves of a tensor, each a view of its own."""
    half = x.size(dim) // 2
    return x.narrow(dim, 0, half), x.narrow(dim, half, half)


def _glu_slope(grad, self, dim):
    ones = ops.ones_like(self.narrow(dim, 0, self.size(dim) // 2))
    to_first, to_second = _halves(grad * ops._glu_backward(ones, self, dim), dim)
    return to_first + to_second


def _glu_bend(grad, grad_output, self, dim):
    first, second = _halves(self, dim)
    gate = second.sigmoid()
    rest = ops.sub(1, gate)
    slope = gate * rest
    to_first, to_second = _halves(grad, dim)
    through = to_second * first
    of_first = to_second * grad_output * slope
    bend = slope * rest - gate * slope
    of_second = through * grad_output * bend + to_first * grad_output * slope
    return ops.cat([of_first, of_second], dim)


@op(
    "_glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor",
    derivative={"grad_output": _glu_slope, "self": _glu_bend},
)
@dims.quiet
def _glu_backward(grad_output, self, dim):
    axis = wrap_dim(dim, self.ndim)
    first, second = _split(self, axis)
    expect("_glu_backward", "grad_output", grad_output, first.shape, self.dtype)
    result = np.empty(self.shape, self.dtype)
    to_first, to_second = _split(result, axis)
    loops.sigmoid(second, out=to_first)
    loops.glu_gate(to_first, first, grad_output, out=to_second)
    np.multiply(to_first, grad_output, out=to_first)
    return result


@op(
    "glu(Tensor self, int dim=-1) -> Tensor",
    derivative={"self": lambda grad, self, dim: ops._glu_backward(grad, self, dim)},
    fast=glu_fast.glu,
    variants="",
)
@dims.quiet
def _glu(self, dim):
    """Return the first half along `dim` times the sigmoid of the second half.

    >>> imode.ops.glu(imode.tensor([3.0, 0.0]))
    tensor([1.5000])
    """
    if self.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    axis = wrap_dim(dim, self.ndim)
    size = self.shape[axis]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {axis} is size {size}")
    if self.dtype.kind != "f":
        raise errors.dtypes.not_implemented("glu_cpu", self.dtype)
    first, second = _split(self, axis)
    # A copy without elements would have the strides of the half.
    made = empty_like(first) if first.size else np.empty(first.shape, first.dtype, like=first)
    return run_loop(loops.glu, made, first, second)


@functional("glu")
def _glu_function(input, dim=-1):
    """Return the first half along `dim` times the sigmoid of the second half.

    >>> imode.nn.functional.glu(imode.tensor([2.0, 0.0]))
    tensor([1.])
    """
    return ops.glu(input, dim)


# ---- nn.functional: with an `inplace` parameter --------------------------------------------------


@functional("relu")
def _relu(input, inplace=False):
    """Return the elements, negative ones replaced by 0.

    >>> imode.relu(imode.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return ops.relu_(input) if inplace else ops.relu(input)


@functional("relu6")
def _relu6(input, inplace=False):
    """Return the elements moved into [0, 6].

    >>> imode.nn.functional.relu6(imode.tensor([-1.0, 2.0, 9.0]))
    tensor([0., 2., 6.])
    """
    return _hardtanh(input, 0, 6, inplace)


@functional("hardtanh")
def _hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """Return the elements moved into [min_val, max_val].

    >>> imode.nn.functional.hardtanh(imode.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (_hardtanh_ if inplace else ops.hardtanh)(input, *_bounds(input, min_val, max_val))


def _bounds(input, min_val, max_val):
    """The two bounds, of integers without their fractions."""
    if isinstance(input, Tensor) and not (input.is_floating_point() or input.is_complex()):
        if input.dtype.name == "bool":
            raise errors.dtypes.bool_hardtanh()
        min_val, max_val = (number_as(bound, np.dtype(np.int64)) for bound in (min_val, max_val))
        if input.dtype.name == "uint8" and (min_val < 0 or max_val < 0):
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return min_val, max_val


@functional("hardtanh_")
def _hardtanh_(input, min_val=-1.0, max_val=1.0):
    """Move the elements into [min_val, max_val], in place; return the tensor.

    >>> imode.nn.functional.hardtanh_(imode.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    return ops.hardtanh_(input, *_bounds(input, min_val, max_val))


@functional("hardsigmoid")
def _hardsigmoid(input, inplace=False):
    """Return ``relu6(x + 3) / 6``.

    >>> imode.nn.functional.hardsigmoid(imode.tensor([-4.0, 0.0]))
    tensor([0.0000, 0.5000])
    """
    return ops.hardsigmoid_(input) if inplace else ops.hardsigmoid(input)


@functional("hardswish")
def _hardswish(input, inplace=False):
    """Return ``x * relu6(x + 3) / 6``.

    >>> imode.nn.functional.hardswish(imode.tensor([-4.0, 3.0]))
    tensor([-0.,  3.])
    """
    return ops.hardswish_(input) if inplace else ops.hardswish(input)


@functional("silu")
def _silu_function(input, inplace=False):
    """Return ``x * sigmoid(x)``.

    >>> imode.nn.functional.silu(imode.zeros(2))
    tensor([0., 0.])
    """
    return ops.silu_(input) if inplace else ops.silu(input)


@functional("mish")
def _mish(input, inplace=False):
    """Return ``x * tanh(softplus(x))``.

    >>> imode.nn.functional.mish(imode.ones(1))
    tensor([0.8651])
    """
    return ops.mish_(input) if inplace else ops.mish(input)


@functional("leaky_relu")
def _leaky_relu(input, negative_slope=0.01, inplace=False):
    """Return the elements, negative ones times `negative_slope`.

    >>> imode.nn.functional.leaky_relu(imode.tensor([-1.0, 2.0]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    return (ops.leaky_relu_ if inplace else ops.leaky_relu)(input, negative_slope)


@functional("elu")
def _elu(input, alpha=1.0, inplace=False):
    """Return the elements, x below 0 replaced by ``alpha * (exp(x) - 1)``.

    >>> imode.nn.functional.elu(imode.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return (ops.elu_ if inplace else ops.elu)(input, alpha)


@functional("selu")
def _selu(input, inplace=False):
    """Return the scaled exponential linear unit, which keeps mean 0 and variance 1.

    >>> imode.nn.functional.selu(imode.tensor([1., 0.]))
    tensor([1.0507, 0.0000])
    """
    return (ops.selu_ if inplace else ops.selu)(input)


@functional("celu")
def _celu_function(input, alpha=1.0, inplace=False):
    """Return the elements, x below 0 replaced by ``alpha * (exp(x / alpha) - 1)``.

    >>> imode.celu(imode.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return (ops.celu_ if inplace else ops.celu)(input, alpha)


@functional("threshold")
def _threshold(input, threshold, value, inplace=False):
    """Return the elements, those not above `threshold` replaced by `value`.

    >>> imode.threshold(imode.tensor([0.5, 2.0]), 1, -1)
    tensor([-1.,  2.])
    """
    return (ops.threshold_ if inplace else ops.threshold)(input, threshold, value)


_threshold.__qualname__ = "_threshold"  # as PyTorch's, for the messages of calls that do not fit
