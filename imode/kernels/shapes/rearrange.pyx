"""The fast case of flip, rot90, roll, repeat, padding with a number, and one_hot.

It serves row order and few dimensions. The general case, the operator's function over ndarrays,
serves everything else and raises all errors.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.iterate cimport empty_like, in_row_order
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.moving cimport imode_move, run_move
from imode._core.parallel cimport skipping
from imode._core.tensor cimport Tensor, storage
from imode.kernels.fast_guards cimport (
    PyLong_AsLongAndOverflow, _array, _count, _dim, _fill_value, _indices, _item,
    _row_major, repeat_item)
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:
    DIMS = 8                      # most dimensions
    MOST = 1 << 26                # most elements of a result
    LARGE = 1 << 18               # bytes that threads share


cdef bint _numbers(PyObject* given, npy_intp* out, int* n) except -1:
    """Read a tuple of integers; False if there are many, or one is large."""
    cdef int overflow = 0
    cdef int i
    n[0] = <int>PyTuple_GET_SIZE(<object>given)
    if n[0] > 2 * DIMS:
        return False
    for i in range(n[0]):
        out[i] = PyLong_AsLongAndOverflow(PyTuple_GET_ITEM(<object>given, i), &overflow)
        if overflow or not -MOST <= out[i] <= MOST:
            return False
    return True


cdef void _steps(Fields* a, npy_intp item, npy_intp* steps) noexcept:
    """The strides in bytes of a row-order array. (NumPy's may be anything where a size is 1.)"""
    cdef int d
    for d in range(a.nd - 1, -1, -1):
        steps[d] = item
        item *= a.dimensions[d]


cdef void _copy(char* to, const char* source, int nd, const npy_intp* dims,
                const npy_intp* to_steps, const npy_intp* source_steps,
                npy_intp item) noexcept:
    """Copy a block of elements, not empty, from one layout to another."""
    cdef imode_move m
    m.item, m.nd, m.to, m.from_ = item, nd, to, source
    memcpy(m.dims, dims, nd * sizeof(npy_intp))
    memcpy(m.to_steps, to_steps, nd * sizeof(npy_intp))
    memcpy(m.from_steps, source_steps, nd * sizeof(npy_intp))
    run_move(&m)


cdef ndarray _reversed(PyObject* tensor, const bint* turned):
    """A copy of a row-order tensor, not empty, with the order along some dimensions reversed."""
    cdef Fields* a = _array(tensor)
    cdef npy_intp steps[DIMS]
    cdef npy_intp back[DIMS]
    cdef char* source = a.data
    cdef int d
    cdef ndarray out
    _steps(a, _item(tensor), steps)
    for d in range(a.nd):
        back[d] = -steps[d] if turned[d] else steps[d]
        source += (a.dimensions[d] - 1) * steps[d] if turned[d] else 0
    out = empty_like(storage(<Tensor>tensor), a.descr.type_num)
    _copy(<char*>cnp.PyArray_DATA(out), source, a.nd, a.dimensions, steps, back, _item(tensor))
    return out


cdef inline bint _reversible(Fields* a) noexcept:
    return _row_major(a) and 0 < a.nd <= DIMS and _count(a, 0, a.nd) > 0


cdef object _flip(Operator op, keyset_t keys, PyObject** args):
    """flip(self, dims)."""
    cdef Fields* a = _array(args[0])
    cdef bint turned[DIMS]
    cdef Py_ssize_t i
    cdef int d
    if args[op.nargs] != NULL or not _reversible(a):
        return run_general(op, keys, args)
    memset(turned, 0, sizeof(turned))
    for i in range(PyTuple_GET_SIZE(<object>args[1])):
        d = _dim(PyTuple_GET_ITEM(<object>args[1], i), a.nd)
        if d < 0 or turned[d]:
            return run_general(op, keys, args)
        turned[d] = True
    return wrap(_reversed(args[0], turned))


cdef object _rot90(Operator op, keyset_t keys, PyObject** args):
    """rot90(self, k, dims)."""
    cdef Fields* a = _array(args[0])
    cdef bint turned[DIMS]
    cdef int overflow = 0, first, second
    cdef long k = PyLong_AsLongAndOverflow(args[1], &overflow) & 3
    cdef ndarray out
    if args[op.nargs] != NULL or overflow or k == 0 or not _reversible(a) or (
            PyTuple_GET_SIZE(<object>args[2]) != 2):
        return run_general(op, keys, args)
    first = _dim(PyTuple_GET_ITEM(<object>args[2], 0), a.nd)
    second = _dim(PyTuple_GET_ITEM(<object>args[2], 1), a.nd)
    if first < 0 or second < 0 or first == second:
        return run_general(op, keys, args)
    memset(turned, 0, sizeof(turned))
    turned[first], turned[second] = k >= 2, k <= 2
    out = _reversed(args[0], turned)
    return wrap(cnp.PyArray_SwapAxes(out, first, second) if k & 1 else out)


cdef void _rows(char* to, const char* source, npy_intp rows, npy_intp columns,
                const npy_intp* steps) noexcept:
    """Copy rows whose elements lie side by side, if there are any."""
    cdef npy_intp dims[2]
    cdef npy_intp r
    dims[0], dims[1] = rows, columns
    if rows * columns * steps[1] >= LARGE:
        _copy(to, source, 2, dims, steps, steps, steps[1])
        return
    for r in range(rows):
        memcpy(to + r * steps[0], source + r * steps[0], columns * steps[1])


cdef object _roll(Operator op, keyset_t keys, PyObject** args):
    """roll(self, shifts, dims) with one shift, of all elements or along one dimension."""
    cdef Fields* a = _array(args[0])
    cdef npy_intp shifts[2 * DIMS]
    cdef int n_shifts, dim
    cdef Py_ssize_t n_dims = 0 if args[2] == <PyObject*>None else PyTuple_GET_SIZE(<object>args[2])
    cdef npy_intp outer = 1, length, inner = 1, item = _item(args[0]), cut
    cdef npy_intp steps[2]
    cdef char* to
    cdef ndarray out
    if args[op.nargs] != NULL or not _row_major(a) or n_dims > 1 or not _count(a, 0, a.nd) or not (
            _numbers(args[1], shifts, &n_shifts)) or n_shifts != 1 or (
            not in_row_order(a, item)):
        return run_general(op, keys, args)
    length = _count(a, 0, a.nd)
    if n_dims:
        dim = _dim(PyTuple_GET_ITEM(<object>args[2], 0), a.nd) if a.nd else -1
        if dim < 0:
            return run_general(op, keys, args)
        outer, length = _count(a, 0, dim), a.dimensions[dim]
        inner = _count(a, dim + 1, a.nd)
    cut = shifts[0] % length      # C's remainder
    cut += length if cut < 0 else 0
    out = empty(a.descr.type_num, a.nd, a.dimensions)
    to = <char*>cnp.PyArray_DATA(out)
    steps[0], steps[1] = length * inner * item, item
    _rows(to + cut * inner * item, a.data, outer, (length - cut) * inner, steps)
    _rows(to, a.data + (length - cut) * inner * item, outer, cut * inner, steps)
    return wrap(out)


cdef npy_intp _tile(char* to, const char* source, int nd, const npy_intp* dims,
                    const npy_intp* steps, const npy_intp* repeats, npy_intp item) noexcept nogil:
    """Write a block repeated along each dimension; returns the number of bytes written."""
    cdef npy_intp i, size = 0
    if nd == 0:
        memcpy(to, source, item)
        return item
    if nd == 1:
        size = dims[0] * item
        memcpy(to, source, size)
    else:
        for i in range(dims[0]):
            size += _tile(to + size, source + i * steps[0], nd - 1, dims + 1, steps + 1,
                          repeats + 1, item)
    for i in range(1, repeats[0]):
        memcpy(to + i * size, to, size)
    return size * repeats[0]


cdef void _tile_shared(char* to, const char* source, int nd, const npy_intp* dims,
                       const npy_intp* steps, const npy_intp* repeats, npy_intp item) noexcept:
    """As `_tile`, by a move in which each dimension has one more before it, of steps of 0."""
    cdef imode_move m
    cdef npy_intp step = item
    cdef int d
    m.item, m.nd, m.to, m.from_ = item, 2 * nd, to, source
    for d in range(nd - 1, -1, -1):
        m.dims[2 * d + 1], m.to_steps[2 * d + 1], m.from_steps[2 * d + 1] = dims[d], step, steps[d]
        step *= dims[d]
        m.dims[2 * d], m.to_steps[2 * d], m.from_steps[2 * d] = repeats[d], step, 0
        step *= repeats[d]
    run_move(&m)


cdef object _repeat(Operator op, keyset_t keys, PyObject** args):
    """repeat(self, repeats)."""
    cdef Fields* a = _array(args[0])
    cdef npy_intp repeats[2 * DIMS]
    cdef npy_intp dims[DIMS]
    cdef npy_intp wanted[DIMS]
    cdef npy_intp steps[DIMS]
    cdef npy_intp item = _item(args[0]), total = 1
    cdef int n, d, added
    cdef ndarray out
    if args[op.nargs] != NULL or not _row_major(a) or not _numbers(args[1], repeats, &n) or (
            not a.nd <= n <= DIMS):
        return run_general(op, keys, args)
    added = n - a.nd
    for d in range(n):
        dims[d] = a.dimensions[d - added] if d >= added else 1
        if repeats[d] < 0 or dims[d] > MOST:
            return run_general(op, keys, args)
        wanted[d] = dims[d] * repeats[d]
        total *= wanted[d]
        if total > MOST:
            return run_general(op, keys, args)
    out = empty(a.descr.type_num, n, wanted)
    if total:
        for d in range(n - 1, -1, -1):
            steps[d] = item if d == n - 1 else steps[d + 1] * dims[d + 1]
        if total * item < LARGE:
            _tile(<char*>cnp.PyArray_DATA(out), a.data, n, dims, steps, repeats, item)
        else:
            _tile_shared(<char*>cnp.PyArray_DATA(out), a.data, n, dims, steps, repeats, item)
    return wrap(out)


cdef bint _pad_value(int kind, PyObject* value, uint64_t* item) except -1:
    """Convert the value to the dtype, of complex ones 0 alone; False: the general case does."""
    item[0] = item[1] = 0
    if cnp.PyTypeNum_ISCOMPLEX(kind):
        return <object>value == 0
    return _fill_value(kind, value, <char*>item)


cdef object _pad(Operator op, keyset_t keys, PyObject** args):
    """constant_pad_nd(self, pad, value) that crops nothing."""
    cdef Fields* a = _array(args[0])
    cdef npy_intp pad[2 * DIMS]
    cdef npy_intp dims[DIMS]
    cdef npy_intp steps[DIMS]
    cdef npy_intp inner[DIMS]
    cdef uint64_t value[2]
    cdef npy_intp item = _item(args[0]), total = 1, run
    cdef int n, d, k
    cdef char* to
    cdef ndarray out
    # A result of four dimensions may have another memory order (see kernels/networks/pad.pyx).
    if args[op.nargs] != NULL or not _row_major(a) or not 0 < a.nd < 4 or not (
            _count(a, 0, a.nd) and _numbers(args[1], pad, &n)) or n % 2 or n > 2 * a.nd or not (
                _pad_value(a.descr.type_num, args[2], value)):
        return run_general(op, keys, args)
    for d in range(a.nd):
        dims[d], k = a.dimensions[d], 2 * (a.nd - 1 - d)
        if k < n:
            if pad[k] < 0 or pad[k + 1] < 0:
                return run_general(op, keys, args)
            dims[d] += pad[k] + pad[k + 1]
        total *= dims[d]
        if total > MOST:
            return run_general(op, keys, args)
    out = empty(a.descr.type_num, a.nd, dims)
    to = <char*>cnp.PyArray_DATA(out)
    repeat_item(to, total, item, <char*>value)
    _steps(a, item, inner)
    run = item
    for d in range(a.nd - 1, -1, -1):
        steps[d], k = run, 2 * (a.nd - 1 - d)
        if k < n:
            to += pad[k] * run
        run *= dims[d]
    _copy(to, a.data, a.nd, a.dimensions, steps, inner, item)
    return wrap(out)


cdef object _one_hot(Operator op, keyset_t keys, PyObject** args):
    """one_hot(self, num_classes)."""
    cdef Fields* a = _array(args[0])
    cdef npy_intp dims[DIMS]
    cdef npy_intp i, classes, n = _count(a, 0, a.nd)
    cdef int64_t* index = <int64_t*>a.data
    cdef int64_t most = 0
    cdef bint good = True
    cdef int overflow = 0
    cdef int64_t* to
    cdef ndarray out
    classes = PyLong_AsLongAndOverflow(args[1], &overflow)
    if args[op.nargs] != NULL or overflow or not _indices(a) or a.nd >= DIMS or n == 0:
        return run_general(op, keys, args)
    for i in range(n):
        most = max(most, index[i])
        good &= index[i] >= 0
    if classes == -1:
        classes = most + 1 if most < MOST else 0
    if not good or most >= classes or classes > MOST or n * classes > MOST:
        return run_general(op, keys, args)
    for i in range(a.nd):
        dims[i] = a.dimensions[i]
    dims[a.nd] = classes
    out = empty(cnp.NPY_INT64, a.nd + 1, dims)
    to = <int64_t*>cnp.PyArray_DATA(out)
    memset(to, 0, n * classes * sizeof(int64_t))
    for i in range(n):
        to[i * classes + index[i]] = 1
    return wrap(out)


flip = CKernel.new(_flip)
rot90 = CKernel.new(_rot90)
roll = CKernel.new(_roll)
repeat = CKernel.new(_repeat)
constant_pad = CKernel.new(_pad)
one_hot = CKernel.new(_one_hot)


# ---- windows that overlap, added up: what is left of unfold in its backward pass -----------------

ctypedef fused real:
    float
    double


cdef void _add_windows(real* to, const real* source, npy_intp outer, npy_intp length,
                       npy_intp count, npy_intp size, npy_intp step) noexcept nogil:
    cdef npy_intp i, j, k
    cdef real* at
    for i in range(outer):
        for j in range(count):
            at = to + i * length + j * step
            for k in range(size):
                at[k] += source[k]
            source += size


def overlap_add(ndarray result not None, ndarray windows not None, npy_intp step):
    """Add windows, `step` apart along the last dimension of `result`, a new array in rows.

    windows: (..., count, size). Returns False for dtypes that it does not serve.
    """
    cdef int d = windows.ndim
    cdef npy_intp count = windows.shape[d - 2]
    cdef npy_intp size = windows.shape[d - 1]
    cdef npy_intp length = result.shape[d - 2]
    cdef npy_intp outer
    cdef char* to
    cdef char* source
    cdef int parts = 1 + cnp.PyArray_ISCOMPLEX(result)
    cdef bint wide = cnp.PyArray_ITEMSIZE(result) == 8 * parts
    if not (cnp.PyArray_ISFLOAT(result) or cnp.PyArray_ISCOMPLEX(result)) or (
            cnp.PyArray_ITEMSIZE(result) < 4 * parts):
        return False
    if cnp.PyArray_SIZE(windows) == 0:
        return True
    windows = windows if cnp.PyArray_IS_C_CONTIGUOUS(windows) else windows.copy("C")
    outer = cnp.PyArray_SIZE(result) // length
    to, source = <char*>cnp.PyArray_DATA(result), <char*>cnp.PyArray_DATA(windows)
    if skipping():
        return True
    with nogil:
        if wide:
            _add_windows(<double*>to, <const double*>source, outer, length * parts, count,
                         size * parts, step * parts)
        else:
            _add_windows(<float*>to, <const float*>source, outer, length * parts, count,
                         size * parts, step * parts)
    return True
