"""The base of transforms, their inverses, and what several share."""

import imode

from . import constraints


class Transform:
    """The base of transforms; a subclass gives `_call`, `_inverse` and `log_abs_det_jacobian`.

    `domain`, `codomain`: constraints; `bijective`; `sign`: +1 or -1 where it is monotonic.
    `cache_size`: 1 keeps the last pair of x and y, so that the inverse of y is x itself. Raises
    ValueError for another size than 0 and 1.

    >>> t = imode.distributions.TanhTransform(cache_size=1)
    >>> x = imode.tensor(100.0)
    >>> t.inv(t(x)) is x
    True
    """

    bijective = False

    def __init__(self, cache_size=0):
        self._cache_size = cache_size
        self._inv = None
        if cache_size == 1:
            self._cached_x_y = None, None
        elif cache_size != 0:
            raise ValueError("cache_size must be 0 or 1")
        super().__init__()

    def __getstate__(self):
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self):
        """The axes of one event; ValueError where x and y differ in them."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self):
        """The inverse transform."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self):
        """+1 for an increasing transform of numbers, -1 for a decreasing one."""
        raise NotImplementedError

    def with_cache(self, cache_size=1):
        """Return the same transform with another `cache_size`."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return not self.__eq__(other)

    def __call__(self, x):
        """Return y of x."""
        if self._cache_size == 0:
            return self._call(x)
        old_x, old_y = self._cached_x_y
        if x is old_x:
            return old_y
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y):
        if self._cache_size == 0:
            return self._inverse(y)
        old_x, old_y = self._cached_x_y
        if y is old_y:
            return old_x
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        """Return log |dy/dx|, summed over each event."""
        raise NotImplementedError

    def __repr__(self):
        return f"{type(self).__name__}()"

    def forward_shape(self, shape):
        """Return the shape of y, given that of x."""
        return shape

    def inverse_shape(self, shape):
        """Return the shape of x, given that of y."""
        return shape


class _InverseTransform(Transform):
    """The inverse of `_inv`."""

    def __init__(self, transform):
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def _of(self):
        if self._inv is None:
            raise AssertionError("_inv must not be None")
        return self._inv

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return self._of().codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return self._of().domain

    @property
    def bijective(self):
        return self._of().bijective

    @property
    def sign(self):
        return self._of().sign

    @property
    def inv(self):
        return self._inv

    def with_cache(self, cache_size=1):
        return self._of().with_cache(cache_size).inv

    def __eq__(self, other):
        return isinstance(other, _InverseTransform) and self._of() == other._inv

    def __repr__(self):
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x):
        return self._of()._inv_call(x)

    def log_abs_det_jacobian(self, x, y):
        return -self._of().log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)


class Plain(Transform):
    """Transforms without parameters: equal where they are of one class."""

    def __eq__(self, other):
        return isinstance(other, self._of_class())

    @classmethod
    def _of_class(cls):
        """The public class, whose subclasses count as equal."""
        return next(c for c in cls.__mro__ if Plain in c.__bases__)


def too_few():
    return ValueError("Too few dimensions on input")


def inside(x):
    """x, kept inside of (0, 1)."""
    limits = imode.finfo(x.dtype)
    return x.clamp(min=limits.tiny, max=1.0 - limits.eps)
