"""Sums, means and maxima of rows of a table, by bags, over ndarrays; and their gradients.

Bag i holds the places starts[i] up to starts[i + 1]. Indices are checked by the caller, and read
once more within the table: another thread may write to them.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport BFLOAT16, FLOAT16, FLOAT32, code_of
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport parallel_for, skipping
from imode._core.stored cimport run_otherwise
from imode.kernels.creation.copy cimport converter, imode_converter
from imode.kernels.fast_guards cimport (
    PyLong_AsLong, _array, _indices, _inside, _row_major, _wrapped, array_of,
    array_or_none)
from libc.string cimport memcpy, memset

import numpy as np

cnp.import_array()

cdef extern from "embedding_bag.h":
    void imode_add_rows_f(const float** rows, long n, long columns, bint fresh,
                          float* to) noexcept nogil
    void imode_add_rows_d(const double** rows, long n, long columns, bint fresh,
                          double* to) noexcept nogil

ctypedef fused real:
    float
    double

cdef enum:
    AT_ONCE = 64                  # rows that are added up in one go
    FEW = 8                       # of 16 bits
    WIDTH = 512                   # columns of those
    SUM = 0
    MEAN = 1
    MAX = 2
    GIL_FREE = 4096               # from so many elements on, the GIL is released
    GRAIN = 16384                 # fewest elements per thread


cdef long _add_up(const real* table, long rows, long columns, const cnp.int64_t* index, long n,
                  long padding, real* to) noexcept nogil:
    """The sum of rows; how many they are without the padding."""
    cdef const real* some[AT_ONCE]
    cdef long i = 0, at, found, size = 0
    while True:
        found = 0
        while i < n and found < AT_ONCE:
            at = _wrapped(index[i], rows)
            some[found] = table + at * columns
            found += at != padding
            i += 1
        if real is float:
            imode_add_rows_f(some, found, columns, size == 0, to)
        else:
            imode_add_rows_d(some, found, columns, size == 0, to)
        size += found
        if i == n:
            return size


cdef void _gather(const real* table, long rows, long columns, const cnp.int64_t* index,
                  const cnp.int64_t* starts, long bags, const real* weights, int mode,
                  long padding, real* out, cnp.int64_t* sizes, cnp.int64_t* most) noexcept nogil:
    cdef long bag, i, j, at
    cdef real weight
    cdef const real* row
    cdef real* to
    for bag in range(bags):
        to = out + bag * columns
        i = starts[bag]
        sizes[bag] = 0
        if mode != MAX and weights == NULL:
            sizes[bag] = _add_up(table, rows, columns, index + i, starts[bag + 1] - i, padding, to)
            i = starts[bag + 1]
        else:
            for j in range(columns):
                to[j] = 0
        for i in range(i, starts[bag + 1]):
            at = _wrapped(index[i], rows)
            if at == padding:
                continue
            row = table + at * columns
            if mode == MAX:
                for j in range(columns):
                    if sizes[bag] == 0 or row[j] > to[j]:
                        to[j] = row[j]
                        most[bag * columns + j] = at
            else:
                weight = weights[i]
                for j in range(columns):
                    to[j] += row[j] * weight
            sizes[bag] += 1
        if mode == MEAN and sizes[bag] > 1:
            weight = 1 / <real>sizes[bag]
            for j in range(columns):
                to[j] *= weight


cdef struct Narrow:               # a table of 16 bits
    imode_converter widen         # to float32; NULL: it is of another dtype
    imode_converter narrow        # and back


cdef void _gather_narrow(const Narrow* by, const char* table, long rows, long columns,
                         const cnp.int64_t* index, const cnp.int64_t* starts, long bags, int mode,
                         long padding, char* out, cnp.int64_t* sizes) noexcept nogil:
    """Sums and means in float32, a few rows and columns at a time, rounded once."""
    cdef float[FEW][WIDTH] buffer
    cdef float[WIDTH] total
    cdef const float* some[FEW]
    cdef long bag, begin, n, i, j, at, found, size
    for i in range(FEW):
        some[i] = buffer[i]
    for bag in range(bags):
        sizes[bag] = size = begin = 0
        while begin < columns:
            n = min(columns - begin, <long>WIDTH)
            i, size, found = starts[bag], 0, -1
            while i < starts[bag + 1] or found < 0:
                found = 0
                while i < starts[bag + 1] and found < FEW:
                    at = _wrapped(index[i], rows)
                    i += 1
                    if at != padding:
                        by.widen(<char*>buffer[found], table + (at * columns + begin) * 2, n)
                        found += 1
                imode_add_rows_f(some, found, n, size == 0, total)
                size += found
            if mode == MEAN and size > 1:
                for j in range(n):
                    total[j] *= 1 / <float>size
            by.narrow(out + (bag * columns + begin) * 2, <const char*>total, n)
            begin += n
        sizes[bag] = size


cdef void _spread(const real* grad, long rows, long columns, const cnp.int64_t* index,
                  const cnp.int64_t* starts, long bags, const real* weights, int mode,
                  long padding, const cnp.int64_t* times, const cnp.int64_t* sizes,
                  real* out) noexcept nogil:
    cdef long bag, i, j, at
    cdef real by
    cdef const real* given
    cdef real* to
    for bag in range(bags):
        given = grad + bag * columns
        for i in range(starts[bag], starts[bag + 1]):
            at = _wrapped(index[i], rows)
            if at == padding:
                continue
            to = out + at * columns
            by = weights[i] if weights != NULL else 1
            if mode == MEAN:
                by /= <real>sizes[bag]
            if times != NULL:
                by /= <real>times[at]
            for j in range(columns):
                to[j] += given[j] * by


cdef void _gather_kind(bint wide, const void* x, long rows, long columns, const cnp.int64_t* index,
                       const cnp.int64_t* starts, long n, const void* by, int mode, long padding,
                       void* to, cnp.int64_t* sizes, cnp.int64_t* most) noexcept nogil:
    if wide:
        _gather(<const double*>x, rows, columns, index, starts, n, <const double*>by, mode, padding,
                <double*>to, sizes, most)
    else:
        _gather(<const float*>x, rows, columns, index, starts, n, <const float*>by, mode, padding,
                <float*>to, sizes, most)


cdef struct Bags:                 # what threads share
    Narrow halves
    bint wide
    const char* x
    long rows
    long columns
    const cnp.int64_t* index
    const cnp.int64_t* starts
    const void* by
    int mode
    long padding
    char* to
    cnp.int64_t* sizes
    cnp.int64_t* most


cdef void _gather_part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Bags* b = <Bags*>context
    cdef Py_ssize_t at = begin * b.columns
    if b.halves.widen != NULL:
        _gather_narrow(&b.halves, b.x, b.rows, b.columns, b.index, b.starts + begin, end - begin,
                       b.mode, b.padding, b.to + at * 2, b.sizes + begin)
        return
    _gather_kind(b.wide, b.x, b.rows, b.columns, b.index, b.starts + begin, end - begin, b.by,
                 b.mode, b.padding, b.to + at * (8 if b.wide else 4), b.sizes + begin,
                 b.most + at if b.mode == MAX else NULL)


cpdef tuple bags(cnp.ndarray table, cnp.ndarray index, cnp.ndarray starts, object weights, int mode,
                 long padding):
    """Return (results, sizes of bags without padding, rows of the maxima).

    All are contiguous; `table` and `weights` (per place, or None) of float32 or float64. Without
    weights, and but for maxima, `table` may be of 16 bits.
    """
    cdef cnp.npy_intp n = cnp.PyArray_DIM(starts, 0) - 1
    cdef cnp.npy_intp[2] dims
    cdef cnp.ndarray out, sizes, most
    cdef void* by = NULL if weights is None else cnp.PyArray_DATA(<cnp.ndarray>weights)
    cdef const cnp.int64_t* at = <const cnp.int64_t*>cnp.PyArray_DATA(index)
    cdef const cnp.int64_t* of = <const cnp.int64_t*>cnp.PyArray_DATA(starts)
    cdef bint wide = cnp.PyArray_TYPE(table) == cnp.NPY_DOUBLE
    cdef void* x = cnp.PyArray_DATA(table)
    cdef cnp.int64_t* counted
    cdef cnp.int64_t* chosen
    cdef Bags shared
    cdef void* to
    cdef int code = code_of[cnp.PyArray_TYPE(table)]
    dims[0], dims[1] = n, cnp.PyArray_DIM(table, 1)
    out = empty(cnp.PyArray_TYPE(table), 2, dims)
    sizes = empty(cnp.NPY_INT64, 1, &n)
    if mode != MAX:
        dims[0] = dims[1] = 0
    most = empty(cnp.NPY_INT64, 2, dims)
    memset(cnp.PyArray_DATA(most), 0, cnp.PyArray_NBYTES(most))
    to = cnp.PyArray_DATA(out)
    counted = <cnp.int64_t*>cnp.PyArray_DATA(sizes)
    chosen = <cnp.int64_t*>cnp.PyArray_DATA(most)
    dims[0], dims[1] = cnp.PyArray_DIM(table, 0), cnp.PyArray_DIM(table, 1)
    if not skipping():
        shared.halves.widen = shared.halves.narrow = NULL
        if code == FLOAT16 or code == BFLOAT16:
            shared.halves = [converter(code, FLOAT32), converter(FLOAT32, code)]
        shared = [shared.halves, wide, <const char*>x, dims[0], dims[1], at, of, by, mode, padding,
                  <char*>to, counted, chosen]
        if cnp.PyArray_SIZE(index) * dims[1] < GIL_FREE:
            _gather_part(&shared, 0, n)
        else:
            with nogil:
                parallel_for(n, 1 + GRAIN * n // (cnp.PyArray_SIZE(index) * dims[1]), _gather_part,
                             &shared)
    return out, sizes, most


cdef cnp.ndarray _starts(Fields* offsets, long count, bint include_last):
    """Where each bag begins, and where the last ends; None where offsets do not fit."""
    cdef cnp.npy_intp given = offsets.dimensions[0], n = given + (not include_last), i
    cdef cnp.ndarray starts = empty(cnp.NPY_INT64, 1, &n)
    cdef cnp.int64_t* to = <cnp.int64_t*>cnp.PyArray_DATA(starts)
    memcpy(to, offsets.data, given * sizeof(cnp.int64_t))
    if given == 0 or to[0] != 0 or to[given - 1] > count:
        return None
    for i in range(1, given):
        if to[i] < to[i - 1]:
            return None
    if not include_last:
        to[given] = count
    return starts


cdef cnp.ndarray _bag_of(cnp.ndarray starts, cnp.npy_intp count):
    """Which bag each place is in; beyond the last, their number."""
    cdef cnp.ndarray out = empty(cnp.NPY_INT64, 1, &count)
    cdef cnp.int64_t* to = <cnp.int64_t*>cnp.PyArray_DATA(out)
    cdef cnp.int64_t* at = <cnp.int64_t*>cnp.PyArray_DATA(starts)
    cdef long n = cnp.PyArray_DIM(starts, 0) - 1, bag = 0, i
    for i in range(count):
        while bag < n and at[bag + 1] <= i:
            bag += 1
        to[i] = bag
    return out


cdef object _embedding_bag(Operator op, keyset_t keys, PyObject** args):
    """(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
    include_last_offset, padding_idx), in C: of few indices, Python would take most of the time."""
    cdef Fields* table = _array(args[0])
    cdef Fields* index = _array(args[1])
    cdef Fields* offsets = _array(args[2])
    cdef Fields* by
    cdef int kind = table.descr.type_num
    cdef cnp.npy_intp count
    cdef cnp.ndarray starts, places
    if (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE and (
            (code_of[kind] != FLOAT16 and code_of[kind] != BFLOAT16)
            or args[6] != <PyObject*>None or PyLong_AsLong(args[4]) == MAX)) or skipping() or (
            table.nd != 2 or not _row_major(table) or index.nd != 1 or not _indices(index)
            or offsets.nd != 1 or not _indices(offsets)):
        return run_otherwise(op, keys, args)
    count = index.dimensions[0]
    if args[6] != <PyObject*>None:
        by = _array(args[6])
        if by.descr.type_num != kind or by.nd != 1 or by.dimensions[0] != count or (
                not _row_major(by)):
            return run_otherwise(op, keys, args)
    starts = _starts(offsets, count, <object>args[7] is True)
    if starts is None or not _inside(<const cnp.int64_t*>index.data, count, 0, table.dimensions[0]):
        return run_otherwise(op, keys, args)
    places = empty(cnp.NPY_INT64, 1, &count)
    memcpy(cnp.PyArray_DATA(places), index.data, count * sizeof(cnp.int64_t))
    made, sizes, most = bags(array_of(args[0]), places, starts,
                             array_or_none(args[6]), <int>PyLong_AsLong(args[4]),
                             PyLong_AsLong(args[8]))
    return deliver(op, (made, _bag_of(starts, count), sizes, most), args)


embedding_bag = CKernel.new(_embedding_bag)


def bags_back(cnp.ndarray grad, cnp.ndarray index, cnp.ndarray starts, object weights, int mode,
              long padding, object times, cnp.ndarray sizes, long rows):
    """Return the gradient of the table, of sums and means.

    `times`: how often each row was taken, which gradients are divided by, or None.
    """
    cdef long n = starts.shape[0] - 1, columns = grad.shape[1]
    cdef cnp.ndarray out = np.zeros((rows, columns), grad.dtype)
    cdef void* by = NULL if weights is None else cnp.PyArray_DATA(<cnp.ndarray>weights)
    cdef const cnp.int64_t* often = NULL
    cdef const cnp.int64_t* at = <const cnp.int64_t*>cnp.PyArray_DATA(index)
    cdef const cnp.int64_t* of = <const cnp.int64_t*>cnp.PyArray_DATA(starts)
    cdef const cnp.int64_t* counted = <const cnp.int64_t*>cnp.PyArray_DATA(sizes)
    cdef bint wide = cnp.PyArray_TYPE(grad) == cnp.NPY_DOUBLE
    cdef void* x = cnp.PyArray_DATA(grad)
    cdef void* to = cnp.PyArray_DATA(out)
    if times is not None:
        often = <const cnp.int64_t*>cnp.PyArray_DATA(<cnp.ndarray>times)
    if skipping():
        return out
    with nogil:
        if wide:
            _spread(<double*>x, rows, columns, at, of, n, <double*>by, mode, padding, often,
                    counted, <double*>to)
        else:
            _spread(<float*>x, rows, columns, at, of, n, <float*>by, mode, padding, often,
                    counted, <float*>to)
    return out
