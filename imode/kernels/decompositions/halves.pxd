# LU and triangular systems of real matrices, by halves. Matrices lie column by column; distances of
# columns and strides are in elements; `wide`: float64.
# See halves.pyx for implementation details. Thread rule: functions of their arguments alone.
from libc.stdint cimport int32_t
from numpy cimport npy_intp

cdef enum:
    COLUMNS = 8                   # fewest right-hand sides that are worth it, where `ar` is not 1

# With `share`, products go to several threads. False, or -1: there is no memory.

# The solutions of the triangular system of `a`, of strides `ar` and `ac`, in the place of k
# right-hand sides. `unit`: as if its diagonal were ones.
cdef bint solve_triangle(bint wide, bint lower, bint unit, npy_intp n, npy_intp k, const char* a,
                         npy_intp ar, npy_intp ac, char* b, npy_intp ldb, bint share) noexcept nogil
# LU in the place of the matrix; pivots from 1. The number of the first pivot that is 0, or 0.
cdef npy_intp factor(bint wide, npy_intp m, npy_intp n, char* a, npy_intp lda, int32_t* pivots,
                     bint share) noexcept nogil
# The inverse of a matrix in `b` from its LU.
cdef bint invert(bint wide, npy_intp n, const char* a, npy_intp lda, const int32_t* pivots, char* b,
                 bint share) noexcept nogil
# The exchanges of n rows of k columns that LU was made with, or their inverse.
cdef void exchange(bint wide, npy_intp n, npy_intp k, char* b, npy_intp ldb, const int32_t* pivots,
                   bint back) noexcept nogil
