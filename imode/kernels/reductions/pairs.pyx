"""Distances of pairs of rows, forward: of two stacks of rows, and of each two of one."""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport code_of
from imode._core.keyset cimport keyset_t
from imode._core.making cimport hold
from imode._core.parallel cimport parallel_for, skipping
from imode.kernels.fast_guards cimport (
    PyFloat_AsDouble, _array, _count, _real, _row_major, _same_shape, array_of)
from imode.kernels.products.multiply cimport Matrix, matrix, product, transposed
from libc.math cimport INFINITY, fabs, pow, sqrt

cnp.import_array()

cdef extern from "math.h" nogil:
    float fabsf(float)
    float sqrtf(float)

ctypedef fused real:
    float
    double

cdef enum:
    LANES = 8
    RUN = 128                     # squares whose sum is not taken in double
    GIL_FREE = 4096               # from so many differences on, the GIL is released
    GRAIN = 16384                 # fewest differences per thread
    FEW = 1024                    # up to so many, orders but 1 and 2 are no faster by NumPy


cdef inline real _part(real apart, real sum, int norm) noexcept nogil:
    """One more element of a sum. norm: 0, 1, 2, or -1: the largest."""
    if real is float:
        apart = fabsf(apart)
    else:
        apart = fabs(apart)
    if norm == 2:
        return sum + apart * apart
    if norm == 1:
        return sum + apart
    if norm == 0:
        return sum + (apart != 0)
    return apart if apart > sum or apart != apart else sum


cdef inline real _apart(const real* x, const real* y, long m, int norm, double p) noexcept nogil:
    """The distance of two rows. norm: as above; -2: by p."""
    cdef real[LANES] part
    cdef real sum = 0
    cdef double total = 0
    cdef long k = 0
    cdef int w
    if norm == -2:
        for k in range(m):
            total += pow(fabs(<double>x[k] - <double>y[k]), p)
        return <real>pow(total, 1 / p)
    for w in range(LANES):
        part[w] = 0
    while k + LANES <= m:
        for w in range(LANES):
            part[w] = _part(x[k + w] - y[k + w], part[w], norm)
        k += LANES
    for w in range(LANES):
        sum = _part(part[w], sum, norm) if norm < 0 else sum + part[w]
    while k < m:
        sum = _part(x[k] - y[k], sum, norm)
        k += 1
    return <real>sqrt(sum) if norm == 2 else sum


cdef inline int _norm(double p) noexcept:
    return 2 if p == 2 else 1 if p == 1 else 0 if p == 0 else -1 if p == INFINITY else -2


cdef struct between_t:
    int kind
    const void* x
    const void* y
    long n, k, m                  # the rows of a stack of x, of y; their length
    int norm
    double p
    void* out


cdef void _between(const between_t* s, long begin, long end, const real* x, const real* y,
                   real* out) noexcept nogil:
    """Of rows begin to end of x (stacks, n, m) to each of y (stacks, k, m)."""
    cdef long i, j, k = s.k, m = s.m
    cdef const real* row
    cdef const real* other
    for i in range(begin, end):
        row, other = x + i * m, y + i // s.n * k * m
        # `norm` is the same for all: known to the compiler, the inner loop has no branch
        if s.norm == 2:
            for j in range(k):
                out[i * k + j] = _apart(row, other + j * m, m, 2, s.p)
        elif s.norm == 1:
            for j in range(k):
                out[i * k + j] = _apart(row, other + j * m, m, 1, s.p)
        else:
            for j in range(k):
                out[i * k + j] = _apart(row, other + j * m, m, s.norm, s.p)


cdef void _between_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef between_t* s = <between_t*>ctx
    if s.kind == cnp.NPY_DOUBLE:
        _between(s, begin, end, <const double*>s.x, <const double*>s.y, <double*>s.out)
    else:
        _between(s, begin, end, <const float*>s.x, <const float*>s.y, <float*>s.out)


