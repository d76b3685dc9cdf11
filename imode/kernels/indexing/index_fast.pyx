"""The fast case of reading and writing by index.

It serves row-order arrays, int64 indices, equal dtypes, and no broadcasting. A kernel first checks
all of its arguments, including the values of indices, and leaves anything else, before writing any
element, to the general case: the function over ndarrays of its entry (see `index`), which raises
all errors.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty, fields
from imode._core.dispatch cimport CKernel, Operator
from imode._core.iterate cimport in_row_order
from imode._core.keyset cimport keyset_t
from imode._core.making cimport hold, wrap
from imode._core.parallel cimport (
    WORTH_IT, Thread, give_up_gil, num_threads, parallel_for, take_gil)
from imode.kernels.indexing.masks_fast cimport at_mask, fill_at_mask, is_mask
from imode.kernels.indexing.placing cimport disjoint, run_write
from imode.kernels.fast_guards cimport (
    MAX_DIMS, PyLong_CheckExact, _array, _count, _dim, _fill_value, _indices, _inside,
    _item, _wrapped, _row_major, _same_shape, repeat_item)
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:
    SHARED = 65536                # fewest bytes per thread
    GRAIN = 16384                 # fewest additions per thread
    FAR = 1 << 16                 # so many elements do not fit the nearest cache
    COLUMNS = 4096                # most indices that are checked once for all rows
    LONGEST = 0x7FFFFFFF          # elements of a row that 32 bits count

ctypedef fused number:
    float
    double
    int64_t


# ---- rows: whole slices along a dimension ----

ctypedef fused word:
    uint32_t
    uint64_t


cdef inline void _pick_words(word* out, const word* a, const int64_t* index, npy_intp size,
                             npy_intp begin, npy_intp end) noexcept nogil:
    """out[i] = a[index[i]]."""
    cdef npy_intp i
    for i in range(begin, end):
        out[i] = a[_wrapped(index[i], size)]


cdef inline void _pick_rows(word* out, const word* a, const int64_t* index, npy_intp count,
                            npy_intp size, npy_intp rows) noexcept nogil:
    """out[r, i] = a[r, index[i]], with the index checked once. Each row is written from left to
    right: the processor stores two words of a cache line at a time."""
    cdef uint32_t[COLUMNS] at
    cdef npy_intp i, _
    for i in range(count):
        at[i] = <uint32_t>_wrapped(index[i], size)
    for _ in range(rows):
        for i in range(0, count - 7, 8):
            out[i] = a[at[i]]
            out[i + 1] = a[at[i + 1]]
            out[i + 2] = a[at[i + 2]]
            out[i + 3] = a[at[i + 3]]
            out[i + 4] = a[at[i + 4]]
            out[i + 5] = a[at[i + 5]]
            out[i + 6] = a[at[i + 6]]
            out[i + 7] = a[at[i + 7]]
        for i in range(count - count % 8, count):
            out[i] = a[at[i]]
        out += count
        a += size


cdef struct Pick:
    char* out
    char* a
    int64_t* index
    npy_intp count
    npy_intp size
    npy_intp chunk


cdef void _pick_part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The chunks `begin` to `end` of the result, counted through its rows."""
    cdef Pick* p = <Pick*>context
    cdef npy_intp row = begin // p.count, j = begin - row * p.count, left = end - begin, last, i
    cdef char* a = p.a + row * p.size * p.chunk
    cdef char* out = p.out + row * p.count * p.chunk
    cdef npy_intp rows, done
    while left > 0:
        rows = left // p.count if j == 0 and p.count <= COLUMNS and p.size <= LONGEST else 0
        done = rows * p.count
        if rows > 1 and p.chunk == 4:
            _pick_rows(<uint32_t*>out, <uint32_t*>a, p.index, p.count, p.size, rows)
        elif rows > 1 and p.chunk == 8:
            _pick_rows(<uint64_t*>out, <uint64_t*>a, p.index, p.count, p.size, rows)
        else:
            rows, last = 1, min(p.count, j + left)
            if p.chunk == 4:
                _pick_words(<uint32_t*>out, <uint32_t*>a, p.index, p.size, j, last)
            elif p.chunk == 8:
                _pick_words(<uint64_t*>out, <uint64_t*>a, p.index, p.size, j, last)
            else:
                for i in range(j, last):
                    memcpy(out + i * p.chunk, a + _wrapped(p.index[i], p.size) * p.chunk, p.chunk)
            done = last - j
        left -= done
        a += rows * p.size * p.chunk
        out += rows * p.count * p.chunk
        j = 0


