"""Losses of an input and a target: one number, or with `reduction="none"` one per element."""

from .. import _reduction
from .. import functional as F
from .module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
]


class _Loss(Module):
    # `reduction` is "mean", "sum" or "none"; the two older booleans mean the same.
    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = _reduction.legacy_get_string(size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """The mean (or sum, or each) of (input - target)².

    >>> imode.nn.MSELoss()(imode.tensor([1.0, 2.0]), imode.tensor([1.0, 4.0]))
    tensor(2.)
    """

    def forward(self, input, target):
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """The mean (or sum, or each) of |input - target|.

    >>> imode.nn.L1Loss()(imode.tensor([1.0, 2.0]), imode.tensor([1.0, 4.0]))
    tensor(1.)
    """

    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Half the square over beta where |input - target| < beta, else the distance less beta / 2.

    >>> imode.nn.SmoothL1Loss()(imode.tensor([1.0, 2.0]), imode.tensor([1.5, 4.0]))
    tensor(0.8125)
    """

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input, target):
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Half the square where |input - target| <= delta, else linear with slope delta.

    >>> imode.nn.HuberLoss()(imode.tensor([1.0, 2.0]), imode.tensor([1.5, 4.0]))
    tensor(0.8125)
    """

    def __init__(self, reduction="mean", delta=1.0):
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input, target):
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class CrossEntropyLoss(_WeightedLoss):
    """How unlikely the target classes (indices or probabilities) are under softmax(input).

    >>> imode.nn.CrossEntropyLoss()(imode.zeros(2, 4), imode.tensor([0, 3]))
    tensor(1.3863)
    """

    def __init__(
        self,
        weight=None,
        size_average=None,
        ignore_index=-100,
        reduce=None,
        reduction="mean",
        label_smoothing=0.0,
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_WeightedLoss):
    """How unlikely the target classes are under log-probabilities.

    >>> imode.nn.NLLLoss()(imode.tensor([[-1.0, -2.0]]), imode.tensor([1]))
    tensor(2.)
    """

    def __init__(
        self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class BCELoss(_WeightedLoss):
    """Binary cross entropy of probabilities with targets in [0, 1].

    >>> imode.nn.BCELoss()(imode.tensor([0.5, 0.25]), imode.tensor([1.0, 0.0]))
    tensor(0.4904)
    """

    def forward(self, input, target):
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Binary cross entropy of sigmoid(input), computed without overflow.

    >>> imode.nn.BCEWithLogitsLoss()(imode.zeros(2), imode.tensor([1.0, 0.0]))
    tensor(0.6931)
    """

    def __init__(
        self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
    ):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence of the target from log-probabilities.

    >>> imode.nn.KLDivLoss(reduction="sum")(imode.tensor([-1.0, -1.0]), imode.tensor([0.5, 0.5]))
    tensor(0.3069)
    """

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class NLLLoss2d(NLLLoss):
    """NLLLoss under an older name, for (n, classes, height, width).

    >>> imode.nn.NLLLoss2d()(imode.full((1, 2, 1, 1), -1.0), imode.tensor([[[1]]]))
    tensor(1.)
    """


class PoissonNLLLoss(_Loss):
    """Minus the log-likelihood of counts under Poisson distributions, of the logs of their rates.

    >>> imode.nn.PoissonNLLLoss()(imode.zeros(2), imode.ones(2))
    tensor(1.)
    """

    def __init__(
        self,
        log_input=True,
        full=False,
        size_average=None,
        eps=1e-8,
        reduce=None,
        reduction="mean",
    ):
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input, target):
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """Minus the log-likelihood of targets under normal distributions with the variances `var`.

    >>> imode.nn.GaussianNLLLoss()(imode.zeros(2), imode.full((2,), 2.0), imode.ones(2))
    tensor(2.)
    """

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(None, None, reduction)
        self.full, self.eps = full, eps

    def forward(self, input, target, var):
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class CTCLoss(_Loss):
    """Minus the log of the probability of target sequences, over all alignments with the input.

    >>> logs = imode.full((2, 1, 2), 0.5).log()
    >>> imode.nn.CTCLoss()(logs, imode.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
