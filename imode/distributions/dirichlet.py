"""The Dirichlet distribution."""

import imode
from imode.autograd import Function
from imode.autograd.function import once_differentiable

from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class _Dirichlet(Function):
    """Shares of 1, which move with the parameters, so that each stays at its quantile."""

    @staticmethod
    def forward(ctx, concentration):
        x = imode._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        slope = imode._dirichlet_grad(x, concentration, total)
        return slope * (grad - (x * grad).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Shares of 1 along the last axis, of density proportional to Π x^(`concentration` - 1).

    Raises ValueError for a concentration without dimensions.

    >>> imode.distributions.Dirichlet(imode.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _expands = ("concentration",)

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape=()):
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        shape = self.concentration
        power = imode.xlogy(shape - 1.0, value).sum(-1)
        return power + imode.lgamma(shape.sum(-1)) - imode.lgamma(shape).sum(-1)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corner = (self.concentration < 1).all(dim=-1)
        mode[corner] = imode.nn.functional.one_hot(mode[corner].argmax(dim=-1), above.shape[-1]).to(
            mode
        )
        return mode

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self):
        shape, k = self.concentration, self.concentration.size(-1)
        total = shape.sum(-1)
        return (
            imode.lgamma(shape).sum(-1)
            - imode.lgamma(total)
            - (k - total) * imode.digamma(total)
            - ((shape - 1.0) * imode.digamma(shape)).sum(-1)
        )

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - imode.lgamma(x.sum(-1))
