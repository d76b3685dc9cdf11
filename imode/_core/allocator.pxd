# Small ndarrays, recycled. See allocator.pyx. Thread rule: with the GIL held.
from cpython.object cimport PyObject
from numpy cimport ndarray, npy_intp


cdef extern from "numpy/ndarraytypes.h":
    # The fields of an ndarray, which recycling writes.
    ctypedef struct Descr "PyArray_Descr":
        int type_num

    ctypedef struct Fields "PyArrayObject_fields":
        char* data
        int nd
        npy_intp* dimensions
        npy_intp* strides
        PyObject* base
        Descr* descr
        int flags
        PyObject* weakreflist


cdef extern from "allocator.h":
    void copy_dims "imode_copy_dims"(npy_intp* to, const npy_intp* source, int n) noexcept nogil


cdef inline Fields* fields(PyObject* array) noexcept nogil:
    return <Fields*>array


# A new C-contiguous array, values undefined.
cdef ndarray empty(int typenum, int nd, npy_intp* dims)

# A view of `source`, with its dtype and writability.
cdef ndarray view(ndarray source, int nd, npy_intp* dims, npy_intp* strides, char* data)
# The same, with another base, which keeps the memory alive
cdef ndarray view_on(ndarray source, PyObject* base, int nd, npy_intp* dims, npy_intp* strides,
                     char* data)
# A view as elements of any dtype; the caller owns the reference.
cdef PyObject* take_view(
    PyObject* source, int typenum, int nd, npy_intp* dims, npy_intp* strides,
    char* data) except NULL
# Takes over the caller's reference; keeps the array for reuse if nothing else refers to it.
cdef void release(PyObject* array) noexcept
# The array that owns the memory of `array`.
cdef PyObject* root(PyObject* array) noexcept
