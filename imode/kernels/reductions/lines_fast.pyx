"""Medians, the most frequent elements and running extrema of lines, for the usual dtypes.

The tensor is seen as (outer, n, inner); a line is read at a stride. Elements are compared as
integers that sort like them: NaN is the largest, and 0 and -0 are equal. float16 goes through
float32, which orders it alike.
"""
import numpy as np
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.parallel cimport parallel_for, skipping
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport Fields, _array, _dim, array_of
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    PyObject* Py_True

cdef enum:
    FEW = 64                # up to so many elements, a line's work space is on the stack
    INSERTED = 6            # so many elements are sorted by insertion
    RANKED = 16             # so many are compared with each other
    SAMPLED = 1024          # from so many on, a sample says near which elements the n-th is
    SAMPLE = 256
    NEAR = 24               # places in the sample: three standard deviations of a median's
    BLOCK = 64              # elements that are looked for one at a time,
    COUNTED = 4096          # and that are counted in integers of their own size
    AHEAD = 16              # elements of which none may be a new extreme
    COLUMNS = 64            # columns that a thread has at once
    GRAIN = 16384           # fewest elements per thread
    NDIM = 32

ctypedef fused number:
    float
    double
    int32_t
    int64_t

ctypedef fused real:
    float
    double

ctypedef fused key:
    int32_t
    int64_t

cdef struct lines_t:
    npy_intp outer, n, inner
    int nd                  # of the result that has one element per line
    npy_intp[NDIM] dims


# ---- elements as integers ------------------------------------------------------------------------


cdef inline key _most(key like) noexcept nogil:
    return <key>INT32_MAX if key is int32_t else <key>INT64_MAX


cdef inline key _key(number x, key like) noexcept nogil:
    """An integer that sorts like the number; NaN is the largest."""
    cdef int32_t narrow
    cdef int64_t wide
    if number is float:
        x = x + 0                              # -0 to 0
        memcpy(&narrow, &x, sizeof(narrow))
        return _most(like) if x != x else <key>(narrow ^ (narrow >> 31 & INT32_MAX))
    elif number is double:
        x = x + 0
        memcpy(&wide, &x, sizeof(wide))
        return _most(like) if x != x else <key>(wide ^ (wide >> 63 & INT64_MAX))
    else:
        return <key>x


cdef inline bint _has_nan(number like) noexcept nogil:
    return number is float or number is double


cdef void _insert(key* x, npy_intp n) noexcept nogil:
    cdef npy_intp i, j
    cdef key each
    for i in range(1, n):
        each, j = x[i], i
        while j and each < x[j - 1]:
            x[j] = x[j - 1]
            j -= 1
        x[j] = each


cdef inline npy_intp _part(key* x, npy_intp n, key pivot, bint equal) noexcept nogil:
    """Bring those below the pivot (or equal to it) to the front; how many. Without a branch."""
    cdef npy_intp i, j = 0
    cdef key each
    if equal:
        for i in range(n):
            each = x[i]
            x[i] = x[j]
            x[j] = each
            j += each <= pivot
    else:
        for i in range(n):
            each = x[i]
            x[i] = x[j]
            x[j] = each
            j += each < pivot
    return j


cdef inline npy_intp _any_place(uint64_t* state, npy_intp n) noexcept nogil:
    """One of n places, which the input cannot choose."""
    state[0] = state[0] * <uint64_t>0x5851f42d4c957f2d + 1
    if n >> 32:
        return (state[0] >> 11) % <uint64_t>n
    return (state[0] >> 32) * <uint64_t>n >> 32


cdef inline key _ranked(const key* x, npy_intp n, npy_intp nth) noexcept nogil:
    """The n-th of up to RANKED elements: the largest of those above which so few are."""
    cdef key[RANKED] some
    cdef key[RANKED] below
    cdef key each
    cdef npy_intp i, j
    for i in range(RANKED):
        some[i] = _most(<key>0)
        below[i] = 0
    for i in range(n):
        some[i] = x[i]
    for j in range(RANKED):
        for i in range(RANKED):
            below[i] += some[j] < some[i]
    each = ~_most(<key>0)
    for i in range(RANKED):
        each = some[i] if below[i] <= nth and some[i] > each else each
    return each


