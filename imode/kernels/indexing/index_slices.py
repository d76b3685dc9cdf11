"""Kernels over ndarrays that add whole slices along a dimension."""

import math

import numpy as np

from imode._core.parallel import skipping
from imode.kernels.creation.copy import cast
from imode.kernels.indexing import index_fast
from imode.kernels.indexing.gather import flat_positions, write

_ROW = 64  # rows of this length or more are added faster row by row than element by element


def add_rows(target, index, values):
    """Add each slice of `values` to slice `index` of a contiguous array, in its first dimension."""
    width = math.prod(target.shape[1:])
    if width == 0 or skipping():
        return
    target = target.reshape(target.shape[0], width)
    values = np.ascontiguousarray(values).reshape(index.size, width)
    if width >= _ROW:
        for i, row in zip(index.tolist(), values):
            target[i] += row
        return
    flat = (index.astype(np.int64)[:, None] * width + np.arange(width)).ravel()
    np.add.at(target.reshape(-1), flat, values.reshape(-1))


def slices(self, dim, index):
    """Flat positions of the slices `index` along `dim`, in the shape of all these slices."""
    shape = self.shape or (1,)
    wide = (*shape[:dim], index.size, *shape[dim + 1 :])
    column = index.reshape((-1,) + (1,) * (len(shape) - dim - 1))
    return flat_positions(np.broadcast_to(column, wide), shape, dim)


def add_slices(a, dim, index, source):
    """Add each slice of `source` to slice `index` of an array along `dim`."""
    if skipping():
        return
    source = np.ascontiguousarray(source if source.dtype == a.dtype else cast(source, a.dtype))
    at = np.ascontiguousarray(index, np.int64)
    if a.ndim > 0 and index_fast.add_along(a, dim, at, source):
        return
    if dim == 0 and a.ndim > 1 and a.flags.c_contiguous:
        add_rows(a, index, source)
    else:
        write(a, slices(a, dim, index).ravel(), source.ravel(), "add")
