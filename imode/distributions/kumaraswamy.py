"""The Kumaraswamy distribution."""

import imode
from imode import nan

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Numbers x in (0, 1) of the distribution function 1 - (1 - x^a)^b.

    a is `concentration1`, b `concentration0`. Source: P. Kumaraswamy, "A generalized probability
    density function for double-bounded random processes" (1980).

    >>> imode.distributions.Kumaraswamy(1.0, 1.0).mean
    tensor(0.5000)
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _expands = ("concentration1", "concentration0")

    def __init__(self, concentration1, concentration0, validate_args=None):
        a, b = broadcast_all(concentration1, concentration0)
        self.concentration1, self.concentration0 = a, b
        base = Uniform(imode.full_like(b, 0), imode.full_like(b, 1), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=b.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=a.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n):
        a, b = 1 + n / self.concentration1, self.concentration0
        return b * imode.exp(imode.lgamma(a) + imode.lgamma(b) - imode.lgamma(a + b))

    @property
    def mean(self):
        return self._moment(1)

    @property
    def mode(self):
        a, b = self.concentration1, self.concentration0
        log_mode = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        log_mode[(b < 1) | (a < 1)] = nan
        return log_mode.exp()

    @property
    def variance(self):
        return self._moment(2) - self.mean.pow(2)

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = imode.digamma(b + 1) + euler_constant
        slope = (1 - a.reciprocal()) * harmonic
        return (1 - b.reciprocal()) + slope - a.log() - b.log()
