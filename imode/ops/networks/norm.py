"""Normalisation over batches, layers and groups of channels.

The kernels are `imode.kernels.networks.norm`'s. Their gradients are operators with derivatives of
their own, written in differentiable operators; of groups they are composed of these from the
start, as in PyTorch.
"""

from math import prod

import numpy as np

from imode import errors, ops
from imode._core.dispatch import is_grad_enabled
from imode._core.internals import array_of
from imode._core.layout import is_channels_last
from imode.kernels.networks import norm
from imode.ops.composites_fast import passed_on
from imode.ops.gradient_checks import expect, expect_float, wanted
from imode.ops.networks import composites_fast, functional_fast
from imode.ops.reductions.variance import var_mean_backward
from imode.ops.schema import composite, functional, op

# ---- second derivatives -------------------------------------------------------------------------


def _through(grad, hat, rstd, dims):
    """The gradient through (x - mean) * rstd, where `hat` is that result and both depend on x."""
    common = grad.mean(dims, keepdim=True) + hat * (grad * hat).mean(dims, keepdim=True)
    return (grad - common) * rstd


def _standardise(x, dims, eps):
    """Return (x - mean) * rstd and rstd over `dims`."""
    centered = x - x.mean(dims, keepdim=True)
    rstd = (centered.square().mean(dims, keepdim=True) + eps).rsqrt()
    return centered * rstd, rstd


def _twice(grads, grad, hat, rstd, dims, scale, other):
    """The gradients of a normalisation's gradients: by `grad`, by x, and by the scale, or None.

    `grads` are those that arrive for the gradients of x, of the scale and of the shift; scale and
    shift lie along the dimensions that are not in `other`. `hat` is (x - mean) * rstd, over `dims`,
    or by statistics that do not depend on x: then `dims` is None.
    """
    to_x, to_scale, to_shift = grads
    scaled = grad if scale is None else grad * scale
    of_grad = of_x = of_scale = None
    if to_x is not None:
        passed = to_x * rstd if dims is None else _through(to_x, hat, rstd, dims)
        of_grad = passed if scale is None else passed * scale
        of_scale = None if scale is None else _over(grad * passed, other)
    if to_x is not None and dims is not None:
        along = (to_x * hat).mean(dims, keepdim=True)
        weight = (scaled * hat).mean(dims, keepdim=True)
        both = to_x * (scaled - scaled.mean(dims, keepdim=True))
        bend = both.mean(dims, keepdim=True) - along * weight
        of_x = -_through(rstd * (weight * to_x + along * scaled), hat, rstd, dims)
        of_x = of_x - rstd * rstd * bend * hat
    if to_scale is not None:
        of_grad = _plus(of_grad, hat * to_scale)
        part = grad * to_scale
        of_x = _plus(of_x, part * rstd if dims is None else _through(part, hat, rstd, dims))
    if to_shift is not None:
        of_grad = _plus(of_grad, to_shift.expand(grad.shape))
    return of_grad, of_x, of_scale


def _plus(a, b):
    return b if a is None else a + b


def _over(x, dims):
    return x.sum(dims) if dims else x


# ---- batch norm ---------------------------------------------------------------------------------


def _batch_norm_twice(grads, grad_out, input, weight, running_mean, running_var, train, eps):
    dims = [d for d in range(input.dim()) if d != 1]
    shape = [1, -1] + [1] * (input.dim() - 2)
    if train:
        hat, rstd = _standardise(input, dims, eps)
    else:
        rstd = (running_var.view(shape) + eps).rsqrt()
        hat = (input - running_mean.view(shape)) * rstd
    to_input, *others = grads
    wide = [None if t is None else t.view(shape) for t in (weight, *others)]
    of_grad, of_input, of_weight = _twice(
        (to_input, *wide[1:]), grad_out, hat, rstd, dims if train else None, wide[0], dims
    )
    return of_grad, of_input, of_weight, None, None


def _expect_same(kernel, grad, x, **statistics):
    """A gradient like x, and one-dimensional statistics {name: (array or None, their number)}."""
    expect_float(kernel, "input", x, (1, 64))
    expect(kernel, "grad_output", grad, x.shape, x.dtype)
    for name, (array, count) in statistics.items():
        if array is None:
            continue
        expect(kernel, name, array.reshape(-1), (count,))
        mixed = x.dtype.itemsize == 2 and array.dtype == np.float32
        if array.dtype != x.dtype and not mixed:
            expect(kernel, name, array, array.shape, x.dtype)


def _expect_channels(kernel, x):
    if x.ndim < 2:
        raise RuntimeError(f"{kernel}(): expected channels, but got the shape {list(x.shape)}")


