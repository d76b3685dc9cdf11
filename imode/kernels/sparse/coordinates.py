"""Coordinates of sparse tensors as arrays: checks, sorting, sums, and the way to strided arrays.

`indices` is int64 [sparse dimensions, nnz], `values` [nnz, *the other dimensions], as in
`imode._core.sparse.Coordinates`.
"""

import math

import numpy as np

from imode import errors
from imode._core.sparse import parts, sparse_tensor
from imode.kernels.sparse import loops

_SUMMED = "fdFDbBhil"  # dtypes of the compiled loops; others go by NumPy


def make(indices, values, shape, coalesced=False):
    """Return a sparse tensor; one of fewer than two elements is coalesced."""
    coalesced = coalesced or indices.shape[1] < 2
    return sparse_tensor(indices, np.asarray(values), tuple(shape), coalesced)


def check(indices, shape):
    """Raise RuntimeError for an index that is negative or beyond its dimension."""
    if not indices.shape[1]:
        return
    low, high = indices.min(1), indices.max(1)
    for dim, (least, most, size) in enumerate(zip(low, high, shape)):
        if least < 0:
            raise errors.sparse.negative_index(least, dim)
        if most >= size:
            raise errors.sparse.index_out_of_range(most, dim, size)


def checked(indices, values, shape, coalesced):
    """Return the arguments, arrays and facts of a sparse tensor from outside, or raise."""
    fits = (
        isinstance(indices, np.ndarray)
        and indices.dtype == np.int64
        and indices.ndim == 2
        and values.ndim >= 1
        and len(indices) + values.ndim - 1 == len(shape)
    )
    if not fits:
        sparse_dim = indices.shape[0] if indices.ndim else 0
        raise errors.sparse.dimensions(len(shape), sparse_dim, values.ndim - 1)
    if indices.shape[1] != len(values):
        raise errors.sparse.counts(indices.shape[1], len(values))
    if values.shape[1:] != tuple(shape[len(indices) :]):
        expected = [indices.shape[1], *shape[len(indices) :]]
        raise errors.sparse.value_sizes(list(values.shape), expected)
    check(indices, shape)
    if coalesced and not is_sorted(indices, shape):
        raise errors.sparse.falsely_coalesced()
    values = np.ascontiguousarray(values).reshape(values.shape)
    coalesced = bool(coalesced) or indices.shape[1] < 2
    return np.ascontiguousarray(indices), values, tuple(shape), coalesced


def linear(indices, shape):
    """Return the place of each element, as one number in row-major order."""
    if len(indices) == 1:
        return np.ascontiguousarray(indices[0])
    places = np.zeros(indices.shape[1], np.int64)
    for index, size in zip(indices, shape):
        places *= size
        places += index
    return places


def is_sorted(indices, shape):
    """Whether the coordinates are sorted, each place once."""
    places = linear(indices, shape)
    return bool((places[1:] > places[:-1]).all())


def coalesced(indices, values, shape):
    """Return indices and values sorted, with what has the same place summed."""
    nnz = indices.shape[1]
    shape = shape[: len(indices)]
    places = linear(indices, shape)
    order = loops.order_of(places, max(math.prod(shape), 1))
    places = places[order]
    first = np.ones(nnz, bool)
    np.not_equal(places[1:], places[:-1], out=first[1:])
    runs = np.cumsum(first, dtype=np.int64) - 1
    summed = np.zeros((int(runs[-1]) + 1 if nnz else 0, *values.shape[1:]), values.dtype)
    add_rows(summed, runs, values, order)
    return np.ascontiguousarray(indices[:, order[first]]), summed


def add_rows(target, rows, values, order=None):
    """Add `values[order[i]]` to `target[rows[i]]`; bools by or."""
    if order is None:
        order = np.arange(len(rows), dtype=np.int64)
    if values.dtype.char in _SUMMED and target.flags.c_contiguous:
        width = math.prod(values.shape[1:])
        flat = np.ascontiguousarray(values).reshape(len(values), width)
        loops.sum_runs(flat, order, rows, target.reshape(len(target), width))
    elif values.dtype == bool:
        np.logical_or.at(target, rows, values[order])
    else:
        np.add.at(target, rows, values[order])


def dense(tensor):
    """Return the elements of a sparse tensor as a strided array."""
    found = parts(tensor)
    shape = tuple(tensor.shape)
    sparse_dim = len(found.indices)
    try:
        out = np.zeros(shape, found.values.dtype)
    except MemoryError:
        raise errors.shapes.no_memory(math.prod(shape) * found.values.itemsize) from None
    flat = out.reshape(math.prod(shape[:sparse_dim]), *shape[sparse_dim:])
    if len(flat):
        add_rows(flat, linear(found.indices, shape), found.values)
    return out


def sorted_parts(tensor):
    """Return (indices, values) of a sparse tensor, coalesced."""
    found = parts(tensor)
    if found.coalesced:
        return found.indices, found.values
    return coalesced(found.indices, found.values, tuple(tensor.shape))


def from_dense(array, sparse_dim):
    """Return (indices, values) of what is not zero in an array: of rows with such, if hybrid."""
    rest = tuple(range(sparse_dim, array.ndim))
    there = (array != 0).any(rest) if rest else array != 0
    if not sparse_dim:
        there = np.asarray(there)
        n = int(bool(there))
        return np.zeros((0, n), np.int64), array[None][:n].copy()
    indices = np.array(np.nonzero(there), np.int64).reshape(sparse_dim, -1)
    return indices, np.ascontiguousarray(array[tuple(indices)])


def rows_at(array, indices):
    """Return the parts of a strided array at indices: [nnz, *the other dimensions]."""
    if not len(indices):
        return np.repeat(array[None], indices.shape[1], 0)
    return np.ascontiguousarray(array[tuple(indices)])


def find(places, wanted):
    """Return where each of `wanted` stands in the sorted `places`, and whether it does."""
    at = np.searchsorted(places, wanted)
    if not len(places):
        return at, np.zeros(len(wanted), bool)
    at = np.minimum(at, len(places) - 1)
    return at, places[at] == wanted