cdef void _pick(char* out, char* a, int64_t* index, npy_intp outer, npy_intp count, npy_intp size,
                npy_intp chunk) noexcept nogil:
    """out[o, i] = a[o, index[i]], each a chunk of bytes."""
    cdef Pick p = [out, a, index, count, size, chunk]
    if count and chunk:
        parallel_for(outer * count, SHARED // chunk + 1, _pick_part, &p)


cdef void _store(char* a, char* values, int64_t* index, npy_intp outer, npy_intp count,
                 npy_intp size, npy_intp chunk, npy_intp item, bint one) noexcept nogil:
    """a[o, index[i]] = values[o, i]; `one`: a single element for all."""
    cdef npy_intp _, i
    cdef char* to
    for _ in range(outer):
        for i in range(count):
            to = a + _wrapped(index[i], size) * chunk
            if one:
                repeat_item(to, chunk // item, item, values)
            else:
                memcpy(to, values, chunk)
                values += chunk
        a += size * chunk


cdef struct Spread:
    char* a
    const char* values
    const int64_t* index
    npy_intp count
    npy_intp size
    npy_intp item


cdef inline void _spread_words(word* a, const word* values, const int64_t* index, npy_intp count,
                               npy_intp size, npy_intp begin, npy_intp end) noexcept nogil:
    cdef word nowhere
    cdef size_t away = <size_t>&nowhere, inside
    cdef npy_intp i, at
    if begin == 0 and end == size:
        for i in range(count):
            a[_wrapped(index[i], size)] = values[i]
        return
    for i in range(count):        # without a branch, which would be guessed wrong half of the time
        at = _wrapped(index[i], size)
        inside = -<size_t>(<size_t>(at - begin) < <size_t>(end - begin))
        (<word*>(away ^ ((away ^ <size_t>(a + at)) & inside)))[0] = values[i]


cdef void _spread_part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """What falls on a[begin:end]: so, of several that fall on one element, the last one stays."""
    cdef Spread* s = <Spread*>context
    if s.item == 4:
        _spread_words(<uint32_t*>s.a, <uint32_t*>s.values, s.index, s.count, s.size, begin, end)
    else:
        _spread_words(<uint64_t*>s.a, <uint64_t*>s.values, s.index, s.count, s.size, begin, end)


cdef void _store_elements(char* a, char* values, int64_t* index, npy_intp count, npy_intp size,
                          npy_intp item) noexcept nogil:
    """a[index[i]] = values[i]. Each thread reads all indices, for a part of `a` of its own: that
    pays where writing far apart is what costs."""
    cdef Spread s = [a, values, index, count, size, item]
    cdef npy_intp threads = num_threads() if count >= FAR else 1
    if item != 4 and item != 8:
        _store(a, values, index, 1, count, size, item, item, False)
    elif not 1 < threads <= 4:
        _spread_part(&s, 0, size)
    else:
        parallel_for(size, (size + threads - 1) // threads, _spread_part, &s)


cdef struct Sum:
    int kind                      # NumPy's type number
    char* a
    const char* values
    const int64_t* index
    npy_intp outer, count, size, width
    bint one                      # a single element for all
    bint by_rows                  # parts that are shared out are rows of `a`, not of `outer`


cdef void _add_block(const Sum* s, number* a, const number* values, npy_intp begin, npy_intp end,
                     npy_intp top, npy_intp bottom) noexcept nogil:
    """a[o, index[i]] += values[o, i]: o from `begin` to `end`, index[i] from `top` to `bottom`."""
    cdef npy_intp o, i, j, at, size = s.size, width = s.width
    cdef number* to
    cdef const number* row
    if width == 1 and not s.one and not s.by_rows:
        for o in range(begin, end):
            to, row = a + o * size, values + o * s.count
            for i in range(s.count):
                to[_wrapped(s.index[i], size)] += row[i]
        return
    for o in range(begin, end):
        for i in range(s.count):
            at = _wrapped(s.index[i], size)
            if not top <= at < bottom:
                continue
            to = a + (o * size + at) * width
            if s.one:
                for j in range(width):
                    to[j] += values[0]
            else:
                row = values + (o * s.count + i) * width
                for j in range(width):
                    to[j] += row[j]


cdef void _add_part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Sum* s = <const Sum*>context
    cdef npy_intp top = 0, bottom = s.size
    if s.by_rows:
        top, bottom, begin, end = begin, end, 0, s.outer
    if s.kind == cnp.NPY_FLOAT:
        _add_block(s, <float*>s.a, <const float*>s.values, begin, end, top, bottom)
    elif s.kind == cnp.NPY_DOUBLE:
        _add_block(s, <double*>s.a, <const double*>s.values, begin, end, top, bottom)
    else:
        _add_block(s, <int64_t*>s.a, <const int64_t*>s.values, begin, end, top, bottom)


cdef bint _can_add(int kind) noexcept:
    return kind in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_INT64)


cdef void _add_any(int kind, char* a, const char* values, const int64_t* index, npy_intp outer,
                   npy_intp count, npy_intp size, npy_intp width, bint one) noexcept nogil:
    """a[o, index[i]] += values[o, i], for NumPy's type number `kind`, one of those of `_can_add`.

    What several threads add to one element would come in any order: each has elements of its own,
    rows of `outer` or, if it reads all indices for that, rows of `a`.
    """
    cdef Sum s = [kind, a, values, index, outer, count, size, width, one, False]
    cdef npy_intp threads = num_threads(), parts = outer, each = count * width
    if outer < threads and width > 2 * threads:
        s.by_rows, parts, each = True, size, outer * count * width // (size + 1)
    parallel_for(parts, max(GRAIN // (each + 1), (parts - 1) // threads) + 1, _add_part, &s)


def add_along(ndarray a not None, int dim, ndarray index not None, ndarray source not None):
    """Add each slice of `source` to slice `index` of an array along `dim`, by indices that are
    known to be inside; False: there is no loop for these arrays."""
    cdef int kind = cnp.PyArray_TYPE(a), d
    cdef npy_intp outer = 1, width = 1
    if not _can_add(kind) or cnp.PyArray_TYPE(source) != kind or (
            cnp.PyArray_TYPE(index) != cnp.NPY_INT64) or not (
            _row_major(fields(<PyObject*>a)) and _row_major(fields(<PyObject*>index))
            and _row_major(fields(<PyObject*>source))):
        return False
    for d in range(a.ndim):
        if d < dim:
            outer *= a.shape[d]
        elif d > dim:
            width *= a.shape[d]
    with nogil:
        _add_any(kind, <char*>cnp.PyArray_DATA(a), <const char*>cnp.PyArray_DATA(source),
                 <int64_t*>cnp.PyArray_DATA(index), outer, cnp.PyArray_SIZE(index), a.shape[dim],
                 width, False)
    return True


cdef bint _adjacent(PyObject* given, Py_ssize_t several, int* dim) except -1:
    """Whether indices stand for dimensions side by side, and for which one the first does."""
    cdef Py_ssize_t k
    dim[0] = 0
    if given == <PyObject*>None:
        return True
    if PyTuple_GET_SIZE(<object>given) != several:
        return False
    dim[0] = (<tuple>given)[0]
    for k in range(1, several):
        if (<tuple>given)[k] != dim[0] + k:
            return False
    return True


cdef object _get(Operator op, keyset_t keys, PyObject** args):
    """_index(self, indices, dims) with one index tensor, or several of one shape."""
    cdef tuple indices = <tuple>args[1]
    cdef int several = <int>PyTuple_GET_SIZE(indices)
    cdef Fields* a = _array(args[0])
    cdef Fields* at
    cdef npy_intp dims[2 * MAX_DIMS]
    cdef npy_intp outer, count, size, chunk, total
    cdef Thread* thread
    cdef int dim, d, nd = 0
    cdef ndarray out, joined = None
    if not several or args[op.nargs] != NULL or not _row_major(a) or (
            not in_row_order(a, _item(args[0])) or not _adjacent(args[2], several, &dim)):
        return run_general(op, keys, args)
    at = _array(PyTuple_GET_ITEM(indices, 0))
    if several == 1 and dim == 0 and at.nd and is_mask(at, a):
        return at_mask(a, at, _item(args[0]))
    if not _indices(at) or dim < 0 or dim + several > a.nd or a.nd + at.nd > MAX_DIMS:
        return run_general(op, keys, args)
    size, count = _count(a, dim, dim + several), _count(at, 0, at.nd)
    if size and several > 1:
        joined = _joined(indices, a.dimensions + dim)
        size, at = 0 if joined is None else size, fields(<PyObject*>joined)
    if size == 0 or not _inside(<int64_t*>at.data, count, -size, size):
        return run_general(op, keys, args)
    outer = _count(a, 0, dim)
    chunk = _count(a, dim + several, a.nd) * _item(args[0])
    for d in range(dim):
        dims[nd] = a.dimensions[d]
        nd += 1
    for d in range(at.nd):
        dims[nd] = at.dimensions[d]
        nd += 1
    for d in range(dim + several, a.nd):
        dims[nd] = a.dimensions[d]
        nd += 1
    out = empty(a.descr.type_num, nd, dims)
    total = outer * count * chunk
    _held = hold(args, 2) if total >= WORTH_IT else None
    thread = give_up_gil(total)
    _pick(<char*>cnp.PyArray_DATA(out), a.data, <int64_t*>at.data, outer, count, size, chunk)
    take_gil(thread)
    return wrap(out)


cdef struct Put:
    int dim                   # the first dimension that the indices stand for,
    int several               # and how many
    bint masked               # the index is a mask
    PyObject* joined          # several indices as one; owned by `_index_put`


cdef inline Fields* _positions(Put* how, PyObject** args) noexcept:
    """The one index, or what several were joined to."""
    return fields(how.joined) if how.joined != NULL else (
        _array(PyTuple_GET_ITEM(<tuple>args[1], 0)))


cdef bint _check_put(PyObject** args, PyObject* target, void* plan) except -1:
    """Whether the fast case serves index_put's arguments."""
    cdef Put* how = <Put*>plan
    cdef tuple indices = <tuple>args[1]
    cdef Fields* a = _array(args[0])
    cdef Fields* at
    cdef Fields* values = _array(args[2])
    cdef npy_intp n, size
    cdef int d, dim, end
    cdef ndarray joined
    how.several = <int>PyTuple_GET_SIZE(indices)
    if not how.several or not _row_major(a) or not _row_major(values):
        return False
    if values.descr.type_num != a.descr.type_num:
        return False
    if not _adjacent(args[4], how.several, &how.dim) or not disjoint(target, args[2]):
        return False
    for d in range(how.several):
        if not disjoint(target, PyTuple_GET_ITEM(indices, d)):
            return False
    at = _array(PyTuple_GET_ITEM(indices, 0))
    dim, end = how.dim, how.dim + how.several
    n = _count(values, 0, values.nd)
    how.masked = at.descr.type_num == cnp.NPY_BOOL
    if how.masked:
        return end == 1 and n == 1 and at.nd and <object>args[3] is False and is_mask(at, a)
    if not _indices(at) or dim < 0 or end > a.nd:
        return False
    size = _count(a, dim, end)
    if size and how.several > 1:
        joined = _joined(indices, a.dimensions + dim)
        if joined is None:
            return False
        Py_INCREF(joined)
        how.joined = <PyObject*>joined
        at = fields(how.joined)
    if size == 0 or not _inside(<int64_t*>at.data, _count(at, 0, at.nd), -size, size):
        return False
    if <object>args[3] is not False and not _can_add(a.descr.type_num):
        return False
    if n == 1 and values.nd <= a.nd + at.nd - how.several:
        return True
    if values.nd != a.nd + at.nd - how.several or not _same_shape(a, values, 0, dim) or (
            not _same_shape(at, values, dim, at.nd)):
        return False
    for d in range(end, a.nd):
        if values.dimensions[at.nd + d - how.several] != a.dimensions[d]:
            return False
    return True


cdef int _put(char* data, PyObject** args, void* plan) except -1:
    cdef Put* how = <Put*>plan
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _positions(how, args)
    cdef Fields* values = _array(args[2])
    cdef npy_intp outer, width, count, size, total, item = _item(args[0])
    cdef Thread* thread
    cdef bint one = _count(values, 0, values.nd) == 1
    cdef bint accumulate = <object>args[3] is not False
    if how.masked:
        fill_at_mask(data, a, at, item, values.data)
        return 0
    outer, width = _count(a, 0, how.dim), _count(a, how.dim + how.several, a.nd)
    count, size = _count(at, 0, at.nd), _count(a, how.dim, how.dim + how.several)
    total = outer * count * width
    _held = hold(args, 3) if total >= WORTH_IT else None
    thread = give_up_gil(total)
    if accumulate:
        _add_any(a.descr.type_num, data, values.data, <int64_t*>at.data, outer, count, size, width,
                 one)
    elif outer == width == 1 and not one:
        _store_elements(data, values.data, <int64_t*>at.data, count, size, item)
    else:
        _store(data, values.data, <int64_t*>at.data, outer, count, size, width * item, item, one)
    take_gil(thread)
    return 0


cdef object _index_put(Operator op, keyset_t keys, PyObject** args):
    cdef Put how
    how.joined = NULL
    try:
        return run_write(op, keys, args, _check_put, _put, &how, True)
    finally:
        Py_XDECREF(how.joined)


cdef ndarray _joined(tuple indices, const npy_intp* dims):
    """Indices of adjacent dimensions, whose sizes are `dims`, as a single one, of their product;
    None: for the general case."""
    cdef Fields* first = _array(PyTuple_GET_ITEM(indices, 0))
    cdef Fields* at
    cdef npy_intp count = _count(first, 0, first.nd), length, i
    cdef Py_ssize_t k
    cdef ndarray out
    cdef int64_t* to
    if not _indices(first):
        return None
    out = empty(cnp.NPY_INT64, first.nd, first.dimensions)
    to = <int64_t*>cnp.PyArray_DATA(out)
    memset(to, 0, count * sizeof(int64_t))
    for k in range(PyTuple_GET_SIZE(indices)):
        at = _array(PyTuple_GET_ITEM(indices, k))
        length = dims[k]
        if not _indices(at) or at.nd != first.nd or not _same_shape(at, first, 0, at.nd) or (
                not _inside(<int64_t*>at.data, count, -length, length)):
            return None
        for i in range(count):
            to[i] = to[i] * length + _wrapped((<int64_t*>at.data)[i], length)
    return out


cdef object _index_backward(Operator op, keyset_t keys, PyObject** args):
    """_index_backward(None, grad, shape, indices, dims): grad added to zeros at the indices."""
    cdef Fields* grad = _array(args[1])
    cdef Fields* at
    cdef tuple shape = <tuple>args[2], indices = <tuple>args[3]
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp outer = 1, width = 1, count, size = 1
    cdef int dim, d, nd = <int>len(shape), kind = grad.descr.type_num
    cdef int several = <int>PyTuple_GET_SIZE(indices)
    cdef ndarray out, joined
    cdef char* data
    if not several or args[op.nargs] != NULL or not _row_major(grad) or (
            nd == 0 or nd > MAX_DIMS or kind not in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE)):
        return run_general(op, keys, args)
    if not _adjacent(args[4], several, &dim):
        return run_general(op, keys, args)
    at = _array(PyTuple_GET_ITEM(indices, 0))
    if not 0 <= dim <= nd - several or grad.nd != nd + at.nd - several:
        return run_general(op, keys, args)
    for d in range(nd):
        dims[d] = shape[d]
        if d < dim:
            outer *= dims[d]
        elif d >= dim + several:
            width *= dims[d]
        else:
            size *= dims[d]
    joined = _joined(indices, dims + dim)
    if joined is None:
        return run_general(op, keys, args)
    count, at = _count(at, 0, at.nd), fields(<PyObject*>joined)
    if _count(grad, 0, grad.nd) != outer * count * width:
        return run_general(op, keys, args)
    out = empty(kind, nd, dims)
    data = <char*>cnp.PyArray_DATA(out)
    memset(data, 0, cnp.PyArray_NBYTES(out))
    _held = hold(args, 4)
    with nogil:
        _add_any(kind, data, grad.data, <int64_t*>at.data, outer, count, size, width, False)
    return wrap(out)


cdef object _index_select(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[2])
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp outer, count, size, chunk, total
    cdef Thread* thread
    cdef int dim = _dim(args[1], a.nd), d
    cdef ndarray out
    if args[op.nargs] != NULL or dim < 0 or not _row_major(a) or not _indices(at) or at.nd != 1:
        return run_general(op, keys, args)
    size, count = a.dimensions[dim], at.dimensions[0]
    if not _inside(<int64_t*>at.data, count, 0, size):
        return run_general(op, keys, args)
    outer, chunk = _count(a, 0, dim), _count(a, dim + 1, a.nd) * _item(args[0])
    for d in range(a.nd):
        dims[d] = a.dimensions[d]
    dims[dim] = count
    out = empty(a.descr.type_num, a.nd, dims)
    total = outer * count * chunk
    _held = hold(args, 3) if total >= WORTH_IT else None
    thread = give_up_gil(total)
    _pick(<char*>cnp.PyArray_DATA(out), a.data, <int64_t*>at.data, outer, count, size, chunk)
    take_gil(thread)
    return wrap(out)


cdef bint _check_add(PyObject** args, PyObject* target, void* plan) except -1:
    """Whether the fast case serves index_add's arguments; plan: the dimension."""
    return (PyLong_CheckExact(args[4]) and <object>args[4] == 1
            and _can_add(_array(args[0]).descr.type_num) and _fit(args, target, <int*>plan))


cdef bint _fit(PyObject** args, PyObject* target, int* axis) except -1:
    """Whether self, dim, index and source go together; notes the dimension."""
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[2])
    cdef Fields* source = _array(args[3])
    cdef int d, dim = _dim(args[1], a.nd)
    axis[0] = dim
    if dim < 0 or not _row_major(a) or not _row_major(source) or not _indices(at) or at.nd != 1:
        return False
    if source.descr.type_num != a.descr.type_num or source.nd != a.nd:
        return False
    for d in range(a.nd):
        if source.dimensions[d] != (at.dimensions[0] if d == dim else a.dimensions[d]):
            return False
    return (disjoint(target, args[3]) and disjoint(target, args[2])
            and _inside(<int64_t*>at.data, at.dimensions[0], 0, a.dimensions[dim]))


cdef int _add_rows(char* data, PyObject** args, void* plan) except -1:
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[2])
    cdef int dim = (<int*>plan)[0]
    cdef npy_intp outer = _count(a, 0, dim), width = _count(a, dim + 1, a.nd)
    cdef npy_intp total = outer * at.dimensions[0] * width
    cdef Thread* thread
    _held = hold(args, 4) if total >= WORTH_IT else None
    thread = give_up_gil(total)
    _add_any(a.descr.type_num, data, _array(args[3]).data, <int64_t*>at.data, outer,
             at.dimensions[0], a.dimensions[dim], width, False)
    take_gil(thread)
    return 0


cdef object _index_add(Operator op, keyset_t keys, PyObject** args):
    cdef int dim
    return run_write(op, keys, args, _check_add, _add_rows, &dim)


cdef bint _check_copy(PyObject** args, PyObject* target, void* plan) except -1:
    """Whether the fast case serves index_copy's arguments; plan: the dimension."""
    return _fit(args, target, <int*>plan)


cdef int _copy_rows(char* data, PyObject** args, void* plan) except -1:
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[2])
    cdef int dim = (<int*>plan)[0]
    cdef npy_intp outer = _count(a, 0, dim), width = _count(a, dim + 1, a.nd), item = _item(args[0])
    cdef char* source = _array(args[3]).data
    _held = hold(args, 4)
    with nogil:
        _store(data, source, <int64_t*>at.data, outer, at.dimensions[0], a.dimensions[dim],
               width * item, item, False)
    return 0


