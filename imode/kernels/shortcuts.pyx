"""The plain cases of composite operators, compiled.

A composite operator is a Python function over other operators, and for a view of a few elements the
function costs more than the operators. Each shortcut serves the arguments that need no rule and no
message, by calling the same operators; for anything else it gives NotImplemented, and the function
runs.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.dispatch cimport CKernel, Operator, call2, call3, operator
from imode._core.keyset cimport keyset_t
from imode._core.tensor cimport Tensor, storage
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    long long PyLong_AsLongLong(PyObject*) except? -1


cdef class _Operators:
    # Found when first needed: the table is not complete while this module is imported.
    cdef Operator view, expand, permute, slice, split, transpose, clone


cdef _Operators _found = None


cdef _Operators _ops():
    global _found
    if _found is None:
        _found = _Operators()
        _found.view, _found.expand = operator("view"), operator("expand")
        _found.permute, _found.slice = operator("permute"), operator("_slice")
        _found.clone = operator("clone")
        _found.split, _found.transpose = operator("split"), operator("transpose")
    return _found


cdef inline tuple _shape(ndarray a):
    return tuple([a.shape[i] for i in range(a.ndim)])


cdef object _reshape(Operator op, keyset_t keys, PyObject** args):
    if not cnp.PyArray_IS_C_CONTIGUOUS(storage(<Tensor>args[0])):
        return NotImplemented
    return call2(_ops().view, <object>args[0], <object>args[1])


cdef object _view_as(Operator op, keyset_t keys, PyObject** args):
    return call2(_ops().view, <object>args[0], _shape(storage(<Tensor>args[1])))


cdef object _reshape_as(Operator op, keyset_t keys, PyObject** args):
    if not cnp.PyArray_IS_C_CONTIGUOUS(storage(<Tensor>args[0])):
        return NotImplemented
    return call2(_ops().view, <object>args[0], _shape(storage(<Tensor>args[1])))


cdef object _expand_as(Operator op, keyset_t keys, PyObject** args):
    return call2(_ops().expand, <object>args[0], _shape(storage(<Tensor>args[1])))


cdef object _flatten(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long start = PyLong_AsLongLong(args[1])
    cdef long long end = PyLong_AsLongLong(args[2])
    cdef int nd = a.ndim
    cdef int i
    cdef npy_intp merged = 1
    start += nd if start < 0 else 0
    end += nd if end < 0 else 0
    if not (0 <= start < end < nd) or not cnp.PyArray_IS_C_CONTIGUOUS(a):
        return NotImplemented
    for i in range(start, end + 1):
        merged *= a.shape[i]
    sizes = [a.shape[i] for i in range(start)]
    sizes.append(merged)
    for i in range(end + 1, nd):
        sizes.append(a.shape[i])
    return call2(_ops().view, <object>args[0], tuple(sizes))


cdef object _unflatten(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long dim = PyLong_AsLongLong(args[1])
    cdef int nd = a.ndim
    cdef int i
    cdef npy_intp product = 1
    dim += nd if dim < 0 else 0
    if not 0 <= dim < nd:
        return NotImplemented
    sizes = [a.shape[i] for i in range(dim)]
    for n in <tuple>args[2]:
        if not 0 < n < 1 << 31:
            return NotImplemented
        product *= n
        if product > a.shape[dim]:
            return NotImplemented
        sizes.append(n)
    if product != a.shape[dim]:
        return NotImplemented
    for i in range(dim + 1, nd):
        sizes.append(a.shape[i])
    return call2(_ops().view, <object>args[0], tuple(sizes))


cdef object _movedim(Operator op, keyset_t keys, PyObject** args):
    """movedim.int: one dimension moves."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long source = PyLong_AsLongLong(args[1])
    cdef long long target = PyLong_AsLongLong(args[2])
    cdef int nd = a.ndim
    source += nd if source < 0 else 0
    target += nd if target < 0 else 0
    if not (0 <= source < nd and 0 <= target < nd):
        return NotImplemented
    order = [i for i in range(nd) if i != source]
    order.insert(target, source)
    return call2(_ops().permute, <object>args[0], tuple(order))


cdef object _narrow(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long dim = PyLong_AsLongLong(args[1])
    cdef long long start = PyLong_AsLongLong(args[2])
    cdef long long length = PyLong_AsLongLong(args[3])
    dim += a.ndim if dim < 0 else 0
    if not 0 <= dim < a.ndim or start < 0 or length < 0 or start > a.shape[dim] or (
            length > a.shape[dim] - start):
        return NotImplemented
    return _ops().slice(<object>args[0], <object>args[1], start, start + length)


cdef object _chunk(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long chunks = PyLong_AsLongLong(args[1])
    cdef long long dim = PyLong_AsLongLong(args[2])
    cdef npy_intp length
    dim += a.ndim if dim < 0 else 0
    if chunks <= 0 or not 0 <= dim < a.ndim or a.shape[dim] == 0:
        return NotImplemented
    length = a.shape[dim]
    return call3(_ops().split, <object>args[0], (length + chunks - 1) // chunks, dim)


cdef object _swap(Operator op, keyset_t keys, PyObject** args):
    return call3(_ops().transpose, <object>args[0], <object>args[1], <object>args[2])


cdef object _contiguous(Operator op, keyset_t keys, PyObject** args):
    if args[1] != <PyObject*>None:
        return NotImplemented
    if cnp.PyArray_IS_C_CONTIGUOUS(storage(<Tensor>args[0])):
        return <object>args[0]
    return call2(_ops().clone, <object>args[0], "contiguous_format")


cdef CKernel _new(object (*fn)(Operator, keyset_t, PyObject**)):
    return CKernel.new(fn, None, "imode.kernels.shortcuts", False)


reshape = _new(_reshape)
view_as = _new(_view_as)
reshape_as = _new(_reshape_as)
expand_as = _new(_expand_as)
flatten = _new(_flatten)
unflatten = _new(_unflatten)
movedim = _new(_movedim)
narrow = _new(_narrow)
chunk = _new(_chunk)
swap = _new(_swap)
contiguous = _new(_contiguous)
