"""The continuous Bernoulli distribution."""

import math

import imode
from imode.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from ._chances import TwoOutcomes, uniform
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(TwoOutcomes, ExponentialFamily):
    """Numbers in [0, 1] of density proportional to p^x (1 - p)^(1 - x).

    p is `probs`, or has the log-odds `logits`. Between `lims` Taylor series are used. Source:
    G. Loaiza-Ganem and J. Cunningham, "The continuous Bernoulli" (2019).

    >>> imode.distributions.ContinuousBernoulli(0.5).mean
    tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _expands = ("probs", "logits", "_param")
    _keeps = ("_lims",)

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._set_chance(probs, logits)
        if probs is not None:
            allowed = self.arg_constraints["probs"]
            if validate_args is not None and not allowed.check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self._param = self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.shape, validate_args=validate_args)

    @lazy_property
    def probs(self):
        """The parameter p, away from 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self):
        return imode.max(self.probs <= self._lims[0], self.probs > self._lims[1])

    def _cut_probs(self):
        """p, or the lower limit where p lies between the limits."""
        below = self._lims[0] * imode.ones_like(self.probs)
        return imode.where(self._outside_unstable_region(), self.probs, below)

    def _cont_bern_log_norm(self):
        """The logarithm of the constant that makes the density a density."""
        p = self._cut_probs()
        low, high = p <= 0.5, p >= 0.5
        below = imode.where(low, p, imode.zeros_like(p))
        above = imode.where(high, p, imode.ones_like(p))
        spread = imode.where(low, imode.log1p(-2.0 * below), imode.log(2.0 * above - 1.0))
        exact = imode.log(imode.abs(imode.log1p(-p) - imode.log(p))) - spread
        x = (self.probs - 0.5).pow(2)
        taylor = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return imode.where(self._outside_unstable_region(), exact, taylor)

    @property
    def mean(self):
        p = self._cut_probs()
        exact = p / (2.0 * p - 1.0) + 1.0 / (imode.log1p(-p) - imode.log(p))
        x = self.probs - 0.5
        taylor = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x
        return imode.where(self._outside_unstable_region(), exact, taylor)

    @property
    def variance(self):
        p = self._cut_probs()
        exact = p * (p - 1.0) / (1.0 - 2.0 * p).pow(2)
        exact = exact + 1.0 / (imode.log1p(-p) - imode.log(p)).pow(2)
        x = (self.probs - 0.5).pow(2)
        taylor = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return imode.where(self._outside_unstable_region(), exact, taylor)

    def sample(self, sample_shape=()):
        with imode.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.icdf(uniform(self._extended_shape(sample_shape), self.probs))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        chance = -binary_cross_entropy_with_logits(logits, value, reduction="none")
        return chance + self._cont_bern_log_norm()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        exact = (p.pow(value) * (1.0 - p).pow(1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = imode.where(self._outside_unstable_region(), exact, value)
        above = imode.where(value >= 1.0, imode.ones_like(value), inside)
        return imode.where(value <= 0.0, imode.zeros_like(value), above)

    def icdf(self, value):
        p = self._cut_probs()
        rest = imode.log1p(-p)
        exact = (imode.log1p(-p + value * (2.0 * p - 1.0)) - rest) / (imode.log(p) - rest)
        return imode.where(self._outside_unstable_region(), exact, value)

    def entropy(self):
        log_rest, log_p = imode.log1p(-self.probs), imode.log(self.probs)
        return self.mean * (log_rest - log_p) - self._cont_bern_log_norm() - log_rest

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        low, high = self._lims[0] - 0.5, self._lims[1] - 0.5
        outside = imode.max(x <= low, x > high)
        cut = imode.where(outside, x, low * imode.ones_like(x))
        exact = imode.log(imode.abs(imode.expm1(cut))) - imode.log(imode.abs(cut))
        taylor = 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0
        return imode.where(outside, exact, taylor)
