# View kernels: a new shape, strides and start over the same memory. See strided.pyx.
#
# Each takes an ndarray and gives a new ndarray over its memory (its `base` keeps the owner alive),
# writable exactly when the source is. No element is read or written. Dimensions may be negative;
# value checks and their messages are PyTorch's. All need the GIL; none keeps state.

from numpy cimport PyArray_DESCR, dtype, ndarray, npy_intp

cdef enum:
    MAX_DIMS = 64                          # NumPy's limit (NPY_MAXDIMS of NumPy 2)

# ---- building blocks ----
cdef ndarray make(ndarray a, int nd, npy_intp* shape, npy_intp* strides, char* data)
cdef ndarray make_of(                                               # elements of another type
    ndarray a, dtype descr, int nd, npy_intp* shape, npy_intp* strides, char* data)
cdef ndarray storage_of(ndarray a)                                  # the owner of a's memory
cpdef int wrap_dim(Py_ssize_t dim, int nd) except -1                # scalars count as one dim
cpdef str scalar_name(dtype d)                                      # PyTorch's name: "Float"
cdef int read_ints(tuple values, npy_intp* out) except -1           # OUT; returns the length
cdef int infer_view(                                               # 0: there is no such view
    int old_nd, npy_intp* old_shape, npy_intp* old_strides, npy_intp item,
    int nd, npy_intp* shape, npy_intp* strides) noexcept

# ---- one result ----
cpdef ndarray alias(ndarray a)
cpdef ndarray view(ndarray a, tuple size)
cpdef ndarray expand(ndarray a, tuple size, bint implicit=*)
cpdef ndarray permute(ndarray a, tuple dims)
cpdef ndarray transpose(ndarray a, Py_ssize_t dim0, Py_ssize_t dim1)
cpdef ndarray t(ndarray a)
cpdef ndarray unsqueeze(ndarray a, Py_ssize_t dim)
cpdef ndarray squeeze(ndarray a)
cpdef ndarray squeeze_dim(ndarray a, Py_ssize_t dim)
cpdef ndarray squeeze_dims(ndarray a, tuple dims)
cpdef ndarray select(ndarray a, Py_ssize_t dim, Py_ssize_t index)
cpdef ndarray slice_dim(ndarray a, Py_ssize_t dim=*, start=*, end=*, Py_ssize_t step=*)
cpdef ndarray diagonal(ndarray a, Py_ssize_t offset=*, Py_ssize_t dim1=*, Py_ssize_t dim2=*)
cpdef ndarray unfold(ndarray a, Py_ssize_t dim, Py_ssize_t size, Py_ssize_t step)

# ---- several results ----
cpdef tuple split(ndarray a, Py_ssize_t split_size, Py_ssize_t dim=*)
cpdef tuple split_with_sizes(ndarray a, tuple split_sizes, Py_ssize_t dim=*)
cpdef tuple unbind(ndarray a, Py_ssize_t dim=*)


cdef inline dtype descr_of(ndarray a):
    return <dtype>PyArray_DESCR(a)
