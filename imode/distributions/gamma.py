"""The gamma distribution."""

import imode

from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Gamma"]


def _standard_gamma(concentration):
    return imode._standard_gamma(concentration)


class Gamma(ExponentialFamily):
    """Numbers of density proportional to x^(`concentration` - 1) exp(-`rate` x).

    >>> imode.distributions.Gamma(3.0, 2.0).mean
    tensor(1.5000)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _expands = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=imode.finfo(value.dtype).tiny)  # no part of the derivative
        return value

    def log_prob(self, value):
        value = imode.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        shape, rate = self.concentration, self.rate
        power = imode.xlogy(shape, rate) + imode.xlogy(shape - 1, value)
        return power - rate * value - imode.lgamma(shape)

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return imode.special.gammainc(self.concentration, self.rate * value)

    def entropy(self):
        shape = self.concentration
        slope = (1.0 - shape) * imode.digamma(shape)
        return shape - self.rate.log() + imode.lgamma(shape) + slope

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return imode.lgamma(x + 1) + (x + 1) * imode.log(-y.reciprocal())