def batch_norm_backward(
    grad, input, weight, running_mean, running_var, training, eps, result1, result2, needs
):
    return ops.native_batch_norm_backward(
        grad, input, weight, running_mean, running_var, result1, result2, training, eps, needs
    )


op(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool training, float momentum, float eps) "
    "-> (Tensor result, Tensor result1, Tensor result2)",
    norm.native_batch_norm,
    writes=("running_mean", "running_var"),
    derivative={("input", "weight", "bias"): batch_norm_backward},
    others_constant=True,
    variants="function",
    doc="""Normalise each channel of (n, channels, ...), then scale and shift it.

    As `batch_norm`; also returns the mean and 1 / deviation of each channel, of no elements where
    the running statistics were used.

    >>> x = imode.tensor([[1.0], [3.0]])
    >>> imode.native_batch_norm(x, None, None, None, None, True, 0.1, 0.0)[1]
    tensor([2.])
    """,
)


@op(
    "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, "
    "Tensor? running_mean, Tensor? running_var, Tensor save_mean, Tensor save_invstd, "
    "bool train, float eps, any output_mask) -> (Tensor result, Tensor result1, Tensor result2)",
    derivative={("grad_out", "input", "weight", "save_mean", "save_invstd"): _batch_norm_twice},
    shows={"save_mean": True, "save_invstd": True},
    variants="",
)
def native_batch_norm_backward(
    grad, x, weight, running_mean, running_var, mean, invstd, training, eps, needs
):
    """The gradients of `native_batch_norm`, None where the last argument is False."""
    name = "native_batch_norm_backward"
    _expect_channels(name, x)
    c = x.shape[1]
    if training:
        _expect_same(name, grad, x, weight=(weight, c), mean=(mean, c), invstd=(invstd, c))
    elif running_mean is None or running_var is None:
        raise RuntimeError(f"{name}(): expected running statistics outside of training")
    else:
        running = {"running_mean": (running_mean, c), "running_var": (running_var, c)}
        _expect_same(name, grad, x, weight=(weight, c), **running)
    return norm.batch_norm_backward(
        grad, x, weight, running_mean, running_var, mean, invstd, training, eps, wanted(name, needs)
    )


@composite(
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    fast=composites_fast.batch_norm,
    variants="function",
)
def batch_norm(
    input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
):
    """Normalise each channel of (n, channels, ...), then scale and shift it.

    In training by the batch's own mean and variance, towards which the running ones move;
    otherwise by the running ones. `cudnn_enabled` has no effect. Raises RuntimeError where lengths
    do not fit.

    >>> x = imode.tensor([[1.0], [3.0]])
    >>> imode.batch_norm(x, None, None, None, None, True, 0.1, 0.0, False).tolist()
    [[-1.0], [1.0]]
    """
    if input.numel() == 0:  # of any shape: one number of each is enough to record them
        result = input.clone()
        result = result if weight is None else result * weight[0]
        return result if bias is None else result + bias[0]
    if training and not (input.is_floating_point() or input.is_complex() or _in_order(input)):
        input.mean()  # raises: of what lies in another order PyTorch takes the mean on its own
    return ops.native_batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )[0]


CHANNELS_LAST = {4: "channels_last", 5: "channels_last_3d"}  # by the number of dimensions


def _in_order(x):
    return x.is_contiguous() or (
        x.dim() in CHANNELS_LAST and x.is_contiguous(memory_format=CHANNELS_LAST[x.dim()])
    )


