"""Shape, strides and offset of a tensor, in elements, as Python objects."""
cimport numpy as cnp
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from imode._core cimport allocator
from imode._core.allocator cimport fields
from imode._core.size cimport new_size
from imode._core.tensor cimport Tensor, storage
from numpy cimport npy_intp
from imode import errors

cnp.import_array()

cdef extern from "Python.h":
    object PyLong_FromSsize_t(Py_ssize_t)


cdef object size_of(Tensor t):
    return new_size(storage(t).ndim, storage(t).shape)


cdef tuple shape_of(Tensor t):
    return _ints(storage(t).ndim, storage(t).shape, 1)


cdef tuple geometry_of(Tensor t):
    return shape_of(t), strides_of(t), offset_of(t)


cdef tuple strides_of(Tensor t):
    return _ints(storage(t).ndim, storage(t).strides, cnp.PyArray_ITEMSIZE(storage(t)))


cdef tuple _ints(int n, npy_intp* values, npy_intp divisor):
    cdef tuple made = PyTuple_New(n)
    cdef int i
    for i in range(n):
        value = PyLong_FromSsize_t(values[i] // divisor)
        Py_INCREF(value)
        PyTuple_SET_ITEM(made, i, value)
    return made


cdef Py_ssize_t offset_of(Tensor t) noexcept:
    return (fields(t.array).data - fields(allocator.root(t.array)).data) // (
        cnp.PyArray_ITEMSIZE(storage(t)))


cdef int wrap_dim(str name, object dim, int ndim) except -1:
    cdef Py_ssize_t d
    if type(dim) is bool or not hasattr(dim, "__index__"):
        raise TypeError(f"{name}(): argument 'dim' (position 1) must be int, not "
                        f"{type(dim).__name__}")
    d = dim.__index__()
    if ndim == 0:
        raise errors.shapes.no_dimensions(d)
    if not -ndim <= d < ndim:
        raise errors.shapes.dim_out_of_range(d, ndim)
    return d + ndim if d < 0 else d


cdef bint same_shape(Tensor a, Tensor b) noexcept:
    cdef int d
    if storage(a).ndim != storage(b).ndim:
        return False
    for d in range(storage(a).ndim):
        if storage(a).shape[d] != storage(b).shape[d]:
            return False
    return True
