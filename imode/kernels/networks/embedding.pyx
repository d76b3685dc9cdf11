"""Rows of a table by index over ndarrays, and the gradient of the table."""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver
from imode._core.allocator cimport empty
from imode._core.channels cimport contiguous
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.moving cimport clear
from imode._core.parallel cimport (
    Thread, give_up_gil, num_threads, parallel_for, skipping, take_gil)
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport _wrapped, array_of
from libc.string cimport memcpy

import numpy as np

from imode import errors
from imode._core.type_names import tensor_type

cnp.import_array()

ctypedef fused real:
    float
    double

cdef enum:
    GRAIN = 1 << 17           # fewest bytes per thread
    LINE = 64                 # fewest bytes of a row per thread


cdef cnp.ndarray _indices(a):
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>a)
    if kind == cnp.NPY_INT64:
        return contiguous(a)
    if kind == cnp.NPY_INT32:
        return contiguous(a.astype(np.int64))
    raise wrong_indices(a.dtype, 1, "embedding")


def wrong_indices(dtype, position, operator):
    """The error for indices, argument number `position`, that are not integers."""
    return RuntimeError(
        f"Expected tensor for argument #{position} 'indices' to have one of the following scalar "
        f"types: Long, Int; but got {tensor_type(dtype)} instead (while checking arguments for "
        f"{operator})")


cdef int _check_range(const cnp.int64_t* at, long count, long rows) except -1:
    cdef long i
    if rows == 0 and count:
        raise errors.shapes.selected_from_nothing()
    for i in range(count):
        if at[i] < 0 or at[i] >= rows:
            raise errors.shapes.index_out_of_range("embedding", at[i], 0, rows)
    return 0


cdef struct copied_t:
    const cnp.int64_t* at
    const char* source
    char* to
    long row, rows            # bytes of a row; how many rows the table has


cdef void _copy_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef copied_t* s = <copied_t*>ctx
    cdef long i
    for i in range(begin, end):
        memcpy(s.to + i * s.row, s.source + _wrapped(s.at[i], s.rows) * s.row, s.row)


cdef object _rows(cnp.ndarray weight, cnp.ndarray indices):
    """Return weight[indices]: shape (*indices, columns)."""
    cdef cnp.ndarray table, at, out
    cdef cnp.npy_intp[33] dims
    cdef long count, i
    cdef copied_t s
    cdef Thread* thread
    if cnp.PyArray_NDIM(<cnp.ndarray>weight) != 2:
        raise RuntimeError("'weight' must be 2-D")
    at = _indices(indices)
    table = contiguous(weight)
    for i in range(cnp.PyArray_NDIM(at)):
        dims[i] = cnp.PyArray_DIM(at, i)
    dims[cnp.PyArray_NDIM(at)] = cnp.PyArray_DIM(table, 1)
    count = cnp.PyArray_SIZE(at)
    s.at = <const cnp.int64_t*>cnp.PyArray_DATA(at)
    s.rows = cnp.PyArray_DIM(table, 0)
    _check_range(s.at, count, s.rows)
    out = empty(cnp.PyArray_TYPE(table), cnp.PyArray_NDIM(at) + 1, dims)
    s.row = cnp.PyArray_DIM(table, 1) * cnp.PyArray_ITEMSIZE(table)
    s.source = <char*>cnp.PyArray_DATA(table)
    s.to = <char*>cnp.PyArray_DATA(out)
    if skipping():
        return out
    thread = give_up_gil(count * s.row)
    parallel_for(count, GRAIN // (s.row + 1) + 1, _copy_some, &s)
    take_gil(thread)
    return out


cdef struct added_t:
    bint wide
    const void* grad
    const cnp.int64_t* at
    long count, columns, padding, rows
    const cnp.int64_t* times  # or NULL
    void* out


cdef void _scatter(const added_t* s, long begin, long end, const real* grad,
                   real* out) noexcept nogil:
    """Columns begin to end: each element of the table has one thread, and its order of sums."""
    cdef long i, j, row_number
    cdef real share
    cdef real* row
    for i in range(s.count):
        row_number = _wrapped(s.at[i], s.rows)
        if row_number != s.padding:
            row = out + row_number * s.columns
            if s.times != NULL:
                share = <real>1 / s.times[row_number]
                for j in range(begin, end):
                    row[j] += grad[j] * share
            else:
                for j in range(begin, end):
                    row[j] += grad[j]
        grad += s.columns


cdef void _scatter_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef added_t* s = <added_t*>ctx
    if s.wide:
        _scatter(s, begin, end, <const double*>s.grad, <double*>s.out)
    else:
        _scatter(s, begin, end, <const float*>s.grad, <float*>s.out)


def embedding_backward(
        grad, indices, long num_weights, long padding_idx, bint scale_grad_by_freq):
    """Add every row of grad to the row of the table that it belongs to."""
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>grad)
    cdef cnp.ndarray g, at, out, counted
    cdef cnp.npy_intp[2] dims
    cdef const cnp.int64_t* times = NULL
    cdef const cnp.int64_t* index
    cdef long count, columns
    if kind == cnp.NPY_FLOAT16:
        return cast(embedding_backward(cast(grad, np.float32), indices, num_weights, padding_idx,
                                       scale_grad_by_freq), np.float16)
    at = _indices(indices)
    g = contiguous(grad)
    count = cnp.PyArray_SIZE(at)
    columns = cnp.PyArray_DIM(g, cnp.PyArray_NDIM(g) - 1)
    dims[0] = num_weights
    dims[1] = columns
    out = empty(kind, 2, dims)     # its memory was in use before, that of zeros is new
    if not skipping():
        clear(<char*>cnp.PyArray_DATA(out), cnp.PyArray_NBYTES(out))
    index = <const cnp.int64_t*>cnp.PyArray_DATA(at)
    _check_range(index, count, num_weights)
    if scale_grad_by_freq:
        counted = np.bincount(at.ravel(), minlength=num_weights).astype(np.int64, copy=False)
        times = <const cnp.int64_t*>cnp.PyArray_DATA(counted)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        rows = g.reshape(count, columns)
        keep = at.ravel() != padding_idx
        np.add.at(out, at.ravel()[keep], rows[keep])
        return out
    if skipping():
        return out
    cdef added_t s = added_t(kind == cnp.NPY_DOUBLE, cnp.PyArray_DATA(g), index, count, columns,
                             padding_idx, num_weights, times, cnp.PyArray_DATA(out))
    cdef long item = cnp.PyArray_ITEMSIZE(out)
    cdef long grain = max(GRAIN // (count * item + 1) + 1, LINE // item)
    with nogil:
        # as few parts as there are threads: each reads all of the indices
        parallel_for(columns, max(grain, (columns + num_threads() - 1) // num_threads()),
                     _scatter_some, &s)
    return out


cdef object _embedding(Operator op, keyset_t keys, PyObject** args):
    """Called from C: with few elements, a Python call would take half of the time."""
    return deliver(op, _rows(array_of(args[0]), array_of(args[1])), args)


embedding = CKernel.new(_embedding)
