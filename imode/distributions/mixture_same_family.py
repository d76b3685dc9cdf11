"""Mixtures of distributions of one kind."""

import imode

from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Outcomes of one of the components, which lie along the last axis of a distribution's batch.

    `mixture_distribution`, a `Categorical`, says which. Raises ValueError where they do not fit.

    >>> d = imode.distributions
    >>> parts = d.Normal(imode.tensor([-1.0, 3.0]), 1.0)
    >>> d.MixtureSameFamily(d.Categorical(imode.ones(2)), parts).mean
    tensor(1.)
    """

    arg_constraints = {}
    has_rsample = False
    _expands = ("_component_distribution", "_mixture_distribution")
    _keeps = ("_num_component", "_event_ndims")

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of "
                "torch.distributions.Distribution"
            )
        ours, theirs = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for i, j in zip(reversed(ours), reversed(theirs), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({ours}) is not compatible with "
                    f"`component_distribution.batch_shape`({theirs})"
                )
        self._num_component = n = mixture_distribution.logits.shape[-1]
        parts = component_distribution.batch_shape[-1]
        if n != parts:
            raise ValueError(
                f"`mixture_distribution component` ({n}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({parts})"
            )
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(theirs, event, validate_args=validate_args)

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self):
        """Which component."""
        return self._mixture_distribution

    @property
    def component_distribution(self):
        """The components."""
        return self._component_distribution

    def _weights(self):
        """The probabilities of the components, with axes for the batch and the events."""
        probs = self.mixture_distribution.probs
        ours = len(self.mixture_distribution.batch_shape)
        more = 0 if ours == 1 else len(self.batch_shape) - ours
        shape = probs.shape
        return probs.reshape(shape[:-1] + (1,) * more + shape[-1:] + (1,) * self._event_ndims)

    def _mixed(self, values):
        return imode.sum(values, dim=-1 - self._event_ndims)

    @property
    def mean(self):
        return self._mixed(self._weights() * self.component_distribution.mean)

    @property
    def variance(self):
        weights, parts = self._weights(), self.component_distribution
        between = (parts.mean - self._pad(self.mean)).pow(2.0)
        return self._mixed(weights * parts.variance) + self._mixed(weights * between)

    def cdf(self, x):
        below = self.component_distribution.cdf(self._pad(x))
        return imode.sum(below * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x):
        if self._validate_args:
            self._validate_sample(x)
        log_probs = self.component_distribution.log_prob(self._pad(x))
        log_weights = imode.log_softmax(self.mixture_distribution.logits, dim=-1)
        return imode.logsumexp(log_probs + log_weights, dim=-1)

    def sample(self, sample_shape=()):
        with imode.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            which = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            event, shape = self.event_shape, which.shape
            which = which.reshape(shape + (1,) * (len(event) + 1))
            which = which.repeat((1,) * len(shape) + (1,) + event)
            return imode.gather(drawn, dim, which).squeeze(dim)

    def _pad(self, x):
        """A value with an axis for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def __repr__(self):
        parts = f"\n  {self.mixture_distribution},\n  {self.component_distribution}"
        return f"MixtureSameFamily({parts})"