def _check_batch(size):
    """Refuse to normalise single values: their variance is zero."""
    if size[0] * prod(size[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


@functional("batch_norm")
def batch_norm_functional(
    input,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-5,
):
    """Normalise each channel of (n, channels, ...), then scale and shift it.

    As `imode.batch_norm`. Raises ValueError for a training batch of single values, and for an `eps`
    below 0, or that is 0 in training.

    >>> x = imode.tensor([[1.0], [3.0]])
    >>> imode.nn.functional.batch_norm(x, None, None, training=True).round().tolist()
    [[-1.0], [1.0]]
    """
    if training and input.shape[0] == 1:
        _check_batch(input.shape)
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    return batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, False
    )


# ---- layer norm ---------------------------------------------------------------------------------


def _layer_norm_backward(grad, input, normalized_shape, weight, bias, result1, result2, needs):
    return ops.native_layer_norm_backward(
        grad, input, normalized_shape, result1, result2, weight, bias, needs
    )


def _layer_norm_twice(grads, grad_out, input, normalized_shape, rstd, weight):
    rows = list(range(input.dim() - len(normalized_shape)))
    dims = list(range(len(rows), input.dim()))
    # What was added to the variance, for the derivatives of this: it is not an argument.
    spread = (input - input.mean(dims, keepdim=True)).detach().square().mean(dims, keepdim=True)
    eps = rstd.detach().reshape(spread.shape).pow(-2) - spread
    hat, rstd = _standardise(input, dims, eps)
    of_grad, of_input, of_weight = _twice(grads, grad_out, hat, rstd, dims, weight, rows)
    return of_grad, of_input, None, None, of_weight, None


op(
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, "
    "float eps) -> (Tensor result, Tensor result1, Tensor result2)",
    norm.native_layer_norm,
    derivative={("input", "weight", "bias"): _layer_norm_backward},
    variants="function",
    doc="""Normalise the last dimensions, then scale and shift them.

    As `layer_norm`; also returns the mean and 1 / deviation of each row.

    >>> imode.native_layer_norm(imode.tensor([1.0, 3.0]), (2,), None, None, 0.0)[1]
    tensor([2.])
    """,
)


@op(
    "native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, "
    "Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, any output_mask) "
    "-> (Tensor result, Tensor result1, Tensor result2)",
    derivative={
        ("grad_out", "input", "mean", "rstd", "weight", "bias"): _layer_norm_twice,
    },
    shows={"mean": True},
    variants="",
)
def native_layer_norm_backward(grad, x, shape, mean, rstd, weight, bias, needs):
    """The gradients of `native_layer_norm`, None where the last argument is False.

    >>> x = imode.tensor([[1.0, 3.0]])
    >>> given = (x, x, (2,), imode.tensor([[2.0]]), imode.ones(1, 1), None, None)
    >>> imode.ops.native_layer_norm_backward(*given, (True, False, False))[0]
    tensor([[0., 0.]])
    """
    name = "native_layer_norm_backward"
    size = prod(shape)
    if not shape or x.shape[-len(shape) :] != shape:
        raise RuntimeError(f"{name}(): {list(shape)} are not the last sizes of {list(x.shape)}")
    rows = prod(x.shape[: -len(shape)])
    _expect_same(name, grad, x, mean=(mean, rows), rstd=(rstd, rows), weight=(weight, size))
    return norm.layer_norm_backward(grad, x, shape, mean, rstd, weight, wanted(name, needs))


@composite(
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05, bool cudnn_enable=True) -> Tensor",
    fast=passed_on("native_layer_norm"),
    variants="function nn",
)
def layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable):
    """Normalise the last dimensions, then scale and shift them.

    `normalized_shape` is the shape of these dimensions, of `weight` and of `bias`. `cudnn_enable`
    has no effect. Raises RuntimeError where the shapes differ.

    >>> imode.layer_norm(imode.tensor([1.0, 3.0]), (2,), eps=0.0).tolist()
    [-1.0, 1.0]
    """
    return ops.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


# ---- group norm ---------------------------------------------------------------------------------


def _group_norm_backward(grads, input, weight, N, C, HxW, group, result1, result2, needs):
    grad, to_mean, to_rstd = grads
    if not is_grad_enabled() and to_mean is None and to_rstd is None:
        return ops.native_group_norm_backward(
            grad, input, result1, result2, weight, N, C, HxW, group, needs
        )
    each = C // group
    inner = (N, group, each, HxW)
    x, mean, rstd = (
        input.reshape(inner),
        *(t.reshape((N, group, 1, 1)) for t in (result1, result2)),
    )
    scale = None if weight is None else weight.reshape((1, group, each, 1))
    of_input = of_weight = of_bias = None
    if grad is not None:
        wide = grad.reshape(inner)
        dot, total = ((wide * x).sum(3).unsqueeze_(-1), wide.sum(3).unsqueeze_(-1))
    if needs[0] and grad is not None:
        of_input = _group_slope(wide, x, mean, rstd, scale, dot, total)
    if needs[0] and (to_mean is not None or to_rstd is not None):
        moments = [None if t is None else t.view((N, group, 1, 1)) for t in (to_rstd, to_mean)]
        if to_rstd is not None:
            moments[0] = rstd * rstd * rstd * -0.5 * moments[0]
        of_input = _plus(of_input, var_mean_backward(moments, x, (2, 3), 0, True))
    if of_input is not None:
        of_input = of_input.reshape(input.shape)
    if needs[1] and grad is not None:
        of_weight = ((dot - total * mean) * rstd).sum(0).reshape(weight.shape)
    if needs[2] and grad is not None:
        of_bias = total.sum(0).reshape((C,))
    return of_input, of_weight, of_bias


