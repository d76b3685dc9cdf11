"""Losses of differences and of probabilities.

The kernels are `imode.kernels.networks.loss`'s. A public loss takes `reduction` by name and hands
its number to a private operator, which is the one that is recorded. Backward passes that are
themselves recorded (create_graph) use formulas in differentiable operators.
"""

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shapes
from imode._core.layout import empty_like
from imode._core.type_names import scalar_name
from imode._core.user_frames import warn
from imode.kernels.networks import loss as kernels
from imode.kernels.networks.loss import Pairwise
from imode.ops.composites_fast import replayed, varies
from imode.ops.networks import composites_fast
from imode.ops.networks.reduction import MEAN, NONE, check_constant, reduce_losses, reduction_number
from imode.ops.pointwise.common import check_sub
from imode.ops.schema import composite, op

_LEGACY = "any size_average=None, any reduce=None, str reduction='mean'"


def _warn_of_sizes(input, target):
    if target.shape != input.shape:
        message = errors.shapes.target_size(input.shape, target.shape)
        warn(message)
        ops.broadcast_tensors([input.detach(), target.detach()])


# ---- differences --------------------------------------------------------------------------------


def _per_element(grad, self, reduction):
    return grad / self.numel() if reduction == MEAN else grad


def _squared_bend(grad, self, target, reduction, parameter):
    return _per_element(2 * grad, self, reduction)


def _smooth_bend(grad, self, target, reduction, beta):
    return _per_element(grad * ((self - target).abs() < beta) / beta, self, reduction)


def _huber_bend(grad, self, target, reduction, delta):
    return _per_element(grad * ((self - target).abs() < delta), self, reduction)


def _check_same_dtype(self, target):
    if self.dtype != target.dtype:
        names = {"Found": scalar_name(target.dtype), "Wanted": scalar_name(self.dtype)}
        raise RuntimeError(errors.out.FOUND.format(**names))


def _slope_operator(kind, name, bend):
    """The gradient of a loss of differences as an operator; `bend`: by its second derivative."""
    number, is_huber = kind.value, kind == Pairwise.HUBER

    def of_grad_output(grad, grad_output, self, target, reduction, parameter):
        # Else the engine sums what has more elements.
        whole = is_huber and reduction != NONE
        given = ops.ones_like(grad_output) if whole else grad
        slope = getattr(ops, name)(given, self, target, reduction, parameter)
        return (slope * grad).sum() if whole else slope

    def kernel(grad_output, self, target, reduction, parameter):
        if is_huber:
            _check_same_dtype(self, target)
        return kernels.pairwise_backward(number, grad_output, self, target, parameter, reduction)

    op(
        f"{name}(Tensor grad_output, Tensor self, Tensor target, int reduction, float parameter) "
        "-> Tensor",
        kernel,
        derivative={
            "grad_output": of_grad_output,
            "self": lambda grad, grad_output, self, target, reduction, parameter: bend(
                grad * grad_output, self, target, reduction, parameter
            ),
            "target": lambda grad, grad_output, self, target, reduction, parameter: (
                -bend(grad * grad_output, self, target, reduction, parameter)
            ),
        },
        variants="",
    )


_slope_operator(Pairwise.SQUARED, "_mse_loss_backward", _squared_bend)
_slope_operator(Pairwise.SMOOTH, "_smooth_l1_loss_backward", _smooth_bend)
_slope_operator(Pairwise.HUBER, "_huber_loss_backward", _huber_bend)
op(
    "_mse_loss(Tensor self, Tensor target, int reduction) -> Tensor",
    kernels.mse_loss,
    derivative={
        "self": lambda grad, self, target, reduction: ops._mse_loss_backward(
            grad, self, target, reduction, 0.0
        ),
        "target": lambda grad, self, target, reduction: ops._mse_loss_backward(
            grad, target, self, reduction, 0.0
        ),
    },
)
op(
    "_smooth_l1_loss(Tensor self, Tensor target, int reduction, float beta) -> Tensor",
    kernels.smooth_l1,
    fast=kernels.smooth_l1_fast,
    derivative={
        "self": lambda grad, self, target, reduction, beta: ops._smooth_l1_loss_backward(
            grad, self, target, reduction, beta
        ),
        "target": lambda grad, self, target, reduction, beta: ops._smooth_l1_loss_backward(
            grad, target, self, reduction, beta
        ),
    },
)
op(
    "_huber_loss(Tensor self, Tensor target, int reduction, float delta) -> Tensor",
    kernels.huber,
    fast=kernels.huber_fast,
    derivative={
        "self": lambda grad, self, target, reduction, delta: ops._huber_loss_backward(
            grad, self, target, reduction, delta
        ),
        "target": lambda grad, self, target, reduction, delta: ops._huber_loss_backward(
            grad, target, self, reduction, delta
        ),
    },
)


