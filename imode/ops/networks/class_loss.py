"""Losses of classes: from log-probabilities (nll_loss) and from logits (cross_entropy).

As in `loss`, the public one hands its reduction's number to the private operator that is recorded.
"""

from imode import errors, ops
from imode._core.type_names import scalar_name
from imode.kernels.networks import loss as kernels
from imode.ops.gradient_checks import expect, expect_float
from imode.ops.networks import composites_fast
from imode.ops.networks.reduction import MEAN, NONE, SUM, check_constant, reduction_number
from imode.ops.pointwise.common import zeros
from imode.ops.schema import composite, op


def _nll_backward(grad, x, target, weight, reduction, ignore_index, total_weight):
    name = "_nll_loss_backward"
    expect_float(name, "self", x, (1, 64))
    each = x.shape[:1] + x.shape[2:] if x.ndim > 1 else ()
    if x.ndim > 1 or target.ndim:  # one target for one row may also be a vector
        expect(name, "target", target, each or (1,))
    classes = x.shape[1 if x.ndim > 1 else 0]
    if weight is not None:
        expect(name, "weight", weight, (classes,), x.dtype)
    expect(name, "grad_output", grad, () if reduction else target.shape, x.dtype)
    expect(name, "total_weight", total_weight, ())
    return kernels.nll_backward(grad, x, target, weight, reduction, ignore_index, total_weight)


def _declare_nll(name):
    """The negative log-likelihood and its gradient, as operators."""
    backward = op(
        f"{name}_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, "
        "int reduction, int ignore_index, Tensor total_weight) -> Tensor",
        _nll_backward,
        derivative={
            "grad_output": lambda grad, target, weight, reduction, ignore_index: getattr(ops, name)(
                grad, target, weight, reduction, ignore_index
            )[0],
            "self": zeros,
        },
        variants="",
    )
    op(
        f"{name}(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) "
        "-> (Tensor result, Tensor total_weight)",
        kernels.nll_loss,
        derivative={"self": backward},
        variants="",
    )


_declare_nll("_nll_loss")
_declare_nll("_nll_loss2d")


def _nll(input, target, weight, reduction, ignore_index):
    """nll_loss over any number of dimensions, by the reduction's number."""
    dim = input.dim()
    if dim == 0:
        raise errors.shapes.no_rows()
    check_constant("nll_loss_forward" if dim <= 2 else "nll_loss2d_forward", "weight", weight)
    if dim <= 2:
        return ops._nll_loss(input, target, weight, reduction, ignore_index)[0]
    if target.dim() == 0 or input.shape[0] != target.shape[0]:
        raise errors.shapes.batch_sizes(input.shape, target.shape)
    if dim == 4:
        if target.dim() != 3:
            raise RuntimeError(
                "only batches of spatial targets supported (3D tensors) but got targets of "
                f"dimension: {target.dim()}"
            )
        return ops._nll_loss2d(input, target, weight, reduction, ignore_index)[0]
    n, classes, *places = input.shape
    if list(target.shape[1:]) != places:
        raise RuntimeError(f"Expected target size {[n, *places]}, got {list(target.shape)}")
    flat = input.reshape(n, classes, 1, -1) if input.numel() else input.reshape(n, classes, 0, 0)
    at = target.reshape(n, 1, -1) if target.numel() else target.reshape(n, 0, 0)
    result = ops._nll_loss2d(flat, at, weight, reduction, ignore_index)[0]
    return result.view(n, *places) if reduction == NONE else result


@composite(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, any size_average=None, "
    "int ignore_index=-100, any reduce=None, str reduction='mean') -> Tensor",
    fast=composites_fast.nll_loss,
    variants="nn",
    checked_by="nll_loss_nd",
)
def nll_loss(input, target, weight, size_average, ignore_index, reduce, reduction):
    """Return minus the log-probabilities of the target classes.

    `input` is (classes) or (n, classes, ...) of log-probabilities, `target` () or (n, ...) of class
    numbers; `weight` is per class, and the mean is weighted by it. Raises IndexError for a target
    that is no class, ValueError or RuntimeError where shapes do not fit.

    >>> logs = imode.tensor([[0.5, 0.25]]).log()
    >>> round(imode.nn.functional.nll_loss(logs, imode.tensor([0])).item(), 4)
    0.6931
    """
    number = reduction_number(size_average, reduce, reduction)
    return _nll(input, target, weight, number, ignore_index)


def _check_smoothing(label_smoothing):
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def _per_class(weight, log_probabilities):
    """The weights of the classes, shaped to multiply."""
    if log_probabilities.dim() > 1:
        return weight.view([1, -1] + [1] * (log_probabilities.dim() - 2))
    return weight