def _group_slope(grad, x, mean, rstd, scale, dot, total):
    """The input's gradient; `dot` and `total`: the sums of grad * x and of grad per channel."""
    cube = rstd * rstd * rstd
    by_grad = rstd if scale is None else rstd * scale
    parts = [(t if scale is None else t * scale).sum(2).unsqueeze_(-2) for t in (dot, total)]
    share = 1.0 / max(x.size(2) * x.size(3), 1)
    by_x = (parts[1] * mean - parts[0]) * cube * share
    shift = -by_x * mean - parts[1] * rstd * share
    return by_grad * grad + by_x * x + shift


op(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, "
    "int group, float eps) -> (Tensor result, Tensor result1, Tensor result2)",
    norm.native_group_norm,
    derivative={("input", "weight", "bias"): _group_norm_backward},
    shows={"eps": True},
    variants="function",
    doc="""Normalise groups of channels of each sample, then scale and shift each channel.

    As `group_norm`, of `N` samples of `C` channels of `HxW` elements in `group` groups; also
    returns the mean and 1 / deviation of each group.

    >>> imode.native_group_norm(imode.tensor([[1.0, 3.0]]), None, None, 1, 2, 1, 1, 0.0)[1]
    tensor([[2.]])
    """,
)


@op(
    "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, "
    "Tensor? weight, int N, int C, int HxW, int group, any output_mask) "
    "-> (Tensor result, Tensor result1, Tensor result2)",
    differentiable=False,
    variants="",
)
def native_group_norm_backward(grad, x, mean, rstd, weight, n, channels, size, groups, needs):
    """The gradients of `native_group_norm`, None where the last argument is False.

    >>> x = imode.tensor([[1.0, 3.0]])
    >>> given = (x, x, imode.tensor([[2.0]]), imode.ones(1, 1), None, 1, 2, 1, 1)
    >>> imode.ops.native_group_norm_backward(*given, (True, False, False))[0]
    tensor([[0., 0.]])
    """
    name = "native_group_norm_backward"
    if x.size != n * channels * size:
        raise errors.shapes.not_the_groups()
    if groups <= 0 or channels % groups:
        raise RuntimeError(f"{name}(): {channels} channels are not {groups} groups")
    each, needs = n * groups, wanted(name, needs)
    _expect_same(name, grad, x, mean=(mean, each), rstd=(rstd, each), weight=(weight, channels))
    if x.shape[:2] == (n, channels):
        return norm.group_norm_backward(grad, x, mean, rstd, weight, groups, wanted(name, needs))
    grad, wide = (t.reshape((n, channels, size)) for t in (grad, x))
    to_x, *rest = norm.group_norm_backward(
        grad, wide, mean, rstd, weight, groups, wanted(name, needs)
    )
    return None if to_x is None else to_x.reshape(x.shape), *rest


def _group_norm(input, groups, weight, bias, eps):
    if not _in_order(input):  # packed, in the order of dimensions that it has
        last = is_channels_last(array_of(input))
        order = CHANNELS_LAST[input.dim()] if last else "contiguous_format"
        input = input.contiguous(memory_format=order)
    if weight is not None and not _in_order(weight):
        weight = weight.contiguous()
    if bias is not None and not _in_order(bias):
        bias = bias.contiguous()
    if input.dim() < 2:
        for dim in (0, 1):
            input.size(dim)  # raises
    n, channels, *inner = input.shape
    return ops.native_group_norm(input, weight, bias, n, channels, prod(inner), groups, eps)[0]


@composite(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05, bool cudnn_enabled=True) -> Tensor",
    variants="function",
)
def group_norm(input, num_groups, weight, bias, eps, cudnn_enabled):
    """Normalise groups of channels of each sample, then scale and shift each channel.

    `input` is (n, channels, ...). `cudnn_enabled` has no effect. Raises RuntimeError where the
    channels do not divide into the groups.

    >>> imode.group_norm(imode.tensor([[1.0, 3.0]]), 1, eps=0.0).tolist()
    [[-1.0, 1.0]]
    """
    return _group_norm(input, num_groups, weight, bias, eps)


@functional("group_norm")
def group_norm_functional(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalise groups of channels of each sample, then scale and shift each channel.

    As `imode.group_norm`. Raises ValueError where a group is a single value.

    >>> imode.nn.functional.group_norm(imode.tensor([[1.0, 3.0]]), 1, eps=0.0).tolist()
    [[-1.0, 1.0]]
    """
    made = functional_fast.group_norm(input, num_groups, weight, bias, eps)
    if made is not NotImplemented:
        return made
    if input.dim() < 2:
        raise errors.shapes.needs_channels(input.dim())
    if num_groups <= 0 or input.numel() < 2 * num_groups:  # else there is more than one value
        n, channels, *rest = input.shape
        _check_batch([n * channels // num_groups, num_groups, *rest])
    return _group_norm(input, num_groups, weight, bias, eps)
