"""Stacks of matrices as LAPACK takes them.

Matrices lie column by column, as results of PyTorch's do; what is given is copied into that order
first.
"""
cimport numpy as cnp
from imode._core.allocator cimport empty, view
from imode._core.moving cimport imode_move, run_move
from imode._core.parallel cimport parallel_for, skipping
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

cnp.import_array()


cdef enum:
    GRAIN = 16384                 # fewest elements per thread


cdef ndarray swapped(ndarray a):
    cdef npy_intp[MAX_DIMS] dims
    cdef npy_intp[MAX_DIMS] strides
    cdef int d, nd = a.ndim
    for d in range(nd):
        dims[d], strides[d] = a.shape[d], a.strides[d]
    dims[nd - 1], dims[nd - 2] = a.shape[nd - 2], a.shape[nd - 1]
    strides[nd - 1], strides[nd - 2] = a.strides[nd - 2], a.strides[nd - 1]
    return view(a, nd, dims, strides, <char*>cnp.PyArray_DATA(a))


cdef ndarray new_columns(int typenum, int nd, npy_intp* dims):
    cdef npy_intp[MAX_DIMS] turned
    cdef int d
    for d in range(nd):
        turned[d] = dims[d]
    turned[nd - 1], turned[nd - 2] = dims[nd - 2], dims[nd - 1]
    return swapped(empty(typenum, nd, turned))


ctypedef fused word:
    uint32_t
    uint64_t
    double complex


cdef void _copy(word* to, npy_intp ld, const char* given, npy_intp m, npy_intp n, npy_intp rows,
                npy_intp columns) noexcept nogil:
    """Column by column: `rows`, `columns`: the strides of what is given, in bytes."""
    cdef npy_intp i, j
    if rows == <npy_intp>sizeof(word):
        for j in range(n):
            memcpy(to + j * ld, given + j * columns, m * sizeof(word))
    else:
        for j in range(n):
            for i in range(m):
                to[j * ld + i] = (<const word*>(given + i * rows + j * columns))[0]


cdef struct copy_t:
    int nd, less
    npy_intp item, ld, step      # of the target: bytes of an element; elements, bytes of a matrix
    npy_intp m, n, rows, columns
    npy_intp* dims
    npy_intp* shape
    npy_intp* strides
    char* base
    char* target


