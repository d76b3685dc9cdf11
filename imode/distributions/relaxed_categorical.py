"""Continuous relaxations of the categorical distribution.

Sources: C. Maddison, A. Mnih and Y. Teh, "The concrete distribution" (2017); E. Jang, S. Gu and
B. Poole, "Categorical reparameterization with Gumbel-Softmax" (2017).
"""

import imode

from . import constraints
from ._chances import OverBase, OverCategorical, uniform
from .categorical import Categorical
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(OverCategorical, Distribution):
    """The logarithms of what `RelaxedOneHotCategorical` draws.

    >>> t, p = imode.tensor(0.5), imode.ones(3)
    >>> imode.distributions.relaxed_categorical.ExpRelaxedCategorical(t, p).event_shape
    imode.Size([3])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # a hyperplane-like part of it
    has_rsample = True
    _expands = ("_categorical",)
    _keeps = ("temperature",)

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical = of = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(of.batch_shape, of.param_shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape=()):
        drawn = clamp_probs(uniform(self._extended_shape(sample_shape), self.logits))
        gumbels = -((-(drawn.log())).log())
        scores = (self.logits + gumbels) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        constant = imode.full_like(self.temperature, float(n)).lgamma()
        constant = constant - self.temperature.log().mul(-(n - 1))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + constant


class RelaxedOneHotCategorical(OverBase, TransformedDistribution):
    """Shares of 1 that come near one-hot vectors as the `temperature`, a tensor, becomes small.

    `probs` or `logits` as of `Categorical`.

    >>> t, p = imode.tensor(0.5), imode.ones(3)
    >>> imode.distributions.RelaxedOneHotCategorical(t, p).rsample().shape
    imode.Size([3])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    _expands = ()

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
