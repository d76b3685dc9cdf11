"""The binomial distribution."""

import imode

from . import constraints
from ._chances import TwoOutcomes
from .distribution import Distribution

__all__ = ["Binomial"]


def _clamp_by_zero(x):
    """x where it is above 0, else 0, with half the gradient at 0."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(TwoOutcomes, Distribution):
    """Successes among `total_count` trials, each of probability `probs` or log-odds `logits`.

    >>> imode.distributions.Binomial(10, imode.tensor(0.5)).mean
    tensor(5.)
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _expands = ("total_count", "probs", "logits", "_param")

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        self._set_trials(total_count, probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with imode.no_grad():
            return imode.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        rest = n * imode.log1p(imode.exp(-logits.abs()))  # of n log(1 + exp(logits))
        constant = n * _clamp_by_zero(logits) + rest - imode.lgamma(n + 1)
        return value * logits - imode.lgamma(value + 1) - imode.lgamma(n - value + 1) - constant

    def _same_count(self, name):
        most = int(self.total_count.max())
        if not self.total_count.min() == most:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{name}`.")
        return most

    def entropy(self):
        self._same_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(imode.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        most = self._same_count("enumerate_support")
        values = imode.arange(1 + most, dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(values, expand)