def _alike(input, target):
    """Both in the shape they broadcast to, expanded where that is not their own."""
    if input.shape == target.shape:
        return input, target
    _warn_of_sizes(input, target)
    return ops.broadcast_tensors((input, target))


def _weighted(losses, weight, input, reduction, total=True):
    """Weight elementwise losses and reduce them; the mean is over weights where `total`."""
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    if reduction == NONE:
        return losses
    if reduction == MEAN and not total:
        return losses.mean()
    return losses.sum() / weight.sum() if reduction == MEAN else losses.sum()


@composite(
    f"mse_loss(Tensor input, Tensor target, {_LEGACY}, Tensor? weight=None) -> Tensor",
    fast=composites_fast.mse_loss,
    variants="nn",
)
def mse_loss(input, target, size_average, reduce, reduction, weight):
    """Return the squared differences, their mean or their sum.

    With `weight`, of input's shape, the mean is the weighted one. Warns where the shapes differ,
    raises RuntimeError where they do not broadcast.

    >>> imode.nn.functional.mse_loss(imode.tensor([1.0, 3.0]), imode.zeros(2)).item()
    5.0
    """
    number = reduction_number(size_average, reduce, reduction)
    if weight is not None:
        _warn_of_sizes(input, target)
        return _weighted((input - target).square(), weight, input, number)
    return ops._mse_loss(*_alike(input, target), number)


@composite(
    f"l1_loss(Tensor input, Tensor target, {_LEGACY}, Tensor? weight=None) -> Tensor",
    fast=composites_fast.l1_loss,
    variants="nn",
)
def l1_loss(input, target, size_average, reduce, reduction, weight):
    """Return the absolute differences, their mean or their sum; otherwise as `mse_loss`.

    >>> imode.nn.functional.l1_loss(imode.tensor([1.0, -3.0]), imode.zeros(2)).item()
    2.0
    """
    number = reduction_number(size_average, reduce, reduction)
    input, target = _alike(input, target)
    losses = (input - target).abs()
    return (
        reduce_losses(losses, number)
        if weight is None
        else _weighted(losses, weight, input, number)
    )


