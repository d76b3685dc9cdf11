"""Transforms of tensors: invertible where they can be, with the logarithm of their derivative.

>>> t = imode.distributions.ExpTransform()
>>> t.inv(t(imode.tensor(2.0)))
tensor(2.)
"""

import functools
import math
import operator

import imode
from imode import Size
from imode.nn.functional import softplus

from . import constraints
from ._joined_transforms import CatTransform, StackTransform
from ._transform import Plain, Transform, _InverseTransform, inside, too_few  # noqa: F401
from ._vector_transforms import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from .utils import _sum_rightmost, broadcast_all, lazy_property

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


# ---- over other transforms -----------------------------------------------------------------------


class ComposeTransform(Transform):
    """Transforms one after another.

    >>> d = imode.distributions
    >>> d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)])(imode.tensor(0.0))
    tensor(3.)
    """

    def __init__(self, parts, cache_size=0):
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts

    def __eq__(self, other):
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    def _end(self, constraint, others, event_dim):
        """The constraint at one end: its events are as large as the other parts need."""
        for theirs, ours in others:
            event_dim = max(event_dim + ours.event_dim - theirs.event_dim, ours.event_dim)
        more = event_dim - constraint.event_dim
        return constraints.independent(constraint, more) if more > 0 else constraint

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        if not self.parts:
            return constraints.real
        ends = [(part.codomain, part.domain) for part in reversed(self.parts)]
        return self._end(self.parts[0].domain, ends, self.parts[-1].codomain.event_dim)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        if not self.parts:
            return constraints.real
        ends = [(part.domain, part.codomain) for part in self.parts]
        return self._end(self.parts[-1].codomain, ends, self.parts[0].domain.event_dim)

    @lazy_property
    def bijective(self):
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self):
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self):
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x, y):
        if not self.parts:
            return imode.zeros_like(x)
        event_dim, terms = self.domain.event_dim, []
        for i, part in enumerate(self.parts, 1):
            between = y if i == len(self.parts) else part(x)
            term = part.log_abs_det_jacobian(x, between)
            terms.append(_sum_rightmost(term, event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
            x = between
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self):
        parts = ",\n    ".join(map(repr, self.parts))
        return f"{type(self).__name__}(\n    {parts}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose events have some axes more: the logarithms of its derivative are summed.

    >>> d = imode.distributions
    >>> t, x = d.IndependentTransform(d.ExpTransform(), 1), imode.ones(3)
    >>> t.log_abs_det_jacobian(x, t(x))
    tensor(3.)
    """

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(
            self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size
        )

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        base = self.base_transform.domain
        return constraints.independent(base, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        base = self.base_transform.codomain
        return constraints.independent(base, self.reinterpreted_batch_ndims)

    @property
    def bijective(self):
        return self.base_transform.bijective

    @property
    def sign(self):
        return self.base_transform.sign

    def _call(self, x):
        if x.dim() < self.domain.event_dim:
            raise too_few()
        return self.base_transform(x)

    def _inverse(self, y):
        if y.dim() < self.codomain.event_dim:
            raise too_few()
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x, y):
        result = self.base_transform.log_abs_det_jacobian(x, y)
        return _sum_rightmost(result, self.reinterpreted_batch_ndims)

    def __repr__(self):
        name = type(self).__name__
        return f"{name}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """The last axes in another shape of as many elements; ValueError for another number.

    >>> imode.distributions.ReshapeTransform((4,), (2, 2))(imode.ones(3, 4)).shape
    imode.Size([3, 2, 2])
    """

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self):
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self):
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x):
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x, y):
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    @staticmethod
    def _exchanged(shape, old, new):
        if len(shape) < len(old):
            raise too_few()
        cut = len(shape) - len(old)
        if shape[cut:] != old:
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
        return shape[:cut] + new

    def forward_shape(self, shape):
        return self._exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return self._exchanged(shape, self.out_shape, self.in_shape)


# ---- of numbers ----------------------------------------------------------------------------------


class ExpTransform(Plain):
    """exp(x).

    >>> imode.distributions.ExpTransform()(imode.tensor(0.0))
    tensor(1.)
    """

    domain, codomain = constraints.real, constraints.positive
    bijective, sign = True, 1

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    """x^`exponent`, of positive numbers.

    >>> imode.distributions.PowerTransform(2.0)(imode.tensor(3.0))
    tensor(9.)
    """

    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return PowerTransform(self.exponent, cache_size=cache_size)

    @lazy_property
    def sign(self):
        return self.exponent.sign()

    def __eq__(self, other):
        if not isinstance(other, PowerTransform):
            return False
        return self.exponent.eq(other.exponent).all().item()

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return imode.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class SigmoidTransform(Plain):
    """1 / (1 + exp(-x)), kept away from 0 and 1.

    >>> imode.distributions.SigmoidTransform()(imode.tensor(0.0))
    tensor(0.5000)
    """

    domain, codomain = constraints.real, constraints.unit_interval
    bijective, sign = True, 1

    def _call(self, x):
        return inside(imode.sigmoid(x))

    def _inverse(self, y):
        y = inside(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Plain):
    """log(1 + exp(x)); x itself above 20.

    >>> imode.distributions.SoftplusTransform()(imode.tensor(30.0))
    tensor(30.)
    """

    domain, codomain = constraints.real, constraints.positive
    bijective, sign = True, 1

    def _call(self, x):
        return softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -softplus(-x)


class TanhTransform(Plain):
    """tanh(x). Its inverse is infinite at -1 and 1: `cache_size=1` may serve.

    >>> imode.distributions.TanhTransform()(imode.tensor(0.0))
    tensor(0.)
    """

    domain, codomain = constraints.real, constraints.interval(-1.0, 1.0)
    bijective, sign = True, 1

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return imode.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Plain):
    """|x|, whose inverse is the positive one.

    >>> imode.distributions.AbsTransform()(imode.tensor(-2.0))
    tensor(2.)
    """

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


def _is_number(value):
    return isinstance(value, (int, float))


def _same(one, other):
    """Whether numbers, or all elements of tensors, are equal."""
    if _is_number(one) and _is_number(other):
        return one == other
    return (one == other).all().item()


class AffineTransform(Transform):
    """`loc` + `scale` · x, numbers or tensors; `event_dim`: how many last axes are one event.

    >>> imode.distributions.AffineTransform(1.0, 2.0)(imode.tensor(3.0))
    tensor(7.)
    """

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self):
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    codomain = domain

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other):
        if not isinstance(other, AffineTransform):
            return False
        return _same(self.loc, other.loc) and _same(self.scale, other.scale)

    @property
    def sign(self):
        if _is_number(self.scale):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        shape, scale = x.shape, self.scale
        if _is_number(scale):
            result = imode.full_like(x, math.log(abs(scale)))
        else:
            result = scale.abs().log()
        if self.event_dim:
            result = result.view(result.size()[: -self.event_dim] + (-1,)).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape):
        loc, scale = getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ())
        return imode.broadcast_shapes(shape, loc, scale)

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """The distribution function of a distribution, uniform of what is drawn from it.

    >>> d = imode.distributions
    >>> d.CumulativeDistributionTransform(d.Normal(0.0, 1.0))(imode.tensor(0.0))
    tensor(0.5000)
    """

    codomain = constraints.unit_interval
    bijective, sign = True, 1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self):
        return self.distribution.support

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)
