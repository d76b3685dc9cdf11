"""The plain cases of composite operators, compiled.

A composite operator is a Python function over other operators, and for a view of a few elements the
function costs more than the operators. Each shortcut serves the arguments that need no rule and no
message, by calling the same operators; for anything else it gives NotImplemented, and the function
runs.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from imode._core.dispatch cimport (
    CKernel, Operator, call, call1, call2, call3, operator, tls, unrecorded)
from imode._core.geometry cimport shape_of
from imode._core.keyset cimport keyset_t
from imode._core.overlap cimport ranges_meet
from imode._core.syntax cimport slice_dim
from imode._core.tensor cimport Tensor, is_tensor, requires_grad, storage
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    long long PyLong_AsLongLong(PyObject*) except? -1
    object PyLong_FromSsize_t(Py_ssize_t)


cdef class _Operators:
    # Found when first needed: the table is not complete while this module is imported.
    cdef Operator view, expand, permute, split, split_with_sizes, transpose, clone
    cdef Operator view_as_real, select, transpose_


cdef _Operators _found = None


cdef _Operators _ops():
    global _found
    if _found is None:
        _found = _Operators()
        _found.view, _found.expand = operator("view"), operator("expand")
        _found.permute, _found.clone = operator("permute"), operator("clone")
        _found.split, _found.transpose = operator("split"), operator("transpose")
        _found.split_with_sizes = operator("split_with_sizes")
        _found.view_as_real, _found.select = operator("view_as_real"), operator("select")
        _found.transpose_ = operator("transpose_")
    return _found


cdef inline int _set(tuple sizes, Py_ssize_t i, npy_intp n) except -1:
    """Put an int into a new tuple."""
    size = PyLong_FromSsize_t(n)
    Py_INCREF(size)                        # PyTuple_SET_ITEM takes over one reference
    PyTuple_SET_ITEM(sizes, i, size)
    return 0


cdef object _reshape(Operator op, keyset_t keys, PyObject** args):
    if not cnp.PyArray_IS_C_CONTIGUOUS(storage(<Tensor>args[0])):
        return NotImplemented
    return call2(_ops().view, <object>args[0], <object>args[1])


cdef object _view_as(Operator op, keyset_t keys, PyObject** args):
    return call2(_ops().view, <object>args[0], shape_of(<Tensor>args[1]))


cdef object _reshape_as(Operator op, keyset_t keys, PyObject** args):
    if not cnp.PyArray_IS_C_CONTIGUOUS(storage(<Tensor>args[0])):
        return NotImplemented
    return call2(_ops().view, <object>args[0], shape_of(<Tensor>args[1]))


cdef object _expand_as(Operator op, keyset_t keys, PyObject** args):
    return call2(_ops().expand, <object>args[0], shape_of(<Tensor>args[1]))


cdef object _broadcast_to(Operator op, keyset_t keys, PyObject** args):
    return call2(_ops().expand, <object>args[0], <object>args[1])


cdef object _flatten(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long start = PyLong_AsLongLong(args[1])
    cdef long long end = PyLong_AsLongLong(args[2])
    cdef int nd = a.ndim
    cdef int i
    cdef npy_intp merged = 1
    cdef tuple sizes
    start += nd if start < 0 else 0
    end += nd if end < 0 else 0
    if not (0 <= start < end < nd) or not cnp.PyArray_IS_C_CONTIGUOUS(a):
        return NotImplemented
    sizes = PyTuple_New(nd - (end - start))
    for i in range(nd):
        if start <= i <= end:
            merged *= a.shape[i]
        else:
            _set(sizes, i if i < start else i - (end - start), a.shape[i])
    _set(sizes, start, merged)
    return call2(_ops().view, <object>args[0], sizes)


cdef object _unflatten(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long dim = PyLong_AsLongLong(args[1])
    cdef int nd = a.ndim
    cdef int i
    cdef npy_intp product = 1
    cdef Py_ssize_t more = PyTuple_GET_SIZE(<object>args[2])
    cdef long long n
    cdef tuple sizes
    dim += nd if dim < 0 else 0
    if not 0 <= dim < nd:
        return NotImplemented
    for i in range(more):
        n = PyLong_AsLongLong(PyTuple_GET_ITEM(<object>args[2], i))
        if not 0 < n < 1 << 31:
            return NotImplemented
        product *= n
        if product > a.shape[dim]:
            return NotImplemented
    if product != a.shape[dim]:
        return NotImplemented
    sizes = PyTuple_New(nd - 1 + more)
    for i in range(nd):
        if i != dim:
            _set(sizes, i if i < dim else i - 1 + more, a.shape[i])
    for i in range(more):
        size = <object>PyTuple_GET_ITEM(<object>args[2], i)
        Py_INCREF(size)
        PyTuple_SET_ITEM(sizes, dim + i, size)
    return call2(_ops().view, <object>args[0], sizes)


cdef object _movedim(Operator op, keyset_t keys, PyObject** args):
    """movedim.int: one dimension moves."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long source = PyLong_AsLongLong(args[1])
    cdef long long target = PyLong_AsLongLong(args[2])
    cdef int nd = a.ndim
    cdef int i, from_
    cdef tuple order
    source += nd if source < 0 else 0
    target += nd if target < 0 else 0
    if not (0 <= source < nd and 0 <= target < nd):
        return NotImplemented
    order = PyTuple_New(nd)
    from_ = 0
    for i in range(nd):
        if i == target:
            _set(order, i, source)
            continue
        if from_ == source:
            from_ += 1
        _set(order, i, from_)
        from_ += 1
    return call2(_ops().permute, <object>args[0], order)


