"""The first elements of a line in an order: topk and kthvalue.

Which of equal elements is selected is visible in indices and gradients. It depends on the steps of
the selection, so these are PyTorch's, comparison by comparison: in topk, selection by a heap if k
is small compared with the line, else by partitioning, both as in GCC's C++ library; in kthvalue,
Hoare's selection with the median of three as the pivot.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.making cimport hold, wrap
from imode._core.parallel cimport parallel_for, skipping
from imode.kernels.fast_guards cimport (
    MAX_DIMS, PyLong_AsLongAndOverflow, _array, _count, _dim, _row_major)
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

from imode._core.hollow import hollow

cnp.import_array()

cdef enum:
    FEW = 64                # up to so many elements, a line's work space is on the stack
    GIL_FREE = 4096         # from so many elements on, the GIL is released; fewest per thread
    BY_HEAP = 64            # a heap is used if a line has at least so many times k elements
    LAST = 3                # a part of so many elements is sorted, not partitioned
    PART = 16               # the same, where all are to be sorted

ctypedef fused number:
    float
    double
    int64_t


cdef inline int64_t _rank(number x, bint falling) noexcept nogil:
    """An integer that sorts like the number; NaN is the largest, and 0 and -0 are equal."""
    cdef int32_t bits
    cdef int64_t rank
    if number is int64_t:
        rank = x
    elif number is float:
        x = x + 0                              # -0 to 0
        memcpy(&bits, &x, sizeof(bits))
        rank = INT64_MAX if x != x else bits ^ (bits >> 31 & 0x7fffffff)
    else:
        x = x + 0
        memcpy(&rank, &x, sizeof(rank))
        rank = INT64_MAX if x != x else rank ^ (rank >> 63 & INT64_MAX)
    return ~rank if falling else rank


cdef inline void _swap(Ranked* x, npy_intp i, npy_intp j) noexcept nogil:
    x[i], x[j] = x[j], x[i]


# ---- a heap, with the element that is last in the order at the front ----

cdef void _sift(Ranked* heap, npy_intp n, npy_intp hole, Ranked value) noexcept nogil:
    """Put a value into the heap: the gap sinks to a leaf, then rises as far as necessary."""
    cdef npy_intp top = hole, child = 2 * hole + 2
    while child < n:
        if heap[child].rank < heap[child - 1].rank:
            child -= 1
        heap[hole] = heap[child]
        hole, child = child, 2 * child + 2
    if child == n:                             # one child, not two
        heap[hole] = heap[n - 1]
        hole = n - 1
    while hole > top and heap[(hole - 1) // 2].rank < value.rank:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = value


cdef void _heap_select(Ranked* x, npy_intp n, npy_intp k) noexcept nogil:
    """Make a heap of the k first of n at the front; the others are moved."""
    cdef npy_intp i
    cdef Ranked each
    for i in range(k // 2 - 1, -1, -1):
        _sift(x, k, i, x[i])
    for i in range(k, n):
        if x[i].rank < x[0].rank:
            each, x[i] = x[i], x[0]
            _sift(x, k, 0, each)


cdef void _heap_sort(Ranked* x, npy_intp n) noexcept nogil:
    cdef Ranked each
    while n > 1:
        n -= 1
        each, x[n] = x[n], x[0]
        _sift(x, n, 0, each)


# ---- parts ----

cdef void _insert(Ranked* x, npy_intp n) noexcept nogil:
    """Sort by insertion."""
    cdef npy_intp i, j
    cdef Ranked each
    for i in range(1, n):
        each, j = x[i], i
        while j and each.rank < x[j - 1].rank:
            x[j] = x[j - 1]
            j -= 1
        x[j] = each


cdef npy_intp _cut(Ranked* x, npy_intp n) noexcept nogil:
    """Partition n > 3 elements by the median of three, put first; return where part two starts."""
    cdef npy_intp i = 1, j = n, a = 1, b = n // 2, c = n - 1, middle
    if x[a].rank < x[b].rank:
        middle = b if x[b].rank < x[c].rank else c if x[a].rank < x[c].rank else a
    else:
        middle = a if x[a].rank < x[c].rank else c if x[b].rank < x[c].rank else b
    _swap(x, 0, middle)
    while True:
        while x[i].rank < x[0].rank:
            i += 1
        j -= 1
        while x[0].rank < x[j].rank:
            j -= 1
        if i >= j:
            return i
        _swap(x, i, j)
        i += 1


cdef int _cuts(npy_intp n) noexcept nogil:
    """2 log2(n): after so many partitions a heap takes over, which bounds the time."""
    cdef int cuts = 0
    while n > 1:
        n >>= 1
        cuts += 2
    return cuts


cdef void _select(Ranked* x, npy_intp n, npy_intp nth) noexcept nogil:
    """Put the element that comes at `nth` at that index, and those that come before it in front."""
    cdef int left = _cuts(n)
    cdef npy_intp cut
    while n > LAST:
        if left == 0:
            _heap_select(x, n, nth + 1)
            _swap(x, 0, nth)
            return
        left -= 1
        cut = _cut(x, n)
        if cut <= nth:
            x, n, nth = x + cut, n - cut, nth - cut
        else:
            n = cut
    _insert(x, n)


cdef void _sort_parts(Ranked* x, npy_intp n, int left) noexcept nogil:
    """Sort, except inside parts of up to PART elements, each of which is where it belongs."""
    cdef npy_intp cut
    while n > PART:
        if left == 0:
            _heap_select(x, n, n)
            _heap_sort(x, n)
            return
        left -= 1
        cut = _cut(x, n)
        _sort_parts(x + cut, n - cut, left)
        n = cut


cdef void leading(Ranked* x, npy_intp n, npy_intp k, bint sorted) noexcept nogil:
    if k * BY_HEAP <= n:
        _heap_select(x, n, k)
        _heap_sort(x, k)
        return
    _select(x, n, k - 1)
    if sorted:
        _sort_parts(x, k - 1, _cuts(k - 1))
        _insert(x, k - 1)


cdef int64_t index_of_nth(Ranked* x, npy_intp n, npy_intp nth) noexcept nogil:
    cdef npy_intp left = 0, right = n - 1, i, j
    while right > left + 1:
        _swap(x, left + (right - left) // 2, left + 1)
        if x[left + 1].rank > x[right].rank:
            _swap(x, left + 1, right)
        if x[left].rank > x[right].rank:
            _swap(x, left, right)
        if x[left + 1].rank > x[left].rank:
            _swap(x, left + 1, left)
        i, j = left + 1, right
        while True:
            i += 1
            while x[i].rank < x[left].rank:
                i += 1
            j -= 1
            while x[j].rank > x[left].rank:
                j -= 1
            if j < i:
                break
            _swap(x, i, j)
        _swap(x, left, j)
        if j >= nth:
            right = j - 1
        if j <= nth:
            left = i
    if right == left + 1 and x[left].rank > x[right].rank:
        _swap(x, left, right)
    return x[nth].at


# ---- lines ----

cdef void _pick(const number* x, npy_intp rows, npy_intp n, npy_intp k, bint falling, bint sorted,
                bint kth, Ranked* line, int64_t* to) noexcept nogil:
    """The indices in each row of its k first elements, or of the k-th."""
    cdef npy_intp r, i
    for r in range(rows):
        for i in range(n):
            line[i].rank, line[i].at = _rank(x[r * n + i], falling), i
        if kth:
            to[r] = index_of_nth(line, n, k - 1)
            continue
        leading(line, n, k, sorted)
        for i in range(k):
            to[r * k + i] = line[i].at


cdef struct Lines:          # what threads share
    int kind
    const char* x
    npy_intp n
    npy_intp k
    bint falling
    bint sorted
    bint kth
    int64_t* to
    bint failed             # no memory


cdef void _pick_lines(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Lines* w = <Lines*>context
    cdef Ranked[FEW] few
    cdef Ranked* line = few
    cdef npy_intp rows = end - begin, first = begin * w.n
    cdef int64_t* to = w.to + begin * (1 if w.kth else w.k)
    if w.n > FEW:
        line = <Ranked*>malloc(w.n * sizeof(Ranked))
        if line == NULL:
            w.failed = True
            return
    if w.kind == cnp.NPY_FLOAT:
        _pick(<float*>w.x + first, rows, w.n, w.k, w.falling, w.sorted, w.kth, line, to)
    elif w.kind == cnp.NPY_DOUBLE:
        _pick(<double*>w.x + first, rows, w.n, w.k, w.falling, w.sorted, w.kth, line, to)
    else:
        _pick(<int64_t*>w.x + first, rows, w.n, w.k, w.falling, w.sorted, w.kth, line, to)
    if line != few:
        free(line)


cdef int _pick_any(int kind, const char* x, npy_intp rows, npy_intp n, npy_intp k, bint falling,
                   bint sorted, bint kth, int64_t* to) except -1 nogil:
    """As `_pick`, for float32, float64 or int64."""
    cdef Lines lines = [kind, x, n, k, falling, sorted, kth, to, False]
    parallel_for(rows, GIL_FREE // (n + 1) + 1, _pick_lines, &lines)
    if lines.failed:
        raise MemoryError
    return 0


def indices(ndarray x not None, npy_intp k, bint falling=False, bint sorted=True, bint kth=False):
    """Return the indices of the k first of each line along the last dimension, or of the k-th.

    An int64 array with the shape of x, except the last dimension: k, or 1. k is in 1..n.
    """
    cdef int nd = cnp.PyArray_NDIM(x), kind = cnp.PyArray_TYPE(x)
    cdef npy_intp n = cnp.PyArray_DIM(x, nd - 1)
    cdef npy_intp dims[MAX_DIMS]
    cdef ndarray out
    memcpy(dims, cnp.PyArray_DIMS(x), nd * sizeof(npy_intp))
    dims[nd - 1] = 1 if kth else k
    if kind == cnp.NPY_FLOAT16:
        kind = cnp.NPY_FLOAT
    elif kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        kind = cnp.NPY_INT64
    out = empty(cnp.NPY_INT64, nd, dims)
    if skipping():
        return hollow(out)
    x = cnp.PyArray_FROM_OTF(x, kind, cnp.NPY_ARRAY_IN_ARRAY)
    with nogil:
        _pick_any(kind, cnp.PyArray_BYTES(x), cnp.PyArray_SIZE(x) // n if n else 0, n, k, falling,
                  sorted, kth, <int64_t*>cnp.PyArray_DATA(out))
    return out


cdef void _take(const number* x, const int64_t* at, number* values, npy_intp rows, npy_intp n,
                npy_intp k) noexcept nogil:
    cdef npy_intp r, i
    for r in range(rows):
        for i in range(k):
            values[r * k + i] = x[r * n + at[r * k + i]]


cdef object _topk(Operator op, keyset_t keys, PyObject** args):
    """topk(self, k, dim, largest, sorted) along the last dimension."""
    cdef Fields* a = _array(args[0])
    cdef int kind = a.descr.type_num
    cdef int overflow = 0
    cdef npy_intp k = PyLong_AsLongAndOverflow(args[1], &overflow)
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp n, rows
    cdef bint largest = <object>args[3] is True, in_order = <object>args[4] is True
    cdef int64_t* at
    cdef ndarray values, indices
    if args[op.nargs] != NULL or overflow or not _row_major(a) or a.nd == 0 or (
            _dim(args[2], a.nd) != a.nd - 1) or not 0 < k <= a.dimensions[a.nd - 1] or (
                kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE and kind != cnp.NPY_INT64):
        return run_general(op, keys, args)
    n, rows = a.dimensions[a.nd - 1], _count(a, 0, a.nd - 1)
    memcpy(dims, a.dimensions, a.nd * sizeof(npy_intp))
    dims[a.nd - 1] = k
    indices = empty(cnp.NPY_INT64, a.nd, dims)
    values = empty(kind, a.nd, dims)
    at = <int64_t*>cnp.PyArray_DATA(indices)
    if rows * n < GIL_FREE:
        _pick_any(kind, a.data, rows, n, k, largest, in_order, False, at)
    else:
        _held = hold(args, 1)
        with nogil:
            _pick_any(kind, a.data, rows, n, k, largest, in_order, False, at)
    if kind == cnp.NPY_FLOAT:
        _take(<float*>a.data, at, <float*>cnp.PyArray_DATA(values), rows, n, k)
    elif kind == cnp.NPY_DOUBLE:
        _take(<double*>a.data, at, <double*>cnp.PyArray_DATA(values), rows, n, k)
    else:
        _take(<int64_t*>a.data, at, <int64_t*>cnp.PyArray_DATA(values), rows, n, k)
    both = (wrap(values), wrap(indices))
    return both if op.result_type is None else op.result_type(both)


topk = CKernel.new(_topk)
