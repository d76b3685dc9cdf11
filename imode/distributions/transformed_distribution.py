"""Distributions of what transforms make of another one's outcomes."""

import imode
from imode import Size

from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """What a transform, or a list of them, makes of the outcomes of `base_distribution`.

    Raises ValueError for other transforms, and where outcomes have too few axes.

    >>> d = imode.distributions
    >>> normal, exp = d.Normal(imode.zeros(2), 1.0), d.ExpTransform()
    >>> d.TransformedDistribution(normal, exp).log_prob(imode.ones(2))
    tensor([-0.9189, -0.9189])
    """

    arg_constraints = {}
    _expands = ()

    def __init__(self, base_distribution, transforms, validate_args=None):
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        whole = ComposeTransform(transforms)
        domain_dim, codomain_dim = whole.domain.event_dim, whole.codomain.event_dim
        shape = base_distribution.batch_shape + base_distribution.event_shape
        base_dim = len(base_distribution.event_shape)
        if len(shape) < domain_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {domain_dim}, but got "
                f"{shape}."
            )
        out_shape = Size(whole.forward_shape(shape))
        in_shape = Size(whole.inverse_shape(out_shape))
        if shape != in_shape:
            base_distribution = base_distribution.expand(in_shape[: len(in_shape) - base_dim])
        if domain_dim > base_dim:
            base_distribution = Independent(base_distribution, domain_dim - base_dim)
        self.base_dist = base_distribution
        cut = len(out_shape) - max(codomain_dim, base_dim + codomain_dim - domain_dim)
        super().__init__(out_shape[:cut], out_shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        shape = new._batch_shape + self._event_shape
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        batch = shape[: len(shape) - len(self.base_dist.event_shape)]
        new.base_dist, new.transforms = self.base_dist.expand(batch), self.transforms
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    def _forward(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape=()):
        with imode.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        event_dim, log_prob, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            domain_dim = transform.domain.event_dim
            event_dim += domain_dim - transform.codomain.event_dim
            log_det = transform.log_abs_det_jacobian(x, y)
            log_prob = log_prob - _sum_rightmost(log_det, event_dim - domain_dim)
            y = x
        more = event_dim - len(self.base_dist.event_shape)
        return log_prob + _sum_rightmost(self.base_dist.log_prob(y), more)

    def _monotonize_cdf(self, value):
        """Turn the probability where the transforms decrease."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value):
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._forward(self.base_dist.icdf(self._monotonize_cdf(value)))
