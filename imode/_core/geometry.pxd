# Shape, strides and offset of a tensor, in elements, as Python objects.
# See geometry.pyx for implementation details.
from imode._core.tensor cimport Tensor

cdef object size_of(Tensor t)                  # the shape as users see it: a Size
cdef tuple shape_of(Tensor t)                  # a plain tuple, as operators take it
cdef tuple strides_of(Tensor t)
cdef Py_ssize_t offset_of(Tensor t) noexcept   # from the start of the storage
cdef bint same_shape(Tensor a, Tensor b) noexcept
cdef tuple geometry_of(Tensor t)               # (shape, strides, storage offset)
# a method's argument `dim`, made non-negative
cdef int wrap_dim(str name, object dim, int ndim) except -1
