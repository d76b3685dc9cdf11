"""Losses of margins: between pairs, triplets, classes and labels."""

from imode import errors

from .. import functional as F
from .distance import PairwiseDistance
from .loss import _Loss, _WeightedLoss

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _MarginLoss(_Loss):
    _margin = 0.0

    def __init__(self, margin=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = self._margin if margin is None else margin


class MarginRankingLoss(_MarginLoss):
    """max(0, -target * (input1 - input2) + margin): which of two ranks higher, 1 or -1.

    >>> x = imode.tensor([1.0, 2.0])
    >>> imode.nn.MarginRankingLoss()(x, x + 1, imode.ones(2))
    tensor(1.)
    """

    def forward(self, input1, input2, target):
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class HingeEmbeddingLoss(_MarginLoss):
    """Distances where the target is 1, max(0, margin - distance) where it is -1.

    >>> imode.nn.HingeEmbeddingLoss()(imode.tensor([0.5, 0.5]), imode.tensor([1, -1]))
    tensor(0.5000)
    """

    _margin = 1.0

    def forward(self, input, target):
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """1 - cos of the angle between rows where the target is 1, max(0, cos - margin) where -1.

    >>> x = imode.tensor([[1.0, 0.0]])
    >>> imode.nn.CosineEmbeddingLoss()(x, x, imode.tensor([-1]))
    tensor(1.)
    """

    def forward(self, input1, input2, target):
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input)), of targets 1 and -1.

    >>> imode.nn.SoftMarginLoss()(imode.zeros(2), imode.ones(2))
    tensor(0.6931)
    """

    def forward(self, input, target):
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean binary cross entropy of each row's logits with its labels, 0 or 1.

    >>> imode.nn.MultiLabelSoftMarginLoss()(imode.zeros(1, 2), imode.ones(1, 2))
    tensor(0.6931)
    """

    def forward(self, input, target):
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


class MultiLabelMarginLoss(_Loss):
    """How much other classes come within 1 of each row's labels, listed up to the first -1.

    >>> imode.nn.MultiLabelMarginLoss()(imode.tensor([[0.0, 1.0]]), imode.tensor([[0, -1]]))
    tensor(1.)
    """

    def forward(self, input, target):
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The mean over classes of max(0, margin - input[target] + input) ** p.

    >>> imode.nn.MultiMarginLoss()(imode.zeros(1, 4), imode.tensor([0]))
    tensor(0.7500)
    """

    def __init__(
        self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
    ):
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise errors.numbers.margin_power()
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D "
                "instead"
            )
        self.p, self.margin = p, margin

    def forward(self, input, target):
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


def _check_margin(margin, name):
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")


class TripletMarginLoss(_Loss):
    """max(0, margin + distance to the positive row - distance to the negative one).

    >>> x = imode.zeros(1, 2)
    >>> imode.nn.TripletMarginLoss()(x, x, x)
    tensor(1.)
    """

    def __init__(
        self,
        margin=1.0,
        p=2.0,
        eps=1e-6,
        swap=False,
        size_average=None,
        reduce=None,
        reduction="mean",
    ):
        super().__init__(size_average, reduce, reduction)
        _check_margin(margin, "TripletMarginLoss")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with any function of two tensors as the distance.

    >>> x = imode.zeros(1, 2)
    >>> imode.nn.TripletMarginWithDistanceLoss()(x, x, x)
    tensor(1.)
    """

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__(reduction=reduction)
        _check_margin(margin, "TripletMarginWithDistanceLoss")
        self.distance_function = (
            PairwiseDistance() if distance_function is None else distance_function
        )
        self.margin, self.swap = margin, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
