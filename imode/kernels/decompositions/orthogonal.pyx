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
from imode.kernels.decompositions.lapack cimport (
    GELS, GELSD, GELSS, GELSY, GEQRF, ORGQR, ORMQR, Job, Routine, call11_t, call13_t, call14_t,
    call15_t, call8_t, call9_t, lint, routine, run_each, start, wanted)
from imode.kernels.decompositions.stacks cimport (
    all_zero, clear_triangle, copy_columns, data_of, epsilon, in_columns, infos_of, leading,
    matrix_of, matrix_stack, real_type, right_side, size_of, some_matrices, vector_stack)
from libc.math cimport copysign, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "orthogonal.h" nogil:
    enum:
        IMODE_FEW                 # rows and columns up to which the next function serves
    int imode_least_squares(int wide, long m, long n, long k, const void* a, void* b, long ldb,
                            int pivots, double rcond) noexcept

cdef enum:
    BLOCK = 32                    # columns that blocked routines work on at once
    FEW = 16                      # rows and columns up to which they are not called
    # Singular values from which on gelsd does what gelss does, many times faster.
    DIVIDED = 32


# ---- few rows and columns, for which LAPACK's calls cost more than the work ----

ctypedef fused number:
    float
    double


cdef bint _moderate(const number* a, npy_intp n) noexcept nogil:
    """Whether no square, nor a sum of some, is beyond double precision."""
    cdef npy_intp i
    cdef bint good = True
    for i in range(n):
        good &= 1e-140 < fabs(a[i]) < 1e140 or a[i] == 0
    return good


cdef inline void _reflect(number* column, const number* v, npy_intp m, number tau) noexcept nogil:
    """A column less tau v v^T times it; the first of v is 1."""
    cdef npy_intp r
    cdef number along = column[0]
    for r in range(1, m):
        along += v[r] * column[r]
    along *= tau
    column[0] -= along
    for r in range(1, m):
        column[r] -= along * v[r]


cdef void _few_qr(number* a, npy_intp m, npy_intp n, number* tau) noexcept nogil:
    """R and the reflectors in the place of a matrix, as geqrf gives them."""
    cdef npy_intp i, j, r
    cdef double below, beta
    cdef number* v
    for i in range(min(m, n)):
        v, below = a + i * m + i, 0
        for r in range(1, m - i):
            below += <double>v[r] * v[r]
        if below == 0:
            tau[i] = 0
            continue
        beta = -copysign(sqrt(<double>v[0] * v[0] + below), <double>v[0])
        tau[i] = <number>((beta - v[0]) / beta)
        for r in range(1, m - i):
            v[r] = <number>(v[r] / (v[0] - beta))
        for j in range(i + 1, n):
            _reflect(a + j * m + i, v, m - i, tau[i])
        v[0] = <number>beta


cdef void _few_q(number* a, npy_intp m, npy_intp n, npy_intp k, const number* tau) noexcept nogil:
    """The first n columns of the product of k reflections in the place of the reflectors."""
    cdef npy_intp i, j, r
    cdef number* v
    for j in range(k, n):
        for r in range(m):
            a[j * m + r] = r == j
    for i in range(k - 1, -1, -1):
        v = a + i * m + i
        for j in range(i + 1, n):
            _reflect(a + j * m + i, v, m - i, tau[i])
        for r in range(1, m - i):
            v[r] *= -tau[i]
        v[0] = 1 - tau[i]
        for r in range(i):
            a[i * m + r] = 0


cdef inline bint _are_few(Job* job, npy_intp i, npy_intp columns) noexcept nogil:
    """Whether the functions above serve the i-th matrix, of which the first columns are given."""
    cdef char* a = job.a + i * job.a_step
    if job.kind > 1 or job.m > FEW or job.n > FEW or job.lda != job.m:
        return False
    if job.kind:
        return _moderate(<double*>a, job.m * columns)
    return _moderate(<float*>a, job.m * columns)


# ---- QR ----

