"""The negative binomial distribution."""

import imode
from imode.nn.functional import logsigmoid

from . import constraints
from ._chances import TwoOutcomes
from .distribution import Distribution
from .gamma import Gamma
from .utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(TwoOutcomes, Distribution):
    """Successes, of probability `probs` or log-odds `logits`, before `total_count` failures.

    >>> imode.distributions.NegativeBinomial(3.0, imode.tensor(0.5)).mean
    tensor(3.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _expands = ("total_count", "probs", "logits", "_param")

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        self._set_trials(total_count, probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.total_count * imode.exp(self.logits)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / imode.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self):
        """The rates of the Poisson numbers that are drawn."""
        return Gamma(self.total_count, imode.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=()):
        with imode.no_grad():
            return imode.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        power = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        constant = -imode.lgamma(n + value) + imode.lgamma(1.0 + value) + imode.lgamma(n)
        return power - constant.masked_fill(n + value == 0.0, 0.0)
