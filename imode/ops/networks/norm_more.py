"""Normalisation of each sample's channels, by the root mean square, and across channels.

Compositions of operators, as in PyTorch.
"""

from math import prod

from imode import errors, ops
from imode._core.internals import array_of
from imode._core.layout import is_channels_last
from imode.ops.composites_fast import replayed
from imode.ops.networks import composites_fast, functional_fast
from imode.ops.networks.norm import CHANNELS_LAST
from imode.ops.schema import composite, functional

# ---- each sample by itself ----------------------------------------------------------------------


def _repeated(given, n):
    return None if given is None else given.repeat(n)


@composite(
    "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) "
    "-> Tensor",
    fast=composites_fast.instance_norm,
    variants="function",
)
@replayed
def instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled
):
    """Normalise each channel of each sample of (n, channels, ...), then scale and shift it.

    By its own mean and variance, towards whose means over the batch the running ones move, or, not
    `use_input_stats`, by the running ones. `cudnn_enabled` has no effect. Raises RuntimeError where
    lengths do not fit.

    >>> x = imode.tensor([[[1.0, 3.0]]])
    >>> imode.instance_norm(x, None, None, None, None, True, 0.1, 0.0, False).tolist()
    [[[-1.0, 1.0]]]
    """
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    n, channels = input.shape[:2]
    rows = (1, n * channels, *input.shape[2:])
    last = n == 1 and is_channels_last(array_of(input))
    order = CHANNELS_LAST[input.dim()] if last else "contiguous_format"
    flat = input.contiguous(memory_format=order).view(rows)
    mean, var = _repeated(running_mean, n), _repeated(running_var, n)
    result = ops.batch_norm(
        flat, _repeated(weight, n), _repeated(bias, n), mean, var, use_input_stats, momentum, eps,
        False,
    )  # fmt: skip
    if running_mean is not None and use_input_stats:
        running_mean.detach().copy_(mean.view((n, channels)).mean(0))
    if running_var is not None and use_input_stats:
        running_var.detach().copy_(var.view((n, channels)).mean(0))
    return result.view(input.shape)


@functional("instance_norm")
def instance_norm_functional(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-5,
):
    """Normalise each channel of each sample of (n, channels, ...), then scale and shift it.

    As `imode.instance_norm`. Raises ValueError for channels of single values.

    >>> x = imode.tensor([[[1.0, 3.0]]])
    >>> imode.nn.functional.instance_norm(x).round().tolist()
    [[[-1.0, 1.0]]]
    """
    made = functional_fast.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )
    if made is not NotImplemented:
        return made
    if use_input_stats and prod(input.shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {input.shape}"
        )
    return ops.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False
    )


# ---- by the root mean square --------------------------------------------------------------------


def _check_rms(input, shape, weight):
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            f"element, but got normalized_shape = {list(shape)}"
        )
    if weight is not None and tuple(weight.shape) != tuple(shape):
        raise RuntimeError(
            "Expected weight to be of same shape as normalized_shape, but got weight of shape "
            f"{list(weight.shape)} and normalized_shape = {list(shape)}"
        )
    if input.dim() < len(shape):
        raise ValueError(
            f"Input tensor must have at least {len(shape)} dimensions, but got {input.dim()}"
        )
    if tuple(input.shape[input.dim() - len(shape) :]) != tuple(shape):
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape "
            f"[*{', '.join(map(str, shape))}], but got input of size{list(input.shape)}"
        )
    if not (input.is_floating_point() or input.is_complex()):
        raise errors.dtypes.not_implemented("rms_norm", input.dtype)


@composite(
    "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) "
    "-> Tensor",
    fast=composites_fast.rms_norm,
    variants="function nn",
)
def rms_norm(input, normalized_shape, weight, eps):
    """Divide the last dimensions by the root of their mean square, then scale them.

    `normalized_shape` is the shape of these dimensions and of `weight`; `eps`, the smallest step
    from 1 of the dtype unless given, is added to the mean. Raises RuntimeError where shapes differ.

    >>> imode.rms_norm(imode.tensor([3.0, 3.0]), (2,)).round().tolist()
    [1.0, 1.0]
    """
    _check_rms(input, normalized_shape, weight)
    if eps is None:
        eps = 1.1920928955078125e-07 if input.element_size() < 8 else 2.220446049250313e-16
    half = input.element_size() == 2
    x = input.float() if half else input
    dims = [input.dim() - 1 - i for i in range(len(normalized_shape))]
    result = x * x.pow(2).mean(dims, keepdim=True).add(eps).rsqrt()
    if weight is not None:
        result = result * weight
    return result.contiguous().to(input.dtype)


# ---- across channels ----------------------------------------------------------------------------


@functional("local_response_norm")
def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divide each channel by a power of the mean square of the `size` channels around it.

    `input` is (n, channels, ...); by `(k + alpha * mean) ** beta`. Raises ValueError for fewer than
    three dimensions.

    >>> x = imode.ones(1, 1, 1)
    >>> imode.nn.functional.local_response_norm(x, 1, alpha=1.0, beta=1.0).item()
    0.5
    """
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality{' ' * 26}input (got {input.dim()} dimensions)"
        )
    return _local_response_norm(input, size, alpha, beta, k) if input.numel() else input


@replayed
def _local_response_norm(input, size, alpha, beta, k):
    squares = input.mul(input)
    sides = (size // 2, (size - 1) // 2)
    if input.dim() == 3:
        squares = ops.pad(squares.unsqueeze(1), (0, 0, *sides))
        mean = ops.avg_pool2d(squares, (size, 1), 1).squeeze(1)
    else:
        shape = input.shape
        squares = squares.view((shape[0], 1, shape[1], shape[2], -1))
        squares = ops.pad(squares, (0, 0, 0, 0, *sides))
        mean = ops.avg_pool3d(squares, (size, 1, 1), 1).squeeze(1).view(shape)
    return input / mean.mul(alpha).add(k).pow(beta)
