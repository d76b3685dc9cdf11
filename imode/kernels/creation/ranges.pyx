"""Numbers at equal steps, rounded as PyTorch's vectorised loops round them; triangles.

These loops compute a whole vector from the vector's first number, so the rounding of a number
depends on its position: `arange` computes two vectors of 32 bytes at a time (for halves, two of 16
numbers) and the rest one by one. Every `a + b * c` is a fused multiply-add.
"""
import numpy as np

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport FLOAT32, FLOAT64, default_code
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.parallel cimport parallel_for, skipping
from imode.kernels.fast_guards cimport _array, _integer, _only_defaults, _row_major, _real
from libc.math cimport ceil, fma, pow
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "ranges.h" nogil:
    void imode_range_float(float* out, int64_t begin, int64_t end, double start, double step)
    void imode_range_double(double* out, int64_t begin, int64_t end, double start, double step)
    void imode_range_int64(int64_t* out, int64_t begin, int64_t end, int64_t start, int64_t step)
    void imode_span_float(float* out, int64_t n, int64_t first, int by, double start, double step)
    void imode_span_double(double* out, int64_t n, int64_t first, int by, double start,
                           double step)

cdef enum:
    GRAIN = 32768                  # fewest elements per thread
    N_OPTIONS = 5                  # how many arguments a factory has from dtype on


def arange(ndarray out, start, step):
    """Fill `out` (one dimension, contiguous) with start, start + step, ..."""
    cdef int64_t n = cnp.PyArray_SIZE(out)
    cdef int kind = cnp.PyArray_TYPE(out)
    if kind == cnp.NPY_FLOAT32:
        _floats(<float *> cnp.PyArray_DATA(out), n, start, step)
    elif kind == cnp.NPY_FLOAT64:
        _doubles(<double *> cnp.PyArray_DATA(out), n, start, step)
    elif kind == cnp.NPY_FLOAT16:
        _halves(out, start, step)
    elif kind == cnp.NPY_INT64:
        _integers(<int64_t *> cnp.PyArray_DATA(out), n, start, step)
    else:
        wide = np.empty(n, np.int64)
        _integers(<int64_t *> cnp.PyArray_DATA(<ndarray> wide), n, start, step)
        out[...] = wide    # wraps around


cdef struct Range:                 # what threads share
    char* out
    double start
    double step
    int64_t first                  # of integers
    int64_t by


cdef void _float_part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Range* r = <Range*>context
    imode_range_float(<float*>r.out, 8 * begin, 8 * end, r.start, r.step)


cdef void _double_part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Range* r = <Range*>context
    imode_range_double(<double*>r.out, 4 * begin, 4 * end, r.start, r.step)


cdef void _integer_part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Range* r = <Range*>context
    imode_range_int64(<int64_t*>r.out, begin, end, r.first, r.by)


