# Stacks of matrices, column by column; what a Job is said of them; what fast cases look at.
# See stacks.pyx for implementation details. Thread rule: functions of their arguments alone.
cimport numpy as cnp
from imode.kernels.decompositions.lapack cimport MAX_DIMS, Job, kind_of, lint
from numpy cimport ndarray, npy_intp


cdef inline char* data_of(ndarray a) noexcept:
    return <char*>cnp.PyArray_DATA(a)


cdef inline npy_intp size_of(ndarray a, int back) noexcept:      # of the last dimension, 1, or 2
    return a.shape[a.ndim - back]


cdef inline lint leading(ndarray a) noexcept:
    """The distance of columns, in elements, as LAPACK wants it: never 0."""
    return max(1, size_of(a, 2), a.strides[a.ndim - 1] // cnp.PyArray_ITEMSIZE(a))


cdef inline int real_type(ndarray a) noexcept:
    return cnp.NPY_DOUBLE if kind_of(a) & 1 else cnp.NPY_FLOAT


cdef inline double epsilon(ndarray a) noexcept:
    return 2.220446049250313e-16 if kind_of(a) & 1 else 1.1920928955078125e-07


cdef inline bint square(ndarray a) noexcept:                     # of a dtype that LAPACK has
    return a.ndim >= 2 and a.ndim < MAX_DIMS and kind_of(a) >= 0 and size_of(a, 2) == size_of(a, 1)


cdef inline bint some_matrices(ndarray a) noexcept:              # likewise, with elements
    return a.ndim >= 2 and a.ndim < MAX_DIMS and kind_of(a) >= 0 and cnp.PyArray_SIZE(a) > 0


cdef inline void element(const char* at, int kind, double* re, double* im) noexcept nogil:
    im[0] = 0
    if kind == 0:
        re[0] = (<const float*>at)[0]
    elif kind == 1:
        re[0] = (<const double*>at)[0]
    elif kind == 2:
        re[0], im[0] = (<const float*>at)[0], (<const float*>at)[1]
    else:
        re[0], im[0] = (<const double*>at)[0], (<const double*>at)[1]


cdef inline void put(char* at, int kind, double re, double im) noexcept nogil:
    if kind == 0:
        (<float*>at)[0] = <float>re
    elif kind == 1:
        (<double*>at)[0] = re
    elif kind == 2:
        (<float*>at)[0], (<float*>at)[1] = <float>re, <float>im
    else:
        (<double*>at)[0], (<double*>at)[1] = re, im


# A new stack of matrices whose columns are contiguous; `dims` with the matrices' last.
cdef ndarray new_columns(int typenum, int nd, npy_intp* dims)
# The same of other sizes, one for each matrix of `a`.
cdef ndarray matrix_stack(ndarray a, npy_intp m, npy_intp n)
# A new vector, or for a negative size a number, for each matrix of a stack.
cdef ndarray vector_stack(ndarray a, int typenum, npy_intp size)
# A copy of `a`, column by column.
cdef ndarray in_columns(ndarray a)
# The same, or itself where its columns are contiguous: to be read.
cdef ndarray as_columns(ndarray a)
cdef int copy_columns(ndarray to, ndarray a, bint transposed) except -1
cdef ndarray swapped(ndarray a)                       # a view with its last two dimensions swapped
cdef void clear_triangle(char* a, npy_intp item, lint m, lint n, lint lda,
                         bint keep_upper) noexcept nogil

# `a`, column by column, as the job's first stack.
cdef void matrix_of(Job* job, ndarray a) noexcept
# `b` as its right-hand sides.
cdef void right_side(Job* job, ndarray b) noexcept
cdef void pivots_of(Job* job, ndarray pivots) noexcept
# New numbers, one for each matrix of a stack, that the job fills with LAPACK's info.
cdef ndarray infos_of(Job* job, ndarray a)

cdef bint all_zero(ndarray info) noexcept
# Whether both are stacks of as many matrices, of one dtype.
cdef bint like_stacks(ndarray a, ndarray b) noexcept
