"""The fast case of sort, unique, nonzero and masked_select.

It serves row order, float32, float64, int32 and int64; sort float16, too, in float32. Short lines
are sorted by insertion, the others of sort by digits.
The general case, the operator's function over ndarrays, serves everything else.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty
from imode._core.allocator cimport view as array_view
from imode._core.dispatch cimport CKernel, Operator
from imode._core.iterate cimport empty_like
from imode._core.keyset cimport keyset_t
from imode._core.making cimport hold, wrap
from imode._core.parallel cimport (
    WORTH_IT, Thread, give_up_gil, parallel_for, skipping, take_gil)
from imode._core.tensor cimport Tensor, storage
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport (
    MAX_DIMS, _array, _count, _dim, _item, _row_major, _same_shape)
from imode.kernels.indexing.masks_fast cimport compact
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

import numpy as np

cnp.import_array()

cdef extern from "sort_fast.h" nogil:
    ctypedef int imode_sort_line(const void* x, npy_intp n, npy_intp step, bint falling,
                                 void* values, int64_t* indices) noexcept
    imode_sort_line imode_sort_float, imode_sort_double, imode_sort_int32, imode_sort_int64

cdef enum:
    SHORT = 32                    # most elements that are sorted by insertion
    GRAIN = 2048                  # fewest elements per thread
    MOST = 0x7FFFFFFF             # most elements of a line
    DIMS = 8                      # most dimensions of scattered elements

ctypedef fused number:
    float
    double
    int64_t


cdef inline bint before(number a, number b, bint largest) noexcept nogil:
    """Whether a comes before b; NaN counts as the largest."""
    if number is int64_t:
        return a > b if largest else a < b
    else:
        if largest:
            return a > b or (a != a and b == b)
        return a < b or (b != b and a == a)


cdef void _insert(const number* x, npy_intp n, npy_intp step, bint falling, number* values,
                  int64_t* indices) noexcept nogil:
    """Sort a line by insertion; equal elements keep their order."""
    cdef number ordered[SHORT]
    cdef int64_t at[SHORT]
    cdef npy_intp i, j
    cdef number each
    for i in range(n):
        each = x[i * step]
        j = i
        while j and before(each, ordered[j - 1], falling):
            ordered[j], at[j] = ordered[j - 1], at[j - 1]
            j -= 1
        ordered[j], at[j] = each, i
    for i in range(n):
        values[i * step] = ordered[i]
        if indices != NULL:
            indices[i * step] = at[i]


cdef struct Lines:
    char* x
    char* values
    int64_t* indices
    npy_intp n                    # elements of a line,
    npy_intp inner                # how far apart they lie,
    npy_intp item                 # and their bytes
    int kind
    bint falling
    bint failed                   # for want of memory


cdef void _sort_lines(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Lines* a = <Lines*>context
    cdef npy_intp i, first
    cdef imode_sort_line* by_digits = (
        imode_sort_float if a.kind == cnp.NPY_FLOAT else
        imode_sort_double if a.kind == cnp.NPY_DOUBLE else
        imode_sort_int32 if a.kind == cnp.NPY_INT32 else imode_sort_int64)
    for i in range(begin, end):
        first = i // a.inner * a.n * a.inner + i % a.inner
        x, values = a.x + first * a.item, a.values + first * a.item
        if a.n > SHORT or a.kind == cnp.NPY_INT32:
            if by_digits(x, a.n, a.inner, a.falling, values, a.indices + first) < 0:
                a.failed = True
        elif a.kind == cnp.NPY_FLOAT:
            _insert(<float*>x, a.n, a.inner, a.falling, <float*>values, a.indices + first)
        elif a.kind == cnp.NPY_DOUBLE:
            _insert(<double*>x, a.n, a.inner, a.falling, <double*>values, a.indices + first)
        else:
            _insert(<int64_t*>x, a.n, a.inner, a.falling, <int64_t*>values, a.indices + first)


cdef object _pair(Operator op, ndarray values, ndarray indices):
    cdef tuple both = (wrap(values), wrap(indices))
    return both if op.result_type is None else op.result_type(both)


cdef object _sorted(Operator op, keyset_t keys, PyObject** args, PyObject* at, PyObject* order):
    cdef Fields* a = _array(args[0])
    cdef bint half = a.descr.type_num == cnp.NPY_FLOAT16
    cdef int kind = cnp.NPY_FLOAT if half else a.descr.type_num
    cdef int dim = _dim(at, a.nd) if a.nd else -1
    cdef npy_intp total = _count(a, 0, a.nd)
    cdef ndarray source = storage(<Tensor>args[0])
    cdef ndarray values, indices
    cdef Thread* thread
    cdef Lines lines
    if args[op.nargs] != NULL or dim < 0 or not _row_major(a) or (
            kind not in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_INT32, cnp.NPY_INT64)) or (
            total == 0 or a.dimensions[dim] > MOST):
        return run_general(op, keys, args)
    if half:
        source = cast(source, np.float32)
    values = empty_like(source, kind)
    indices = empty_like(source, cnp.NPY_INT64)
    lines.x, lines.values = <char*>cnp.PyArray_DATA(source), <char*>cnp.PyArray_DATA(values)
    lines.indices = <int64_t*>cnp.PyArray_DATA(indices)
    lines.n, lines.inner, lines.item = (
        a.dimensions[dim], _count(a, dim + 1, a.nd), cnp.PyArray_ITEMSIZE(source))
    lines.kind, lines.falling, lines.failed = kind, <object>order is True, False
    if not skipping():
        _held = hold(args, op.nargs) if total >= WORTH_IT else None
        thread = give_up_gil(total)
        parallel_for(total // lines.n, GRAIN // lines.n + 1, _sort_lines, &lines)
        take_gil(thread)
    if lines.failed:
        raise MemoryError
    return _pair(op, cast(values, np.float16) if half else values, indices)


cdef object _sort(Operator op, keyset_t keys, PyObject** args):
    """sort(self, dim, descending)."""
    return _sorted(op, keys, args, args[1], args[2])


cdef object _sort_stable(Operator op, keyset_t keys, PyObject** args):
    """sort(self, stable, dim, descending)."""
    return _sorted(op, keys, args, args[2], args[3])


cdef npy_intp _distinct(number* x, npy_intp n) noexcept nogil:
    """Move the first of each run of equal elements to the front; return the number of runs."""
    cdef npy_intp i, found = 0
    for i in range(n):
        if found == 0 or x[i] != x[found - 1]:
            x[found] = x[i]
            found += 1
    return found


cdef npy_intp _sort_distinct(const number* x, npy_intp n, number* out) noexcept nogil:
    _insert(x, n, 1, False, out, NULL)
    return _distinct(out, n)


cdef object _unique(Operator op, keyset_t keys, PyObject** args):
    """_unique2(self, sorted, return_inverse, return_counts), with the last two False."""
    cdef Fields* a = _array(args[0])
    cdef int kind = a.descr.type_num
    cdef npy_intp n = _count(a, 0, a.nd), found, zero = 0
    cdef char[SHORT * 8] buffer
    cdef ndarray out
    if args[op.nargs] != NULL or not _row_major(a) or n > SHORT or (
            <object>args[2] is not False or <object>args[3] is not False) or (
                kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE and kind != cnp.NPY_INT64):
        return run_general(op, keys, args)
    if kind == cnp.NPY_FLOAT:
        found = _sort_distinct(<float*>a.data, n, <float*>buffer)
    elif kind == cnp.NPY_DOUBLE:
        found = _sort_distinct(<double*>a.data, n, <double*>buffer)
    else:
        found = _sort_distinct(<int64_t*>a.data, n, <int64_t*>buffer)
    out = empty(kind, 1, &found)
    memcpy(cnp.PyArray_DATA(out), buffer, found * _item(args[0]))
    return (wrap(out), wrap(empty(cnp.NPY_INT64, 1, &zero)), wrap(empty(cnp.NPY_INT64, 1, &zero)))


ctypedef fused tested:
    uint8_t
    float
    double
    int64_t


cdef npy_intp _where(const tested* x, npy_intp n, int nd, const npy_intp* dims, int64_t* out,
                     npy_intp stride) noexcept nogil:
    """Count the nonzero elements; `out`: store their d-th coordinates at out + d * stride."""
    cdef npy_intp _, i = 0, found = 0
    cdef npy_intp[MAX_DIMS] at
    cdef int d
    if out == NULL:
        for i in range(n):
            found += x[i] != 0
    elif nd == 1:
        while found < stride and i < n:      # no branch on the elements, hard to predict
            out[found] = i
            found += x[i] != 0
            i += 1
    else:
        for d in range(nd - 1):
            at[d] = 0
        for _ in range(n // dims[nd - 1] if stride else 0):      # a row after the other
            for i in range(dims[nd - 1]):
                for d in range(nd - 1):
                    out[d * stride + found] = at[d]
                out[(nd - 1) * stride + found] = i
                found += x[i] != 0
                if found == stride:
                    return found
            x += dims[nd - 1]
            d = nd - 2
            while d > 0 and at[d] == dims[d] - 1:
                at[d] = 0
                d -= 1
            at[d] += 1
    return found


cdef npy_intp _find(Fields* a, npy_intp n, int64_t* out, npy_intp stride) noexcept nogil:
    cdef int kind = a.descr.type_num
    if kind == cnp.NPY_FLOAT:
        return _where(<float*>a.data, n, a.nd, a.dimensions, out, stride)
    if kind == cnp.NPY_DOUBLE:
        return _where(<double*>a.data, n, a.nd, a.dimensions, out, stride)
    if kind == cnp.NPY_INT64:
        return _where(<int64_t*>a.data, n, a.nd, a.dimensions, out, stride)
    return _where(<uint8_t*>a.data, n, a.nd, a.dimensions, out, stride)


cdef object _nonzero(Operator op, keyset_t keys, PyObject** args):
    """nonzero(self): one row per element, stored column by column."""
    cdef Fields* a = _array(args[0])
    cdef int kind = a.descr.type_num
    cdef npy_intp n = _count(a, 0, a.nd)
    cdef npy_intp dims[2]
    cdef npy_intp strides[2]
    cdef ndarray out
    if args[op.nargs] != NULL or not _row_major(a) or a.nd == 0 or kind not in (
            cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_INT64, cnp.NPY_BOOL):
        return run_general(op, keys, args)
    dims[0], dims[1] = a.nd, _find(a, n, NULL, 0)
    out = empty(cnp.NPY_INT64, 2, dims)
    _find(a, n, <int64_t*>cnp.PyArray_DATA(out), dims[1])
    strides[0], strides[1] = sizeof(int64_t), dims[1] * sizeof(int64_t)
    dims[0], dims[1] = dims[1], a.nd
    return wrap(array_view(out, 2, dims, strides, <char*>cnp.PyArray_DATA(out)))


cdef void _select(Fields* a, const uint8_t* flags, npy_intp n, npy_intp item,
                  char* to) noexcept nogil:
    """Copy the elements with flags, in row order, from any strides."""
    cdef npy_intp[DIMS] at
    cdef npy_intp i
    cdef const char* data = a.data
    cdef int d
    for d in range(a.nd):
        at[d] = 0
    for i in range(n):
        if flags[i]:
            memcpy(to, data, item)
            to += item
        d = a.nd - 1
        while d >= 0:
            at[d] += 1
            data += a.strides[d]
            if at[d] < a.dimensions[d]:
                break
            data -= a.strides[d] * a.dimensions[d]
            at[d] = 0
            d -= 1


cdef object _masked_select(Operator op, keyset_t keys, PyObject** args):
    """masked_select(self, mask), both of one shape."""
    cdef Fields* a = _array(args[0])
    cdef Fields* mask = _array(args[1])
    cdef npy_intp n = _count(a, 0, a.nd), item = _item(args[0]), found = 0, i
    cdef uint8_t* flags = <uint8_t*>mask.data
    cdef char* to
    cdef ndarray out
    cdef bint scattered = not _row_major(a)
    if args[op.nargs] != NULL or not _row_major(mask) or mask.nd != a.nd or (
            mask.descr.type_num != cnp.NPY_BOOL) or not _same_shape(mask, a, 0, a.nd) or (
            scattered and (n > WORTH_IT or a.nd > DIMS)):
        return run_general(op, keys, args)
    for i in range(n):
        found += flags[i] != 0
    out = empty(a.descr.type_num, 1, &found)
    to = <char*>cnp.PyArray_DATA(out)
    if scattered:
        _select(a, flags, n, item, to)
    else:
        compact(to, a.data, flags, n, found, item)
    return wrap(out)


sort = CKernel.new(_sort)
sort_stable = CKernel.new(_sort_stable)
unique = CKernel.new(_unique)
nonzero = CKernel.new(_nonzero)
masked_select = CKernel.new(_masked_select)