cdef object _index_copy(Operator op, keyset_t keys, PyObject** args):
    cdef int dim
    return run_write(op, keys, args, _check_copy, _copy_rows, &dim)


# ---- slices combined: index_reduce ----

cdef enum Combination:
    PROD
    MEAN
    AMAX
    AMIN


cdef struct Reduce:
    int dim                   # as of index_add, whose check notes it first
    Combination how
    bint include_self


cdef bint _check_reduce(PyObject** args, PyObject* target, void* plan) except -1:
    """Whether the fast case serves index_reduce's arguments."""
    cdef Reduce* reduce = <Reduce*>plan
    cdef object how = <object>args[4]
    if how == "prod":
        reduce.how = PROD
    elif how == "mean" and _array(args[0]).descr.type_num != cnp.NPY_INT64:
        reduce.how = MEAN
    elif how == "amax":
        reduce.how = AMAX
    elif how == "amin":
        reduce.how = AMIN
    else:
        return False
    reduce.include_self = <object>args[5] is True
    return _can_add(_array(args[0]).descr.type_num) and _fit(args, target, &reduce.dim)


cdef inline number _combined(Combination how, number x, number y) noexcept nogil:
    """One element with another; NaN with any other is NaN."""
    if how == PROD:
        return x * y
    if how == MEAN:
        return x + y
    if number is not int64_t:
        if x != x:
            return x
    if how == AMAX:
        return x if x >= y else y
    return x if x <= y else y


cdef void _reduce(Combination how, number* a, const number* values, const int64_t* index,
                  npy_intp outer, npy_intp count, npy_intp size, npy_intp width,
                  int64_t* seen) noexcept nogil:
    """a[o, index[i]] with values[o, i]; the first of them replaces it where `seen` is 0. `seen`:
    how many numbers each slice is made of."""
    cdef npy_intp o, i, j
    cdef int64_t at
    cdef number* to
    for o in range(outer):
        for i in range(count):
            at = _wrapped(index[i], size)
            to = a + at * width
            for j in range(width):
                if seen[at]:
                    to[j] = _combined(how, to[j], values[j])
                else:             # a mean is of a sum with 0, which is never -0
                    to[j] = values[j] + (<number>0) if how == MEAN else values[j]
            seen[at] += 1
            values += width
        for at in range(size):
            if how == MEAN and seen[at] > 1:
                for j in range(width):
                    a[at * width + j] /= <number>seen[at]
            if o + 1 < outer:     # the next ones start as these
                seen[at] = seen[size + at]
        a += size * width


cdef int _reduce_rows(char* data, PyObject** args, void* plan) except -1:
    cdef Reduce* reduce = <Reduce*>plan
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[2])
    cdef int dim = reduce.dim, kind = a.descr.type_num
    cdef npy_intp outer = _count(a, 0, dim), size = a.dimensions[dim], i
    cdef npy_intp width = _count(a, dim + 1, a.nd), count = at.dimensions[0], twice = 2 * size
    cdef ndarray counts = empty(cnp.NPY_INT64, 1, &twice)
    cdef int64_t* seen = <int64_t*>cnp.PyArray_DATA(counts)
    cdef char* values = _array(args[3]).data
    cdef int64_t* index = <int64_t*>at.data
    for i in range(twice):        # as they are while they are counted, and at first
        seen[i] = reduce.include_self
    if kind == cnp.NPY_FLOAT:
        _reduce(reduce.how, <float*>data, <float*>values, index, outer, count, size, width, seen)
    elif kind == cnp.NPY_DOUBLE:
        _reduce(reduce.how, <double*>data, <double*>values, index, outer, count, size, width, seen)
    else:
        _reduce(reduce.how, <int64_t*>data, <int64_t*>values, index, outer, count, size, width,
                seen)
    return 0