@composite(
    f"smooth_l1_loss(Tensor input, Tensor target, {_LEGACY}, float beta=1.0) -> Tensor",
    variants="nn",
)
def smooth_l1_loss(input, target, size_average, reduce, reduction, beta):
    """Return losses that are quadratic for differences below `beta` and linear above.

    Quadratic ones are `difference ** 2 / (2 * beta)`. Raises RuntimeError for a negative `beta`.

    >>> imode.nn.functional.smooth_l1_loss(imode.tensor([3.0]), imode.zeros(1)).item()
    2.5
    """
    number = reduction_number(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        input, target = _alike(input, target)
        return reduce_losses((input - target).abs(), number)
    return ops._smooth_l1_loss(*_alike(input, target), number, beta)


@composite(
    "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, "
    "Tensor? weight=None) -> Tensor",
    variants="nn",
)
def huber_loss(input, target, reduction, delta, weight):
    """Return losses that are quadratic for differences up to `delta` and linear above.

    Quadratic ones are `difference ** 2 / 2`. Raises RuntimeError unless `delta` is positive.

    >>> imode.nn.functional.huber_loss(imode.tensor([3.0]), imode.zeros(1), delta=2.0).item()
    4.0
    """
    number = reduction_number(None, None, reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return ops._huber_loss(*_alike(input, target), number, delta)
    losses = ops._huber_loss(*_alike(input, target), NONE, delta)
    return _weighted(losses, weight, input, number, total=False)


# ---- probabilities ------------------------------------------------------------------------------


@composite(
    f"kl_div(Tensor input, Tensor target, {_LEGACY}, bool log_target=False) -> Tensor",
    variants="nn",
)
@replayed
def kl_div(input, target, size_average, reduce, reduction, log_target):
    """Return the Kullback-Leibler divergence of log-probabilities `input` from `target`.

    `reduction` "batchmean" divides the sum by the first dimension. With `log_target` the target
    holds log-probabilities too. Raises RuntimeError for integer and complex tensors.

    >>> imode.nn.functional.kl_div(imode.zeros(1, 2), imode.ones(1, 2), reduction="sum").item()
    0.0
    """
    batch = reduction == "batchmean"
    if reduction == "mean" and size_average is None and reduce is None:
        varies()
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.",
        )
    number = reduction_number(size_average, reduce, "sum" if batch else reduction)
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        away = target - input
        losses = target.exp() * away
    else:
        product = target * input
        losses = ops.xlogy(target, target) - product
    result = reduce_losses(losses, number)
    # By a tensor, as PyTorch's function in Python divides: Note [Numbers in formulas].
    return result / ops.tensor(input.shape[0]) if batch and input.dim() else result


def _reduce_array(losses, reduction):
    if reduction == NONE:
        return losses
    total = losses.sum(dtype=losses.dtype)
    return total / losses.dtype.type(losses.size) if reduction == MEAN else total


def _scaled(slope, weight, reduction):
    """A gradient of elementwise losses, weighted, and of their mean."""
    if weight is not None:
        slope = slope * weight
    return slope / slope.numel() if reduction == MEAN else slope


_EPSILON = 1e-12  # keeps slopes at 0 and 1 finite


def _entropy_slope_of_grad(grad, self, target, weight, reduction):
    width = (self + _EPSILON) * (ops.sub(1, self) + _EPSILON)
    return _scaled((self - target) / width * grad, weight, reduction)


def _entropy_bend(grad, grad_output, self, target, weight, reduction):
    squares = (self + _EPSILON).square() * (ops.sub(1, self) + _EPSILON).square()
    bend = (self * self - self * 2 * target + target) / squares
    return _scaled(bend * (grad * grad_output), weight, reduction)


def _entropy_bend_of_target(grad, grad_output, self, target, weight, reduction):
    width = ops.sub(1, self) * self
    width.detach().clamp_(min=_EPSILON)  # unrecorded, as in PyTorch
    return _scaled(-grad * grad_output / width, weight, reduction)


@op(
    "_binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, "
    "Tensor? weight, int reduction) -> Tensor",
    derivative={
        "grad_output": _entropy_slope_of_grad,
        "self": _entropy_bend,
        "target": _entropy_bend_of_target,
    },
)
def _entropy_slope(grad_output, self, target, weight, reduction):
    grad, one = grad_output, self.dtype.type(1)
    if weight is not None:
        grad = grad * weight
    if reduction == MEAN:
        grad = grad / self.dtype.type(self.size)
    width = np.maximum((one - self) * self, self.dtype.type(_EPSILON))
    slope = empty_like(self)
    slope[...] = grad * (self - target) / width
    return slope


@op(
    "_binary_cross_entropy(Tensor self, Tensor target, Tensor? weight, int reduction) -> Tensor",
    fast=kernels.entropy_fast,
    derivative={
        "self": _entropy_slope,
        "target": lambda grad, self, target, weight, reduction: _scaled(
            (-self.logit()).mul_(grad), weight, reduction
        ),
    },
)
def _entropy(self, target, weight, reduction):
    _check_same_dtype(self, target)
    for name, array in (("input", self), ("target", target)):
        if array.dtype.kind == "f" and not kernels.within_unit(array):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    if weight is None and reduction != NONE:
        return kernels.entropy(self, target, reduction)
    losses = empty_like(self)
    losses[...] = kernels.entropy(self, target, NONE)
    if weight is not None:
        np.multiply(losses, weight, out=losses, casting="same_kind")
    return _reduce_array(losses, reduction)


@composite(
    "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, "
    "any size_average=None, any reduce=None, str reduction='mean') -> Tensor",
    fast=composites_fast.binary_cross_entropy,
    variants="nn",
)
def binary_cross_entropy(input, target, weight, size_average, reduce, reduction):
    """Return the cross entropy of probabilities `input` and targets, both in [0, 1].

    Logarithms end at -100. Raises ValueError where the shapes differ, RuntimeError for values
    outside [0, 1].

    >>> loss = imode.nn.functional.binary_cross_entropy(imode.tensor([0.5]), imode.ones(1))
    >>> round(loss.item(), 4)
    0.6931
    """
    number = reduction_number(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(errors.shapes.target_size(input.shape, target.shape, refused=True))
    if weight is not None:
        shape = broadcast_shapes(target.shape, weight.shape)
        if shape != input.shape:
            raise errors.out.wrong_shape(input.shape, shape)
        weight = weight.expand(shape)
        check_constant("binary_cross_entropy", "weight", weight)
    return ops._binary_cross_entropy(input, target, weight, number)


def _logits_backward(grad, self, target, weight, pos_weight, reduction, needs):
    grad_self = grad_target = None
    if needs[0]:
        if pos_weight is None:
            slope = self.sigmoid() - target
        else:
            positive = pos_weight * target
            slope = (positive + 1 - target) * self.sigmoid() - positive
        grad_self = _scaled(slope * grad, weight, reduction)
    if needs[1]:
        if pos_weight is None:
            slope = -self
        else:
            slope = ops._log_sigmoid(-self) - ops._log_sigmoid(self) * pos_weight
        grad_target = _scaled(slope * grad, weight, reduction)
    return grad_self, grad_target


@op(
    "_binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight, "
    "Tensor? pos_weight, int reduction) -> Tensor",
    fast=kernels.entropy_of_logits_fast,
    derivative={("self", "target"): _logits_backward},
    real_only="binary_cross_entropy_with_logits",
)
def _logits(self, target, weight, pos_weight, reduction):
    if self.dtype.kind != "f":
        raise errors.dtypes.not_implemented("log_sigmoid_cpu", self.dtype)
    check_sub(target, target)  # refuses bools: 1 - target is part of the loss
    if target.dtype.kind not in "fc":
        raise errors.dtypes.cannot_cast(self.dtype, target.dtype)
    plain = pos_weight is None and weight is None and self.dtype == target.dtype
    if plain and self.flags.c_contiguous and target.flags.c_contiguous:
        return kernels.entropy_of_logits(self, target, reduction)
    factor = kernels.entropy_of_logits(self, np.ones_like(self), NONE)
    if pos_weight is not None:
        factor = ((pos_weight - 1) * target + 1) * factor
    losses = empty_like(target)  # of the target's dtype, too
    losses[...] = (1 - target) * self + factor
    if weight is not None:
        np.multiply(losses, weight, out=losses, casting="same_kind")
    return _reduce_array(losses, reduction)


@composite(
    "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, "
    "any size_average=None, any reduce=None, str reduction='mean', "
    "Tensor? pos_weight=None) -> Tensor",
    fast=composites_fast.binary_cross_entropy_with_logits,
    variants="nn",
)
def binary_cross_entropy_with_logits(
    input, target, weight, size_average, reduce, reduction, pos_weight
):
    """Return the cross entropy of the sigmoid of `input` and targets in [0, 1].

    `pos_weight` multiplies the losses of positive targets. Raises ValueError where the shapes
    differ.

    >>> loss = imode.nn.functional.binary_cross_entropy_with_logits(imode.zeros(1), imode.ones(1))
    >>> round(loss.item(), 4)
    0.6931
    """
    number = reduction_number(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    for name, given in (("weight", weight), ("pos_weight", pos_weight)):
        check_constant("binary_cross_entropy_with_logits", name, given)
    return ops._binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)
