"""Sums, means and maxima of rows of a table, by bags, over ndarrays; and their gradients.

Bag i holds the places starts[i] up to starts[i + 1]. Indices are checked by the caller, and read
once more within the table: another thread may write to them.
"""

from imode._core.parallel cimport skipping
cimport numpy as cnp
from imode.kernels.fast_guards cimport _wrapped

import numpy as np

cnp.import_array()

ctypedef fused real:
    float
    double

cdef enum:
    SUM = 0
    MEAN = 1
    MAX = 2


cdef void _gather(const real* table, long rows, long columns, const cnp.int64_t* index,
                  const cnp.int64_t* starts, long bags, const real* weights, int mode,
                  long padding, real* out, cnp.int64_t* sizes, cnp.int64_t* most) noexcept nogil:
    cdef long bag, i, j, at
    cdef real weight
    cdef const real* row
    cdef real* to
    for bag in range(bags):
        to = out + bag * columns
        for j in range(columns):
            to[j] = 0
        sizes[bag] = 0
        for i in range(starts[bag], starts[bag + 1]):
            at = _wrapped(index[i], rows)
            if at == padding:
                continue
            row = table + at * columns
            weight = weights[i] if weights != NULL else 1
            if mode == MAX:
                for j in range(columns):
                    if sizes[bag] == 0 or row[j] > to[j]:
                        to[j] = row[j]
                        most[bag * columns + j] = at
            elif weights != NULL:
                for j in range(columns):
                    to[j] += row[j] * weight
            else:
                for j in range(columns):
                    to[j] += row[j]
            sizes[bag] += 1
        if mode == MEAN and sizes[bag] > 1:
            weight = 1 / <real>sizes[bag]
            for j in range(columns):
                to[j] *= weight


cdef void _spread(const real* grad, long rows, long columns, const cnp.int64_t* index,
                  const cnp.int64_t* starts, long bags, const real* weights, int mode,
                  long padding, const cnp.int64_t* times, const cnp.int64_t* sizes,
                  real* out) noexcept nogil:
    cdef long bag, i, j, at
    cdef real by
    cdef const real* given
    cdef real* to
    for bag in range(bags):
        given = grad + bag * columns
        for i in range(starts[bag], starts[bag + 1]):
            at = _wrapped(index[i], rows)
            if at == padding:
                continue
            to = out + at * columns
            by = weights[i] if weights != NULL else 1
            if mode == MEAN:
                by /= <real>sizes[bag]
            if times != NULL:
                by /= <real>times[at]
            for j in range(columns):
                to[j] += given[j] * by


def bags(cnp.ndarray table, cnp.ndarray index, cnp.ndarray starts, object weights, int mode,
         long padding):
    """Return (results, sizes of bags without padding, rows of the maxima).

    All are contiguous; `table` and `weights` (per place, or None) of float32 or float64.
    """
    cdef long n = starts.shape[0] - 1, rows = table.shape[0], columns = table.shape[1]
    cdef cnp.ndarray out = np.empty((n, columns), table.dtype)
    cdef cnp.ndarray sizes = np.empty(n, np.int64)
    cdef cnp.ndarray most = np.zeros((n, columns) if mode == MAX else (0, 0), np.int64)
    cdef void* by = NULL if weights is None else cnp.PyArray_DATA(<cnp.ndarray>weights)
    cdef const cnp.int64_t* at = <const cnp.int64_t*>cnp.PyArray_DATA(index)
    cdef const cnp.int64_t* of = <const cnp.int64_t*>cnp.PyArray_DATA(starts)
    cdef cnp.int64_t* counted = <cnp.int64_t*>cnp.PyArray_DATA(sizes)
    cdef cnp.int64_t* chosen = <cnp.int64_t*>cnp.PyArray_DATA(most)
    cdef bint wide = cnp.PyArray_TYPE(table) == cnp.NPY_DOUBLE
    cdef void* x = cnp.PyArray_DATA(table)
    cdef void* to = cnp.PyArray_DATA(out)
    if skipping():
        return out, sizes, most
    with nogil:
        if wide:
            _gather(<double*>x, rows, columns, at, of, n, <double*>by, mode, padding, <double*>to,
                    counted, chosen)
        else:
            _gather(<float*>x, rows, columns, at, of, n, <float*>by, mode, padding, <float*>to,
                    counted, chosen)
    return out, sizes, most


def bags_back(cnp.ndarray grad, cnp.ndarray index, cnp.ndarray starts, object weights, int mode,
              long padding, object times, cnp.ndarray sizes, long rows):
    """Return the gradient of the table, of sums and means.

    `times`: how often each row was taken, which gradients are divided by, or None.
    """
    cdef long n = starts.shape[0] - 1, columns = grad.shape[1]
    cdef cnp.ndarray out = np.zeros((rows, columns), grad.dtype)
    cdef void* by = NULL if weights is None else cnp.PyArray_DATA(<cnp.ndarray>weights)
    cdef const cnp.int64_t* often = NULL
    cdef const cnp.int64_t* at = <const cnp.int64_t*>cnp.PyArray_DATA(index)
    cdef const cnp.int64_t* of = <const cnp.int64_t*>cnp.PyArray_DATA(starts)
    cdef const cnp.int64_t* counted = <const cnp.int64_t*>cnp.PyArray_DATA(sizes)
    cdef bint wide = cnp.PyArray_TYPE(grad) == cnp.NPY_DOUBLE
    cdef void* x = cnp.PyArray_DATA(grad)
    cdef void* to = cnp.PyArray_DATA(out)
    if times is not None:
        often = <const cnp.int64_t*>cnp.PyArray_DATA(<cnp.ndarray>times)
    if skipping():
        return out
    with nogil:
        if wide:
            _spread(<double*>x, rows, columns, at, of, n, <double*>by, mode, padding, often,
                    counted, <double*>to)
        else:
            _spread(<float*>x, rows, columns, at, of, n, <float*>by, mode, padding, often,
                    counted, <float*>to)
    return out