cdef npy_intp _keep_near(key* x, npy_intp n, npy_intp* nth, uint64_t* state) noexcept nogil:
    """Bring elements near the n-th to the front, over others; how many. n: there are too many.

    `nth` becomes its place among them.
    """
    cdef key[SAMPLE] sample
    cdef key low, high, each
    cdef npy_intp i, first, last = 0, kept = 0, below = 0, among = nth[0] * SAMPLE // n
    cdef key less, up_to
    for i in range(SAMPLE):
        sample[i] = x[_any_place(state, n)]
    low = _nth(sample, SAMPLE, max(among - NEAR, 0))
    high = _nth(sample, SAMPLE, min(among + NEAR, SAMPLE - 1))
    while last < n:
        first, last = last, min(last + COUNTED, n)
        less = up_to = 0
        for i in range(first, last):
            less += x[i] < low
            up_to += x[i] <= high
        below += less
        kept += up_to - less
    if not below <= nth[0] < below + kept or 2 * kept > n:
        return n
    nth[0] -= below
    kept = 0
    for i in range(n):
        each = x[i]
        x[kept] = each
        kept += (each >= low) & (each <= high)
    return kept


cdef key _nth(key* x, npy_intp n, npy_intp nth) noexcept nogil:
    """The element that sorting would put at `nth`; x is work space from now on."""
    cdef uint64_t state = 1
    cdef npy_intp cut
    cdef npy_intp a, b, c
    cdef key pivot
    while n > RANKED:
        if n >= SAMPLED:
            cut = _keep_near(x, n, &nth, &state)
            if cut < n:
                n = cut
                continue
        a, b, c = _any_place(&state, n), _any_place(&state, n), _any_place(&state, n)
        if x[a] > x[b]:
            a, b = b, a
        if x[c] < x[b]:                        # the median of three
            b = c if x[c] > x[a] else a
        pivot = x[b]
        x[b] = x[n - 1]
        cut = _part(x, n - 1, pivot, False)
        if nth < cut:
            n = cut
            continue
        x[n - 1] = x[cut]
        x[cut] = pivot
        if nth == cut:
            return pivot
        cut += 1
        x, n, nth = x + cut, n - cut, nth - cut
        if cut <= n >> 3:                      # many that are equal to it, perhaps
            cut = _part(x, n, pivot, True)
            if nth < cut:
                return pivot
            x, n, nth = x + cut, n - cut, nth - cut
    if n > INSERTED:
        return _ranked(x, n, nth)
    _insert(x, n)
    return x[nth]


# ---- medians -------------------------------------------------------------------------------------


cdef inline number _of_key(key found, number like) noexcept nogil:
    """The number of a key; NaN where it is the largest."""
    cdef int32_t narrow
    cdef int64_t wide
    cdef number x = 0
    if number is float:
        narrow = <int32_t>found
        narrow ^= narrow >> 31 & INT32_MAX
        memcpy(&x, &narrow, sizeof(x))
    elif number is double:
        wide = found
        wide ^= wide >> 63 & INT64_MAX
        memcpy(&x, &wide, sizeof(x))
    else:
        x = <number>found
    return x


cdef inline npy_intp _median(const number* x, npy_intp n, npy_intp step, key* room,
                             bint without_nan, number* value) noexcept nogil:
    """Where the lower median is: the same of equals that a stable sort finds.

    value: where the median goes, if that is enough; then -1 is returned if no place was sought.
    """
    cdef npy_intp i, nans = 0, nth, first, last = 0, equal
    cdef key some
    cdef number found
    while last < n:
        first, last = last, min(last + COUNTED, n)
        some = 0
        for i in range(first, last):
            room[i] = _key(x[i * step], <key>0)
            some += room[i] == _most(<key>0)
        nans += some if _has_nan(<number>0) else 0
    if nans and (nans == n or not without_nan):
        for i in range(n):
            if room[i] == _most(<key>0):
                return i
    nth = (n - nans - 1) // 2
    found = _of_key(_nth(room, n, nth), <number>0)
    if value != NULL and found != 0:           # zeros have a sign, NaN has none that counts
        value[0] = found
        return -1
    for i in range(n):
        nth -= x[i * step] < found
    first = 0
    while first + BLOCK <= n:
        equal = 0
        for i in range(first, first + BLOCK):
            equal += x[i * step] == found
        if nth < equal:
            break
        nth -= equal
        first += BLOCK
    for i in range(first, n):
        if x[i * step] == found:
            if nth == 0:
                return i
            nth -= 1
    return 0