cdef void _copy_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Matrices begin to end."""
    cdef copy_t* s = <copy_t*>ctx
    cdef npy_intp i, place, rest, index
    cdef char* target = s.target + begin * s.step
    cdef int d
    for i in range(begin, end):
        place, rest = 0, i
        for d in range(s.nd - 3, -1, -1):
            index = rest % s.dims[d]
            rest //= s.dims[d]
            if d >= s.less and s.shape[d - s.less] != 1:
                place += index * s.strides[d - s.less]
        if s.item == 4:
            _copy(<uint32_t*>target, s.ld, s.base + place, s.m, s.n, s.rows, s.columns)
        elif s.item == 8:
            _copy(<uint64_t*>target, s.ld, s.base + place, s.m, s.n, s.rows, s.columns)
        else:
            _copy(<double complex*>target, s.ld, s.base + place, s.m, s.n, s.rows, s.columns)
        target += s.step


cdef void _copy_one(copy_t* s) noexcept nogil:
    """The only matrix, a large one: in blocks, on several threads."""
    cdef imode_move move
    move.to, move.from_, move.item, move.nd = s.target, s.base, s.item, 2
    move.dims[0], move.to_steps[0], move.from_steps[0] = s.n, s.ld * s.item, s.columns
    move.dims[1], move.to_steps[1], move.from_steps[1] = s.m, s.item, s.rows
    run_move(&move)


cdef int copy_columns(ndarray to, ndarray a, bint transposed) except -1:
    """Copy the matrices of `a`, or the transposed ones, into those of `to`, which may have more
    rows; the stack of `a` is broadcast."""
    cdef int nd = to.ndim, d
    cdef int row = a.ndim - 1 if transposed else a.ndim - 2
    cdef int column = 2 * a.ndim - 3 - row
    cdef npy_intp m = a.shape[row], n = a.shape[column], item = cnp.PyArray_ITEMSIZE(a), count = 1
    cdef copy_t s
    if not m or not n or skipping():
        return 0
    for d in range(nd - 2):
        count *= to.shape[d]
    s.nd, s.less, s.item, s.m, s.n = nd, nd - a.ndim, item, m, n
    s.ld, s.rows, s.columns = to.strides[nd - 1] // item, a.strides[row], a.strides[column]
    s.step = s.ld * to.shape[nd - 1] * item
    s.dims, s.shape, s.strides = to.shape, a.shape, a.strides
    s.base, s.target = <char*>cnp.PyArray_DATA(a), <char*>cnp.PyArray_DATA(to)
    if count * m * n < GRAIN:
        _copy_some(&s, 0, count)
    elif count == 1:
        with nogil:
            _copy_one(&s)
    else:
        with nogil:
            parallel_for(count, GRAIN // (m * n) + 1, _copy_some, &s)
    return 0


cdef ndarray in_columns(ndarray a):
    cdef ndarray made = new_columns(cnp.PyArray_TYPE(a), a.ndim, a.shape)
    copy_columns(made, a, False)
    return made


cdef ndarray as_columns(ndarray a):
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a)
    if a.ndim == 2 and a.shape[0] > 1 and a.strides[0] == item and (
            a.strides[1] >= a.shape[0] * item and cnp.PyArray_ISBEHAVED_RO(a)):
        return a
    return in_columns(a)


cdef void clear_triangle(char* a, npy_intp item, lint m, lint n, lint lda,
                         bint keep_upper) noexcept nogil:
    """Zeros below the diagonal of one matrix, or above it."""
    cdef lint j
    if skipping():
        return
    for j in range(n):
        if keep_upper:
            if j + 1 < m:
                memset(a + (j * lda + j + 1) * item, 0, (m - j - 1) * item)
        else:
            memset(a + j * lda * item, 0, min(j, m) * item)


cdef ndarray vector_stack(ndarray a, int typenum, npy_intp size):
    cdef npy_intp[MAX_DIMS] dims
    cdef int d
    for d in range(a.ndim - 2):
        dims[d] = a.shape[d]
    dims[a.ndim - 2] = size
    return empty(typenum, a.ndim - 2 + (size >= 0), dims)


cdef ndarray matrix_stack(ndarray a, npy_intp m, npy_intp n):
    cdef npy_intp[MAX_DIMS] dims
    cdef int d
    for d in range(a.ndim - 2):
        dims[d] = a.shape[d]
    dims[a.ndim - 2], dims[a.ndim - 1] = m, n
    return new_columns(cnp.PyArray_TYPE(a), a.ndim, dims)


# ---- what a job is said of them ----

cdef void matrix_of(Job* job, ndarray a) noexcept:
    job.a, job.m, job.n, job.lda = data_of(a), size_of(a, 2), size_of(a, 1), leading(a)
    job.a_step = job.lda * job.n * job.item


cdef void right_side(Job* job, ndarray b) noexcept:
    job.b, job.k, job.ldb = data_of(b), size_of(b, 1), leading(b)
    job.b_step = job.ldb * job.k * job.item


cdef void pivots_of(Job* job, ndarray pivots) noexcept:
    job.pivots, job.pivots_step = <int32_t*>data_of(pivots), size_of(pivots, 1)


cdef ndarray infos_of(Job* job, ndarray a):
    cdef ndarray info = vector_stack(a, cnp.NPY_INT32, -1)
    job.info = <int32_t*>data_of(info)
    return info


# ---- what fast cases look at ----

cdef bint all_zero(ndarray info) noexcept:
    cdef npy_intp i
    for i in range(cnp.PyArray_SIZE(info)):
        if (<int32_t*>cnp.PyArray_DATA(info))[i]:
            return False
    return True


cdef bint like_stacks(ndarray a, ndarray b) noexcept:
    cdef int d
    if a.ndim != b.ndim or b.ndim < 2 or cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b):
        return False
    for d in range(a.ndim - 2):
        if a.shape[d] != b.shape[d]:
            return False
    return True