cdef object _index_reduce(Operator op, keyset_t keys, PyObject** args):
    cdef Reduce reduce
    return run_write(op, keys, args, _check_reduce, _reduce_rows, &reduce)


# ---- one value in slices ----

cdef struct Fill:
    int dim
    uint64_t value[2]         # the element to write


cdef bint _check_fill(PyObject** args, PyObject* target, void* plan) except -1:
    """Whether the fast case serves index_fill's arguments."""
    cdef Fill* how = <Fill*>plan
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[2])
    cdef npy_intp size
    how.dim = _dim(args[1], a.nd)
    if how.dim < 0 or not _row_major(a) or not _indices(at) or at.nd != 1:
        return False
    size = a.dimensions[how.dim]
    return (disjoint(target, args[2]) and _inside(<int64_t*>at.data, at.dimensions[0], -size, size)
            and _fill_value(a.descr.type_num, args[3], <char*>how.value))


cdef int _fill_rows(char* data, PyObject** args, void* plan) except -1:
    cdef Fill* how = <Fill*>plan
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[2])
    cdef npy_intp item = _item(args[0])
    _store(data, <char*>how.value, <int64_t*>at.data, _count(a, 0, how.dim), at.dimensions[0],
           a.dimensions[how.dim], _count(a, how.dim + 1, a.nd) * item, item, True)
    return 0


