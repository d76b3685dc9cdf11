"""Distinct values, of a tensor or of its slices, in order or run by run."""

import numpy as np

from imode import errors, ops
from imode._core.parallel import skipping
from imode.kernels.shapes.views import wrap_dim
from imode.kernels.sorting import histogram_fast, sort_fast
from imode.ops.pointwise.common import not_differentiable
from imode.ops.schema import composite, op


def _no_derivative(name):
    return {"self": not_differentiable(name)}


def _refuse_complex(self, kernel="unique"):
    if self.dtype.kind == "c":
        raise errors.dtypes.not_implemented(kernel, self.dtype)


FEW = 1024  # of fewer elements the sorted are as quick


def _unique_of_few(self, least, most, return_inverse, return_counts):
    """Of whole numbers that lie close together: they are counted, not sorted."""
    times = histogram_fast.counts(self.reshape(-1), most - least + 1, least)
    places = np.flatnonzero(times)
    none = np.empty(0, np.int64)
    if not return_inverse and not return_counts:
        return places + least, none, none.copy()
    rank = np.cumsum(times != 0) - 1
    return places + least, rank[self - least], times[places]


def _unique(self, sorted, return_inverse, return_counts):
    _refuse_complex(self)
    if self.dtype == np.int64 and self.size >= FEW and not skipping():
        least, most = histogram_fast.bounds(self)
        if most - least <= 4 * self.size:
            return _unique_of_few(self, least, most, return_inverse, return_counts)
    if not return_inverse and not return_counts:
        ordered = np.sort(self, None)
        first = np.ones(ordered.size, bool)
        np.not_equal(ordered[1:], ordered[:-1], first[1:])
        none = np.empty(0, np.int64)
        return ordered[first], none, none.copy()
    values, inverse, counts = np.unique(
        self.reshape(-1), return_inverse=True, return_counts=True, equal_nan=False
    )
    return values, inverse.reshape(self.shape).astype(np.int64), counts.astype(np.int64)


def _check_unique_dim(self, dim):
    if self.ndim == 0:
        raise errors.shapes.no_dimensions(dim)
    dim = wrap_dim(dim, self.ndim)
    if self.shape.count(0) > 1:
        raise RuntimeError(
            "Number of zero sized dimensions is more than one, so unique cannot be applied"
        )
    if any(n == 0 for d, n in enumerate(self.shape) if d != dim):
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return dim


def _runs(self, dim, order, first):
    """The first slice of each run of equal ones in `order`; which run each is in; run lengths."""
    starts = np.flatnonzero(first)
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.cumsum(first) - 1
    counts = np.diff(np.append(starts, len(order))).astype(np.int64)
    slices = np.moveaxis(self, dim, 0)[order[starts]]
    return np.moveaxis(np.ascontiguousarray(slices), 0, dim), inverse, counts


op(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False)"
    " -> (Tensor, Tensor, Tensor)",
    _unique,
    by_values=True,
    fast=sort_fast.unique,
    derivative=_no_derivative("_unique2"),
)


@op(
    "_unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, "
    "bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    by_values=True,
    derivative=_no_derivative("unique_dim"),
)
def _unique_dim(self, dim, sorted, return_inverse, return_counts):
    _refuse_complex(self, "unique_dim")
    dim = _check_unique_dim(self, dim)
    if self.shape[dim] == 0:
        none = np.empty(0, np.int64)
        return np.ascontiguousarray(self), none, none.copy()
    rows = np.moveaxis(self, dim, 0).reshape(self.shape[dim], -1)
    order = np.lexsort(rows.T[::-1])
    first = np.ones(len(order), bool)
    first[1:] = (rows[order[1:]] != rows[order[:-1]]).any(1)
    return _runs(self, dim, order, first)


@op(
    "_unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> (Tensor, Tensor, Tensor)",
    by_values=True,
    derivative=_no_derivative("unique_consecutive"),
)
def _unique_consecutive(self, return_inverse, return_counts, dim):
    flat = self.reshape(-1) if dim is None else self
    of_all = dim is None or (dim == 0 and flat.ndim == 1)
    _refuse_complex(self, "unique" if of_all else "unique_dim")
    at = 0 if dim is None else _check_unique_dim(self, dim)
    if flat.ndim == 0 or flat.shape[at] == 0:
        none = np.empty(0, np.int64)
        inverse = np.empty(self.shape, np.int64) if dim is None else none.copy()
        return np.array(flat, order="C"), inverse, none
    n = flat.shape[at]
    first = np.ones(n, bool)
    if flat.ndim == 1:
        np.not_equal(flat[1:], flat[:-1], out=first[1:])
        if not return_inverse and not return_counts:
            none = np.empty(0, np.int64)
            return flat[first], none, none.copy()
    else:
        rows = np.moveaxis(flat, at, 0).reshape(n, -1)
        first[1:] = (rows[1:] != rows[:-1]).any(1)
    values, inverse, counts = _runs(flat, at, np.arange(n), first)
    return values, inverse.reshape(self.shape) if dim is None else inverse, counts


def _asked(results, return_inverse, return_counts):
    values, inverse, counts = results
    if not return_inverse and not return_counts:
        return values
    return (values,) + (inverse,) * return_inverse + (counts,) * return_counts


@composite(
    "unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> any",
)
def unique(self, sorted, return_inverse, return_counts, dim):
    """Return the distinct elements in order, or the distinct slices along `dim`.

    return_inverse: also which of them each element is. return_counts: also how often each occurs.

    >>> imode.unique(imode.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is None:
        results = ops._unique2(self, sorted, return_inverse, return_counts)
    else:
        results = ops._unique_dim(self, dim, sorted, return_inverse, return_counts)
    return _asked(results, return_inverse, return_counts)


@composite(
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> any",
)
def unique_consecutive(self, return_inverse, return_counts, dim):
    """Return the first of each run of equal elements, or of equal slices along `dim`.

    >>> imode.unique_consecutive(imode.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    results = ops._unique_consecutive(self, return_inverse, return_counts, dim)
    return _asked(results, return_inverse, return_counts)
