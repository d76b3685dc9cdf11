"""float32 or float64 elements counted between even edges; whole numbers counted."""
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport skipping
from imode.kernels.creation.ranges cimport span_double, span_float
from imode.kernels.fast_guards cimport _array, _count, _integer, _real, _row_major
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from numpy cimport (
    NPY_ARRAY_IN_ARRAY, NPY_FLOAT32, NPY_FLOAT64, NPY_INT64, PyArray_DATA, PyArray_FROM_OTF,
    PyArray_IS_C_CONTIGUOUS, PyArray_NBYTES, PyArray_SIZE, PyArray_TYPE, import_array, ndarray,
    npy_intp)

import_array()

cdef extern from "Python.h":
    enum:
        PY_SSIZE_T_MAX

cdef enum:
    FEW = 1024                    # most elements that are counted in floats, and most bins for them
    BINS = 1 << 16                # most bins for more elements
    BLOCK = 512                   # elements whose bins are computed at once, by vectors
    AT_ONCE = 4096                # bins of which no more must be known beforehand

ctypedef fused real:
    float
    double


cdef bint _outermost(const real* x, npy_intp n, double* low, double* high) noexcept nogil:
    """The least and the greatest element; False: one of them is not finite."""
    cdef npy_intp i
    cdef real least = x[0], most = x[0]
    cdef bint finite = True
    for i in range(n):
        finite &= isfinite(x[i])
        least, most = min(least, x[i]), max(most, x[i])
    low[0], high[0] = least, most
    return finite


cdef int64_t _served(PyObject** args, npy_intp most) except -1:
    """The number of bins, or 0 where elements, of which `most` are served, or bins are for the
    general case."""
    cdef Fields* a = _array(args[0])
    cdef int kind = a.descr.type_num
    cdef int64_t bins
    if not (kind == NPY_FLOAT32 or kind == NPY_FLOAT64) or not _row_major(a) or (
            not 0 < _count(a, 0, a.nd) <= most) or not _integer(args[1], &bins) or (
            not 0 < bins <= (FEW if _count(a, 0, a.nd) <= FEW else BINS)):
        return 0
    return bins


cdef bint _bounds(Fields* a, double* low, double* high) noexcept:
    if a.descr.type_num == NPY_FLOAT32:
        return _outermost(<float*>a.data, _count(a, 0, a.nd), low, high)
    return _outermost(<double*>a.data, _count(a, 0, a.nd), low, high)


cdef ndarray _zeros(int kind, npy_intp n):
    cdef ndarray out = empty(kind, 1, &n)
    memset(PyArray_DATA(out), 0, PyArray_NBYTES(out))
    return out


cdef void _count_even(real* out, int64_t bins, const real* x, npy_intp n, real low,
                      real high) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        if low <= x[i] <= high:
            out[min(<int64_t>((x[i] - low) * <real>bins / (high - low)), bins - 1)] += 1


