"""The geometric distribution."""

import imode
from imode.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from ._chances import TwoOutcomes
from .distribution import Distribution
from .utils import _empty, broadcast_all

__all__ = ["Geometric"]


class Geometric(TwoOutcomes, Distribution):
    """Failures before the first success, of probability `probs` or log-odds `logits` each.

    >>> imode.distributions.Geometric(0.25).mean
    tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _expands = ("probs", "logits", "_param")

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._set_chance(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)
        if self._validate_args and probs is not None:
            value, valid = self.probs, self.probs > 0
            if not valid.all():
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to be positive but found "
                    f"invalid values:\n{value.data[~valid]}"
                )

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        return imode.zeros_like(self.probs)

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        tiny = imode.finfo(self.probs.dtype).tiny
        with imode.no_grad():
            drawn = _empty(shape, self.probs).uniform_(tiny, 1)
            return (drawn.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=imode.contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return (
            binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
        )
