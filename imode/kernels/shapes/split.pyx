"""Views with several results: split, split_with_sizes, unbind. See views.pyx for the others."""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.making cimport view_of
from imode._core.tensor cimport Tensor, storage, typenum
from imode.kernels.shapes.views cimport Geometry, at_index, at_range, dim_of
from libc.limits cimport LLONG_MAX
from numpy cimport ndarray, npy_intp
from imode import errors

cnp.import_array()

cdef extern from "Python.h":
    long long PyLong_AsLongLong(PyObject* value) except? -1


cdef int _put(tuple pieces, Py_ssize_t i, Tensor base, Geometry* g) except -1:
    piece = view_of(base, typenum(base), g.nd, g.shape, g.strides, g.data)
    Py_INCREF(piece)                       # PyTuple_SET_ITEM takes over a reference
    PyTuple_SET_ITEM(pieces, i, piece)
    return 0


cdef object _raise_scalar():
    raise RuntimeError("split expects at least a 1-dimensional tensor")


cdef object _split(Operator op, keyset_t keys, PyObject** args):
    """split(split_size, dim): pieces of one length; the last may be shorter."""
    cdef Tensor base = <Tensor>args[0]
    cdef ndarray a = storage(base)
    cdef Py_ssize_t size = PyLong_AsLongLong(args[1])
    cdef int d
    cdef npy_intp length, count, left, i
    cdef Geometry g
    cdef tuple pieces
    if a.ndim == 0:
        return _raise_scalar()
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    d = dim_of(args[2], a.ndim)
    length = a.shape[d]
    if size == 0 and length > 0:
        raise RuntimeError(
            "split_size can only be 0 if dimension size is 0, "
            f"but got dimension size of {length}")
    count = 1 if length == 0 else (length - 1) // size + 1
    pieces = PyTuple_New(count)
    for i in range(count):
        left = length - i * size
        at_range(a, d, i * size, size if size < left else left, 1, &g)
        _put(pieces, i, base, &g)
    return pieces


cdef object _split_with_sizes(Operator op, keyset_t keys, PyObject** args):
    """split_with_sizes(split_sizes, dim): they must add up to the dimension's length."""
    cdef Tensor base = <Tensor>args[0]
    cdef ndarray a = storage(base)
    cdef tuple sizes = <tuple>args[1]
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(sizes)
    cdef npy_intp start = 0, size, total = 0
    cdef int d
    cdef bint negative = False
    cdef Geometry g
    cdef tuple pieces
    if a.ndim == 0:
        return _raise_scalar()
    d = dim_of(args[2], a.ndim)
    for i in range(n):
        size = PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, i))
        negative |= size < 0
        total = LLONG_MAX if size > 0 and total > LLONG_MAX - size else total + size
    if negative:
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(sizes)}")
    if total != a.shape[d]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {a.shape[d]} (input tensor's "
            f"size at dimension {<object>args[2]}), but got split_sizes={list(sizes)}")
    pieces = PyTuple_New(n)
    for i in range(n):
        size = PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, i))
        at_range(a, d, start, size, 1, &g)
        _put(pieces, i, base, &g)
        start += size
    return pieces


cdef object _unbind(Operator op, keyset_t keys, PyObject** args):
    """unbind(dim): one piece per index, without that dimension."""
    cdef Tensor base = <Tensor>args[0]
    cdef ndarray a = storage(base)
    cdef npy_intp i
    cdef int d
    cdef Geometry g
    cdef tuple pieces
    if a.ndim == 0:
        raise errors.shapes.no_dimensions(0)
    d = dim_of(args[1], a.ndim)
    if a.shape[d] > 1 << 26:
        raise MemoryError(f"unbind(): {a.shape[d]} views are more than {1 << 26}")
    pieces = PyTuple_New(a.shape[d])
    for i in range(a.shape[d]):
        at_index(a, d, i, &g)
        _put(pieces, i, base, &g)
    return pieces


cdef tuple _uncounted(tuple pieces):
    """The pieces, each with its own version counter."""
    for piece in pieces:
        (<Tensor>piece).version = None
    return pieces


cdef object _unsafe_split(Operator op, keyset_t keys, PyObject** args):
    return _uncounted(<tuple>_split(op, keys, args))


cdef object _unsafe_split_with_sizes(Operator op, keyset_t keys, PyObject** args):
    return _uncounted(<tuple>_split_with_sizes(op, keys, args))


split = CKernel.new(_split)
split_with_sizes = CKernel.new(_split_with_sizes)
unbind = CKernel.new(_unbind)
unsafe_split = CKernel.new(_unsafe_split)
unsafe_split_with_sizes = CKernel.new(_unsafe_split_with_sizes)