cdef object _narrow(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    cdef long long dim = PyLong_AsLongLong(args[1])
    cdef long long start = PyLong_AsLongLong(args[2])
    cdef long long length = PyLong_AsLongLong(args[3])
    dim += a.ndim if dim < 0 else 0
    if not 0 <= dim < a.ndim or start < 0 or length < 0 or start > a.shape[dim] or (
            length > a.shape[dim] - start):
        return NotImplemented
    return slice_dim(<Tensor>args[0], <object>args[1], start, start + length, 1)


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


cdef object _split_sizes(Operator op, keyset_t keys, PyObject** args):
    return call3(
        _ops().split_with_sizes, <object>args[0], <object>args[1], <object>args[2])


cdef object _part(Operator op, keyset_t keys, PyObject** args):
    """real and imag of a complex tensor."""
    cdef Tensor self = <Tensor>args[0]
    if not cnp.PyArray_ISCOMPLEX(storage(self)):
        return NotImplemented
    return call3(
        _ops().select, call1(_ops().view_as_real, self), storage(self).ndim,
        0 if op.name == "real" else 1)


cdef object _swap_in_place(Operator op, keyset_t keys, PyObject** args):
    return call3(_ops().transpose_, <object>args[0], <object>args[1], <object>args[2])


cdef object _swap(Operator op, keyset_t keys, PyObject** args):
    return call3(_ops().transpose, <object>args[0], <object>args[1], <object>args[2])


cdef object _contiguous(Operator op, keyset_t keys, PyObject** args):
    if args[1] != <PyObject*>None:
        return NotImplemented
    if cnp.PyArray_IS_C_CONTIGUOUS(storage(<Tensor>args[0])):
        return <object>args[0]
    return call2(_ops().clone, <object>args[0], "contiguous_format")


cdef object _spread(Operator op, keyset_t keys, PyObject** args):
    """var.dim and its kin, by the overload that takes a correction, which stands next."""
    cdef object correction = 1 if <object>args[2] is True else 0
    cdef PyObject** corrected = [args[0], args[1], <PyObject*>correction, args[3], NULL]
    return call(op.next_overload, corrected)


cdef bint _meets(PyObject* read, PyObject* written) noexcept:
    """Whether the memory of two tensors may be the same, or of any in tuples of them."""
    cdef Py_ssize_t i
    if read == NULL or written == NULL:
        return False
    if type(<object>read) is tuple:
        for i in range(PyTuple_GET_SIZE(<tuple>read)):
            if _meets(PyTuple_GET_ITEM(<tuple>read, i), written):
                return True
        return False
    if type(<object>written) is tuple:
        return _meets(written, read)
    return is_tensor(read) and is_tensor(written) and ranges_meet(
        storage(<Tensor>read), storage(<Tensor>written))


cdef object _apart(Operator op, keyset_t keys, PyObject** args):
    """The out= form of what reads memory apart from it: `into`, by the same arguments."""
    cdef int i
    for i in range(op.nargs - 1):
        if _meets(args[i], args[op.nargs - 1]):
            return NotImplemented
    return call(<Operator>op.shortcut.config, args)


cdef object _unrecorded(Operator op, keyset_t keys, PyObject** args):
    """What looks at the graph and records nothing: another operator, where there is no graph."""
    if requires_grad(<Tensor>args[0]) and not unrecorded(tls()):
        return NotImplemented
    return call(<Operator>op.shortcut.config, args)


cdef CKernel _new(object (*fn)(Operator, keyset_t, PyObject**)):
    return CKernel.new(fn, None, "imode.kernels.shortcuts", False)


reshape = _new(_reshape)
view_as = _new(_view_as)
reshape_as = _new(_reshape_as)
expand_as = _new(_expand_as)
broadcast_to = _new(_broadcast_to)
flatten = _new(_flatten)
unflatten = _new(_unflatten)
movedim = _new(_movedim)
narrow = _new(_narrow)
chunk = _new(_chunk)
part = _new(_part)
split_sizes = _new(_split_sizes)
swap = _new(_swap)
swap_in_place = _new(_swap_in_place)
contiguous = _new(_contiguous)
spread = _new(_spread)


def apart(Operator into not None):
    """The shortcut of an out= form that checks its memory, and then is `into`."""
    return CKernel.new(_apart, into, "imode.kernels.shortcuts", False)


def where_unrecorded(Operator plain not None):
    """The shortcut of an operator of one tensor: `plain`, where autograd records nothing."""
    return CKernel.new(_unrecorded, plain, "imode.kernels.shortcuts", False)
