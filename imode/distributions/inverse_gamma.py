"""The inverse gamma distribution."""

import imode
from imode import inf

from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / x of numbers x that `Gamma(concentration, rate)` draws.

    >>> imode.distributions.InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _expands = ()

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        inverse = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, inverse, validate_args=validate_args)

    @property
    def concentration(self):
        """The concentration of 1 / x."""
        return self.base_dist.concentration

    @property
    def rate(self):
        """The rate of 1 / x."""
        return self.base_dist.rate

    @property
    def mean(self):
        shape = self.concentration
        return imode.where(shape > 1, self.rate / (shape - 1), inf)

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        shape = self.concentration
        value = self.rate.square() / ((shape - 1).square() * (shape - 2))
        return imode.where(shape > 2, value, inf)

    def entropy(self):
        shape = self.concentration
        return shape + self.rate.log() + shape.lgamma() - (1 + shape) * shape.digamma()
