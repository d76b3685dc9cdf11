# Matrix products: small ones in C, others by the inner loops of np.matmul, which call the BLAS.
# See matmul.pyx for implementation details.
from numpy cimport ndarray, npy_intp

cdef extern from "matmul.h" nogil:
    bint imode_small_product(npy_intp n, npy_intp k, npy_intp m, npy_intp bm) noexcept
    void imode_small_matmul_f(const float* a, npy_intp an, npy_intp ak, const float* b,
                              npy_intp bk, npy_intp bm, float* c, npy_intp n, npy_intp k,
                              npy_intp m) noexcept
    void imode_small_matmul_d(const double* a, npy_intp an, npy_intp ak, const double* b,
                              npy_intp bk, npy_intp bm, double* c, npy_intp n, npy_intp k,
                              npy_intp m) noexcept
    void imode_add_scaled_f(float* c, npy_intp n, npy_intp m, const float* addend, npy_intp rows,
                            npy_intp columns, double beta, double alpha) noexcept
    void imode_add_scaled_d(double* c, npy_intp n, npy_intp m, const double* addend,
                            npy_intp rows, npy_intp columns, double beta, double alpha) noexcept

ctypedef struct Matrix:           # one operand of a product
    char* data
    npy_intp rows
    npy_intp columns
    npy_intp row_stride           # bytes
    npy_intp column_stride
