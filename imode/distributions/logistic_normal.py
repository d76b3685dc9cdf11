"""The logistic normal distribution."""

from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Shares of 1 that `StickBreakingTransform` makes of normal numbers along the last axis.

    >>> imode.distributions.LogisticNormal(imode.zeros(2), imode.ones(2)).sample().shape
    imode.Size([3])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    _expands = ()

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self):
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self):
        """The standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale
