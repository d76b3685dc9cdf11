"""The multinomial distribution."""

import imode
from imode import Size, inf

from . import constraints
from ._chances import OverCategorical
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(OverCategorical, Distribution):
    """How often each of n outcomes is drawn in `total_count` (an int) trials: see `Categorical`.

    Raises NotImplementedError for a count that is not an int.

    >>> imode.distributions.Multinomial(5, imode.tensor([0.0, 2.0])).sample()
    tensor([0., 5.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _expands = ("_categorical", "_binomial")
    _keeps = ("total_count",)

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = of = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count, probs=self.probs)  # how often each is drawn
        super().__init__(of.batch_shape, of.param_shape[-1:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        sample_shape = Size(sample_shape)
        drawn = self._categorical.sample(Size((self.total_count,)) + sample_shape)
        drawn = drawn.permute(*range(1, drawn.dim()), 0)
        counts = drawn.new(self._extended_shape(sample_shape)).zero_()
        counts.scatter_add_(-1, drawn, imode.ones_like(drawn))
        return counts.type_as(self.probs)

    def entropy(self):
        n = imode.tensor(self.total_count)
        drawn = n * self._categorical.entropy() - imode.lgamma(n + 1)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        chances = imode.exp(self._binomial.log_prob(counts))
        return drawn + (chances * imode.lgamma(counts + 1)).sum([0, -1])

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=imode.contiguous_format)
        logits[(value == 0) & (logits == -inf)] = 0
        orders = imode.lgamma(value.sum(-1) + 1) - imode.lgamma(value + 1).sum(-1)
        return orders + (logits * value).sum(-1)
