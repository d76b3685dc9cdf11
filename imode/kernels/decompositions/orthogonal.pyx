"""QR: factorization by reflections, products of these, and least squares.

The functions over ndarrays take matrices whose shapes, dtypes and stacks have been found to fit.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport skipping
from imode._core.tensor cimport Tensor, storage
from imode.kernels.decompositions.halves cimport solve_triangle
from imode.kernels.decompositions.lapack cimport (
    GELS, GELSD, GELSS, GELSY, GEQRF, ORGQR, ORMQR, Job, Routine, call11_t, call13_t, call14_t,
    call15_t, call8_t, call9_t, lint, routine, run_each, start, wanted)
from imode.kernels.decompositions.stacks cimport (
    all_zero, clear_triangle, copy_columns, data_of, epsilon, in_columns, infos_of, leading,
    matrix_of, matrix_stack, put, real_type, right_side, size_of, some_matrices, vector_stack)
from imode.kernels.products.gemm cimport gemm
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "orthogonal.h" nogil:
    enum:
        IMODE_FEW                 # rows and columns up to which the next function serves
        IMODE_PANEL
    int imode_least_squares(int wide, long m, long n, long k, const void* a, void* b, long ldb,
                            int pivots, double rcond) noexcept
    void imode_reflect(int wide, long m, long n, void* v, long ldv, void* r, long ldr, void* tau,
                       void* s, long lds) noexcept
    void imode_add_columns(int wide, long m, long n, const void* a, void* to, long ld) noexcept
    void imode_turn(int wide, long m, long n, const void* a, long lda, void* to) noexcept
    bint imode_reflects(int wide, long m, long n, const void* a) noexcept

cdef enum:
    BLOCK = 32                    # columns that blocked routines work on at once
    # Singular values from which on gelsd does what gelss does, many times faster.
    DIVIDED = 32


# ---- by halves, so that nearly all of it are large products ----
#
# Elmroth and Gustavson, Applying Recursion to Serial and Parallel QR Factorization (2000). The
# reflections of a block are I - V S^-1 V^T, where S is the upper triangle of V^T V with 1 / tau in
# its diagonal: Joffrain et al., Accumulating Householder Transformations, Revisited (2006).

cdef enum:
    WIDTH = 32                    # columns of a block, which has a triangle S of its own
    PIECE = 128                   # rows whose products are summed one after another
    LINE = 64                     # bytes of a cache line


ctypedef struct Reflections:
    bint wide, share
    npy_intp m, item
    char* a                       # the matrix; R comes in the place of its upper triangle
    npy_intp lda
    char* v
    npy_intp ldv
    char* s                       # of each block, beside each other
    char* tau
    char* w                       # room for WIDTH rows
    char* other                   # the same


cdef inline npy_intp _apart(npy_intp m) noexcept nogil:
    """From a column of V to the next: odd numbers of lines, so that they lie in different sets."""
    return (m + 15) // 16 * 16 | 16


cdef inline npy_intp _whole(npy_intp n) noexcept nogil:
    return (n + IMODE_PANEL - 1) // IMODE_PANEL * IMODE_PANEL


cdef npy_intp _room(npy_intp m, npy_intp n, npy_intp k) noexcept nogil:
    """Elements of workspace for a QR of which Q has k columns."""
    return (_apart(m) + WIDTH) * _whole(min(m, n)) + 2 * WIDTH * max(n, k) + LINE


cdef bint _products(Reflections* f, npy_intp n, const char* v, npy_intp k, const char* c,
                    npy_intp ldc, npy_intp rows, char* to, npy_intp ldt) noexcept nogil:
    """V^T C in pieces, whose sums are added up: one long sum after another would be less exact."""
    cdef npy_intp pieces = max((rows + PIECE // 2) // PIECE, 1), piece, first, count
    for piece in range(pieces):
        first = piece * PIECE
        count = PIECE if piece + 1 < pieces else rows - first
        if not gemm(f.wide, k, count, n, c + first * f.item, ldc, 1, v + first * f.item, 1, f.ldv,
                    f.other if piece else to, n if piece else ldt, False, f.share):
            return False
        if piece:
            imode_add_columns(f.wide, n, k, f.other, to, ldt)
    return True


cdef bint _apply(Reflections* f, npy_intp i, npy_intp n, npy_intp known, bint forward, char* c,
                 npy_intp ldc, npy_intp k) noexcept nogil:
    """n reflections from the i-th on, or the other way round, of k columns from row i on. The first
    `known` columns are those of the unit matrix."""
    cdef npy_intp rows = f.m - i, item = f.item
    cdef char* v = f.v + (i * f.ldv + i) * item
    cdef char* s = f.s + (i * WIDTH + i % WIDTH) * item
    imode_turn(f.wide, known, n, v, f.ldv, f.w)
    return (
        (known == k or _products(f, n, v, k - known, c + known * ldc * item, ldc, rows,
                                 f.w + known * n * item, n))
        and solve_triangle(f.wide, not forward, False, n, k, s, 1 if forward else WIDTH,
                           WIDTH if forward else 1, f.w, n, f.share)
        and gemm(f.wide, k, n, rows, f.w, n, 1, v, f.ldv, 1, c, ldc, True, f.share))


cdef bint _reduce(Reflections* f, npy_intp i, npy_intp n) noexcept nogil:
    """R and reflections of n columns of a block, from the i-th on; its row is the first."""
    cdef npy_intp half = _whole(n // 2), item = f.item, j, top = i // WIDTH * WIDTH
    cdef char* v
    if n <= IMODE_PANEL:
        for j in range(i, i + IMODE_PANEL):
            v = f.v + j * f.ldv * item
            if j < i + n:
                memset(v + top * item, 0, (i - top) * item)
                memcpy(v + i * item, f.a + (j * f.lda + i) * item, (f.m - i) * item)
                memset(v + f.m * item, 0, (f.ldv - f.m) * item)
            else:
                memset(v + i * item, 0, (f.ldv - i) * item)
        imode_reflect(f.wide, f.m - i, n, f.v + (i * f.ldv + i) * item, f.ldv,
                      f.a + (i * f.lda + i) * item, f.lda, f.tau + i * item,
                      f.s + (i * WIDTH + i - top) * item, WIDTH)
        return True
    j = i + half
    return (
        _reduce(f, i, half)
        and _apply(f, i, half, 0, False, f.a + (j * f.lda + i) * item, f.lda, n - half)
        and _reduce(f, j, n - half)
        and _products(f, half, f.v + (i * f.ldv + j) * item, n - half,
                      f.v + (j * f.ldv + j) * item, f.ldv, f.m - j,
                      f.s + (j * WIDTH + i - top) * item, WIDTH))


cdef void _unit(Job* job, char* q) noexcept nogil:
    cdef npy_intp i
    memset(q, 0, job.m * job.k * job.item)
    for i in range(job.k):
        put(q + i * (job.m + 1) * job.item, job.kind, 1, 0)


cdef bint _own_qr(Job* job, npy_intp which, char* work) noexcept nogil:
    """QR of one matrix; False: there is no memory."""
    cdef Reflections f
    cdef npy_intp least = min(job.m, job.n), item = job.item, i, j, n, block
    cdef npy_intp blocks = (least + WIDTH - 1) // WIDTH
    cdef char* q = job.b + which * job.b_step
    f.wide, f.share, f.m, f.item = job.kind == 1, job.count == 1, job.m, item
    f.a, f.lda, f.ldv = job.a + which * job.a_step, job.lda, _apart(job.m)
    f.tau = job.c + which * job.c_step
    f.v = work + LINE - <size_t>work % LINE
    f.s = f.v + f.ldv * _whole(least) * item
    f.w = f.s + WIDTH * _whole(least) * item
    f.other = f.w + WIDTH * max(job.n, job.k) * item
    for block in range(blocks):
        i = block * WIDTH
        n = min(WIDTH, least - i)
        if not _reduce(&f, i, n):
            return False
        j = i + n
        if j < job.n and not _apply(&f, i, n, 0, False, f.a + (j * f.lda + i) * item, f.lda,
                                    job.n - j):
            return False
    if job.options[0] == c"V":
        for j in range(least):
            memcpy(f.a + (j * f.lda + j + 1) * item, f.v + (j * f.ldv + j + 1) * item,
                   (job.m - j - 1) * item)
    if job.b == NULL:
        return True
    _unit(job, q)
    for block in reversed(range(blocks)):
        i = block * WIDTH
        n = min(WIDTH, least - i)
        if not _apply(&f, i, n, n, True, q + i * (job.m + 1) * item, job.m, job.k - i):
            return False
    return True


# ---- QR ----

cdef call9_t[4] _orgqr


cdef void _one_qr(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    """a: the matrices; b: NULL, or Q, of k columns; c: the factors of the reflectors, which are
    wanted if options[0] is V."""
    cdef char* a = job.a + i * job.a_step
    cdef char* q = job.b + i * job.b_step
    cdef lint least = min(job.m, job.n)
    if job.kind <= 1 and imode_reflects(job.kind, job.m, job.n, a):
        job.no_memory |= not _own_qr(job, i, work)
        return
    (<call8_t>job.call)(&job.m, &job.n, a, &job.lda, job.c + i * job.c_step, work, lwork, info)
    if job.b != NULL:
        memcpy(q, a, job.m * least * job.item)
        _orgqr[job.kind](&job.m, &job.k, &least, q, &job.lda, job.c + i * job.c_step, work, lwork,
                         info)


cdef tuple _factor(ndarray a, ndarray q, bint reflectors):
    """(R, with the reflectors if they are wanted, and their factors); Q, unless it is None."""
    cdef Job job
    cdef ndarray made, tau
    cdef npy_intp least = min(size_of(a, 2), size_of(a, 1)), i
    cdef lint lwork
    start(&job, a)
    job.call = routine(GEQRF, job.kind)
    _orgqr[job.kind] = <call9_t>routine(ORGQR, job.kind)
    made, tau = in_columns(a), vector_stack(a, cnp.PyArray_TYPE(a), least)
    matrix_of(&job, made)
    if q is not None:
        right_side(&job, q)
    job.c, job.c_step = data_of(tau), least * job.item
    job.options[0] = c"V" if reflectors else c"N"
    lwork = max(job.n, job.k) * BLOCK
    if job.kind <= 1:
        lwork = _room(job.m, job.n, job.k)
    run_each(_one_qr, &job, lwork, 0, <double>job.m * job.n * least)
    for i in range(0 if job.n or skipping() else job.count):
        _unit(&job, job.b + i * job.b_step)
    return made, tau


def geqrf(ndarray a not None):
    """Return R with the reflectors that make Q, and their factors."""
    return _factor(a, None, True)


cdef void _one_q(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    _orgqr[job.kind](&job.m, &job.n, &job.k, job.a + i * job.a_step, &job.lda,
                     job.c + i * job.c_step, work, lwork, info)


def householder_product(ndarray a not None, ndarray tau not None):
    """Return the first columns of the product of reflections, given as geqrf does."""
    cdef Job job
    cdef ndarray q = in_columns(a)
    tau = cnp.PyArray_GETCONTIGUOUS(tau)
    start(&job, q)
    _orgqr[job.kind] = <call9_t>routine(ORGQR, job.kind)
    matrix_of(&job, q)
    job.k, job.c, job.c_step = size_of(tau, 1), data_of(tau), size_of(tau, 1) * job.item
    run_each(_one_q, &job, job.n * BLOCK, 0, <double>job.m * job.n * job.k)
    return q


cdef tuple _qr(ndarray a, bint complete, bint only_r):
    """(Q, R), Q None where only R is wanted."""
    cdef npy_intp m = size_of(a, 2), n = size_of(a, 1), item = cnp.PyArray_ITEMSIZE(a), i, j
    cdef npy_intp rows = m if complete else min(m, n), count = 1
    cdef ndarray q = None if only_r else matrix_stack(a, m, rows)
    cdef ndarray made = _factor(a, q, False)[0]
    cdef ndarray r = matrix_stack(a, rows, n)
    cdef char* to
    for i in range(a.ndim - 2):
        count *= a.shape[i]
    for i in range(0 if skipping() else count):
        to = data_of(r) + i * rows * n * item
        for j in range(n if rows else 0):
            memcpy(to + j * rows * item, data_of(made) + (i * n + j) * m * item, rows * item)
        clear_triangle(to, item, rows, n, rows, True)
    return q, r


def qr(ndarray a not None, bint complete, bint only_r):
    """Return Q, with all its columns if `complete`, or None if `only_r`; and R."""
    return _qr(a, complete, only_r)


cdef void _one_product(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    """options: SIDE, TRANS; b: what is multiplied, m by n."""
    (<call13_t>job.call)(&job.options[0], &job.options[1], &job.m, &job.n, &job.k,
                         job.a + i * job.a_step, &job.lda, job.c + i * job.c_step,
                         job.b + i * job.b_step, &job.ldb, work, lwork, info)


def ormqr(ndarray a not None, ndarray tau not None, ndarray c not None, bint left,
          bint transpose):
    """Return Q C, or C Q, or with Q^H for Q; Q is given as by geqrf, and has all its columns."""
    cdef Job job
    cdef ndarray made = in_columns(c)
    cdef char adjoint
    cdef lint lwork
    a, tau = in_columns(a), cnp.PyArray_GETCONTIGUOUS(tau)
    start(&job, c)
    job.call = routine(ORMQR, job.kind)
    adjoint = c"C" if job.kind > 1 else c"T"
    matrix_of(&job, a)
    job.m, job.n, job.k = size_of(c, 2), size_of(c, 1), size_of(tau, 1)
    job.b, job.ldb = data_of(made), leading(made)
    job.b_step = job.m * job.n * job.item
    job.c, job.c_step = data_of(tau), job.k * job.item
    job.options[0], job.options[1] = c"L" if left else c"R", adjoint if transpose else c"N"
    lwork = (max(1, job.n if left else job.m) + 64) * 64 + 4160
    run_each(_one_product, &job, lwork, 0, <double>job.m * job.n * job.k)
    return made


# ---- least squares ----

cdef void _one_system(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    """options: the driver, one of "0123"; b: right-hand sides with room for the solution; c:
    singular values; d_step: bytes of the real workspace; pivots: ranks, as int64."""
    cdef lint rank = 0
    cdef float rcond_f = <float>job.rcond
    cdef char* rwork = work + _rounded(lwork[0] * job.item)
    cdef char* iwork = rwork + job.d_step
    cdef void* rcond = <void*>&job.rcond if job.kind & 1 else <void*>&rcond_f
    if job.options[0] <= c"1" and job.kind <= 1 and job.n <= job.m <= IMODE_FEW and (
            job.k <= IMODE_FEW and job.lda == job.m and imode_least_squares(
                job.kind, job.m, job.n, job.k, job.a + i * job.a_step, job.b + i * job.b_step,
                job.ldb, job.options[0] == c"1", job.rcond)):
        if job.pivots != NULL:
            (<int64_t*>job.pivots)[i] = job.n
        return
    if job.options[0] == c"1":
        memset(iwork, 0, job.n * sizeof(lint))         # columns that may change places
    if job.k:
        _call_driver(job, i, job.c + i * job.c_step, rcond, &rank, work, lwork, rwork, iwork, info)
    if job.pivots != NULL:
        (<int64_t*>job.pivots)[i] = <int32_t>rank


cdef inline npy_intp _rounded(npy_intp nbytes) noexcept nogil:
    return (nbytes + 15) // 16 * 16


cdef int _solve_all(Job* job) except -1:
    """Find out how much workspace the driver asks for, and run it."""
    cdef lint least = min(job.m, job.n), asked = -1, reals = 0, ints = 0, rank, info, lwork
    cdef double[4] answer
    cdef lint[4] few
    cdef char how = job.options[0]
    memset(answer, 0, sizeof(answer))
    memset(few, 0, sizeof(few))
    if how == c"0" or how == c"1":
        lwork = 2 * least + 3 * job.n + BLOCK * (job.n + job.k + 2) + 64
        reals, ints = 2 * job.n, job.n
    else:
        _call_driver(job, 0, answer, &job.rcond, &rank, answer, &asked, <char*>answer + 16,
                     <char*>few, &info)
        lwork = wanted(job, <char*>answer) + 64
        ints = few[0] + 64
        if how == c"3":
            reals = 5 * least
        elif job.kind > 1:
            reals = <lint>((<float*>answer)[4] if job.real == 4 else answer[2]) + 64
    job.d_step = _rounded(reals * job.real)
    return run_each(_one_system, job, lwork, job.d_step + 16 + ints * sizeof(lint),
                    <double>job.m * job.n * (least + job.k))


cdef void _call_driver(Job* job, npy_intp i, void* values, void* rcond, lint* rank, void* work,
                       lint* lwork, char* rwork, char* iwork, lint* info) noexcept nogil:
    cdef char none = c"N", how = job.options[0]
    cdef char* a = job.a + i * job.a_step
    cdef char* b = job.b + i * job.b_step
    cdef bint is_complex = job.kind > 1
    if how == c"0":
        (<call11_t>job.call)(
            &none, &job.m, &job.n, &job.k, a, &job.lda, b, &job.ldb, work, lwork, info)
    elif how == c"1" and is_complex:
        (<call14_t>job.call)(
            &job.m, &job.n, &job.k, a, &job.lda, b, &job.ldb, iwork, rcond, rank, work, lwork,
            rwork, info)
    elif how == c"1":
        (<call13_t>job.call)(
            &job.m, &job.n, &job.k, a, &job.lda, b, &job.ldb, iwork, rcond, rank, work, lwork,
            info)
    elif how == c"2" and is_complex:
        (<call15_t>job.call)(
            &job.m, &job.n, &job.k, a, &job.lda, b, &job.ldb, values, rcond, rank, work, lwork,
            rwork, iwork, info)
    elif how == c"2":
        (<call14_t>job.call)(
            &job.m, &job.n, &job.k, a, &job.lda, b, &job.ldb, values, rcond, rank, work, lwork,
            iwork, info)
    elif is_complex:
        (<call14_t>job.call)(
            &job.m, &job.n, &job.k, a, &job.lda, b, &job.ldb, values, rcond, rank, work, lwork,
            rwork, info)
    else:
        (<call13_t>job.call)(
            &job.m, &job.n, &job.k, a, &job.lda, b, &job.ldb, values, rcond, rank, work, lwork,
            info)


def lstsq(ndarray a not None, ndarray b not None, str driver not None, double rcond):
    """Return the solutions, in matrices with more rows where A is tall; the ranks, or None; the
    singular values, or None; and info. The rest of the rows gives the residuals."""
    return _lstsq(a, b, ("gels", "gelsy", "gelsd", "gelss").index(driver), rcond)


cdef tuple _lstsq(ndarray a, ndarray b, int which, double rcond):
    cdef Job job
    cdef Routine[4] routines = [GELS, GELSY, GELSD, GELSS]
    cdef npy_intp m = size_of(a, 2), n = size_of(a, 1), least = min(m, n)
    if which == 3 and least > DIVIDED:
        which = 2
    cdef ndarray made, x, info
    cdef ndarray ranks = None
    cdef ndarray values = None
    start(&job, a)
    job.call = routine(routines[which], job.kind)
    made, x = in_columns(a), matrix_stack(a, max(m, n), size_of(b, 1))
    if not skipping():
        x[...] = 0
    copy_columns(x, b, False)
    info = infos_of(&job, a)
    matrix_of(&job, made)
    right_side(&job, x)
    job.rcond = rcond
    job.options[0] = c"0" + which
    if which > 0:
        ranks = vector_stack(a, cnp.NPY_INT64, -1)
        if not least:
            ranks[...] = 0
        job.pivots = <int32_t*>data_of(ranks)
    if which > 1:
        values = vector_stack(a, real_type(a), least)
        values[...] = 0
        job.c, job.c_step = data_of(values), least * job.real
    _solve_all(&job)
    return x, ranks, values, info


# ---- fast cases ----

cdef object _qr_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_qr(A, mode)."""
    cdef ndarray a = storage(<Tensor>args[0])
    if some_matrices(a) and <object>args[1] == "reduced":
        return deliver(op, _qr(a, False, False), args)
    return run_general(op, keys, args)


cdef object _lstsq_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_lstsq(self, b, rcond, *, driver), of matrices and with the defaults."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef ndarray b = storage(<Tensor>args[1])
    cdef npy_intp none = 0
    cdef tuple found
    if args[op.nargs] != NULL or a.ndim != 2 or b.ndim != 2 or not some_matrices(a) or (
            cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b) or a.shape[0] != b.shape[0]
            or not b.shape[1] or <object>args[2] is not None or <object>args[3] is not None):
        return run_general(op, keys, args)
    found = _lstsq(a, b, 1, epsilon(a) * max(a.shape[0], a.shape[1]))
    if not all_zero(found[3]):
        return run_general(op, keys, args)
    return deliver(op, (found[0][:a.shape[1]], empty(real_type(a), 1, &none), found[1],
                        empty(real_type(a), 1, &none)), args)


qr_fast = CKernel.new(_qr_kernel)
lstsq_fast = CKernel.new(_lstsq_kernel)
