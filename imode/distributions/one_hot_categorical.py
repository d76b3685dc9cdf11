"""Categorical distributions whose outcomes are one-hot vectors."""

import imode
from imode import Size
from imode.nn.functional import one_hot

from . import constraints
from ._chances import OverCategorical
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OverCategorical, Distribution):
    """Vectors of zeros with one 1, at a place that `Categorical` would draw.

    >>> imode.distributions.OneHotCategorical(imode.tensor([0.0, 2.0])).sample()
    tensor([0., 1.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _expands = ("_categorical",)

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = of = Categorical(probs, logits)
        super().__init__(of.batch_shape, of.param_shape[-1:], validate_args=validate_args)

    @property
    def _param(self):
        return self._categorical._param

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        place = self.probs.argmax(dim=-1)
        return one_hot(place, num_classes=self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        place = self._categorical.sample(Size(sample_shape))
        return one_hot(place, self._categorical._num_events).to(self.probs)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        n = self.event_shape[0]
        values = imode.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n,) + self.batch_shape + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` whose samples have the gradient of the probabilities.

    Source: Y. Bengio, N. Léonard and A. Courville, "Estimating or propagating gradients through
    stochastic neurons" (2013).

    >>> p = imode.tensor([0.0, 2.0], requires_grad=True)
    >>> imode.distributions.OneHotCategoricalStraightThrough(p).rsample()[1].backward()
    >>> p.grad
    tensor([-0.5000,  0.0000])
    """

    has_rsample = True

    def rsample(self, sample_shape=()):
        samples = self.sample(sample_shape)
        return samples + (self.probs - self.probs.detach())
