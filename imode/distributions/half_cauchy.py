"""The half-Cauchy distribution."""

import imode
from imode import inf

from . import constraints
from ._folded import Folded
from .cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """Absolute values of Cauchy numbers around 0, as wide as `scale`.

    >>> imode.distributions.HalfCauchy(1.0).cdf(imode.tensor(1.0))
    tensor(0.5000)
    """

    arg_constraints = {"scale": constraints.positive}
    _expands = ()

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self):
        return self._full(inf, self.scale)

    @property
    def variance(self):
        return self.base_dist.variance

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        like = self.base_dist.scale
        return self._log_prob(imode.as_tensor(value, dtype=like.dtype, device=like.device))
