# See distributions.pyx for how each distribution is drawn.
cimport numpy as cnp
from imode.kernels.random.generator cimport Generator, mt_state
from libc.stdint cimport int64_t, uint64_t


cdef class Line:
    # The values of an array in iteration order, as one contiguous line of memory: the array's own
    # memory if possible, else a buffer that store() copies back. Lives for one call.
    cdef cnp.ndarray target    # the array to fill, axes in iteration order
    cdef cnp.ndarray values    # the line
    cdef void *data            # its memory
    cdef int64_t n             # its length
    cdef int kind              # its NumPy type number

    cdef int store(self) except -1


cdef enum:
    CHUNK = 512    # values drawn between two calls of mt_fill

cdef bint is_half(int typenum) noexcept nogil           # float16 or bfloat16
cdef Line line_of(cnp.ndarray out, object dtype=*)    # dtype: in which to draw
cdef int check_target(cnp.ndarray out) except -1      # raises for read-only or overlapping memory
cdef void uniform_float(mt_state *mt, float *out, int64_t n, float low, float high) noexcept nogil
cdef void uniform_double(
    mt_state *mt, double *out, int64_t n, double low, double high
) noexcept nogil

cdef enum Law:    # as in laws.h
    EXPONENTIAL
    CAUCHY
    LOG_NORMAL
    GEOMETRIC
    NORMAL

# Draw n values of a distribution into contiguous memory; the caller holds the generator's lock.
# `kind` is the NumPy type number: float32 or float64; for integers also others (False: not served).
cdef void draw_uniform(
    mt_state *mt, int kind, void *out, int64_t n, double low, double high
) noexcept nogil
cdef void draw_normal(
    Generator source, int kind, void *out, int64_t n, bint blocks, double mean, double std
) noexcept nogil
cdef void draw_law(
    Generator source, int kind, void *out, int64_t n, Law law, double a, double b
) noexcept nogil
cdef bint draw_integers(
    mt_state *mt, int kind, void *out, int64_t n, uint64_t width, int64_t base, bint wide
) noexcept nogil
cdef void draw_permutation(mt_state *mt, int64_t *out, int64_t n) noexcept nogil
