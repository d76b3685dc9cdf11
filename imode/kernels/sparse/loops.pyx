"""Loops over coordinates: sorted sums of what is given several times, products with matrices."""
cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memset
from numpy cimport ndarray, npy_intp

import numpy as np

cnp.import_array()

cdef extern from "sparse_loops.h" nogil:
    ctypedef struct Loops "sparse_loops":
        void (*sum_runs)(const void* values, const int64_t* order, const int64_t* runs, void* out,
                         npy_intp n, npy_intp width) noexcept nogil
        void (*times_matrix)(const int64_t* rows, const int64_t* columns, const void* values,
                             const void* matrix, void* out, npy_intp n,
                             npy_intp width) noexcept nogil
        void (*products_at)(const int64_t* rows, const int64_t* columns, const void* a,
                            const void* b, void* out, npy_intp n, npy_intp width) noexcept nogil

    const Loops* loops_of "imode_sparse_loops"(int typenum)


cdef void* _rows(ndarray array, int typenum, int ndim) except NULL:
    """Where the elements of an array in rows are."""
    if (cnp.PyArray_TYPE(array) != typenum or array.ndim != ndim
            or not cnp.PyArray_IS_C_CONTIGUOUS(array)):
        raise ValueError(f"expected an array in rows of {ndim} dimensions and type {typenum}, not "
                         f"one of {array.ndim} dimensions, {array.dtype} and strides "
                         f"{(<object>array).strides}")
    return cnp.PyArray_DATA(array)


cdef const int64_t* _places(ndarray array) except NULL:
    """The elements of an int64 array of one dimension."""
    return <const int64_t*>_rows(array, cnp.NPY_INT64, 1)


cdef const Loops* _loops(ndarray array) except NULL:
    cdef const Loops* found = loops_of(cnp.PyArray_TYPE(array))
    if found == NULL:
        raise TypeError(f"no loops over coordinates for {array.dtype}")
    return found


def order_of(ndarray places not None, int64_t bound):
    """The stable order that sorts places of 0 up to `bound`: an int64 array.

    By counting, sixteen bits at a time: O(n) for the keys of a matrix.
    """
    cdef const int64_t* keys = _places(places)
    cdef npy_intp n = places.shape[0], i
    cdef ndarray order = np.empty(n, np.int64)
    cdef ndarray other = np.empty(n, np.int64)
    cdef int64_t* at = <int64_t*>cnp.PyArray_DATA(order)
    cdef int64_t* to = <int64_t*>cnp.PyArray_DATA(other)
    cdef int64_t* swap
    cdef ndarray counted = np.empty(65537, np.int64)
    cdef int64_t* counts = <int64_t*>cnp.PyArray_DATA(counted)
    cdef int shift = 0
    cdef int64_t digit
    cdef bint done = True
    with nogil:
        for i in range(1, n):
            if keys[i] < keys[i - 1]:
                done = False
                break
        for i in range(n):
            at[i] = i
        while not done and shift < 64 and (bound - 1) >> shift:
            memset(counts, 0, 65537 * sizeof(int64_t))
            for i in range(n):
                counts[(keys[i] >> shift & 0xffff) + 1] += 1
            for i in range(65536):
                counts[i + 1] += counts[i]
            for i in range(n):
                digit = keys[at[i]] >> shift & 0xffff
                to[counts[digit]] = at[i]
                counts[digit] += 1
            swap = at
            at = to
            to = swap
            shift += 16
    return order if at == <int64_t*>cnp.PyArray_DATA(order) else other


def sum_runs(ndarray values not None, ndarray order not None, ndarray runs not None,
             ndarray out not None):
    """Add the rows of `values`, taken in `order`, into the row of `out` that `runs` gives each."""
    cdef const Loops* loops = _loops(values)
    cdef int typenum = cnp.PyArray_TYPE(values)
    cdef const int64_t* at = _places(order)
    cdef const int64_t* to = _places(runs)
    cdef void* source = _rows(values, typenum, 2)
    cdef void* target = _rows(out, typenum, 2)
    cdef npy_intp n = order.shape[0], width = values.shape[1]
    with nogil:
        loops.sum_runs(source, at, to, target, n, width)


def row_starts(ndarray rows not None, int64_t n_rows):
    """Where each row begins in sorted row numbers: int64 [n_rows + 1]."""
    cdef ndarray starts = np.zeros(n_rows + 1, np.int64)
    cdef int64_t* counts = <int64_t*>cnp.PyArray_DATA(starts)
    cdef const int64_t* row = _places(rows)
    cdef npy_intp i, n = rows.shape[0]
    with nogil:
        for i in range(n):
            counts[row[i] + 1] += 1
        for i in range(n_rows):
            counts[i + 1] += counts[i]
    return starts


def times_matrix(ndarray rows not None, ndarray columns not None, ndarray values not None,
                 ndarray matrix not None, ndarray out not None):
    """Add `values[k] * matrix[columns[k]]` to `out[rows[k]]` for each k."""
    cdef const Loops* loops = _loops(values)
    cdef int typenum = cnp.PyArray_TYPE(values)
    cdef const int64_t* row = _places(rows)
    cdef const int64_t* column = _places(columns)
    cdef void* factors = _rows(values, typenum, 1)
    cdef void* source = _rows(matrix, typenum, 2)
    cdef void* target = _rows(out, typenum, 2)
    cdef npy_intp n = rows.shape[0], width = matrix.shape[1]
    with nogil:
        loops.times_matrix(row, column, factors, source, target, n, width)


def products_at(ndarray rows not None, ndarray columns not None, ndarray a not None,
                ndarray b not None, ndarray out not None):
    """Set `out[k]` to the product of the rows `a[rows[k]]` and `b[columns[k]]`, summed."""
    cdef const Loops* loops = _loops(a)
    cdef int typenum = cnp.PyArray_TYPE(a)
    cdef const int64_t* row = _places(rows)
    cdef const int64_t* column = _places(columns)
    cdef void* left = _rows(a, typenum, 2)
    cdef void* right = _rows(b, typenum, 2)
    cdef void* target = _rows(out, typenum, 1)
    cdef npy_intp n = rows.shape[0], width = a.shape[1]
    with nogil:
        loops.products_at(row, column, left, right, target, n, width)


def merged(ndarray first not None, ndarray second not None):
    """Walk through two lists of places; returns two int64 arrays of one length.

    For each place met, where it stands in the first and in the second, -1 where it does not. The
    smaller of the two next places comes first, equal ones together: of sorted lists, a merge.
    """
    cdef const int64_t* a = _places(first)
    cdef const int64_t* b = _places(second)
    cdef npy_intp na = first.shape[0], nb = second.shape[0], i = 0, j = 0, n = 0
    cdef ndarray from_a = np.empty(na + nb, np.int64)
    cdef ndarray from_b = np.empty(na + nb, np.int64)
    cdef int64_t* left = <int64_t*>cnp.PyArray_DATA(from_a)
    cdef int64_t* right = <int64_t*>cnp.PyArray_DATA(from_b)
    with nogil:
        while i < na or j < nb:
            left[n] = right[n] = -1
            if j == nb or (i < na and a[i] <= b[j]):
                left[n] = i
            if i == na or (j < nb and b[j] <= a[i]):
                right[n] = j
            i += left[n] >= 0
            j += right[n] >= 0
            n += 1
    return from_a[:n], from_b[:n]
