"""Distances of pairs of rows, and losses of them."""

import numpy as np

from imode import errors, ops
from imode.kernels.reductions import pairs
from imode.kernels.reductions import reduce as fast
from imode.ops.composites_fast import replayed
from imode.ops.networks.reduction import reduce_losses, reduction_number
from imode.ops.reductions import distances_fast
from imode.ops.reductions.distance import norm_backward, vector_norm
from imode.ops.schema import composite, functional, op

# ---- distances ----------------------------------------------------------------------------------


op(
    "_row_norm(Tensor self, Scalar ord, int[1]? dim, bool keepdim, dtype? dtype=None) -> Tensor",
    vector_norm,
    fast=fast.vector_norm,
    derivative={"self": norm_backward},
    shows={"ord": None, "p": lambda ord: float(ord)},
    name="NormBackward1",
)


@composite(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) "
    "-> Tensor",
    variants="function nn",
)
@replayed
def pairwise_distance(x1, x2, p, eps, keepdim):
    """Return the p-norms of x1 - x2 + eps along the last dimension; the tensors broadcast.

    >>> imode.pairwise_distance(imode.tensor([[3.0, 4.0]]), imode.zeros(1, 2), eps=0.0).tolist()
    [5.0]
    """
    last = max(x1.dim(), x2.dim()) - 1
    apart = x1 - x2 + float(eps)
    if not apart.dim():
        return apart.norm(p, -1, keepdim)
    return ops._row_norm(apart, p, last, keepdim)


def _pairs(n):
    return np.triu_indices(n, 1)


def _pdist_slope(grad, self, result, p):
    if self.dtype.itemsize == 2:
        raise errors.dtypes.not_implemented("pdist_backward", self.dtype)
    first, second = (ops.from_numpy(i).to(self.device) for i in _pairs(self.shape[0]))
    if p == 0 or not result.numel():
        return ops.zeros_like(self)
    apart = self.index_select(0, first) - self.index_select(0, second)
    slope = norm_backward(grad, apart, result, p, -1, False)
    return ops.zeros_like(self).index_add(0, first, slope).index_add(0, second, -slope)


@op(
    "_pdist_forward(Tensor self, float p) -> Tensor",
    fast=pairs.pdist_forward,
    derivative={"self": _pdist_slope},
    shows={"p": lambda p: float(p)},
    name="PdistBackward0",
)
def _pdist(self, p):
    if self.dtype == np.float16 and len(self) > 1:
        raise errors.dtypes.not_implemented("pdist", self.dtype)
    return pairs.pairs(np.ascontiguousarray(self), p)


@composite(
    "pdist(Tensor input, float p=2) -> Tensor",
    fast=distances_fast.pdist,
    variants="function nn",
)
def pdist(input, p):
    """Return the p-norm distances of each two rows: (n * (n - 1) / 2).

    In the order of the upper triangle of the matrix of all. Raises RuntimeError unless `input` has
    two dimensions and `p` is not negative.

    >>> imode.pdist(imode.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])).tolist()[:2]
    [5.0, 1.0]
    """
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if not input.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    return ops._pdist_forward(input.contiguous(), p)


# ---- losses -------------------------------------------------------------------------------------


def _check_cosine(input1, input2, target):
    if target.dim() > 1:
        raise errors.shapes.several_targets()
    if input1.dim() != target.dim() + 1 or input2.dim() != input1.dim():
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found "
            f"inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
        )


@composite(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, "
    "int reduction=0) -> Tensor",
    variants="function",
)
@replayed
def cosine_embedding_loss(input1, input2, target, margin, reduction):
    """Return 1 - cos of the angle between rows where target is 1, max(0, cos - margin) where -1.

    `reduction` is 0 (none), 1 (mean) or 2 (sum). Raises RuntimeError where dimensions do not fit.

    >>> x = imode.tensor([[1.0, 0.0]])
    >>> imode.cosine_embedding_loss(x, x, imode.tensor([-1])).tolist()
    [1.0]
    """
    _check_cosine(input1, input2, target)
    dim = target.dim()
    first = (input1 * input1).sum(dim) + 1e-12
    second = (input2 * input2).sum(dim) + 1e-12
    cosine = (input1 * input2).sum(dim) / (first * second).sqrt()
    zeros = ops.zeros_like(cosine)
    alike = ops.where(target == 1, ops.sub(1, cosine), zeros)
    apart = ops.where(target == -1, (cosine - margin).clamp_min_(0), zeros)
    return reduce_losses(alike + apart, reduction)


@functional("cosine_embedding_loss")
def cosine_embedding_functional(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """Return 1 - cos of the angle where target is 1, max(0, cos - margin) where it is -1.

    Rows are (n, size), or one (size). Raises RuntimeError where dimensions do not fit.

    >>> x = imode.tensor([[1.0, 0.0]])
    >>> imode.nn.functional.cosine_embedding_loss(x, x, imode.tensor([-1])).item()
    1.0
    """
    number = reduction_number(size_average, reduce, reduction)
    return ops.cosine_embedding_loss(input1, input2, target, margin, number)


def _check_triplet(anchor, positive, negative):
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and "
            f"negative {negative.dim()}D inputs"
        )


def _check_margin(margin):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def _triplet(anchor, positive, negative, distance, margin, swap):
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return (margin + near - far).clamp_min(0)


@composite(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, "
    "float p=2, float eps=1e-06, bool swap=False, int reduction=0) -> Tensor",
    variants="function",
)
@replayed
def triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction):
    """Return max(0, margin + distance to the positive row - distance to the negative one).

    `reduction` is 0 (none), 1 (mean) or 2 (sum). Raises RuntimeError where dimensions differ.

    >>> x = imode.zeros(1, 2)
    >>> imode.triplet_margin_loss(x, x, x).tolist()
    [1.0]
    """
    _check_triplet(anchor, positive, negative)

    def distance(a, b):
        return ops.pairwise_distance(a, b, p, eps)

    losses = _triplet(anchor, positive, negative, distance, margin, swap)
    return reduce_losses(losses, reduction)


@functional("triplet_margin_loss")
def triplet_margin_functional(
    anchor,
    positive,
    negative,
    margin=1.0,
    p=2,
    eps=1e-6,
    swap=False,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    """Return max(0, margin + distance to the positive row - distance to the negative one).

    With `swap` the negative row counts as near as it is to the positive one. Raises ValueError
    unless `margin` is positive.

    >>> x = imode.zeros(1, 2)
    >>> imode.nn.functional.triplet_margin_loss(x, x, x).item()
    1.0
    """
    number = reduction_number(size_average, reduce, reduction)
    _check_margin(margin)
    return ops.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


@functional("triplet_margin_with_distance_loss")
def triplet_margin_with_distance_loss(
    anchor,
    positive,
    negative,
    *,
    distance_function=None,
    margin=1.0,
    swap=False,
    reduction="mean",
):
    """As `triplet_margin_loss`, with any function of two tensors as the distance.

    >>> x = imode.zeros(1, 2)
    >>> imode.nn.functional.triplet_margin_with_distance_loss(
    ...     x, x, x + 1, distance_function=lambda a, b: (a - b).abs().sum(-1), margin=3.0
    ... ).item()
    1.0
    """
    number = reduction_number(None, None, reduction)
    _check_margin(margin)
    _check_triplet(anchor, positive, negative)
    distance = ops.pairwise_distance if distance_function is None else distance_function
    losses = _triplet(anchor, positive, negative, distance, margin, swap)
    return reduce_losses(losses, number)