cdef void _count_many(int64_t* counts, int64_t bins, const real* x, npy_intp n, real low,
                      real high) noexcept nogil:
    """Two rows of counts, of each bin and of what lies outside: an element need not wait for the
    count of the one before."""
    cdef int32_t[BLOCK] place
    cdef int32_t outside = <int32_t>bins, last = outside - 1, at
    cdef int64_t* other = counts + bins + 1
    cdef npy_intp i, m
    cdef real value
    cdef bint inside
    while n > 0:
        m = min(n, <npy_intp>BLOCK)
        for i in range(m):
            value = x[i]
            inside = (low <= value) & (value <= high)
            at = <int32_t>(((value if inside else low) - low) * <real>bins / (high - low))
            at = last if at > last else at
            place[i] = at if inside else outside
        for i in range(m // 2):
            counts[place[2 * i]] += 1
            other[place[2 * i + 1]] += 1
        if m % 2:
            counts[place[m - 1]] += 1
        x, n = x + m, n - m
    for i in range(bins):
        counts[i] += other[i]


cdef ndarray _counts(Fields* a, int64_t bins, double low, double high):
    """The counts of many elements, whole numbers: floats would not count beyond 2^24."""
    cdef npy_intp n = _count(a, 0, a.nd), i
    cdef ndarray out = empty(a.descr.type_num, 1, &bins)
    cdef int64_t* counts = <int64_t*>calloc(2 * (bins + 1), sizeof(int64_t))
    if counts == NULL:
        raise MemoryError
    if a.descr.type_num == NPY_FLOAT32:
        with nogil:
            _count_many(counts, bins, <float*>a.data, n, <float>low, <float>high)
        for i in range(bins):
            (<float*>PyArray_DATA(out))[i] = <float>counts[i]
    else:
        with nogil:
            _count_many(counts, bins, <double*>a.data, n, low, high)
        for i in range(bins):
            (<double*>PyArray_DATA(out))[i] = <double>counts[i]
    free(counts)
    return out


cdef object _histc(Operator op, keyset_t keys, PyObject** args):
    """histc(self, bins, min, max)."""
    cdef Fields* a = _array(args[0])
    cdef int kind = a.descr.type_num
    cdef int64_t bins = _served(args, PY_SSIZE_T_MAX)
    cdef double low, high
    cdef npy_intp n
    cdef ndarray out
    if bins == 0 or not (_real(args[2], &low) and _real(args[3], &high)) or low > high or (
            low == high and not _bounds(a, &low, &high)):
        return run_general(op, keys, args)
    if low == high:
        low, high = low - 1, high + 1
    n = _count(a, 0, a.nd)
    if n > FEW:
        return deliver(op, _counts(a, bins, low, high), args)
    out = _zeros(kind, bins)
    if kind == NPY_FLOAT32:
        _count_even(<float*>PyArray_DATA(out), bins, <float*>a.data, n, <float>low, <float>high)
    else:
        _count_even(<double*>PyArray_DATA(out), bins, <double*>a.data, n, low, high)
    return deliver(op, out, args)


cdef void _count_between(real* out, int64_t bins, const real* edges, const real* x,
                         npy_intp n) noexcept nogil:
    """Each bin but the last is without its upper edge."""
    cdef npy_intp i
    cdef int64_t first, last, middle
    for i in range(n):
        if not edges[0] <= x[i] <= edges[bins]:
            continue
        first, last = 0, bins
        while first + 1 < last:
            middle = (first + last) // 2
            if x[i] < edges[middle]:
                last = middle
            else:
                first = middle
        out[first] += 1


cdef void _count_guessed(int64_t* counts, int64_t bins, const real* edges, const real* x,
                         npy_intp n) noexcept nogil:
    """As _count_between, of edges that are even but for their rounding: from where arithmetic puts
    an element it is a step or none. Two rows of counts, as in _count_many."""
    cdef double low = edges[0], scale = bins / (<double>edges[bins] - low)
    cdef int64_t* other = counts + bins
    cdef int64_t* to
    cdef int64_t at
    cdef npy_intp i
    cdef real value
    for i in range(n):
        value = x[i]
        if not edges[0] <= value <= edges[bins]:
            continue
        at = min(<int64_t>((value - low) * scale), bins - 1)
        while value < edges[at]:
            at -= 1
        while at + 1 < bins and value >= edges[at + 1]:
            at += 1
        to = other if i % 2 else counts
        to[at] += 1
    for i in range(bins):
        counts[i] += other[i]


cdef object _histogram(Operator op, keyset_t keys, PyObject** args):
    """histogram.bin_ct(self, bins, range, weight, density): neither of the last three."""
    cdef Fields* a = _array(args[0])
    cdef int kind = a.descr.type_num
    cdef int64_t bins = _served(args, PY_SSIZE_T_MAX)
    cdef int64_t* counts = NULL
    cdef double low, high
    cdef npy_intp count, n, i
    cdef ndarray out, edges
    if bins == 0 or args[2] != <PyObject*>None or args[3] != <PyObject*>None or (
            <object>args[4] is not False or skipping() or not _bounds(a, &low, &high)
            or not isfinite(high - low)):
        return run_general(op, keys, args)
    if low == high:
        low, high = low - 0.5, high + 0.5
    count, n = bins + 1, _count(a, 0, a.nd)
    if n > FEW:
        counts = <int64_t*>calloc(2 * bins, sizeof(int64_t))
        if counts == NULL:
            raise MemoryError
    out, edges = _zeros(kind, bins), empty(kind, 1, &count)
    if kind == NPY_FLOAT32:
        span_float(<float*>PyArray_DATA(edges), count, <float>low, <float>high)
        if counts != NULL:
            with nogil:
                _count_guessed(counts, bins, <float*>PyArray_DATA(edges), <float*>a.data, n)
            for i in range(bins):
                (<float*>PyArray_DATA(out))[i] = <float>counts[i]
        else:
            _count_between(<float*>PyArray_DATA(out), bins, <float*>PyArray_DATA(edges),
                           <float*>a.data, n)
    else:
        span_double(<double*>PyArray_DATA(edges), count, low, high)
        if counts != NULL:
            with nogil:
                _count_guessed(counts, bins, <double*>PyArray_DATA(edges), <double*>a.data, n)
            for i in range(bins):
                (<double*>PyArray_DATA(out))[i] = <double>counts[i]
        else:
            _count_between(<double*>PyArray_DATA(out), bins, <double*>PyArray_DATA(edges),
                           <double*>a.data, n)
    free(counts)
    return deliver(op, (out, edges), args)


histc = CKernel.new(_histc)
histogram = CKernel.new(_histogram)


# ---- whole numbers: bincount ----

MANY = <int>AT_ONCE               # from so many elements on, bins are first counted in one pass


def bounds(ndarray x not None):
    """The least and the greatest element of an array of integers that is not empty."""
    cdef const int64_t* at
    cdef int64_t low, high
    cdef npy_intp i
    if PyArray_TYPE(x) != NPY_INT64 or not PyArray_IS_C_CONTIGUOUS(x):
        return int(x.min()), int(x.max())
    at = <const int64_t*>PyArray_DATA(x)
    low = high = at[0]
    with nogil:
        for i in range(PyArray_SIZE(x)):
            low = at[i] if at[i] < low else low
            high = at[i] if at[i] > high else high
    return low, high


def small_counts(ndarray x not None, npy_intp least_bins):
    """How often each integer from 0 on occurs, in one pass; None where another function must count,
    or an integer is none of the first."""
    cdef int64_t[AT_ONCE] bins
    cdef const int64_t* at
    cdef npy_intp i, n = PyArray_SIZE(x), kept = AT_ONCE
    cdef uint64_t k
    cdef ndarray out
    if least_bins > AT_ONCE or PyArray_TYPE(x) != NPY_INT64 or (
            not PyArray_IS_C_CONTIGUOUS(x)):
        return None
    at = <const int64_t*>PyArray_DATA(x)
    with nogil:
        memset(bins, 0, sizeof(bins))
        for i in range(n):
            k = <uint64_t>at[i]
            if k >= AT_ONCE:
                kept = 0
                break
            bins[k] += 1
        while kept > least_bins and bins[kept - 1] == 0:
            kept -= 1
    if kept == 0:
        return None
    out = empty(NPY_INT64, 1, &kept)
    memcpy(PyArray_DATA(out), bins, kept * sizeof(int64_t))
    return out


def counts(ndarray x not None, npy_intp bins, int64_t least=0):
    """How often each of `bins` integers from `least` on occurs in an array of one dimension."""
    cdef ndarray out = _zeros(NPY_INT64, bins)
    cdef int64_t* to = <int64_t*>PyArray_DATA(out)
    cdef const int64_t* at
    cdef npy_intp i, k, n = PyArray_SIZE(x)
    x = PyArray_FROM_OTF(x, NPY_INT64, NPY_ARRAY_IN_ARRAY)
    at = <const int64_t*>PyArray_DATA(x)
    with nogil:
        for i in range(n):
            k = at[i] - least
            if <uint64_t>k < <uint64_t>bins:         # another thread may have written to it
                to[k] += 1
    return out