cdef int _medians(const lines_t* s, const number* x, bint without_nan, number* values,
                  int64_t* places, key like) except -1:
    """`places` may be NULL."""
    cdef key[FEW] few
    cdef key* room = few
    cdef const number* line
    cdef number* value
    cdef npy_intp o, k, at
    if s.n > FEW:
        room = <key*>malloc(s.n * sizeof(key))
        if room == NULL:
            raise MemoryError("median: no memory for a copy of a line")
    with nogil:
        for o in range(s.outer):
            for k in range(s.inner):
                line = x + o * s.n * s.inner + k
                value = values + o * s.inner + k if places == NULL else NULL
                if s.inner == 1:      # the compiler writes loops over adjacent elements
                    at = _median(line, s.n, 1, room, without_nan, value)
                else:
                    at = _median(line, s.n, s.inner, room, without_nan, value)
                if at >= 0:
                    values[o * s.inner + k] = line[at * s.inner]
                if places != NULL:
                    places[o * s.inner + k] = at
    if room != few:
        free(room)
    return 0


cdef int _set(lines_t* s, ndarray x, int axis, bint keepdim) noexcept:
    cdef int d
    s.outer = s.inner = 1
    s.n = x.shape[axis]
    s.nd = 0
    for d in range(x.ndim):
        if d < axis:
            s.outer *= x.shape[d]
        elif d > axis:
            s.inner *= x.shape[d]
        if d != axis or keepdim:
            s.dims[s.nd] = 1 if d == axis else x.shape[d]
            s.nd += 1
    return 0


cdef inline bint _flag(Operator op, keyset_t keys) except -1:
    """What the kernel was made with: whether NaN is left out, whether the least is wanted."""
    return (<CKernel>op.kernels[highest_key(keys)]).config


cdef inline bint _served(int kind) noexcept:
    return kind in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_FLOAT16, cnp.NPY_INT32, cnp.NPY_INT64)


cdef inline int _line(PyObject* tensor, PyObject* dim) except -2:
    """The dimension of the lines; -1 where they are not served."""
    cdef Fields* a = _array(tensor)
    if not 0 < a.nd <= NDIM or not _served(a.descr.type_num) or (
            cnp.PyArray_SIZE(array_of(tensor)) == 0):
        return -1
    return _dim(dim, a.nd)


cdef int _run_medians(const lines_t* s, ndarray x, bint without_nan, void* values,
                      int64_t* places) except -1:
    cdef int kind = cnp.PyArray_TYPE(x)
    cdef void* data = cnp.PyArray_DATA(x)
    if skipping():
        return 0
    if kind == cnp.NPY_FLOAT32:
        return _medians(s, <float*>data, without_nan, <float*>values, places, <int32_t>0)
    if kind == cnp.NPY_FLOAT64:
        return _medians(s, <double*>data, without_nan, <double*>values, places, <int64_t>0)
    if kind == cnp.NPY_INT32:
        return _medians(s, <int32_t*>data, without_nan, <int32_t*>values, places, <int32_t>0)
    return _medians(s, <int64_t*>data, without_nan, <int64_t*>values, places, <int64_t>0)


cdef inline ndarray _contiguous(PyObject* tensor):
    cdef ndarray x = cnp.PyArray_GETCONTIGUOUS(array_of(tensor))
    return cast(x, np.float32) if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT16 else x


cdef inline ndarray _of_its_kind(ndarray values, PyObject* tensor):
    """In the tensor's dtype, of which they are elements."""
    return cast(values, np.float16) if (
        _array(tensor).descr.type_num == cnp.NPY_FLOAT16) else values


cdef object _median_whole(Operator op, keyset_t keys, PyObject** args):
    """median(self), nanmedian(self)."""
    cdef lines_t s
    cdef ndarray x, out
    if not _served(_array(args[0]).descr.type_num) or cnp.PyArray_SIZE(array_of(args[0])) == 0:
        return run_general(op, keys, args)
    x = _contiguous(args[0])
    s.outer = s.inner = 1
    s.n = cnp.PyArray_SIZE(x)
    out = empty(cnp.PyArray_TYPE(x), 0, NULL)
    _run_medians(&s, x, _flag(op, keys), cnp.PyArray_DATA(out), NULL)
    return deliver(op, _of_its_kind(out, args[0]), args)


