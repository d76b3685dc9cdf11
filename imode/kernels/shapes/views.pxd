# View kernels: a new shape, strides and start over the same memory. See views.pyx.
#
# The result keeps the owner of the memory alive and is writable exactly if the source is. No
# element is read or written. Dimensions may be negative; checks and their messages are PyTorch's.
# Thread rule: with the GIL held; there is no state.

from cpython.object cimport PyObject
from imode._core.dispatch cimport CKernel, Operator
from imode._core.tensor cimport Tensor
from numpy cimport PyArray_DESCR, dtype, ndarray, npy_intp

cdef enum:
    MAX_DIMS = 64                          # NumPy's limit (NPY_MAXDIMS of NumPy 2)


ctypedef struct Geometry:                  # of the new view
    int nd
    int typenum                            # starts as the source's
    char* data                             # the first element; starts as the source's
    npy_intp shape[MAX_DIMS]
    npy_intp strides[MAX_DIMS]             # bytes


# Fills in the geometry from an array and the operator's arguments (args[0] is not used).
ctypedef int (*view_t)(ndarray a, PyObject** args, Geometry* g) except -1

cdef CKernel kernel(view_t function)       # the kernel of an operator with one view

# What the operator `view` gives for a shape of `base`'s number of elements, where its CPU kernel
# is all that would run, nobody watches and the elements lie in row order; else None.
cdef object view_in_order(Operator view, Tensor base, int nd, const npy_intp* shape)
# Whether `a` can be viewed as a size; raises RuntimeError if it is wrong even for reshape.
cdef bint is_viewable(ndarray a, tuple size) except -1

# ---- building blocks ----
cdef void copy_geometry(ndarray a, Geometry* g) noexcept            # shape and strides
cdef int check_numel(Geometry* g) except -1                         # raises on overflow
cdef int check_rank(int nd) except -1                               # raises for too many dimensions
cdef int dim_of(PyObject* dim, int nd) except -1                    # a dim argument, wrapped
cpdef int wrap_dim(Py_ssize_t dim, int nd) except -1                # scalars count as 1-dim
cdef void at_index(ndarray a, int d, npy_intp index, Geometry* g) noexcept       # without dim d
cdef void at_range(ndarray a, int d, npy_intp start, npy_intp count, npy_intp step,
                   Geometry* g) noexcept                            # `count` indices of dim d
cdef int read_ints(tuple values, npy_intp* out) except -1           # OUT; returns the length


cdef inline dtype descr_of(ndarray a):
    return <dtype>PyArray_DESCR(a)
