"""The generalized Pareto distribution."""

import imode
from imode import inf, nan

from . import constraints
from ._chances import uniform
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold `loc`, as wide as `scale`; the tail is that of `concentration`.

    >>> imode.distributions.GeneralizedPareto(0.0, 1.0, 0.0).cdf(imode.tensor(1.0))
    tensor(0.6321)
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _expands = ("loc", "scale", "concentration")

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, imode.where(self.concentration < 0, end, inf))

    def _exponential(self):
        """Where the tail is exponential, and a concentration to divide by elsewhere."""
        zero = imode.isclose(self.concentration, imode.zeros_like(self.concentration))
        ones = imode.ones_like(self.concentration)
        return zero, imode.where(zero, ones, self.concentration)

    def rsample(self, sample_shape=()):
        return self.icdf(uniform(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        zero, shape = self._exponential()
        y = 1 / shape + imode.ones_like(z)
        power = imode.where(y == 0, y, y * imode.log1p(shape * z))
        return -self.scale.log() - imode.where(zero, z, power)

    def log_survival_function(self, value):
        """Return the logarithm of the probability of an outcome beyond `value`."""
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        zero, shape = self._exponential()
        return imode.where(zero, -z, -imode.log1p(shape * z) / shape)

    def log_cdf(self, value):
        """Return the logarithm of the probability of an outcome up to `value`."""
        return imode.log1p(-imode.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return imode.exp(self.log_cdf(value))

    def icdf(self, value):
        zero, shape = self._exponential()
        log_rest = imode.log1p(-value)
        curved = self.loc + self.scale / shape * imode.expm1(-shape * log_rest)
        return imode.where(zero, self.loc - self.scale * log_rest, curved)

    @property
    def mean(self):
        finite = self.concentration < 1
        shape = imode.where(finite, self.concentration, 0.5)
        return imode.where(finite, self.loc + self.scale / (1 - shape), nan)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        finite = self.concentration < 0.5
        shape = imode.where(finite, self.concentration, 0.25)
        value = self.scale**2 / ((1 - shape) ** 2 * (1 - 2 * shape))
        return imode.where(finite, value, nan)

    def entropy(self):
        return imode.broadcast_to(self.scale.log() + self.concentration + 1, self._batch_shape)