cdef object _cdist_forward(Operator op, keyset_t keys, PyObject** args):
    """(x1, x2, p, compute_mode) of stacks of one shape"""
    cdef Fields* a = _array(args[0])
    cdef Fields* b = _array(args[1])
    cdef int kind = a.descr.type_num, norm, d
    cdef double p
    cdef cnp.npy_intp[64] dims
    cdef long stacks, n, k, m
    cdef cnp.ndarray out
    cdef between_t s
    if (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE) or b.descr.type_num != kind or (
            a.nd < 2 or a.nd != b.nd or a.nd > 60 or not _same_shape(a, b, 0, a.nd - 2)
            or not _row_major(a) or not _row_major(b) or not _real(args[2], &p) and (
                PyFloat_AsDouble(args[2]) != INFINITY) or skipping()):
        return run_general(op, keys, args)
    p = PyFloat_AsDouble(args[2])
    stacks = _count(a, 0, a.nd - 2)
    n, k, m = a.dimensions[a.nd - 2], b.dimensions[a.nd - 2], a.dimensions[a.nd - 1]
    norm = _norm(p)
    if not p >= 0 or m != b.dimensions[a.nd - 1] or stacks * n * k * m == 0 or (
            norm != 1 and norm != 2 and stacks * n * k * m > FEW):
        return run_general(op, keys, args)
    for d in range(a.nd - 1):
        dims[d] = a.dimensions[d]
    dims[a.nd - 1] = k
    out = empty(kind, a.nd, dims)
    s = between_t(kind, a.data, b.data, n, k, m, norm, p, cnp.PyArray_DATA(out))
    if stacks * n * k * m < GIL_FREE:
        _between_some(&s, 0, stacks * n)
    else:
        _held = hold(args, 2)
        with nogil:
            parallel_for(stacks * n, GRAIN // (k * m) + 1, _between_some, &s)
    return deliver(op, out, args)


# ---- by a product: |x|^2 + |y|^2 - 2 xy ----

cdef real _squares(const real* x, long m) noexcept nogil:
    cdef real[LANES] part
    cdef double sum = 0
    cdef long k = 0, end
    cdef int w
    while k < m:
        end = min(k + RUN, m)
        for w in range(LANES):
            part[w] = 0
        while k + LANES <= end:
            for w in range(LANES):
                part[w] += x[k + w] * x[k + w]
            k += LANES
        sum += ((part[0] + part[1]) + (part[2] + part[3])) + (
            (part[4] + part[5]) + (part[6] + part[7]))
        while k < end:
            sum += x[k] * x[k]
            k += 1
    return <real>sum


cdef struct extended_t:
    bint wide, left
    long m
    const void* x
    void* out


cdef void _extend(const extended_t* s, long begin, long end, const real* x,
                  real* out) noexcept nogil:
    """Rows (-2 x, |x|^2, 1) of the left matrix, (x, 1, |x|^2) of the right one."""
    cdef real by = -2 if s.left else 1
    cdef long m = s.m, _, j
    x += begin * m
    out += begin * (m + 2)
    for _ in range(begin, end):
        for j in range(m):
            out[j] = x[j] * by
        out[m + s.left] = 1
        out[m + (not s.left)] = _squares(x, m)
        x += m
        out += m + 2


cdef void _extend_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef extended_t* s = <extended_t*>ctx
    if s.wide:
        _extend(s, begin, end, <const double*>s.x, <double*>s.out)
    else:
        _extend(s, begin, end, <const float*>s.x, <float*>s.out)


cdef cnp.ndarray _extended(Fields* x, long rows, bint left):
    cdef cnp.npy_intp[2] dims = [rows, x.dimensions[x.nd - 1] + 2]
    cdef cnp.ndarray out = empty(x.descr.type_num, 2, dims)
    cdef extended_t s = extended_t(x.descr.type_num == cnp.NPY_DOUBLE, left, dims[1] - 2, x.data,
                                   cnp.PyArray_DATA(out))
    with nogil:
        parallel_for(rows, GRAIN // dims[1] + 1, _extend_some, &s)
    return out


cdef void _roots(real* x, long n) noexcept nogil:
    """What rounding has made less than 0 counts as 0."""
    cdef long i
    for i in range(n):
        x[i] = 0 if x[i] < 0 else x[i]
        x[i] = sqrtf(x[i]) if real is float else sqrt(x[i])


cdef void _roots_of_floats(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    _roots(<float*>ctx + begin, end - begin)


cdef void _roots_of_doubles(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    _roots(<double*>ctx + begin, end - begin)


cdef object _euclidean_dist(Operator op, keyset_t keys, PyObject** args):
    """(x1, x2) of stacks of one shape"""
    cdef Fields* a = _array(args[0])
    cdef Fields* b = _array(args[1])
    cdef int kind = a.descr.type_num, d
    cdef cnp.npy_intp[64] dims
    cdef long stacks, n, k
    cdef cnp.ndarray left, right, out
    cdef Matrix x, y
    cdef void* to
    if (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE) or b.descr.type_num != kind or (
            a.nd < 2 or a.nd != b.nd or a.nd > 60 or not _same_shape(a, b, 0, a.nd - 2)
            or not _row_major(a) or not _row_major(b) or skipping()
            or a.dimensions[a.nd - 1] != b.dimensions[b.nd - 1]):
        return run_general(op, keys, args)
    stacks = _count(a, 0, a.nd - 2)
    n, k = a.dimensions[a.nd - 2], b.dimensions[a.nd - 2]
    if stacks * n * k == 0:
        return run_general(op, keys, args)
    _held = hold(args, 2)
    left, right = _extended(a, stacks * n, True), _extended(b, stacks * k, False)
    x, y = matrix(left), matrix(right)
    x.rows, y.rows = n, k
    for d in range(a.nd - 1):
        dims[d] = a.dimensions[d]
    dims[a.nd - 1] = k
    out = product(code_of[kind], x, transposed(y), a.nd, dims, stacks, n * x.row_stride,
                  k * y.row_stride)
    to = cnp.PyArray_DATA(out)
    with nogil:
        if kind == cnp.NPY_DOUBLE:
            parallel_for(stacks * n * k, GRAIN, _roots_of_doubles, to)
        else:
            parallel_for(stacks * n * k, GRAIN, _roots_of_floats, to)
    return deliver(op, out, args)


# ---- each two rows of one matrix ----

cdef void _pairs(const real* x, long n, long m, double p, real* out) noexcept nogil:
    cdef long i, j, k
    cdef double sum, apart
    for i in range(n):
        for j in range(i + 1, n):
            sum = 0
            for k in range(m):
                apart = fabs(<double>x[i * m + k] - <double>x[j * m + k])
                if p == 2:
                    sum += apart * apart
                elif p == 1:
                    sum += apart
                elif p == 0:
                    sum += apart != 0
                elif p == INFINITY:
                    sum = apart if apart > sum or apart != apart else sum
                else:
                    sum += pow(apart, p)
            out[0] = <real>(sqrt(sum) if p == 2 else sum if p == 0 or p == 1 or p == INFINITY
                            else pow(sum, 1 / p))
            out += 1


cdef void _pairs_of_kind(int kind, const void* x, long n, long m, double p,
                         void* to) noexcept nogil:
    if kind == cnp.NPY_DOUBLE:
        _pairs(<double*>x, n, m, p, <double*>to)
    else:
        _pairs(<float*>x, n, m, p, <float*>to)


cpdef object pairs(cnp.ndarray x, double p):
    """The p-norm distances of each two rows of a contiguous array."""
    cdef long n = cnp.PyArray_DIM(x, 0), m = cnp.PyArray_DIM(x, 1)
    cdef cnp.npy_intp count = n * (n - 1) // 2 if n else 0
    cdef int kind = cnp.PyArray_TYPE(x)
    cdef cnp.ndarray out = empty(kind, 1, &count)
    cdef void* source = cnp.PyArray_DATA(x)
    cdef void* to = cnp.PyArray_DATA(out)
    if not skipping() and count * m < GIL_FREE:
        _pairs_of_kind(kind, source, n, m, p, to)
    elif not skipping():
        with nogil:
            _pairs_of_kind(kind, source, n, m, p, to)
    return out


cdef object _pdist_forward(Operator op, keyset_t keys, PyObject** args):
    """(self, p)"""
    cdef Fields* x = _array(args[0])
    cdef int kind = x.descr.type_num
    if x.nd != 2 or not _row_major(x) or (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE):
        return run_general(op, keys, args)
    return deliver(op, pairs(array_of(args[0]), PyFloat_AsDouble(args[1])), args)


cdist_forward = CKernel.new(_cdist_forward)
euclidean_dist = CKernel.new(_euclidean_dist)
pdist_forward = CKernel.new(_pdist_forward)