cdef void _floats(float *out, int64_t n, double start, double step) noexcept:
    cdef int64_t i, vectors = n // 16 * 2
    cdef Range r = [<char*>out, start, step, 0, 0]
    parallel_for(vectors, GRAIN // 8, _float_part, &r)
    for i in range(8 * vectors, n):
        out[i] = <float> fma(step, <double> i, start)


cdef void _doubles(double *out, int64_t n, double start, double step) noexcept:
    cdef int64_t i, vectors = n // 8 * 2
    cdef Range r = [<char*>out, start, step, 0, 0]
    parallel_for(vectors, GRAIN // 4, _double_part, &r)
    for i in range(4 * vectors, n):
        out[i] = fma(step, <double> i, start)


cdef void _integers(int64_t *out, int64_t n, int64_t start, int64_t step) noexcept:
    cdef Range r = [<char*>out, 0.0, 0.0, start, step]
    parallel_for(n, GRAIN, _integer_part, &r)


def _halves(out, start, step):
    i = np.arange(out.size)
    vectors = out.size // 32 * 32
    first = i // 16 * 16
    base = (start + step * first).astype(np.float32).astype(np.float16).astype(np.float64)
    exact = np.where(i < vectors, base + (i - first) * step, start + step * i)
    out[...] = exact.astype(np.float32)


def linspace(ndarray out, start, end):
    """Fill `out` (one dimension, contiguous) from `start` to `end`, both already of its dtype.

    The first half is computed from the start upwards, the second from the end downwards.
    """
    cdef int64_t n = cnp.PyArray_SIZE(out)
    cdef int kind = cnp.PyArray_TYPE(out)
    if n < 2:
        out[...] = start
    elif kind == cnp.NPY_FLOAT32:
        span_float(<float *> cnp.PyArray_DATA(out), n, start, end)
    elif kind == cnp.NPY_FLOAT64:
        span_double(<double *> cnp.PyArray_DATA(out), n, start, end)
    elif kind == cnp.NPY_FLOAT16:
        out[...] = _span_half(n, np.float16(start), np.float16(end))
    elif cnp.PyArray_ISCOMPLEX(out):
        for part in ("real", "imag"):
            values = np.empty(n, out.real.dtype)
            linspace(values, getattr(start, part), getattr(end, part))
            setattr(out, part, values)
    else:
        wide = np.empty(n, np.float64)
        span_double(<double *> cnp.PyArray_DATA(<ndarray> wide), n, start, end)
        out[...] = wide.astype(np.int64)


def _span_half(n, start, end):
    with np.errstate(all="ignore"):
        step = (end - start) / np.float16(n - 1)
        i = np.arange(n)
        up = start + step * i.astype(np.float16)
        down = end - step * (n - i - 1).astype(np.float16)
        return np.where(i < n // 2, up, down)


cdef void span_float(float *out, int64_t n, float start, float end) noexcept:
    cdef double step = (end - start) / <float> (n - 1)
    cdef int64_t half = n // 2
    imode_span_float(out, half, 0, 1, start, step)
    imode_span_float(out + half, n - half, n - half - 1, -1, end, -step)


cdef void span_double(double *out, int64_t n, double start, double end) noexcept:
    cdef double step = (end - start) / <double> (n - 1)
    cdef int64_t half = n // 2
    imode_span_double(out, half, 0, 1, start, step)
    imode_span_double(out + half, n - half, n - half - 1, -1, end, -step)


def powers(double base, ndarray exponents):
    """`base` to each exponent (float64, one dimension) in its place, by the C library's pow."""
    cdef double *at = <double *> cnp.PyArray_DATA(exponents)
    cdef int64_t i
    for i in range(cnp.PyArray_SIZE(exponents)):
        at[i] = pow(base, at[i])
    return exponents


# ---- triangles ---------------------------------------------------------------------------------

cdef void _cut(char *target, const char *origin, int64_t rows, int64_t columns, int64_t size,
               int64_t item, int64_t diagonal, bint upper) noexcept nogil:
    """Copy the part of each row that is inside a triangle, and zero the rest."""
    cdef int64_t limit = rows + columns + 1
    cdef int64_t shift = max(-limit, min(diagonal, limit))
    cdef int64_t i, start, stop
    memset(target, 0, size * item)
    for i in range(size // columns if columns else 0):
        start, stop = 0, min(columns, max(<int64_t> 0, i % rows + shift + 1))
        if upper:
            start, stop = min(columns, max(<int64_t> 0, i % rows + shift)), columns
        if stop > start:
            memcpy(target + (i * columns + start) * item, origin + (i * columns + start) * item,
                   (stop - start) * item)


def triangle_indices(ndarray out, int64_t rows, int64_t columns, int64_t diagonal, bint upper):
    """Fill `out`, int64 of (2, n), with the row and column numbers of a triangle's n elements."""
    cdef int64_t i, j, start, stop, at = 0
    cdef int64_t* row = <int64_t*>cnp.PyArray_DATA(out)
    cdef int64_t* column = row + cnp.PyArray_DIM(out, 1)
    for i in range(0 if skipping() else rows):
        start, stop = _inside_triangle(i + diagonal, columns, upper)
        for j in range(start, stop):
            row[at], column[at] = i, j
            at += 1


cdef inline (int64_t, int64_t) _inside_triangle(int64_t last, int64_t columns, bint upper) noexcept:
    """The first column of a row that is inside, and the first one after it."""
    if upper:
        return min(columns, max(<int64_t>0, last)), columns
    return 0, min(columns, max(<int64_t>0, last + 1))


def triangle(ndarray a, diagonal, bint upper):
    """Return the lower or upper triangle of the matrices in the last two dimensions of `a`."""
    cdef int nd = cnp.PyArray_NDIM(a)
    cdef ndarray out = empty(cnp.PyArray_TYPE(a), nd, cnp.PyArray_DIMS(a))
    if skipping():
        return out
    cdef ndarray source = cnp.PyArray_GETCONTIGUOUS(a)
    cdef int64_t rows = cnp.PyArray_DIM(source, nd - 2), columns = cnp.PyArray_DIM(source, nd - 1)
    _cut(cnp.PyArray_BYTES(out), cnp.PyArray_BYTES(source), rows, columns,
         cnp.PyArray_SIZE(source), cnp.PyArray_ITEMSIZE(source),
         max(-(1 << 40), min(diagonal, 1 << 40)), upper)
    return out


# ---- the fast cases as kernels -------------------------------------------------------------------

cdef object _zero = 0
cdef object _one = 1

cdef enum:
    MOST = 1 << 26                 # most elements; the general case allocates more with care


cdef object _arange(Operator op, keyset_t keys, PyObject** args):
    """arange([start,] end[, step], dtype, ...) for numbers, with no dtype given."""
    cdef int given = op.nargs - N_OPTIONS
    cdef PyObject* start = args[0] if given > 1 else <PyObject*>_zero
    cdef PyObject* end = args[1] if given > 1 else args[0]
    cdef PyObject* step = args[2] if given > 2 else <PyObject*>_one
    cdef int64_t first, last, by
    cdef double low, high, distance, length
    cdef npy_intp n
    cdef ndarray out
    if not _only_defaults(op, args, given):
        return run_general(op, keys, args)
    if _integer(start, &first) and _integer(end, &last) and _integer(step, &by):
        if by == 0 or (last < first if by > 0 else last > first):
            return run_general(op, keys, args)
        n = (last - first + by + (-1 if by > 0 else 1)) // by
        if n > MOST:
            return run_general(op, keys, args)
        out = empty(cnp.NPY_INT64, 1, &n)
        _integers(<int64_t *> cnp.PyArray_DATA(out), n, first, by)
        return wrap(out)
    if not (_real(start, &low) and _real(end, &high) and _real(step, &distance)) or distance == 0:
        return run_general(op, keys, args)
    length = (high - low) / distance
    if not 0 <= length < MOST:
        return run_general(op, keys, args)
    n = <npy_intp>ceil(length)
    if default_code() == FLOAT32:
        out = empty(cnp.NPY_FLOAT32, 1, &n)
        _floats(<float *> cnp.PyArray_DATA(out), n, low, distance)
    elif default_code() == FLOAT64:
        out = empty(cnp.NPY_FLOAT64, 1, &n)
        _doubles(<double *> cnp.PyArray_DATA(out), n, low, distance)
    else:
        return run_general(op, keys, args)
    return wrap(out)


cdef object _linspace(Operator op, keyset_t keys, PyObject** args):
    """linspace(start, end, steps, dtype, ...) for numbers, with no dtype given."""
    cdef double start, end
    cdef int64_t steps
    cdef npy_intp n
    cdef ndarray out
    if not (_only_defaults(op, args, 3) and _real(args[0], &start)
            and _real(args[1], &end) and _integer(args[2], &steps)
            and 2 <= steps <= MOST):
        return run_general(op, keys, args)
    n = steps
    if default_code() == FLOAT32:
        out = empty(cnp.NPY_FLOAT32, 1, &n)
        span_float(<float *> cnp.PyArray_DATA(out), n, <float>start, <float>end)
    elif default_code() == FLOAT64:
        out = empty(cnp.NPY_FLOAT64, 1, &n)
        span_double(<double *> cnp.PyArray_DATA(out), n, start, end)
    else:
        return run_general(op, keys, args)
    return wrap(out)


cdef object _tril(Operator op, keyset_t keys, PyObject** args):
    return _triangle_of(op, keys, args, False)


cdef object _triu(Operator op, keyset_t keys, PyObject** args):
    return _triangle_of(op, keys, args, True)


cdef object _triangle_of(Operator op, keyset_t keys, PyObject** args, bint upper):
    cdef Fields* a = _array(args[0])
    cdef int64_t diagonal
    cdef ndarray out
    if not _row_major(a) or a.nd < 2 or args[op.nargs] != NULL or not _integer(args[1], &diagonal):
        return run_general(op, keys, args)
    out = empty(a.descr.type_num, a.nd, a.dimensions)
    _cut(<char*>cnp.PyArray_DATA(out), a.data, a.dimensions[a.nd - 2], a.dimensions[a.nd - 1],
         cnp.PyArray_SIZE(out), cnp.PyArray_ITEMSIZE(out), diagonal, upper)
    return wrap(out)


arange_fast = CKernel.new(_arange)
linspace_fast = CKernel.new(_linspace)
tril_fast = CKernel.new(_tril)
triu_fast = CKernel.new(_triu)
