"""The fast case of tensors from a list of numbers, or over an ndarray's memory.

`imode.kernels.creation.from_data` has the rules and the messages for all other data.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty, fields
from imode._core.dispatch cimport CKernel, Operator, call1, operator
from imode._core.dtype cimport (
    FLOAT32, FLOAT64, INT64, N_TYPENUMS, NO_DTYPE, code_of, default_code, dtype, typenum_of)
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.lending cimport borrow
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, is_tensor, typenum
from imode.kernels.fast_guards cimport (
    PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyLong_AsLongAndOverflow, PyLong_CheckExact)
from libc.stdint cimport int64_t
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    PyObject** PySequence_Fast_ITEMS(object) noexcept
    Py_ssize_t PySequence_Fast_GET_SIZE(object) noexcept

cdef enum:
    ALIGNED = 0x100               # flags of an ndarray
    FEW = 1024                    # most numbers of a list


cdef bint _store(PyObject* item, int code, char* to) except -1:
    """Store a float or an int that the dtype holds; False for anything else."""
    cdef int overflow = 0
    cdef int64_t whole
    if code == INT64:
        if not PyLong_CheckExact(item):
            return False
        (<int64_t*>to)[0] = PyLong_AsLongAndOverflow(item, &overflow)
        return not overflow
    if PyFloat_CheckExact(item):
        if code == FLOAT32:
            (<float*>to)[0] = <float>PyFloat_AS_DOUBLE(item)
        else:
            (<double*>to)[0] = PyFloat_AS_DOUBLE(item)
        return True
    if not PyLong_CheckExact(item):
        return False
    whole = PyLong_AsLongAndOverflow(item, &overflow)
    if overflow or not -(1 << 53) < whole < 1 << 53:
        return False
    if code == FLOAT32:
        (<float*>to)[0] = <float><double>whole
    else:
        (<double*>to)[0] = <double>whole
    return True


cdef ndarray _from_numbers(object given, int code):
    """A list or tuple of floats and ints as an array; None for other data. NO_DTYPE: inferred."""
    cdef npy_intp n
    cdef npy_intp i
    cdef PyObject** items
    cdef ndarray out
    cdef npy_intp item
    if type(given) is not list and type(given) is not tuple:
        return None
    n = PySequence_Fast_GET_SIZE(given)
    if not 0 < n <= FEW:
        return None
    items = PySequence_Fast_ITEMS(given)
    if code == NO_DTYPE:
        code = INT64
        for i in range(n):
            if not PyLong_CheckExact(items[i]):
                code = default_code()
                break
    if code != INT64 and code != FLOAT32 and code != FLOAT64:
        return None
    out = empty(typenum_of[code], 1, &n)
    item = cnp.PyArray_ITEMSIZE(out)
    for i in range(n):
        if not _store(items[i], code, <char*>cnp.PyArray_DATA(out) + i * item):
            return None
    return out


cdef object _from_list(Operator op, keyset_t keys, PyObject** args, PyObject* given, PyObject* to,
                       int default):
    cdef ndarray out
    cdef int i
    for i in range(3 if op.n_tensors else 2, op.nargs):     # past the dtype
        if args[i] != PyTuple_GET_ITEM(op.defaults, i) and i != op.requires_grad_arg:
            return run_general(op, keys, args)
    if to != <PyObject*>None:
        if type(<object>to) is not dtype:
            return run_general(op, keys, args)
        default = (<dtype>to).code
    out = _from_numbers(<object>given, default)
    return run_general(op, keys, args) if out is None else wrap(out)


cdef object _tensor(Operator op, keyset_t keys, PyObject** args):
    """tensor(data, dtype, ...)."""
    return _from_list(op, keys, args, args[0], args[1], NO_DTYPE)


cdef object _new_tensor(Operator op, keyset_t keys, PyObject** args):
    """new_tensor(self, data, dtype, ...)."""
    return _from_list(op, keys, args, args[1], args[2], code_of[typenum(<Tensor>args[0])])


cdef object _borrowed(Operator op, keyset_t keys, PyObject** args):
    """A tensor over another object's memory: a Python function gives the array and that object."""
    cdef int i
    cdef CKernel kernel = op.kernels[highest_key(keys)]
    if kernel.general is not None:             # called as the general case of a fast one
        kernel = kernel.general
    array, source = kernel.config(*[<object>args[i] for i in range(op.nargs)])
    return borrow(array, source)


cdef object _from_numpy(Operator op, keyset_t keys, PyObject** args):
    """from_numpy(ndarray), for an array whose memory a tensor can share."""
    cdef Fields* a
    cdef npy_intp item
    cdef int d, code
    if type(<object>args[0]) is not ndarray:
        return _borrowed(op, keys, args)
    a = fields(args[0])
    code = code_of[a.descr.type_num] if 0 <= a.descr.type_num < N_TYPENUMS else NO_DTYPE
    if code == NO_DTYPE or a.descr.type_num != typenum_of[code] or not a.flags & ALIGNED or (
            not cnp.PyArray_ISNOTSWAPPED(<ndarray>args[0])):
        return _borrowed(op, keys, args)
    item = cnp.PyArray_ITEMSIZE(<ndarray>args[0])
    for d in range(a.nd):
        if a.strides[d] < 0 or a.strides[d] % item:
            return _borrowed(op, keys, args)
    return borrow(<ndarray>args[0])


cdef Operator _over = None


cdef object _as_tensor(Operator op, keyset_t keys, PyObject** args):
    """as_tensor(data, dtype, device), for a tensor or an array, with no dtype given."""
    global _over
    if args[1] != <PyObject*>None or args[2] != <PyObject*>None:
        return NotImplemented
    if is_tensor(args[0]):
        return <object>args[0]
    if type(<object>args[0]) is not ndarray:
        return NotImplemented
    if _over is None:
        _over = operator("from_numpy")
    return call1(_over, <object>args[0])


tensor = CKernel.new(_tensor)
new_tensor = CKernel.new(_new_tensor)
from_numpy = CKernel.new(_from_numpy)
as_tensor = CKernel.new(_as_tensor)


def borrowing(function):
    """The kernel of an operator that gives a tensor over another object's memory.

    `function` takes all arguments and returns (array, the object whose memory it uses).
    """
    return CKernel.new(_borrowed, function)
