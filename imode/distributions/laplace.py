"""The Laplace distribution."""

import imode

from . import constraints
from .distribution import Distribution
from .utils import _empty, broadcast_all

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Numbers whose distance from `loc` is exponential, of mean `scale`.

    >>> imode.distributions.Laplace(0.0, 0.5).log_prob(imode.tensor(0.0))
    tensor(-0.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _expands = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean = mode = property(lambda self: self.loc, doc="The mean, `loc`.")

    @property
    def variance(self):
        return 2 * self.scale.pow(2)

    @property
    def stddev(self):
        return 2**0.5 * self.scale

    def rsample(self, sample_shape=()):
        eps = imode.finfo(self.loc.dtype).eps
        drawn = _empty(self._extended_shape(sample_shape), self.loc).uniform_(eps - 1, 1)
        return self.loc - self.scale * drawn.sign() * imode.log1p(-drawn.abs())

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -imode.log(2 * self.scale) - (value - self.loc).abs() / self.scale

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        gap = value - self.loc
        return 0.5 - 0.5 * gap.sign() * imode.expm1(-gap.abs() / self.scale)

    def icdf(self, value):
        gap = value - 0.5
        return self.loc - self.scale * gap.sign() * imode.log1p(-2 * gap.abs())

    def entropy(self):
        return 1 + imode.log(2 * self.scale)
