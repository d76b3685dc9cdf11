# Large products of matrices of float32, float64 and integers.
# See gemm.pyx for implementation details.
from numpy cimport npy_intp


cdef inline npy_intp cut(npy_intp size, npy_intp parts, npy_intp unit) noexcept nogil:
    """The size of each of `parts`, a multiple of `unit`."""
    return ((size + parts - 1) // parts + unit - 1) // unit * unit


cdef extern from "gemm.h" nogil:
    enum:
        GEMM_FLOAT
        GEMM_DOUBLE
        GEMM_INT8
        GEMM_INT16
        GEMM_INT32
        GEMM_INT64


# c (n, m) = a (n, k) @ b (k, m), or of floats c -= it if `minus`; `kind`: what elements are;
# strides in elements; the rows of c are contiguous. With `share`, its parts go to several threads.
# False: there is no memory for a buffer; c is undefined.
cdef bint gemm(int kind, npy_intp n, npy_intp k, npy_intp m, const char* a, npy_intp an,
               npy_intp ak, const char* b, npy_intp bk, npy_intp bm, char* c, npy_intp ldc,
               bint minus, bint share) noexcept nogil
