"""What imode_kernel.h offers kernels of other packages: a table of functions with a version.

Such a module is compiled without imode's own .pxd files, whose structs may change with any release;
it reaches all it needs through this table, and refuses one of another version. A kernel itself is
entered as imode's own are: by a pointer in the operator's table.
"""
cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from cpython.pycapsule cimport PyCapsule_New
from imode._core cimport adapter, allocator, dispatch
from imode._core.dispatch cimport CKernel, Operator, tls
from imode._core.dtype cimport dtype_from_typenum
from imode._core.keyset cimport BIT_AD, BIT_AUTOGRAD, keyset_t
from imode._core.tensor cimport Tensor

import imode
from imode import errors

cnp.import_array()

cdef extern from "imode_kernel.h":
    int IMODE_KERNEL_VERSION

    ctypedef struct Api "imode_kernel_api":
        int version
        size_t size
        const char* release
        PyTypeObject* tensor
        Py_ssize_t array
        void* new_kernel
        void* empty
        void* deliver
        void* redispatch
        void* exclude
        void* restore
        void* out


cdef object _new_kernel(dispatch.kernel_t fn, const char* where):
    if fn == NULL:
        raise ValueError("a kernel is a function, and this is NULL")
    return CKernel.new(fn, None, NULL, where.decode() if where != NULL else "another package")


cdef object _empty(int typenum, int nd, Py_ssize_t* shape):
    cdef int i
    dtype_from_typenum(typenum)
    if not 0 <= nd <= 64:
        raise ValueError(f"a tensor has 0 to 64 dimensions, not {nd}")
    for i in range(nd):
        if shape[i] < 0:
            raise errors.shapes.negative_dimension(shape[i], [shape[k] for k in range(nd)])
    return allocator.empty(typenum, nd, <cnp.npy_intp*>shape)


cdef object _deliver(Operator op, object result, PyObject** args):
    return adapter.deliver_any(op, result, args)


cdef PyObject* _out(Operator op, PyObject** args) noexcept:
    return args[op.nargs]


cdef object _redispatch(Operator op, keyset_t keys, PyObject** args):
    return dispatch.redispatch(op, keys, args)


cdef keyset_t _exclude(keyset_t keys) noexcept:
    cdef keyset_t before = tls().excluded
    tls().excluded = before | BIT_AUTOGRAD | (keys & BIT_AD)
    return before


cdef void _restore(keyset_t before) noexcept:
    tls().excluded = before


cdef bytes _release = imode.__version__.encode()
cdef Tensor _some = imode.empty(0)
cdef Api _api

_api.version = IMODE_KERNEL_VERSION
_api.size = sizeof(Api)
_api.release = _release
_api.tensor = <PyTypeObject*>Tensor
_api.array = <char*>&_some.array - <char*><PyObject*>_some
_api.new_kernel = <void*>_new_kernel
_api.empty = <void*>_empty
_api.deliver = <void*>_deliver
_api.redispatch = <void*>_redispatch
_api.exclude = <void*>_exclude
_api.restore = <void*>_restore
_api.out = <void*>_out
api = PyCapsule_New(&_api, "imode.library.kernel_table.api", NULL)
