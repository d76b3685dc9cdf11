"""Numbers at equal steps, rounded as PyTorch's vectorised loops round them; triangles.

Its loops compute a whole vector from the vector's first number, so the rounding of a number depends
on where it stands: `arange` takes two vectors of 32 bytes at a time (for halves, two of 16 numbers)
and the rest one by one. Every `a + b * c` is a fused multiply-add.
"""
import numpy as np

cimport numpy as cnp
from libc.math cimport fma, pow
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from numpy cimport ndarray

cnp.import_array()


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
        out[...] = wide    # wraps


cdef void _floats(float *out, int64_t n, double start, double step) noexcept:
    cdef int64_t i, first, k, vectors = n // 16 * 16
    cdef double base
    for first in range(0, vectors, 8):
        base = <float> fma(step, <double> first, start)
        for k in range(8):
            out[first + k] = <float> fma(<double> k, step, base)
    for i in range(vectors, n):
        out[i] = <float> fma(step, <double> i, start)


cdef void _doubles(double *out, int64_t n, double start, double step) noexcept:
    cdef int64_t i, first, k, vectors = n // 8 * 8
    cdef double base
    for first in range(0, vectors, 4):
        base = fma(step, <double> first, start)
        for k in range(4):
            out[first + k] = fma(<double> k, step, base)
    for i in range(vectors, n):
        out[i] = fma(step, <double> i, start)


cdef void _integers(int64_t *out, int64_t n, int64_t start, int64_t step) noexcept:
    cdef int64_t i
    for i in range(n):
        out[i] = start + step * i


def _halves(out, start, step):
    i = np.arange(out.size)
    vectors = out.size // 32 * 32
    first = i // 16 * 16
    base = (start + step * first).astype(np.float32).astype(np.float16).astype(np.float64)
    exact = np.where(i < vectors, base + (i - first) * step, start + step * i)
    out[...] = exact.astype(np.float32)


def linspace(ndarray out, start, end):
    """Fill `out` (one dimension, contiguous) from `start` to `end`, both already of its dtype.

    The first half counts up from the start, the second down from the end.
    """
    cdef int64_t n = cnp.PyArray_SIZE(out)
    cdef int kind = cnp.PyArray_TYPE(out)
    if n < 2:
        out[...] = start
    elif kind == cnp.NPY_FLOAT32:
        _span_float(<float *> cnp.PyArray_DATA(out), n, start, end)
    elif kind == cnp.NPY_FLOAT64:
        _span_double(<double *> cnp.PyArray_DATA(out), n, start, end)
    elif kind == cnp.NPY_FLOAT16:
        out[...] = _span_half(n, np.float16(start), np.float16(end))
    elif cnp.PyArray_ISCOMPLEX(out):
        for part in ("real", "imag"):
            values = np.empty(n, out.real.dtype)
            linspace(values, getattr(start, part), getattr(end, part))
            setattr(out, part, values)
    else:
        wide = np.empty(n, np.float64)
        _span_double(<double *> cnp.PyArray_DATA(<ndarray> wide), n, start, end)
        out[...] = wide.astype(np.int64)


def _span_half(n, start, end):
    with np.errstate(all="ignore"):
        step = (end - start) / np.float16(n - 1)
        i = np.arange(n)
        up = start + step * i.astype(np.float16)
        down = end - step * (n - i - 1).astype(np.float16)
        return np.where(i < n // 2, up, down)


cdef void _span_float(float *out, int64_t n, float start, float end) noexcept:
    cdef double step = (end - start) / <float> (n - 1)
    cdef int64_t i, half = n // 2
    for i in range(half):
        out[i] = <float> fma(step, <double> i, start)
    for i in range(half, n):
        out[i] = <float> fma(-step, <double> (n - i - 1), end)


cdef void _span_double(double *out, int64_t n, double start, double end) noexcept:
    cdef double step = (end - start) / <double> (n - 1)
    cdef int64_t i, half = n // 2
    for i in range(half):
        out[i] = fma(step, <double> i, start)
    for i in range(half, n):
        out[i] = fma(-step, <double> (n - i - 1), end)


def powers(double base, ndarray exponents):
    """`base` to each exponent (float64, one dimension), by the C library's pow."""
    cdef double *exponent = <double *> cnp.PyArray_DATA(exponents)
    cdef ndarray made = np.empty(exponents.size, np.float64)
    cdef double *out = <double *> cnp.PyArray_DATA(made)
    cdef int64_t i
    for i in range(cnp.PyArray_SIZE(made)):
        out[i] = pow(base, exponent[i])
    return made


# ---- triangles ---------------------------------------------------------------------------------

def triangle(ndarray a, diagonal, bint upper):
    """Return the lower or upper triangle of the matrices in the last two dimensions of `a`."""
    cdef ndarray source = cnp.PyArray_GETCONTIGUOUS(a)
    cdef int nd = cnp.PyArray_NDIM(source)
    cdef ndarray made = cnp.PyArray_ZEROS(
        nd, cnp.PyArray_DIMS(source), cnp.PyArray_TYPE(source), 0
    )
    cdef int64_t rows = cnp.PyArray_DIM(source, nd - 2), columns = cnp.PyArray_DIM(source, nd - 1)
    cdef int64_t limit = rows + columns + 1
    cdef int64_t shift = max(-limit, min(diagonal, limit))
    cdef int64_t total = cnp.PyArray_SIZE(source) // columns if columns else 0
    cdef int64_t i, start, stop, item = cnp.PyArray_ITEMSIZE(source)
    cdef char *target = cnp.PyArray_BYTES(made)
    cdef const char *origin = cnp.PyArray_BYTES(source)
    for i in range(total):
        start, stop = 0, min(columns, max(<int64_t> 0, i % rows + shift + 1))
        if upper:
            start, stop = min(columns, max(<int64_t> 0, i % rows + shift)), columns
        if stop > start:
            memcpy(target + (i * columns + start) * item, origin + (i * columns + start) * item,
                   (stop - start) * item)
    return made
