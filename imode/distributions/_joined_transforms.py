"""Several transforms side by side, each of a part of the tensor."""

import imode

from . import constraints
from ._transform import Transform
from .utils import _sum_rightmost, lazy_property


class _Joined(Transform):
    """Transforms of parts along the axis `dim`."""

    def __init__(self, tseq, dim=0, cache_size=0):
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms = list(tseq)
        self.dim = dim

    @property
    def bijective(self):
        return all(t.bijective for t in self.transforms)

    def _expected(self):
        """How long the axis is, and how a message says so."""
        raise NotImplementedError

    def _parts(self, value, name, shown="tensor"):
        """The parts of a tensor, of the right length; name, shown: what messages call it."""
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for {shown} with {value.dim()} dimensions"
            )
        length, what = self._expected()
        if (found := value.size(self.dim)) != length:
            raise AssertionError(f"{name}.size({self.dim}) = {found} must equal {what} {length}")
        return self._split(value)

    def _call(self, x):
        parts = zip(self.transforms, self._parts(x, "x"), strict=True)
        return self._join([t(part) for t, part in parts], dim=self.dim)

    def _inverse(self, y):
        parts = zip(self.transforms, self._parts(y, "y"), strict=True)
        return self._join([t.inv(part) for t, part in parts], dim=self.dim)

    def _log_dets(self, x, y):
        parts = self._parts(x, "x", "x"), self._parts(y, "y", "y")
        return [
            t.log_abs_det_jacobian(*part) for t, *part in zip(self.transforms, *parts, strict=True)
        ]


class CatTransform(_Joined):
    """Transforms of parts that `cat` joins along `dim`, of these lengths (1).

    >>> d = imode.distributions
    >>> d.CatTransform([d.ExpTransform(), d.identity_transform])(imode.zeros(2))
    tensor([1., 0.])
    """

    _join = staticmethod(imode.cat)

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )

    @lazy_property
    def event_dim(self):
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self):
        """The length of the axis."""
        return sum(self.lengths)

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _expected(self):
        return self.length, "length"

    def _split(self, value):
        return value.split(self.lengths, self.dim)

    def log_abs_det_jacobian(self, x, y):
        terms = [
            _sum_rightmost(term, self.event_dim - t.event_dim)
            for t, term in zip(self.transforms, self._log_dets(x, y), strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return imode.cat(terms, dim=dim) if dim < 0 else sum(terms)

    @constraints.dependent_property
    def domain(self):
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self):
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Joined):
    """Transforms of parts that `stack` joins along `dim`.

    >>> d = imode.distributions
    >>> d.StackTransform([d.ExpTransform(), d.identity_transform])(imode.zeros(2))
    tensor([1., 0.])
    """

    _join = staticmethod(imode.stack)

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _expected(self):
        return len(self.transforms), "len(transforms)"

    def _split(self, value):
        return value.unbind(self.dim)

    def log_abs_det_jacobian(self, x, y):
        return imode.stack(self._log_dets(x, y), dim=self.dim)

    @constraints.dependent_property
    def domain(self):
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
