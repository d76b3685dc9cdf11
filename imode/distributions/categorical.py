"""The categorical distribution."""

import imode
from imode import Size, nan

from . import constraints
from ._chances import either
from .distribution import Distribution
from .utils import lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Categorical"]


class Categorical(Distribution):
    """One of the numbers 0 ... n-1, of probabilities proportional to `probs` or to exp(`logits`).

    The last axis holds the n weights. Raises ValueError for a parameter without dimensions.

    >>> imode.distributions.Categorical(imode.tensor([0.0, 2.0])).sample()
    tensor(1)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _expands = ("probs", "logits", "_param")
    _keeps = ("_num_events",)

    def __init__(self, probs=None, logits=None, validate_args=None):
        either(probs, logits)
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self._param = self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self._param = self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        shape = self._param.shape
        self._num_events = shape[-1]
        super().__init__(shape[:-1], validate_args=validate_args)

    def _new(self, *args, **kwargs):
        return self._param.new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self):
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self):
        """The shape of the parameter."""
        return self._param.size()

    mean = variance = property(lambda self: self._full(nan, self.probs), doc="NaN.")

    @property
    def mode(self):
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape=()):
        if not isinstance(sample_shape, Size):
            sample_shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        drawn = imode.multinomial(rows, sample_shape.numel(), True)
        return drawn.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, logits = value.long().unsqueeze(-1), self.logits
        batch = value.shape[:-1]
        if batch != logits.shape[:-1]:
            batch = imode.broadcast_shapes(batch, logits.shape[:-1])
            value, logits = value.expand(batch + (1,)), logits.expand(batch + (-1,))
        return logits.gather(-1, value).squeeze(-1)

    def entropy(self):
        logits = imode.clamp(self.logits, min=imode.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = imode.arange(self._num_events, dtype=imode.long, device=self._param.device)
        return self._enumerated(values, expand)
