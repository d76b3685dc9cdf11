"""The Cauchy distribution."""

import math

import imode
from imode import inf, nan

from . import constraints
from .distribution import Distribution
from .utils import _empty, broadcast_all

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """Quotients of normal numbers, around `loc` and as wide as `scale`.

    >>> imode.distributions.Cauchy(0.0, 1.0).cdf(imode.tensor(1.0))
    tensor(0.7500)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _expands = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self):
        return self._full(nan, self.loc)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._full(inf, self.loc)

    def rsample(self, sample_shape=()):
        eps = _empty(self._extended_shape(sample_shape), self.loc).cauchy_()
        return self.loc + eps * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        square = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - square.log1p()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return imode.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return imode.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()
