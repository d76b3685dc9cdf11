"""The Weibull distribution."""

import imode

from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """`scale` times the power 1 / `concentration` of exponential numbers.

    >>> imode.distributions.Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _expands = ("scale", "concentration", "concentration_reciprocal")

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(imode.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n):
        return imode.exp(imode.lgamma(1 + n * self.concentration_reciprocal))

    @property
    def mean(self):
        return self.scale * self._moment(1)

    @property
    def mode(self):
        shape = self.concentration
        return self.scale * ((shape - 1) / shape) ** shape.reciprocal()

    @property
    def variance(self):
        square = imode.exp(2 * imode.lgamma(1 + self.concentration_reciprocal))
        return self.scale.pow(2) * (self._moment(2) - square)

    def entropy(self):
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + imode.log(self.scale * inverse) + 1
