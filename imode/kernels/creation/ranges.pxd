# Numbers at even distances; see ranges.pyx.
from libc.stdint cimport int64_t

# n > 1 numbers from `start` to `end`, as linspace has them.
cdef void span_float(float *out, int64_t n, float start, float end) noexcept
cdef void span_double(double *out, int64_t n, double start, double end) noexcept