cdef void _one_qr(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    """a: the matrices; c: the factors of the reflectors."""
    cdef char* tau = job.c + i * job.c_step
    if _are_few(job, i, job.n):
        if job.kind:
            _few_qr(<double*>(job.a + i * job.a_step), job.m, job.n, <double*>tau)
        else:
            _few_qr(<float*>(job.a + i * job.a_step), job.m, job.n, <float*>tau)
        return
    (<call8_t>job.call)(&job.m, &job.n, job.a + i * job.a_step, &job.lda, job.c + i * job.c_step,
                        work, lwork, info)


cdef tuple _geqrf(ndarray a):
    cdef Job job
    cdef ndarray made, tau
    cdef npy_intp least = min(size_of(a, 2), size_of(a, 1))
    start(&job, a)
    job.call = routine(GEQRF, job.kind)
    made, tau = in_columns(a), vector_stack(a, cnp.PyArray_TYPE(a), least)
    matrix_of(&job, made)
    job.c, job.c_step = data_of(tau), least * job.item
    run_each(_one_qr, &job, job.n * BLOCK, 0, <double>job.m * job.n * least)
    return made, tau


def geqrf(ndarray a not None):
    """Return R with the reflectors that make Q, and their factors."""
    return _geqrf(a)


cdef void _one_q(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    cdef char* tau = job.c + i * job.c_step
    if _are_few(job, i, job.k) and job.n <= job.m:
        if job.kind:
            _few_q(<double*>(job.a + i * job.a_step), job.m, job.n, job.k, <double*>tau)
        else:
            _few_q(<float*>(job.a + i * job.a_step), job.m, job.n, job.k, <float*>tau)
        return
    (<call9_t>job.call)(&job.m, &job.n, &job.k, job.a + i * job.a_step, &job.lda,
                        job.c + i * job.c_step, work, lwork, info)


cdef int _reflectors_to_q(ndarray q, ndarray tau) except -1:
    """In place of the reflectors, the first columns of the product of the reflections."""
    cdef Job job
    start(&job, q)
    job.call = routine(ORGQR, job.kind)
    matrix_of(&job, q)
    job.k, job.c, job.c_step = size_of(tau, 1), data_of(tau), size_of(tau, 1) * job.item
    return run_each(_one_q, &job, job.n * BLOCK, 0, <double>job.m * job.n * job.k)


def householder_product(ndarray a not None, ndarray tau not None):
    """Return the first columns of the product of reflections, given as geqrf does."""
    cdef ndarray q = in_columns(a)
    _reflectors_to_q(q, cnp.PyArray_GETCONTIGUOUS(tau))
    return q


cdef tuple _qr(ndarray a, bint complete, bint only_r):
    """(Q, R), Q None where only R is wanted."""
    cdef tuple found = _geqrf(a)
    cdef ndarray made = found[0]
    cdef ndarray q = None
    cdef ndarray r
    cdef npy_intp m = size_of(a, 2), n = size_of(a, 1), least = min(m, n), i
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a)
    cdef npy_intp rows = m if complete else least
    cdef npy_intp count = 1
    cdef char* to
    r = matrix_stack(a, rows, n)
    if not only_r:
        q = matrix_stack(a, m, rows)
    for i in range(a.ndim - 2):
        count *= a.shape[i]
    for i in range(0 if skipping() else count):
        to = data_of(r) + i * rows * n * item
        _copy_part(to, rows, data_of(made) + i * m * n * item, m, rows, n, item)
        clear_triangle(to, item, rows, n, rows, True)
        if q is not None:
            _copy_part(data_of(q) + i * m * rows * item, m, data_of(made) + i * m * n * item, m, m,
                       least, item)
    if q is not None:
        _reflectors_to_q(q, found[1])
    return q, r


cdef void _copy_part(char* to, npy_intp to_ld, const char* given, npy_intp ld, npy_intp m,
                     npy_intp n, npy_intp item) noexcept:
    """The first m rows and n columns."""
    cdef npy_intp j
    for j in range(n if m else 0):
        memcpy(to + j * to_ld * item, given + j * ld * item, m * item)


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
