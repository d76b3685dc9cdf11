# Products of matrices of bfloat16 and float16; see half_product.pyx for implementation details.
from imode.kernels.products.multiply cimport Matrix
from numpy cimport ndarray, npy_intp

# The Code of both, if it is one of the two and there is something to multiply; else -1.
cdef int half_code(ndarray x, ndarray y) noexcept
# A new array of shape `dims` with `batch` products, rounded once. Before that `bias`, a vector of
# the same dtype, is added to each row, unless it is None. Steps: bytes to the next matrix. None:
# there was no memory.
cdef ndarray half_product(int code, Matrix a, Matrix b, ndarray bias, int nd, npy_intp* dims,
                          npy_intp batch=*, npy_intp a_step=*, npy_intp b_step=*)
