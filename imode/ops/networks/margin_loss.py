"""Losses of margins: of pairs, of classes and of labels."""

import numpy as np

from imode import errors, ops
from imode.kernels.networks import margin as kernels
from imode.ops.networks import composites_fast
from imode.ops.networks.reduction import (
    MEAN,
    NONE,
    check_constant,
    reduce_losses,
    reduction_number,
)
from imode.ops.schema import composite, functional, op

_LEGACY = "any size_average=None, any reduce=None, str reduction='mean'"


def over_rows(losses, reduction):
    """An array of losses, one per row, reduced."""
    if reduction == NONE:
        return losses
    total = losses.sum(dtype=losses.dtype)
    return np.asarray(
        total / losses.dtype.type(losses.size) if reduction == MEAN else total, losses.dtype
    )


# ---- pairs --------------------------------------------------------------------------------------


@composite(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, "
    "int reduction=0) -> Tensor",
    variants="function",
)
def margin_ranking_loss(input1, input2, target, margin, reduction):
    """Return max(0, -target * (input1 - input2) + margin), reduced.

    `reduction` is 0 (none), 1 (mean) or 2 (sum).

    >>> x = imode.tensor([1.0, 2.0])
    >>> imode.margin_ranking_loss(x, x + 1, imode.ones(2)).tolist()
    [1.0, 1.0]
    """
    return reduce_losses((-target * (input1 - input2) + margin).clamp_min_(0), reduction)


@functional("margin_ranking_loss")
def margin_ranking_functional(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """Return max(0, -target * (input1 - input2) + margin), their mean, their sum or each.

    Raises RuntimeError where the numbers of dimensions differ.

    >>> x = imode.tensor([1.0, 2.0])
    >>> imode.nn.functional.margin_ranking_loss(x, x + 1, imode.ones(2)).item()
    1.0
    """
    number = reduction_number(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return ops.margin_ranking_loss(input1, input2, target, margin, number)


@composite(
    "hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=0) -> Tensor",
    variants="function",
)
def hinge_embedding_loss(self, target, margin, reduction):
    """Return the distances themselves where target is 1, max(0, margin - distance) where -1.

    `reduction` is 0 (none), 1 (mean) or 2 (sum).

    >>> imode.hinge_embedding_loss(imode.tensor([0.5, 0.5]), imode.tensor([1, -1])).tolist()
    [0.5, 0.5]
    """
    zeros = ops.zeros_like(self)
    far = ops.where(target != 1, ops.sub(margin, self).clamp_min_(0).to(self.dtype), zeros)
    near = ops.where(target != -1, self, zeros)
    return reduce_losses(far + near, reduction)


@functional("hinge_embedding_loss")
def hinge_embedding_functional(
    input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    """Return the distances where target is 1, max(0, margin - distance) where it is -1.

    >>> x = imode.tensor([0.5, 0.5])
    >>> imode.nn.functional.hinge_embedding_loss(x, imode.tensor([1, -1])).item()
    0.5
    """
    number = reduction_number(size_average, reduce, reduction)
    return ops.hinge_embedding_loss(input, target, margin, number)


# ---- soft margins -------------------------------------------------------------------------------


def _soft_margin_slope(grad, self, target, reduction):
    powers = (-target * self).exp()
    slope = -target * powers / (1 + powers) * grad
    return slope / self.numel() if reduction == MEAN else slope


@op(
    "_soft_margin_loss(Tensor self, Tensor target, int reduction) -> Tensor",
    fast=kernels.soft_margin,
    derivative={"self": _soft_margin_slope},
    real_only="soft_margin_loss",
)
def _soft_margin(self, target, reduction):
    if self.dtype.kind not in "fc":
        raise errors.dtypes.cannot_cast(np.dtype(np.float32), self.dtype)
    with np.errstate(all="ignore"):
        losses = np.log1p(np.exp(-target * self))
    return over_rows(losses.astype(self.dtype, copy=False), reduction)


@composite(
    f"soft_margin_loss(Tensor input, Tensor target, {_LEGACY}) -> Tensor",
    fast=composites_fast.soft_margin_loss,
    variants="nn",
)
def soft_margin_loss(input, target, size_average, reduce, reduction):
    """Return log(1 + exp(-target * input)), their mean, their sum or each; targets are 1 or -1.

    >>> loss = imode.nn.functional.soft_margin_loss(imode.zeros(2), imode.ones(2))
    >>> round(loss.item(), 4)
    0.6931
    """
    number = reduction_number(size_average, reduce, reduction)
    check_constant("soft_margin_loss", "target", target)
    return ops._soft_margin_loss(input, target, number)


@functional("multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """Return the mean binary cross entropy of each row's logits with its labels, 0 or 1.

    `input` is (..., classes), `weight` per class. Raises ValueError for another reduction than
    "mean", "sum" and "none".

    >>> loss = imode.nn.functional.multilabel_soft_margin_loss(imode.zeros(1, 2), imode.ones(1, 2))
    >>> round(loss.item(), 4)
    0.6931
    """
    if size_average is None and reduce is None and reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not valid")
    number = reduction_number(size_average, reduce, reduction)
    losses = -(target * _log_sigmoid(input) + (1 - target) * _log_sigmoid(-input))
    if weight is not None:
        losses = losses * weight
    dim = input.dim() - 1
    return reduce_losses(losses.sum(dim) / input.size(dim), number)


def _log_sigmoid(x):
    return ops._log_sigmoid(x)


# ---- classes ------------------------------------------------------------------------------------


def _rows(self):
    """Input as (rows, classes)."""
    if self.ndim > 2 or (self.ndim and not self.shape[-1]):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(self.shape)}"
        )
    return self.reshape(-1, self.shape[-1] if self.ndim else 1)


def _check_dtypes(name, self, target):
    if self.dtype.kind != "f" or self.dtype == np.float16:
        raise errors.dtypes.not_implemented(name, self.dtype)
    if target.dtype != np.int64:
        raise errors.dtypes.expected_scalar(np.dtype(np.int64), target.dtype)


def _multi_margin_slope(grad, self, target, p, margin, weight, reduction):
    x = self.reshape((-1, self.shape[-1] if self.dim() else 1))
    at = target.reshape((-1, 1))
    excess = margin - x.gather(1, at) + x
    counts = (excess > 0).to(x.dtype).scatter(1, at, 0.0)
    slope = counts if p == 1 else 2 * excess * counts
    if weight is not None:
        slope = slope * weight.index_select(0, at.reshape(-1)).unsqueeze(1)
    slope = slope / x.shape[1]
    slope = slope.scatter_add(1, at, -slope.sum(1, keepdim=True))
    return (slope * _per_row(grad, x.shape[0], reduction)).reshape(self.shape)


def _per_row(grad, rows, reduction):
    """The gradient of each row's loss, as a column."""
    if reduction == NONE:
        return grad.reshape((-1, 1))
    return grad / rows if reduction == MEAN else grad


@op(
    "_multi_margin_loss(Tensor self, Tensor target, Scalar p, Scalar margin, Tensor? weight, "
    "int reduction) -> Tensor",
    fast=kernels.multi_margin_loss,
    derivative={"self": _multi_margin_slope},
    name="MultiMarginLossBackward0",
)
def _multi_margin(self, target, p, margin, weight, reduction):
    x = _rows(self)
    n, classes = x.shape
    if target.ndim > 1 or target.size != n:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{n}], but got {list(target.shape)}. "
            f"Input has shape {list(self.shape)}."
        )
    if weight is not None and weight.size != classes:
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)}"
        )
    _check_dtypes("multi_margin_loss_cpu_kernel", self, target)
    return kernels.multi_margin(
        np.ascontiguousarray(x, like=x),
        np.array(target, order="C"),
        p,
        margin,
        None if weight is None else np.ascontiguousarray(weight, self.dtype),
        n,
        classes,
        reduction,
    )