cdef object _median_lines(Operator op, keyset_t keys, PyObject** args):
    """median.dim(self, dim, keepdim), nanmedian.dim."""
    cdef lines_t s
    cdef ndarray x, values, places
    cdef int axis = _line(args[0], args[1])
    if axis < 0:
        return run_general(op, keys, args)
    x = _contiguous(args[0])
    _set(&s, x, axis, args[2] == Py_True)
    values, places = empty(cnp.PyArray_TYPE(x), s.nd, s.dims), empty(cnp.NPY_INT64, s.nd, s.dims)
    _run_medians(&s, x, _flag(op, keys), cnp.PyArray_DATA(values),
                 <int64_t*>cnp.PyArray_DATA(places))
    return deliver(op, (_of_its_kind(values, args[0]), places), args)


# ---- the most frequent ---------------------------------------------------------------------------


cdef inline void _read(const lines_t* s, const number* x, key* to) noexcept nogil:
    """All lines one after another, as integers; short ones sorted."""
    cdef npy_intp o, k, i
    for o in range(s.outer):
        for k in range(s.inner):
            for i in range(s.n):
                to[i] = _key(x[(o * s.n + i) * s.inner + k], <key>0)
            if s.n <= INSERTED:
                _insert(to, s.n)
            to += s.n


cdef inline key _most_frequent(const key* ordered, npy_intp n, bint nans) noexcept nogil:
    """The least of those that occur most; NaN is like no other."""
    cdef npy_intp i, run = 0, longest = 0
    cdef key found = ordered[0]
    for i in range(n):
        run = run + 1 if i and ordered[i] == ordered[i - 1] else 1
        if nans and ordered[i] == _most(<key>0):
            break
        if run > longest:
            longest, found = run, ordered[i]
    return found


cdef inline void _modes(const lines_t* s, const number* x, const key* ordered, number* values,
                        int64_t* places) noexcept nogil:
    cdef npy_intp o, k, at
    cdef const number* line
    cdef bint nans = _has_nan(<number>0)
    cdef key found
    for o in range(s.outer):
        for k in range(s.inner):
            line = x + o * s.n * s.inner + k
            found = _most_frequent(ordered, s.n, nans)
            at = s.n - 1
            while at and _key(line[at * s.inner], <key>0) != found:
                at -= 1
            if nans and found == _most(<key>0):      # the first: all are
                at = 0
            values[o * s.inner + k] = line[at * s.inner]
            places[o * s.inner + k] = at
            ordered += s.n


cdef int _run_modes(const lines_t* s, const number* x, number* values, int64_t* places,
                    key like) except -1:
    cdef npy_intp[2] dims = [s.outer * s.inner, s.n]
    cdef ndarray ordered
    if skipping():
        return 0
    ordered = empty(cnp.NPY_INT32 if key is int32_t else cnp.NPY_INT64, 2, dims)
    with nogil:
        _read(s, x, <key*>cnp.PyArray_DATA(ordered))
    if s.n > INSERTED:
        cnp.PyArray_Sort(ordered, 1, cnp.NPY_QUICKSORT)
    with nogil:
        _modes(s, x, <const key*>cnp.PyArray_DATA(ordered), values, places)
    return 0


cdef object _mode(Operator op, keyset_t keys, PyObject** args):
    """mode(self, dim, keepdim)."""
    cdef lines_t s
    cdef ndarray x, values, places
    cdef int kind, axis = _line(args[0], args[1])
    cdef void* data
    cdef void* to
    cdef int64_t* at
    if axis < 0:
        return run_general(op, keys, args)
    x = _contiguous(args[0])
    kind = cnp.PyArray_TYPE(x)
    _set(&s, x, axis, args[2] == Py_True)
    values, places = empty(kind, s.nd, s.dims), empty(cnp.NPY_INT64, s.nd, s.dims)
    data, to = cnp.PyArray_DATA(x), cnp.PyArray_DATA(values)
    at = <int64_t*>cnp.PyArray_DATA(places)
    if kind == cnp.NPY_FLOAT32:
        _run_modes(&s, <float*>data, <float*>to, at, <int32_t>0)
    elif kind == cnp.NPY_FLOAT64:
        _run_modes(&s, <double*>data, <double*>to, at, <int64_t>0)
    elif kind == cnp.NPY_INT32:
        _run_modes(&s, <int32_t*>data, <int32_t*>to, at, <int32_t>0)
    else:
        _run_modes(&s, <int64_t*>data, <int64_t*>to, at, <int64_t>0)
    return deliver(op, (_of_its_kind(values, args[0]), places), args)


# ---- running extrema -----------------------------------------------------------------------------