def _probabilities_loss(input, target, weight, reduction, label_smoothing):
    """Cross entropy with a probability for each class."""
    dim = 0 if input.dim() == 1 else 1
    classes = input.shape[dim] if input.dim() else 1
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or "
            f"no classes but got weight tensor of shape: {list(weight.shape)}"
        )
    logs = ops.log_softmax(input, dim)
    if label_smoothing > 0:
        _check_smoothing(label_smoothing)
        target = target * (1 - label_smoothing) + label_smoothing / max(classes, 1)
    factors = None if weight is None else _per_class(weight, logs)
    losses = logs * target
    if weight is not None:
        losses = losses * factors
    if reduction == NONE:
        return -losses.sum(dim)
    if reduction == SUM:
        return -losses.sum()
    return -losses.sum() / (logs.numel() // classes if logs.numel() else 0)


def _smoothed_loss(input, target, weight, reduction, ignore_index, label_smoothing):
    """Cross entropy with class numbers, part of it spread over all classes."""
    _check_smoothing(label_smoothing)
    dim = 0 if input.dim() == 1 else 1
    logs = ops.log_softmax(input, dim)
    exact = _nll(logs, target, weight, reduction, ignore_index)
    each = logs if weight is None else logs * _per_class(weight, logs)
    ignored = target == ignore_index
    smoothed = (-each.sum(dim)).masked_fill(ignored, 0.0)
    if reduction == SUM:
        smoothed = smoothed.sum()
    elif reduction == MEAN and weight is None:
        smoothed = smoothed.sum() / ops.logical_not(ignored).sum()
    elif reduction == MEAN:
        counted = target.masked_select(ops.logical_not(ignored)).flatten()
        smoothed = smoothed.sum() / weight.gather(0, counted).sum()
    smoothed = smoothed * (label_smoothing / input.shape[dim])  # first, as its node's number tells
    return (1 - label_smoothing) * exact + smoothed


@composite(
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, any size_average=None, "
    "int ignore_index=-100, any reduce=None, str reduction='mean', float label_smoothing=0.0) "
    "-> Tensor",
    fast=composites_fast.cross_entropy,
    variants="nn",
    checked_by="cross_entropy_loss",
)
def cross_entropy(
    input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing
):
    """Return the cross entropy of logits and target classes, or target probabilities.

    `input` is (classes) or (n, classes, ...). A `target` of the same shape holds probabilities, one
    without the class dimension class numbers. `label_smoothing` mixes in the uniform distribution.
    Raises IndexError for a target that is no class, ValueError or RuntimeError where shapes or
    dtypes do not fit.

    >>> loss = imode.nn.functional.cross_entropy(imode.zeros(1, 2), imode.tensor([0]))
    >>> round(loss.item(), 4)
    0.6931
    """
    number = reduction_number(size_average, reduce, reduction)
    if input.dim() == target.dim() and input.shape == target.shape:
        if not target.is_floating_point():
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                f"{scalar_name(target.dtype)}"
            )
        if input.dim() == 0:
            raise IndexError("Dimension specified as 1 but tensor has no dimensions")
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _probabilities_loss(input, target, weight, number, label_smoothing)
    if label_smoothing > 0:
        return _smoothed_loss(input, target, weight, number, ignore_index, label_smoothing)
    logs = ops.log_softmax(input, 0 if input.dim() == 1 else 1)
    return _nll(logs, target, weight, number, ignore_index)


def _check_linear(input, linear_weight, target, linear_bias, ignore_index):
    if not 1 <= input.dim() <= 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(
            "expected linear_weight with dimensionality at least 2, got " + str(linear_weight.dim())
        )
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    classes, *more = linear_weight.shape[:-1]
    if linear_bias is not None and tuple(linear_bias.shape) != (classes, *more):
        raise RuntimeError(
            f"expected linear_bias shape {(classes, *more)}, got {tuple(linear_bias.shape)}"
        )
    if more and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} "
            f"requires batched input, (N, {input.shape[-1]}), got unbatched input with shape "
            f"{tuple(input.shape)}"
        )
    shape = (*input.shape[:-1], classes, *more)
    if target.shape == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    return shape


@composite(
    "linear_cross_entropy(Tensor input, Tensor linear_weight, Tensor target, *, "
    "Tensor? linear_bias=None, Tensor? weight=None, str reduction='mean', int? ignore_index=None, "
    "float label_smoothing=0.0, any options=None) -> Tensor",
    variants="nn",
)
def linear_cross_entropy(
    input,
    linear_weight,
    target,
    linear_bias,
    weight,
    reduction,
    ignore_index,
    label_smoothing,
    options,
):
    """Return the cross entropy of a linear layer's results and target classes.

    As `cross_entropy` of `linear(input, linear_weight, linear_bias)`. linear_weight: (classes, ...,
    in_features), where more dimensions give logits of (n, classes, ...). Raises RuntimeError where
    shapes do not fit. `options` change nothing: all logits are computed at once.

    >>> weight, target = imode.zeros(2, 3), imode.tensor([0])
    >>> loss = imode.nn.functional.linear_cross_entropy(imode.ones(1, 3), weight, target)
    >>> round(loss.item(), 4)
    0.6931
    """
    shape = _check_linear(input, linear_weight, target, linear_bias, ignore_index)
    if linear_weight.dim() > 2:
        linear_weight = linear_weight.reshape(-1, linear_weight.shape[-1])
        linear_bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = ops.linear(input, linear_weight, linear_bias).reshape(shape)
    ignore = -100 if ignore_index is None else ignore_index
    return ops.cross_entropy(
        logits,
        target,
        weight=weight,
        ignore_index=ignore,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
