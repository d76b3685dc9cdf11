"""New tensors, compiled for the plain cases: constant contents, copies, concatenation.

Each function here takes the operator's function over ndarrays, which serves what the compiled code
declines (another memory format, mixed dtypes, sizes that no memory can hold), and gives the kernel.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.adapter cimport run_numpy
from imode._core.allocator cimport Fields, empty, fields
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport code_of, default_code, dtype, typenum_of
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.tensor cimport Tensor, storage, typenum, wrap
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    int PyLong_CheckExact(PyObject*) noexcept
    long PyLong_AsLongAndOverflow(PyObject*, int*) except? -1

cdef enum:
    C_CONTIGUOUS = 0x1
    MOST = 1 << 26                # elements; the general path asks for more with care


cdef class _Config:
    cdef object function          # the function over ndarrays
    cdef object value             # what to fill with; None: nothing


cdef inline _Config _config(Operator op, keyset_t keys):
    return <_Config>(<CKernel>op.kernels[highest_key(keys)]).config


cdef CKernel _new(object (*fn)(Operator, keyset_t, PyObject**), object function, object value=None):
    cdef _Config config = _Config()
    config.function, config.value = function, value
    return CKernel.new(fn, config, f"imode.ops.{function.__module__.rpartition('.')[2]}", True)


cdef int _set_all(ndarray array, object value) except -1:
    if value is None:
        return 0
    if value == 0:
        memset(cnp.PyArray_DATA(array), 0, cnp.PyArray_NBYTES(array))
    else:
        cnp.PyArray_FillWithScalar(array, value)
    return 0


cdef bint _defaults_from(Operator op, PyObject** args, int first) noexcept:
    """Whether the arguments from `first` on are all their defaults or requires_grad."""
    cdef int i
    for i in range(first, op.nargs):
        if args[i] != PyTuple_GET_ITEM(op.defaults, i) and i != op.requires_grad_arg:
            return False
    return True


cdef object _filled(Operator op, keyset_t keys, PyObject** args):
    """zeros, ones, empty: (size, dtype, ...)."""
    cdef _Config config = _config(op, keys)
    cdef npy_intp dims[8]
    cdef npy_intp total = 1
    cdef int code = default_code()
    cdef int overflow = 0
    cdef int nd, i
    cdef tuple size = <tuple>args[0]
    cdef ndarray out
    if args[1] != <PyObject*>None:
        if type(<object>args[1]) is not dtype:
            return run_numpy(op, config.function, args)
        code = (<dtype>args[1]).code
    if args[op.nargs] != NULL or PyTuple_GET_SIZE(size) > 8 or not _defaults_from(op, args, 2):
        return run_numpy(op, config.function, args)
    nd = <int>PyTuple_GET_SIZE(size)
    for i in range(nd):
        dims[i] = PyLong_AsLongAndOverflow(PyTuple_GET_ITEM(size, i), &overflow)
        if overflow or not 0 <= dims[i] <= MOST:
            return run_numpy(op, config.function, args)
        total *= dims[i]
        if total > MOST:
            return run_numpy(op, config.function, args)
    if total > 65536 and config.value == 0:
        return run_numpy(op, config.function, args)     # pages come zeroed from the system
    out = empty(typenum_of[code], nd, dims)
    _set_all(out, config.value)
    return wrap(out)


cdef object _filled_like(Operator op, keyset_t keys, PyObject** args):
    """zeros_like, ones_like, empty_like: (self, dtype, ...)."""
    cdef _Config config = _config(op, keys)
    cdef ndarray source = storage(<Tensor>args[0])
    cdef ndarray out
    cdef int code = code_of[typenum(<Tensor>args[0])]
    if type(<object>args[1]) is dtype:
        code = (<dtype>args[1]).code
    elif args[1] != <PyObject*>None:
        return run_numpy(op, config.function, args)
    if args[op.nargs] != NULL or not cnp.PyArray_IS_C_CONTIGUOUS(source) or (
            not _defaults_from(op, args, 2)):
        return run_numpy(op, config.function, args)
    out = empty(typenum_of[code], source.ndim, source.shape)
    _set_all(out, config.value)
    return wrap(out)


cdef object _clone(Operator op, keyset_t keys, PyObject** args):
    """clone(self, memory_format)."""
    cdef _Config config = _config(op, keys)
    cdef ndarray source = storage(<Tensor>args[0])
    cdef ndarray out
    if not cnp.PyArray_IS_C_CONTIGUOUS(source):
        if type(<object>args[1]) is not str or <str>args[1] != "contiguous_format":
            return run_numpy(op, config.function, args)
        out = empty(cnp.PyArray_TYPE(source), source.ndim, source.shape)
        cnp.PyArray_CopyInto(out, source)
        return wrap(out)
    if args[1] != <PyObject*>None:
        return run_numpy(op, config.function, args)
    out = empty(cnp.PyArray_TYPE(source), source.ndim, source.shape)
    memcpy(cnp.PyArray_DATA(out), cnp.PyArray_DATA(source), cnp.PyArray_NBYTES(source))
    return wrap(out)


cdef object _cat(Operator op, keyset_t keys, PyObject** args):
    """cat(tensors, dim): contiguous tensors of one dtype, block by block."""
    cdef _Config config = _config(op, keys)
    cdef tuple tensors = <tuple>args[0]
    cdef Py_ssize_t n = PyTuple_GET_SIZE(tensors)
    cdef Py_ssize_t k
    cdef Fields* first
    cdef Fields* each
    cdef npy_intp dims[8]
    cdef npy_intp outer = 1
    cdef npy_intp inner
    cdef npy_intp o, run
    cdef npy_intp row = 0         # bytes of one outer index of the result
    cdef char* target
    cdef int overflow = 0
    cdef int d
    cdef long dim = PyLong_AsLongAndOverflow(args[1], &overflow)
    cdef ndarray out
    if n == 0 or args[op.nargs] != NULL or overflow:
        return run_numpy(op, config.function, args)
    first = fields((<Tensor>PyTuple_GET_ITEM(tensors, 0)).array)
    dim += first.nd if dim < 0 else 0
    if not 0 < first.nd <= 8 or not 0 <= dim < first.nd:
        return run_numpy(op, config.function, args)
    for d in range(first.nd):
        dims[d] = first.dimensions[d]
    dims[dim] = 0
    for k in range(n):
        each = fields((<Tensor>PyTuple_GET_ITEM(tensors, k)).array)
        if each.nd != first.nd or not each.flags & C_CONTIGUOUS or (
                each.descr.type_num != first.descr.type_num):
            return run_numpy(op, config.function, args)
        for d in range(first.nd):
            if d != dim and each.dimensions[d] != dims[d]:
                return run_numpy(op, config.function, args)
        dims[dim] += each.dimensions[dim]
    out = empty(first.descr.type_num, first.nd, dims)
    inner = cnp.PyArray_ITEMSIZE(out)
    for d in range(dim + 1, first.nd):
        inner *= dims[d]
    for d in range(dim):
        outer *= dims[d]
    row = inner * dims[dim]
    target = <char*>cnp.PyArray_DATA(out)
    for k in range(n):
        each = fields((<Tensor>PyTuple_GET_ITEM(tensors, k)).array)
        run = inner * each.dimensions[dim]
        for o in range(outer):
            memcpy(target + o * row, each.data + o * run, run)
        target += run
    return wrap(out)


cdef object _stack(Operator op, keyset_t keys, PyObject** args):
    """stack(tensors, dim): contiguous tensors of one shape and dtype."""
    cdef _Config config = _config(op, keys)
    cdef tuple tensors = <tuple>args[0]
    cdef Py_ssize_t n = PyTuple_GET_SIZE(tensors)
    cdef Py_ssize_t k
    cdef Fields* first
    cdef Fields* each
    cdef npy_intp dims[8]
    cdef npy_intp outer = 1
    cdef npy_intp run
    cdef npy_intp o
    cdef int overflow = 0
    cdef int d
    cdef long dim = PyLong_AsLongAndOverflow(args[1], &overflow)
    cdef ndarray out
    if n == 0 or args[op.nargs] != NULL or overflow:
        return run_numpy(op, config.function, args)
    first = fields((<Tensor>PyTuple_GET_ITEM(tensors, 0)).array)
    dim += first.nd + 1 if dim < 0 else 0
    if first.nd > 7 or not 0 <= dim <= first.nd:
        return run_numpy(op, config.function, args)
    for k in range(n):
        each = fields((<Tensor>PyTuple_GET_ITEM(tensors, k)).array)
        if each.nd != first.nd or not each.flags & C_CONTIGUOUS or (
                each.descr.type_num != first.descr.type_num):
            return run_numpy(op, config.function, args)
        for d in range(first.nd):
            if each.dimensions[d] != first.dimensions[d]:
                return run_numpy(op, config.function, args)
    for d in range(dim):
        dims[d] = first.dimensions[d]
        outer *= dims[d]
    dims[dim] = n
    for d in range(dim, first.nd):
        dims[d + 1] = first.dimensions[d]
    out = empty(first.descr.type_num, first.nd + 1, dims)
    run = cnp.PyArray_ITEMSIZE(out)
    for d in range(dim, first.nd):
        run *= first.dimensions[d]
    for k in range(n):
        each = fields((<Tensor>PyTuple_GET_ITEM(tensors, k)).array)
        for o in range(outer):
            memcpy(<char*>cnp.PyArray_DATA(out) + (o * n + k) * run, each.data + o * run, run)
    return wrap(out)


def filled(function, value):
    """The kernel of zeros, ones, empty."""
    return _new(_filled, function, value)


def filled_like(function, value):
    """The kernel of zeros_like, ones_like, empty_like."""
    return _new(_filled_like, function, value)


def clone(function):
    """The kernel of clone."""
    return _new(_clone, function)


def cat(function):
    """The kernel of cat."""
    return _new(_cat, function)


def stack(function):
    """The kernel of stack."""
    return _new(_stack, function)