@composite(
    "multi_margin_loss(Tensor input, Tensor target, Scalar p=1, Scalar margin=1.0, "
    f"Tensor? weight=None, {_LEGACY}) -> Tensor",
    fast=composites_fast.multi_margin_loss,
    variants="nn",
)
def multi_margin_loss(input, target, p, margin, weight, size_average, reduce, reduction):
    """Return the mean over classes of max(0, margin - input[target] + input) ** p.

    `input` is (classes) or (n, classes), `target` the class numbers, `weight` per class. Raises
    ValueError unless p is 1 or 2, RuntimeError where shapes do not fit.

    >>> imode.nn.functional.multi_margin_loss(imode.zeros(1, 4), imode.tensor([0])).item()
    0.75
    """
    number = reduction_number(size_average, reduce, reduction)
    if p not in (1, 2):
        raise errors.numbers.margin_power()
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    check_constant("multi_margin_loss", "weight", weight)
    return ops._multi_margin_loss(input, target, p, margin, weight, number)


# ---- labels -------------------------------------------------------------------------------------


def _multilabel_slope(grad, self, target, reduction, is_target):
    classes = self.shape[-1] if self.dim() else 1
    x = self.reshape((-1, classes))
    at = target.reshape((-1, classes))
    listed = (at >= 0).to(x.dtype).cumprod(1).unsqueeze(2)
    at = at.clamp_min(0)
    others = 1 - is_target.to(x.dtype).reshape((-1, 1, classes))
    excess = 1 - x.gather(1, at).unsqueeze(2) + x.unsqueeze(1)
    counts = (excess > 0).to(x.dtype) * listed * others / classes
    slope = counts.sum(1).scatter_add(1, at, -counts.sum(2))
    return (slope * _per_row(grad, x.shape[0], reduction)).reshape(self.shape)


@op(
    "_multilabel_margin_loss(Tensor self, Tensor target, int reduction) "
    "-> (Tensor result, Tensor is_target)",
    derivative={
        "self": lambda grads, self, target, reduction, is_target: (
            None
            if grads[0] is None
            else _multilabel_slope(grads[0], self, target, reduction, is_target)
        )
    },
    name="MultilabelMarginLossBackward0",
)
def _multilabel_margin(self, target, reduction):
    x = _rows(self)
    if target.shape != self.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(self.shape)}"
        )
    _check_dtypes("multilabel_margin_loss_forward_out_frame", self, target)
    each = np.empty((x.shape[0],) if self.ndim > 1 else ())
    found, listed = kernels.multilabel_margin(
        np.ascontiguousarray(x), np.array(target, order="C"), each, *x.shape, reduction
    )
    return found, listed.reshape(self.shape)


@composite(
    f"multilabel_margin_loss(Tensor input, Tensor target, {_LEGACY}) -> Tensor", variants="nn"
)
def multilabel_margin_loss(input, target, size_average, reduce, reduction):
    """Return how much each row's other classes come within 1 of its labels, over the classes.

    `input` is (classes) or (n, classes); `target`, of its shape, lists each row's labels, up to the
    first -1. Raises RuntimeError where shapes do not fit or a label is no class.

    >>> x = imode.tensor([[0.0, 1.0]])
    >>> imode.nn.functional.multilabel_margin_loss(x, imode.tensor([[0, -1]])).item()
    1.0
    """
    number = reduction_number(size_average, reduce, reduction)
    return ops._multilabel_margin_loss(input, target, number)[0]
