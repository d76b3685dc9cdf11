"""Activations as nn.functional has them: with an `inplace` parameter, or as compositions."""

from imode import ops
from imode._core.tensor import Tensor

from .schema import functional

# ---- composites ---------------------------------------------------------------------------------


@functional("softsign")
def softsign(input):
    """Return ``x / (1 + abs(x))``."""
    return input / (input.abs() + 1)


@functional("tanhshrink")
def tanhshrink(input):
    """Return ``x - tanh(x)``."""
    return input - input.tanh()


@functional("glu")
def glu(input, dim=-1):
    """Return the first half along `dim` times the sigmoid of the second half."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    if input.shape[dim] % 2:
        wrapped = dim % input.dim()
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {wrapped} is size {input.shape[dim]}"
        )
    first, second = input.chunk(2, dim)
    return first * second.sigmoid()


# ---- nn.functional: with an `inplace` parameter --------------------------------------------------


@functional("relu")
def _relu(input, inplace=False):
    """Return the elements, negative ones replaced by 0."""
    return ops.relu_(input) if inplace else ops.relu(input)


@functional("relu6")
def _relu6(input, inplace=False):
    """Return the elements moved into [0, 6]."""
    return _hardtanh(input, 0.0, 6.0, inplace)


@functional("hardtanh")
def _hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """Return the elements moved into [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if isinstance(input, Tensor) and not input.is_floating_point():
        if input.dtype.name == "bool":
            raise RuntimeError("Bool inputs not supported for hardtanh")
        min_val, max_val = int(min_val), int(max_val)
    return (ops.hardtanh_ if inplace else ops.hardtanh)(input, min_val, max_val)


@functional("hardsigmoid")
def _hardsigmoid(input, inplace=False):
    """Return ``relu6(x + 3) / 6``."""
    return ops.hardsigmoid_(input) if inplace else ops.hardsigmoid(input)


@functional("hardswish")
def _hardswish(input, inplace=False):
    """Return ``x * relu6(x + 3) / 6``."""
    return ops.hardswish_(input) if inplace else ops.hardswish(input)


@functional("silu")
def _silu_function(input, inplace=False):
    """Return ``x * sigmoid(x)``."""
    return ops.silu_(input) if inplace else ops.silu(input)


@functional("mish")
def _mish(input, inplace=False):
    """Return ``x * tanh(softplus(x))``."""
    return ops.mish_(input) if inplace else ops.mish(input)


@functional("leaky_relu")
def _leaky_relu(input, negative_slope=0.01, inplace=False):
    """Return the elements, negative ones times `negative_slope`."""
    return (ops.leaky_relu_ if inplace else ops.leaky_relu)(input, negative_slope)


@functional("elu")
def _elu(input, alpha=1.0, inplace=False):
    """Return the elements, x below 0 replaced by ``alpha * (exp(x) - 1)``."""
    return (ops.elu_ if inplace else ops.elu)(input, alpha)


@functional("selu")
def _selu(input, inplace=False):
    """Return the scaled exponential linear unit, which keeps mean 0 and variance 1."""
    return (ops.selu_ if inplace else ops.selu)(input)


@functional("celu")
def _celu_function(input, alpha=1.0, inplace=False):
    """Return the elements, x below 0 replaced by ``alpha * (exp(x / alpha) - 1)``."""
    return (ops.celu_ if inplace else ops.celu)(input, alpha)


@functional("threshold")
def _threshold(input, threshold, value, inplace=False):
    """Return the elements, those not above `threshold` replaced by `value`."""
    return (ops.threshold_ if inplace else ops.threshold)(input, threshold, value)
