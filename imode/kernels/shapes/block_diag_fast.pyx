"""Matrices along a diagonal: row-major ones of one dtype."""
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.parallel cimport skipping
from imode.kernels.fast_guards cimport _array, _item, _row_major
from libc.string cimport memcpy, memset
from numpy cimport PyArray_DATA, PyArray_NBYTES, import_array, ndarray, npy_intp

import_array()


cdef inline npy_intp _size(Fields* a, int back) noexcept:
    """The last size (1) or the one before it (2); vectors are rows."""
    return a.dimensions[a.nd - back] if a.nd >= back else 1


cdef object _block_diag(Operator op, keyset_t keys, PyObject** args):
    """block_diag(tensors)."""
    cdef tuple tensors = <tuple>args[0]
    cdef npy_intp[2] dims = [0, 0]
    cdef npy_intp count = PyTuple_GET_SIZE(tensors), item, width, i, row
    cdef Fields* a
    cdef Fields* first
    cdef ndarray out
    cdef char* to
    if count == 0 or skipping():
        return run_general(op, keys, args)
    first = _array(PyTuple_GET_ITEM(tensors, 0))
    for i in range(count):
        a = _array(PyTuple_GET_ITEM(tensors, i))
        if a.nd > 2 or not _row_major(a) or a.descr.type_num != first.descr.type_num:
            return run_general(op, keys, args)
        dims[0] += _size(a, 2)
        dims[1] += _size(a, 1)
    out = empty(first.descr.type_num, 2, dims)
    to, item = <char*>PyArray_DATA(out), _item(PyTuple_GET_ITEM(tensors, 0))
    memset(to, 0, PyArray_NBYTES(out))
    for i in range(count):
        a = _array(PyTuple_GET_ITEM(tensors, i))
        width = _size(a, 1) * item
        for row in range(_size(a, 2)):
            memcpy(to, a.data + row * width, width)
            to += dims[1] * item
        to += width
    return wrap(out)


block_diag = CKernel.new(_block_diag)
