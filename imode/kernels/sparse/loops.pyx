"""Loops over coordinates: sorted sums of what is given several times, products with matrices."""
cimport cython
cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memset
from numpy cimport ndarray, npy_intp

import numpy as np

cnp.import_array()

ctypedef fused number_t:
    float
    double
    float complex
    double complex
    signed char
    unsigned char
    short
    int
    int64_t


def order_of(const int64_t[::1] keys not None, int64_t bound):
    """The stable order that sorts keys of 0 up to `bound`: an int64 array.

    By counting, sixteen bits at a time: O(n) for the keys of a matrix.
    """
    cdef npy_intp n = keys.shape[0], i
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


@cython.boundscheck(False)
@cython.wraparound(False)
def sum_runs(const number_t[:, ::1] values, const int64_t[::1] order, const int64_t[::1] runs,
             number_t[:, ::1] out):
    """Add the rows of `values`, taken in `order`, into the row of `out` that `runs` gives each."""
    cdef npy_intp i, j, n = order.shape[0], width = values.shape[1]
    cdef const number_t* source
    cdef number_t* target
    if n == 0 or width == 0:
        return
    with nogil:
        for i in range(n):
            source = &values[order[i], 0]
            target = &out[runs[i], 0]
            for j in range(width):
                target[j] = target[j] + source[j]


@cython.boundscheck(False)
@cython.wraparound(False)
def row_starts(const int64_t[::1] rows, int64_t n_rows):
    """Where each row begins in sorted row numbers: int64 [n_rows + 1]."""
    cdef ndarray starts = np.zeros(n_rows + 1, np.int64)
    cdef int64_t* counts = <int64_t*>cnp.PyArray_DATA(starts)
    cdef npy_intp i
    with nogil:
        for i in range(rows.shape[0]):
            counts[rows[i] + 1] += 1
        for i in range(n_rows):
            counts[i + 1] += counts[i]
    return starts


@cython.boundscheck(False)
@cython.wraparound(False)
def times_matrix(const int64_t[::1] rows, const int64_t[::1] columns, const number_t[::1] values,
                 const number_t[:, ::1] matrix, number_t[:, ::1] out):
    """Add `values[k] * matrix[columns[k]]` to `out[rows[k]]` for each k."""
    cdef npy_intp k, j, n = rows.shape[0], width = matrix.shape[1]
    cdef number_t factor
    cdef const number_t* source
    cdef number_t* target
    if width == 0:
        return
    with nogil:
        for k in range(n):
            factor = values[k]
            source = &matrix[columns[k], 0]
            target = &out[rows[k], 0]
            for j in range(width):
                target[j] = target[j] + factor * source[j]


@cython.boundscheck(False)
@cython.wraparound(False)
def products_at(const int64_t[::1] rows, const int64_t[::1] columns, const number_t[:, ::1] a,
                const number_t[:, ::1] b, number_t[::1] out):
    """Set `out[k]` to the product of the rows `a[rows[k]]` and `b[columns[k]]`, summed."""
    cdef npy_intp k, j, n = rows.shape[0], width = a.shape[1]
    cdef number_t total
    cdef const number_t* left
    cdef const number_t* right
    with nogil:
        for k in range(n):
            total = 0
            if width:
                left = &a[rows[k], 0]
                right = &b[columns[k], 0]
                for j in range(width):
                    total = total + left[j] * right[j]
            out[k] = total


def merged(const int64_t[::1] a not None, const int64_t[::1] b not None):
    """Walk through two lists of places; returns two int64 arrays of one length.

    For each place met, where it stands in `a` and in `b`, -1 where it does not. The smaller of the
    two next places comes first, equal ones together: of sorted lists, a merge.
    """
    cdef npy_intp na = a.shape[0], nb = b.shape[0], i = 0, j = 0, n = 0
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
