"""The Bernoulli distribution."""

import imode
from imode import nan
from imode.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from ._chances import TwoOutcomes
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(TwoOutcomes, ExponentialFamily):
    """1 with the probability `probs`, or with the log-odds `logits`, else 0.

    >>> imode.distributions.Bernoulli(imode.tensor([0.0, 1.0])).sample()
    tensor([0., 1.])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _expands = ("probs", "logits", "_param")

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._set_chance(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = nan
        return mode

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with imode.no_grad():
            return imode.bernoulli(self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        values = imode.arange(2, dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(values, expand)

    @property
    def _natural_params(self):
        return (imode.logit(self.probs),)

    def _log_normalizer(self, x):
        return imode.log1p(imode.exp(x))
