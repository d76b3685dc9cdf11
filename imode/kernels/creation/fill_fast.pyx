"""The fast case of new tensors: constant contents, copies, concatenation.

The general case serves other memory formats, mixed dtypes, and sizes that no memory can hold.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, fields
from imode._core.allocator cimport empty as allocate
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport INT64, code_of, default_code, dtype, typenum_of
from imode._core.iterate cimport empty_like as allocate_like, in_row_order
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.making cimport wrap
from imode._core.moving cimport (
    clear, copy_bytes, fill_with, imode_move, move_into, run_move)
from imode._core.parallel cimport parallel_for, skipping
from imode._core.tensor cimport Tensor, storage, typenum
from imode.kernels.fast_guards cimport (
    PyFloat_CheckExact, PyLong_AsLongAndOverflow, PyLong_CheckExact, _count,
    _fill_value, _only_defaults, _row_major)
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

from imode._core.hollow import hollow

cnp.import_array()

cdef enum:
    MOST = 1 << 26                # most elements; the general case allocates more with care
    JOINED = 16                   # most tensors that are read side by side,
    LONG = 256                    # of at least so many bytes each for a row of the result,
    LARGE = 1 << 18               # which is of at least so many;
    FEW = 8                       # or for so few rows,
    SMALL = 4096                  # of so few bytes together
    LAZY = 1 << 21                # most zeros that are written: more are pages, cleared when used


cdef object _one = 1


cdef class _Config:
    cdef int size                 # which argument holds the sizes; -1: those of argument 0
    cdef int value                # which argument holds the value to fill with; -1: `number`
    cdef object number            # the value to fill with; None: nothing is filled
    cdef bint zero                # `number` is 0
    cdef int dtype                # which argument holds the dtype; the options follow it
    cdef Default default          # the dtype if none is given


cdef enum Default:
    FLOAT                         # the default dtype
    OWN                           # the dtype of argument 0
    OF_VALUE                      # the dtype for the value to fill with


cdef inline _Config _config(Operator op, keyset_t keys):
    return <_Config>(<CKernel>op.kernels[highest_key(keys)]).config


cdef bint _sizes(PyObject* given, npy_intp* dims, int* nd, npy_intp* total) except -1:
    """Read a tuple of sizes; False if there are many, or one is bad, or the total is too large."""
    cdef tuple size = <tuple>given
    cdef int overflow = 0
    cdef int i
    if PyTuple_GET_SIZE(size) > 8:
        return False
    nd[0] = <int>PyTuple_GET_SIZE(size)
    total[0] = 1
    for i in range(nd[0]):
        dims[i] = PyLong_AsLongAndOverflow(PyTuple_GET_ITEM(size, i), &overflow)
        if overflow or not 0 <= dims[i] <= MOST:
            return False
        total[0] *= dims[i]
        if total[0] > MOST:
            return False
    return True


cdef int _dtype_code(PyObject* given, int default) noexcept:
    """The Code of a dtype argument; -1 if it is not None and not a dtype."""
    if given == <PyObject*>None:
        return default
    return (<dtype>given).code if type(<object>given) is dtype else -1


cdef object _filled(Operator op, keyset_t keys, PyObject** args):
    """The factories with a single value: zeros, full, empty_like, new_ones, scalar_tensor, ..."""
    cdef _Config config = _config(op, keys)
    cdef npy_intp dims[8]
    cdef npy_intp total = 1
    cdef npy_intp item
    cdef uint64_t value[2]
    cdef int nd = 0
    cdef int code
    cdef PyObject* number = <PyObject*>config.number if config.value < 0 else args[config.value]
    cdef ndarray out
    if config.default == FLOAT:
        code = default_code()
    elif config.default == OWN:
        code = code_of[typenum(<Tensor>args[0])]
    elif PyFloat_CheckExact(number):
        code = default_code()
    else:
        code = INT64 if PyLong_CheckExact(number) else -1
    code = _dtype_code(args[config.dtype], code)
    if code < 0 or not _only_defaults(op, args, config.dtype + 1):
        return run_general(op, keys, args)
    if config.size >= 0:
        if not _sizes(args[config.size], dims, &nd, &total):
            return run_general(op, keys, args)
        if total > LAZY and config.zero:
            return run_general(op, keys, args)     # it gets zeroed pages from the system
        out = allocate(typenum_of[code], nd, dims)
    elif config.dtype > 0 and config.default == OWN:
        out = allocate_like(storage(<Tensor>args[0]), typenum_of[code])
    else:
        out = allocate(typenum_of[code], 0, dims)
    if number == <PyObject*>None or skipping():
        return wrap(out)
    item = cnp.PyArray_ITEMSIZE(out)
    if config.zero:
        clear(<char*>cnp.PyArray_DATA(out), cnp.PyArray_NBYTES(out))
    elif _fill_value(typenum_of[code], number, <char*>value):
        fill_with(<char*>cnp.PyArray_DATA(out), cnp.PyArray_SIZE(out), item, <char*>value)
    elif number == <PyObject*>config.number:
        cnp.PyArray_FillWithScalar(out, config.number)
    else:
        return run_general(op, keys, args)
    return wrap(out)


def zeros_in_rows(tuple shape, like):
    """A new array of zeros of the dtype of another, row by row."""
    cdef npy_intp dims[64]
    cdef int d
    cdef ndarray out
    for d in range(len(shape)):
        dims[d] = shape[d]
    out = allocate(cnp.PyArray_TYPE(<ndarray?>like), len(shape), dims)
    if skipping():
        return hollow(out)
    clear(<char*>cnp.PyArray_DATA(out), cnp.PyArray_NBYTES(out))
    return out


cdef object _eye(Operator op, keyset_t keys, PyObject** args):
    """eye(n, [m,] dtype, ...)."""
    cdef _Config config = _config(op, keys)
    cdef uint64_t one[2]
    cdef npy_intp dims[2]
    cdef npy_intp i, item
    cdef int overflow = 0
    cdef int code = _dtype_code(args[config.dtype], default_code())
    cdef ndarray out
    dims[0] = PyLong_AsLongAndOverflow(args[0], &overflow)
    dims[1] = dims[0] if config.dtype == 1 or overflow else PyLong_AsLongAndOverflow(
        args[1], &overflow)
    if overflow or code < 0 or not (
            0 <= dims[0] < 128 and 0 <= dims[1] < 128 and _only_defaults(
                op, args, config.dtype + 1)
            and _fill_value(typenum_of[code], <PyObject*>_one, <char*>one)):
        return run_general(op, keys, args)
    out = allocate(typenum_of[code], 2, dims)
    item = cnp.PyArray_ITEMSIZE(out)
    memset(cnp.PyArray_DATA(out), 0, cnp.PyArray_NBYTES(out))
    for i in range(min(dims[0], dims[1])):
        memcpy(<char*>cnp.PyArray_DATA(out) + i * (dims[1] + 1) * item, one, item)
    return wrap(out)


cdef object _clone(Operator op, keyset_t keys, PyObject** args):
    """clone(self, memory_format)."""
    cdef ndarray source = storage(<Tensor>args[0])
    cdef ndarray out
    if not cnp.PyArray_IS_C_CONTIGUOUS(source):
        if args[1] == <PyObject*>None:
            out = allocate_like(source, cnp.PyArray_TYPE(source))
        elif type(<object>args[1]) is str and <str>args[1] == "contiguous_format":
            out = allocate(cnp.PyArray_TYPE(source), source.ndim, source.shape)
        else:
            return run_general(op, keys, args)
        if not skipping() and not move_into(out, source):
            cnp.PyArray_CopyInto(out, source)
        return wrap(out)
    if args[1] != <PyObject*>None:
        return run_general(op, keys, args)
    out = allocate_like(source, cnp.PyArray_TYPE(source))
    if not skipping():
        copy_bytes(<char*>cnp.PyArray_DATA(out), <const char*>cnp.PyArray_DATA(source),
                   cnp.PyArray_NBYTES(source))
    return wrap(out)


cdef bint _alike(tuple tensors, Fields* first, int but) noexcept:
    """Whether all are contiguous, and have the first's dtype and, except in dimension `but`, its
    shape."""
    cdef Py_ssize_t k
    cdef Fields* each
    cdef int d
    for k in range(PyTuple_GET_SIZE(tensors)):
        each = fields((<Tensor>PyTuple_GET_ITEM(tensors, k)).array)
        if each.nd != first.nd or not _row_major(each) or (
                each.descr.type_num != first.descr.type_num):
            return False
        if each.nd >= 4 and not in_row_order(
                each, cnp.PyArray_ITEMSIZE(storage(<Tensor>PyTuple_GET_ITEM(tensors, k)))):
            return False          # images may be channels last, even just by strides of size 1
        for d in range(first.nd):
            if d != but and each.dimensions[d] != first.dimensions[d]:
                return False
    return True


cdef struct Blocks:               # what threads share
    char* to
    npy_intp row                  # bytes of the result's row
    int n
    const char* source[JOINED]
    npy_intp size[JOINED]         # bytes of each one's row


cdef void _put_rows(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Blocks* b = <Blocks*>context
    cdef char* to = b.to + begin * b.row
    cdef Py_ssize_t r
    cdef int k
    for r in range(begin, end):
        for k in range(b.n):
            memcpy(to, b.source[k] + r * b.size[k], b.size[k])
            to += b.size[k]


cdef bint _put_row_by_row(tuple tensors, char* to, npy_intp outer, npy_intp row, int dim,
                          npy_intp item) noexcept:
    """Fill in memory in one go; False where that would not be faster."""
    cdef Blocks b
    cdef Fields* each
    cdef int k
    b.to, b.row, b.n = to, row, 0
    cdef bint few = outer <= FEW and outer * row <= SMALL
    if PyTuple_GET_SIZE(tensors) > JOINED or not few and (outer * row < LARGE or outer == 1):
        return False
    for k in range(PyTuple_GET_SIZE(tensors)):
        each = fields((<Tensor>PyTuple_GET_ITEM(tensors, k)).array)
        b.source[k], b.size[k] = each.data, item * _count(each, dim, each.nd)
        if b.size[k] < LONG and not few:
            return False
    b.n = <int>PyTuple_GET_SIZE(tensors)
    if few:
        _put_rows(&b, 0, outer)
        return True
    with nogil:
        parallel_for(outer, LARGE // row + 1, _put_rows, &b)
    return True


cdef void _put_side_by_side(tuple tensors, ndarray out, int dim) noexcept:
    """Fill `out` with contiguous tensors: a block of each per index of the leading dimensions."""
    cdef imode_move m
    cdef npy_intp outer = 1
    cdef npy_intp row             # bytes of one outer index of the result
    cdef char* target = <char*>cnp.PyArray_DATA(out)
    cdef Fields* each
    cdef Py_ssize_t k
    cdef int d
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(out)
    if skipping():
        return
    for d in range(dim):
        outer *= out.shape[d]
    row = item * _count(fields(<PyObject*>out), dim, out.ndim)
    if _put_row_by_row(tensors, target, outer, row, dim, item):
        return
    for k in range(PyTuple_GET_SIZE(tensors)):
        each = fields((<Tensor>PyTuple_GET_ITEM(tensors, k)).array)
        m.item, m.nd, m.to, m.from_ = item, 2, target, each.data
        m.dims[0], m.dims[1] = outer, _count(each, dim, each.nd)
        m.to_steps[0], m.from_steps[0] = row, item * m.dims[1]
        m.to_steps[1] = m.from_steps[1] = item
        target += m.from_steps[0]
        if m.dims[0] and m.dims[1]:
            run_move(&m)


cdef Fields* _first(Operator op, PyObject** args, int added, int* dim) except? NULL:
    """The first of the tensors to join, and the result's dimension; NULL: for the general case.

    added: how many more dimensions the result has.
    """
    cdef tuple tensors = <tuple>args[0]
    cdef int overflow = 0
    cdef long given = PyLong_AsLongAndOverflow(args[1], &overflow)
    cdef Fields* first
    cdef int nd
    if PyTuple_GET_SIZE(tensors) == 0 or args[op.nargs] != NULL or overflow:
        return NULL
    first = fields((<Tensor>PyTuple_GET_ITEM(tensors, 0)).array)
    nd = first.nd + added
    given += nd if given < 0 else 0
    if nd > 8 or not 0 <= given < nd:
        return NULL
    dim[0] = <int>given
    return first if _alike(tensors, first, -1 if added else dim[0]) else NULL


cdef object _cat(Operator op, keyset_t keys, PyObject** args):
    """cat(tensors, dim): contiguous tensors of one dtype, block by block."""
    cdef tuple tensors = <tuple>args[0]
    cdef Py_ssize_t k
    cdef npy_intp dims[8]
    cdef int d, dim
    cdef ndarray out
    cdef Fields* first = _first(op, args, 0, &dim)
    if first == NULL:
        return run_general(op, keys, args)
    for d in range(first.nd):
        dims[d] = first.dimensions[d]
    dims[dim] = 0
    for k in range(PyTuple_GET_SIZE(tensors)):
        dims[dim] += fields((<Tensor>PyTuple_GET_ITEM(tensors, k)).array).dimensions[dim]
    out = allocate(first.descr.type_num, first.nd, dims)
    _put_side_by_side(tensors, out, dim)
    return wrap(out)


cdef object _stack(Operator op, keyset_t keys, PyObject** args):
    """stack(tensors, dim): contiguous tensors of one shape and dtype."""
    cdef tuple tensors = <tuple>args[0]
    cdef npy_intp dims[8]
    cdef int d, dim
    cdef ndarray out
    cdef Fields* first = _first(op, args, 1, &dim)
    if first == NULL:
        return run_general(op, keys, args)
    for d in range(dim):
        dims[d] = first.dimensions[d]
    dims[dim] = PyTuple_GET_SIZE(tensors)
    for d in range(dim, first.nd):
        dims[d + 1] = first.dimensions[d]
    out = allocate(first.descr.type_num, first.nd + 1, dims)
    _put_side_by_side(tensors, out, dim)
    return wrap(out)


cdef CKernel _factory(int size, int value, number, int at, Default default):
    cdef _Config config = _Config()
    config.size, config.value, config.number = size, value, number
    config.zero = number == 0
    config.dtype, config.default = at, default
    return CKernel.new(_filled, config)


cdef CKernel _eye_of(int at):
    """`at`: which argument holds the dtype, after one or two sizes."""
    cdef _Config config = _Config()
    config.dtype = at
    return CKernel.new(_eye, config)


# (size, [fill_value,] dtype, ...)
empty = _factory(0, -1, None, 1, FLOAT)
zeros = _factory(0, -1, 0, 1, FLOAT)
ones = _factory(0, -1, 1, 1, FLOAT)
full = _factory(0, 1, None, 2, OF_VALUE)
# (self, [fill_value,] dtype, ...)
empty_like = _factory(-1, -1, None, 1, OWN)
zeros_like = _factory(-1, -1, 0, 1, OWN)
ones_like = _factory(-1, -1, 1, 1, OWN)
full_like = _factory(-1, 1, None, 2, OWN)
# (self, size, [fill_value,] dtype, ...)
new_empty = _factory(1, -1, None, 2, OWN)
new_zeros = _factory(1, -1, 0, 2, OWN)
new_ones = _factory(1, -1, 1, 2, OWN)
new_full = _factory(1, 2, None, 3, OWN)
# (s, dtype, ...)
scalar_tensor = _factory(-1, 0, None, 1, FLOAT)
eye = _eye_of(1)
eye_of_two = _eye_of(2)
clone = CKernel.new(_clone)
cat = CKernel.new(_cat)
stack = CKernel.new(_stack)