cdef struct running_t:
    lines_t* s
    const void* x
    void* values
    int64_t* places
    int kind
    bint least
    npy_intp across         # the parts of a line's columns


cdef inline bint _keeps(number each, number best, bint least) noexcept nogil:
    """Whether `best` is beyond the next element: not if one of them is NaN, or they are equal."""
    return each > best if least else each < best


cdef inline bint _takes(number each, number best, bint least) noexcept nogil:
    if number is float or number is double:
        if each != each:
            return True
    return each <= best if least else each >= best


cdef void _line_extremes(const number* x, npy_intp n, bint least, number* values,
                         int64_t* places) noexcept nogil:
    """A contiguous line. Most of its elements change nothing: AHEAD of them are seen at once."""
    cdef npy_intp i = 0, k
    cdef number best = x[0]
    cdef int64_t where = 0
    cdef int kept
    while i < n:
        if i + AHEAD <= n:
            kept = 0
            for k in range(AHEAD):
                kept += _keeps(x[i + k], best, least)
            if kept == AHEAD:
                for k in range(AHEAD):
                    values[i + k] = best
                for k in range(AHEAD):
                    places[i + k] = where
                i += AHEAD
                continue
        for k in range(i, min(i + AHEAD, n)):
            if _takes(x[k], best, least):
                best, where = x[k], k
            values[k] = best
            places[k] = where
        i += AHEAD


cdef void _column_extremes(const number* x, npy_intp n, npy_intp inner, npy_intp columns,
                           bint least, number* values, int64_t* places) noexcept nogil:
    """Columns that lie side by side in rows of `inner` elements."""
    cdef npy_intp i, k, at
    for k in range(columns):
        values[k] = x[k]
        places[k] = 0
    for i in range(1, n):
        for k in range(columns):
            at = i * inner + k
            if _takes(x[at], values[at - inner], least):
                values[at], places[at] = x[at], i
            else:
                values[at], places[at] = values[at - inner], places[at - inner]


cdef void _extremes(const running_t* r, const number* x, number* values, npy_intp begin,
                    npy_intp end) noexcept nogil:
    cdef npy_intp n = r.s.n, inner = r.s.inner, part, left, at
    for part in range(begin, end):
        left = part % r.across * COLUMNS
        at = part // r.across * n * inner + left
        if inner == 1:
            _line_extremes(x + at, n, r.least, values + at, r.places + at)
        else:
            _column_extremes(x + at, n, inner, min(COLUMNS, inner - left), r.least, values + at,
                             r.places + at)


cdef void _some_extremes(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const running_t* r = <const running_t*>context
    if r.kind == cnp.NPY_FLOAT32:
        _extremes(r, <const float*>r.x, <float*>r.values, begin, end)
    elif r.kind == cnp.NPY_FLOAT64:
        _extremes(r, <const double*>r.x, <double*>r.values, begin, end)
    elif r.kind == cnp.NPY_INT32:
        _extremes(r, <const int32_t*>r.x, <int32_t*>r.values, begin, end)
    else:
        _extremes(r, <const int64_t*>r.x, <int64_t*>r.values, begin, end)


cdef object _running(Operator op, keyset_t keys, PyObject** args):
    """cummax(self, dim), cummin."""
    cdef lines_t s
    cdef running_t r
    cdef ndarray x, values, places
    cdef int kind, axis = _line(args[0], args[1])
    if axis < 0:
        return run_general(op, keys, args)
    x = _contiguous(args[0])
    kind = cnp.PyArray_TYPE(x)
    _set(&s, x, axis, True)
    values, places = empty(kind, x.ndim, x.shape), empty(cnp.NPY_INT64, x.ndim, x.shape)
    r = running_t(
        &s, cnp.PyArray_DATA(x), cnp.PyArray_DATA(values), <int64_t*>cnp.PyArray_DATA(places), kind,
        _flag(op, keys), (s.inner - 1) // COLUMNS + 1)
    if not skipping():
        with nogil:
            parallel_for(s.outer * r.across, GRAIN // (s.n * min(COLUMNS, s.inner)) + 1,
                         _some_extremes, &r)
    return deliver(op, (_of_its_kind(values, args[0]), places), args)


median = CKernel.new(_median_whole, False)
nanmedian = CKernel.new(_median_whole, True)
median_dim = CKernel.new(_median_lines, False)
nanmedian_dim = CKernel.new(_median_lines, True)
mode = CKernel.new(_mode)
cummax = CKernel.new(_running, False)
cummin = CKernel.new(_running, True)
