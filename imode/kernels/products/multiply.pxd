# Matrix products: small ones in C, others by the inner loops of np.matmul, which call the BLAS.
# See multiply.pyx for implementation details.
from numpy cimport ndarray, npy_intp

cdef extern from "multiply.h" nogil:
    bint imode_small_product(bint alone, npy_intp n, npy_intp k, npy_intp m,
                             npy_intp bm, npy_intp row) noexcept
    npy_intp imode_dot_rows() noexcept
    void imode_fetch(const char* p, npy_intp n) noexcept
    void imode_few_rows(bint wide, npy_intp n, npy_intp k, npy_intp m, const void* a, npy_intp an,
                        npy_intp ak, const void* b, npy_intp bk, void* c, npy_intp cn) noexcept
    void imode_dots(bint wide, npy_intp n, npy_intp k, npy_intp m, const void* a, npy_intp an,
                    const void* b, npy_intp bm, void* c, npy_intp cn) noexcept
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


# Restrict the BLAS to the calling thread, and back to what the first has returned.
cdef int one_thread() noexcept nogil
cdef void restore_threads(int before) noexcept nogil

# A 2-D array as a matrix, a 1-D array as a row; borrows the array's memory.
cdef Matrix matrix(ndarray x)
# A contiguous stack of matrices as one taller matrix.
cdef Matrix folded(ndarray x)
cdef Matrix transposed(Matrix m) noexcept nogil
# Whether one of the dimensions is contiguous and the other does not overlap it.
cdef bint blas_takes(Matrix* m, npy_intp item) noexcept nogil
# The same matrix or vector, copied if the BLAS does not accept its strides.
cdef ndarray for_blas(ndarray x)
# The Code of both, if there is a loop for it and something to multiply; else -1.
cdef int common_code(ndarray x, ndarray y) noexcept
# `batch` products of matrices with something to multiply; steps: bytes to the next matrix; `out`,
# of `item` bytes each, is contiguous.
cdef void multiply(int code, npy_intp item, npy_intp batch, Matrix* a, npy_intp a_step, Matrix* b,
                   npy_intp b_step, char* out) noexcept nogil
# A new array of shape `dims` with `batch` products of matrices; steps: bytes to the next matrix.
cdef ndarray product(int code, Matrix a, Matrix b, int nd, npy_intp* dims, npy_intp batch=*,
                     npy_intp a_step=*, npy_intp b_step=*)
# Whether `addend` expands to (n, m), and if so, its strides in elements.
cdef bint addable(ndarray addend, int code, npy_intp n, npy_intp m, npy_intp* rows,
                  npy_intp* columns) noexcept
# out = beta * addend + alpha * out; rows, columns: the addend's strides in elements. False: for
# other dtypes.
cdef bint add_scaled(ndarray out, int code, npy_intp n, npy_intp m, ndarray addend, npy_intp rows,
                     npy_intp columns, double beta, double alpha) noexcept
# The same; False: for the general case.
cdef bint add_into(ndarray out, int code, npy_intp n, npy_intp m, ndarray addend, double beta,
                   double alpha) noexcept
