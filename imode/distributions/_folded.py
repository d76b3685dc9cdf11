"""What absolute values of numbers symmetric around 0 share."""

import math

import imode
from imode import inf

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform


class Folded(TransformedDistribution):
    """Absolute values of the outcomes of a distribution that is symmetric around 0."""

    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, base, validate_args):
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self):
        """The scale of the base distribution."""
        return self.base_dist.scale

    @property
    def mode(self):
        return imode.zeros_like(self.scale)

    def _log_prob(self, value):
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return imode.where(value >= 0, log_prob, -inf)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._log_prob(value)

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)
