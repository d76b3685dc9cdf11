# See random.pyx for how each distribution is drawn.
cimport numpy as cnp
from libc.stdint cimport int64_t


cdef extern from "boxmuller.h" nogil:
    void bm_fill_float(float *data, int64_t blocks, float mean, float std) noexcept
    void bm_fill_double(double *data, int64_t blocks, double mean, double std) noexcept


cdef class Line:
    # The values of an array in iteration order, as one contiguous line of memory: the array's own
    # where that is possible, else a buffer that store() copies back. Lives for one call.
    cdef cnp.ndarray target    # the array to fill, axes in iteration order
    cdef cnp.ndarray values    # the line
    cdef void *data            # its memory
    cdef int64_t n             # its length
    cdef int kind              # its NumPy type number

    cdef int store(self) except -1
