"""Rows of a table by index over ndarrays, and the gradient of the table."""

cimport numpy as cnp
from imode._core.allocator cimport empty
from imode.kernels.plain cimport _place_of
from libc.string cimport memcpy

from .channels cimport contiguous

import numpy as np

from imode._core.words import tensor_type

cnp.import_array()

ctypedef fused real:
    float
    double


cdef cnp.ndarray _indices(a):
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>a)
    if kind == cnp.NPY_INT64:
        return contiguous(a)
    if kind == cnp.NPY_INT32:
        return contiguous(a.astype(np.int64))
    raise wrong_indices(a.dtype, 1, "embedding")


def wrong_indices(dtype, place, operator):
    """The error of an operator whose argument `place` are indices that are no integers."""
    return RuntimeError(
        f"Expected tensor for argument #{place} 'indices' to have one of the following scalar "
        f"types: Long, Int; but got {tensor_type(dtype)} instead (while checking arguments for "
        f"{operator})")


cdef int _check_range(const cnp.int64_t* at, long count, long rows) except -1:
    cdef long i
    if rows == 0 and count:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    for i in range(count):
        if at[i] < 0 or at[i] >= rows:
            raise IndexError("index out of range in self")
    return 0


cpdef object embedding(weight, indices):
    """Return weight[indices]: shape (*indices, columns)."""
    cdef cnp.ndarray table, at, out
    cdef cnp.npy_intp[33] dims
    cdef long count, row, rows, i
    cdef char* source
    cdef char* to
    cdef const cnp.int64_t* place
    if cnp.PyArray_NDIM(<cnp.ndarray>weight) != 2:
        raise RuntimeError("'weight' must be 2-D")
    at = _indices(indices)
    table = contiguous(weight)
    for i in range(cnp.PyArray_NDIM(at)):
        dims[i] = cnp.PyArray_DIM(at, i)
    dims[cnp.PyArray_NDIM(at)] = cnp.PyArray_DIM(table, 1)
    count = cnp.PyArray_SIZE(at)
    place = <const cnp.int64_t*>cnp.PyArray_DATA(at)
    rows = cnp.PyArray_DIM(table, 0)
    _check_range(place, count, rows)
    out = empty(cnp.PyArray_TYPE(table), cnp.PyArray_NDIM(at) + 1, dims)
    row = cnp.PyArray_DIM(table, 1) * cnp.PyArray_ITEMSIZE(table)
    source = <char*>cnp.PyArray_DATA(table)
    to = <char*>cnp.PyArray_DATA(out)
    with nogil:
        for i in range(count):
            memcpy(to + i * row, source + _place_of(place[i], rows) * row, row)
    return out


cdef void _scatter(const real* grad, const cnp.int64_t* at, long count, long columns, long padding,
                   const cnp.int64_t* times, real* out, long rows) noexcept nogil:
    cdef long i, j, place
    cdef real share
    cdef real* row
    for i in range(count):
        place = _place_of(at[i], rows)
        if place != padding:
            row = out + place * columns
            if times != NULL:
                share = <real>1 / times[place]
                for j in range(columns):
                    row[j] += grad[j] * share
            else:
                for j in range(columns):
                    row[j] += grad[j]
        grad += columns


cpdef object embedding_backward(
        grad, indices, long num_weights, long padding_idx, bint scale_grad_by_freq):
    """Add every row of grad to the row of the table that it was taken from."""
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>grad)
    cdef cnp.ndarray g, at, out, counted
    cdef cnp.npy_intp[2] dims
    cdef const cnp.int64_t* times = NULL
    cdef const cnp.int64_t* place
    cdef long count, columns
    if kind == cnp.NPY_FLOAT16:
        return embedding_backward(grad.astype(np.float32), indices, num_weights, padding_idx,
                                  scale_grad_by_freq).astype(np.float16)
    at = _indices(indices)
    g = contiguous(grad)
    count = cnp.PyArray_SIZE(at)
    columns = cnp.PyArray_DIM(g, cnp.PyArray_NDIM(g) - 1)
    dims[0] = num_weights
    dims[1] = columns
    out = cnp.PyArray_ZEROS(2, dims, kind, 0)
    place = <const cnp.int64_t*>cnp.PyArray_DATA(at)
    _check_range(place, count, num_weights)
    if scale_grad_by_freq:
        counted = np.bincount(at.ravel(), minlength=num_weights).astype(np.int64, copy=False)
        times = <const cnp.int64_t*>cnp.PyArray_DATA(counted)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        rows = g.reshape(count, columns)
        keep = at.ravel() != padding_idx
        np.add.at(out, at.ravel()[keep], rows[keep])
        return out
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _scatter(<const float*>cnp.PyArray_DATA(g), place, count, columns, padding_idx, times,
                     <float*>cnp.PyArray_DATA(out), num_weights)
        else:
            _scatter(<const double*>cnp.PyArray_DATA(g), place, count, columns, padding_idx,
                     times, <double*>cnp.PyArray_DATA(out), num_weights)
    return out
