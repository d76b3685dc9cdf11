"""Continuous relaxations of the Bernoulli distribution.

Source: C. Maddison, A. Mnih and Y. Teh, "The concrete distribution" (2017).
"""

from . import constraints
from ._chances import OverBase, TwoOutcomes, uniform
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(TwoOutcomes, Distribution):
    """The log-odds of what `RelaxedBernoulli` draws.

    >>> t = imode.tensor(0.5)
    >>> imode.distributions.relaxed_bernoulli.LogitRelaxedBernoulli(t, 0.5).logits
    tensor(0.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    _expands = ("probs", "logits", "_param")
    _keeps = ("temperature",)

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._set_chance(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        drawn = clamp_probs(uniform(shape, probs))
        odds = drawn.log() - (-drawn).log1p() + probs.log() - (-probs).log1p()
        return odds / self.temperature

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        gap = logits - value.mul(self.temperature)
        return self.temperature.log() + gap - 2 * gap.exp().log1p()


class RelaxedBernoulli(OverBase, TransformedDistribution):
    """Numbers in (0, 1) that come near 0 and 1 as the `temperature`, a tensor, becomes small.

    `probs` or `logits` as of `Bernoulli`.

    >>> imode.distributions.RelaxedBernoulli(imode.tensor(0.5), imode.tensor([0.3])).probs
    tensor([0.3000])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _expands = ()

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)