cdef object _index_fill(Operator op, keyset_t keys, PyObject** args):
    cdef Fill how
    return run_write(op, keys, args, _check_fill, _fill_rows, &how, True)


# ---- flat positions ----

cdef bint _check_flat(PyObject** args, PyObject* target, void* plan) except -1:
    """Whether the fast case serves put's arguments: index, source, accumulate."""
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[1])
    cdef Fields* source = _array(args[2])
    cdef npy_intp n = _count(a, 0, a.nd), count = _count(at, 0, at.nd)
    if not _row_major(a) or not _row_major(source) or not _indices(at) or (
            source.descr.type_num != a.descr.type_num or _count(source, 0, source.nd) != count):
        return False
    if <object>args[3] is not False and not _can_add(a.descr.type_num):
        return False
    return (disjoint(target, args[1]) and disjoint(target, args[2])
            and _inside(<int64_t*>at.data, count, -n, n))


cdef int _put_flat(char* data, PyObject** args, void* plan) except -1:
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[1])
    cdef char* source = _array(args[2]).data
    cdef int64_t* index = <int64_t*>at.data
    cdef npy_intp n = _count(a, 0, a.nd), count = _count(at, 0, at.nd), item = _item(args[0])
    if <object>args[3] is False:
        _store_elements(data, source, index, count, n, item)
    else:
        _add_any(a.descr.type_num, data, source, index, 1, count, n, 1, False)
    return 0


cdef object _put_at(Operator op, keyset_t keys, PyObject** args):
    return run_write(op, keys, args, _check_flat, _put_flat, NULL, True)


cdef object _take_flat(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[1])
    cdef npy_intp n = _count(a, 0, a.nd), count = _count(at, 0, at.nd), item = _item(args[0])
    cdef ndarray out
    if args[op.nargs] != NULL or not _row_major(a) or not _indices(at) or n == 0 or not _inside(
            <int64_t*>at.data, count, -n, n):
        return run_general(op, keys, args)
    out = empty(a.descr.type_num, at.nd, at.dimensions)
    _held = hold(args, 2)
    with nogil:
        _pick(<char*>cnp.PyArray_DATA(out), a.data, <int64_t*>at.data, 1, count, n, item)
    return wrap(out)


index = CKernel.new(_get)
index_backward = CKernel.new(_index_backward)
index_put = CKernel.new(_index_put)
index_select = CKernel.new(_index_select)
index_add = CKernel.new(_index_add)
index_copy = CKernel.new(_index_copy)
index_reduce = CKernel.new(_index_reduce)
index_fill = CKernel.new(_index_fill)
put = CKernel.new(_put_at)
take = CKernel.new(_take_flat)
