"""The exponential distribution."""

import imode

from . import constraints
from .exp_family import ExponentialFamily
from .utils import _empty, broadcast_all

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Waiting times of mean 1 / `rate`.

    >>> imode.distributions.Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _expands = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    mean = stddev = property(lambda self: self.rate.reciprocal(), doc="1 / `rate`.")

    @property
    def mode(self):
        return imode.zeros_like(self.rate)

    @property
    def variance(self):
        return self.rate.pow(-2)

    def rsample(self, sample_shape=()):
        return _empty(self._extended_shape(sample_shape), self.rate).exponential_() / self.rate

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 1 - imode.exp(-self.rate * value)

    def icdf(self, value):
        return -imode.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - self.rate.log()

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -imode.log(-x)
