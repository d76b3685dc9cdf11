"""Factorization by elimination, LU, and what follows from it: solutions of systems, inverses,
determinants.

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
from imode.kernels.decompositions.halves cimport (
    COLUMNS, exchange, factor, invert, solve_triangle)
from imode.kernels.decompositions.lapack cimport (
    GETRF, GETRI, MAX_DIMS, TRSM, Job, call11_t, call6_t, call7_t, kind_of, lint, routine, run,
    run_each, run_shared, start, write_pivots)
from imode.kernels.decompositions.stacks cimport (
    all_zero, as_columns, copy_columns, data_of, element, in_columns, infos_of, like_stacks,
    matrix_of, new_columns, pivots_of, put, right_side, size_of, square, swapped, vector_stack)
from libc.math cimport NAN, hypot, log
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

import numpy as np
from imode import errors

cnp.import_array()

cdef extern from "factor.h" nogil:
    enum:
        IMODE_FEW                 # rows and columns up to which LAPACK's calls cost more
    void imode_lu(int wide, long count, long m, long n, void* a, int32_t* pivots,
                  int32_t* info) noexcept
    void imode_inverse(int wide, long count, long n, void* a, int32_t* info) noexcept
    void imode_solve_lu(int wide, long count, long n, long k, const void* a, const int32_t* pivots,
                        void* b) noexcept

cdef call6_t[4] _getrf
cdef call7_t[4] _getri


def columns(ndarray a not None):
    """Return a copy whose matrices lie column by column."""
    return in_columns(a)


cdef inline bint _few(Job* job) noexcept nogil:
    return job.kind <= 1 and 0 < job.m <= IMODE_FEW and 0 < job.n <= IMODE_FEW and (
        job.lda == job.m)


# ---- LU ----

cdef void _one_lu(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    cdef lint* pivots = <lint*>work
    if job.kind <= 1:
        info[0] = factor(job.kind, job.m, job.n, job.a + i * job.a_step, job.lda,
                         job.pivots + i * job.pivots_step, job.count == 1)
        job.no_memory |= info[0] < 0
        return
    _getrf[job.kind](&job.m, &job.n, job.a + i * job.a_step, &job.lda, pivots, info)
    write_pivots(job, i, pivots, min(job.m, job.n))


cdef void _lu_few(Job* job) noexcept nogil:
    imode_lu(job.kind, job.count, job.m, job.n, job.a, job.pivots, job.info)


cdef void _swap_rows(char* b, npy_intp item, lint n, lint k, lint ldb, const int32_t* pivots,
                     bint back) noexcept nogil:
    """The exchanges of rows that LU was made with, or their inverse."""
    cdef char[16] kept
    cdef char* row
    cdef char* other
    cdef lint i, step, _column
    for step in range(n):
        i = n - 1 - step if back else step
        if pivots[i] != i + 1 and 0 < pivots[i] <= n:
            row, other = b + i * item, b + (pivots[i] - 1) * item
            for _column in range(k):
                memcpy(kept, row, item)
                memcpy(row, other, item)
                memcpy(other, kept, item)
                row += ldb * item
                other += ldb * item


cdef void _solve_by_halves(Job* job, bint plain, char* a, char* b,
                           const int32_t* pivots) noexcept nogil:
    cdef npy_intp rows = 1 if plain else job.lda, columns = job.lda if plain else 1
    cdef bint share = job.count == 1
    if plain:
        exchange(job.kind, job.n, job.k, b, job.ldb, pivots, False)
    if not (solve_triangle(job.kind, True, plain, job.n, job.k, a, rows, columns, b, job.ldb, share)
            and solve_triangle(job.kind, False, not plain, job.n, job.k, a, rows, columns, b,
                               job.ldb, share)):
        job.no_memory = True
    if not plain:
        exchange(job.kind, job.n, job.k, b, job.ldb, pivots, True)


cdef void _solve_lu(Job* job) noexcept nogil:
    """From LU, the pivots and the right-hand sides the solutions, in the place of these."""
    cdef call11_t trsm = <call11_t>job.call
    cdef char* how = &job.options[0]
    cdef char[4] letters = [c"L", c"U", c"N", c"U"]    # SIDE; UPLO: L, U; DIAG: N, U
    cdef bint plain = how[0] == c"N"
    cdef double[2] one
    cdef char* a
    cdef char* b
    cdef npy_intp i
    put(<char*>one, job.kind, 1, 0)
    if plain and _few(job) and job.ldb == job.n:
        imode_solve_lu(job.kind, job.count, job.n, job.k, job.a, job.pivots, job.b)
        return
    if job.kind <= 1 and (plain or job.k >= COLUMNS):
        for i in range(job.count if job.n else 0):
            _solve_by_halves(job, plain, job.a + i * job.a_step, job.b + i * job.b_step,
                             job.pivots + i * job.pivots_step)
        return
    for i in range(job.count if job.n and job.k else 0):
        a, b = job.a + i * job.a_step, job.b + i * job.b_step
        if plain:
            _swap_rows(b, job.item, job.n, job.k, job.ldb, job.pivots + i * job.pivots_step, False)
            trsm(letters, letters, how, &letters[3], &job.n, &job.k, one, a, &job.lda, b, &job.ldb)
        trsm(letters, &letters[1], how, &letters[2], &job.n, &job.k, one, a, &job.lda, b, &job.ldb)
        if not plain:
            trsm(letters, letters, how, &letters[3], &job.n, &job.k, one, a, &job.lda, b, &job.ldb)
            _swap_rows(b, job.item, job.n, job.k, job.ldb, job.pivots + i * job.pivots_step, True)


cdef tuple _lu(ndarray a, bint transposed=False):
    """(LU, pivots, info) of a stack, or of the transposed matrices."""
    cdef Job job
    cdef npy_intp least = min(size_of(a, 2), size_of(a, 1))
    cdef ndarray made, pivots, info
    start(&job, a)
    _getrf[job.kind] = <call6_t>routine(GETRF, job.kind)
    made = new_columns(cnp.PyArray_TYPE(a), a.ndim, a.shape)
    copy_columns(made, a, transposed)
    pivots = vector_stack(a, cnp.NPY_INT32, least)
    info = infos_of(&job, a)
    matrix_of(&job, made)
    pivots_of(&job, pivots)
    if _few(&job):
        run_shared(_lu_few, &job, <double>job.m * job.n * least / 3)
    else:
        run_each(_one_lu, &job, 0, least * sizeof(lint), <double>job.m * job.n * least / 3)
    return made, pivots, info


def lu(ndarray a not None):
    """Return LU, pivots and info of each matrix."""
    return _lu(a)


cdef int _solve_in_place(ndarray made, ndarray pivots, ndarray b, char how) except -1:
    cdef Job job
    start(&job, made)
    job.call = routine(TRSM, job.kind)
    matrix_of(&job, made)
    right_side(&job, b)
    pivots_of(&job, pivots)
    job.options[0] = how
    return run(_solve_lu, &job, <double>job.n * job.n * job.k)


cdef int _check_pivots(ndarray pivots, npy_intp n) except -1:
    cdef const int32_t* row = <const int32_t*>data_of(pivots)
    cdef npy_intp i
    cdef int least = 1, most = 0
    if skipping():
        return 0
    for i in range(cnp.PyArray_SIZE(pivots)):
        least, most = min(least, row[i]), max(most, row[i])
    if least < 1 or most > n:
        raise errors.linalg.no_pivots(least >= 1)
    return 0


def lu_solve(ndarray factors not None, ndarray pivots not None, ndarray b not None, bint left,
             bint adjoint):
    """Solve A X = B or X A = B, or with the adjoint of A, from the factors of A."""
    cdef ndarray x = new_columns(cnp.PyArray_TYPE(b), b.ndim, b.shape)
    cdef bint is_complex = kind_of(b) > 1
    _check_pivots(pivots, size_of(factors, 1))
    factors = as_columns(factors)
    if left:
        copy_columns(x, b, False)
        _solve_in_place(factors, pivots, x, c"C" if adjoint else c"N")
        return x
    # X A = B is A.T X.T = B.T; X A^H = B is conj(A) X.T = B.T, so A conj(X.T) = conj(B.T).
    x = in_columns(swapped(b))
    if is_complex and adjoint:
        np.conjugate(x, x)
    _solve_in_place(factors, pivots, x, c"N" if adjoint else c"T")
    if is_complex and adjoint:
        np.conjugate(x, x)
    return swapped(x)


cdef tuple _solve(ndarray a, ndarray b, bint left, bint vector):
    """(solution, LU, pivots, info); vectors count as columns."""
    cdef tuple found = _lu(a)
    cdef ndarray factors = found[0]
    cdef ndarray pivots = found[1]
    cdef ndarray x, wide
    cdef npy_intp[MAX_DIMS] dims
    cdef int d
    for d in range(b.ndim):
        dims[d] = b.shape[d]
    if vector:
        dims[b.ndim] = 1
        wide = b[..., None]
        x = new_columns(cnp.PyArray_TYPE(b), b.ndim + 1, dims)
        copy_columns(x, wide, False)
        _solve_in_place(factors, pivots, x, c"N" if left else c"T")
        x = x[..., 0]
        if b.ndim > 1:
            x = in_columns(x)
    elif left:
        x = new_columns(cnp.PyArray_TYPE(b), b.ndim, dims)
        copy_columns(x, b, False)
        _solve_in_place(factors, pivots, x, c"N")
    else:
        x = in_columns(swapped(b))
        _solve_in_place(factors, pivots, x, c"T")
        x = swapped(x)
    return x, factors, pivots, found[2]


def solve(ndarray a not None, ndarray b not None, bint left, bint vector):
    """Return the solutions of A X = B or X A = B, LU and pivots of A, and info."""
    return _solve(a, b, left, vector)


cdef void _one_inverse(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    cdef lint* pivots = <lint*>(work + lwork[0] * job.item)
    cdef char* a = job.a + i * job.a_step
    cdef npy_intp j
    cdef bint share = job.count == 1
    if job.kind <= 1:
        info[0] = factor(job.kind, job.n, job.n, a, job.lda, <int32_t*>pivots, share)
        job.no_memory |= info[0] < 0
    else:
        _getrf[job.kind](&job.n, &job.n, a, &job.lda, pivots, info)
    if <int32_t>info[0] == 0 and job.kind <= 1:
        job.no_memory |= not invert(job.kind, job.n, a, job.lda, <int32_t*>pivots, work, share)
        memcpy(a, work, job.n * job.n * job.item)
    elif <int32_t>info[0] == 0:
        _getri[job.kind](&job.n, a, &job.lda, pivots, work, lwork, info)
    else:
        for j in range(job.n * job.n):
            put(a + j * job.item, job.kind, NAN, NAN)


cdef void _inverse_few(Job* job) noexcept nogil:
    imode_inverse(job.kind, job.count, job.n, job.a, job.info)


cdef tuple _inverse(ndarray a):
    cdef Job job
    cdef ndarray made, info
    start(&job, a)
    _getrf[job.kind] = <call6_t>routine(GETRF, job.kind)
    _getri[job.kind] = <call7_t>routine(GETRI, job.kind)
    made, info = in_columns(a), infos_of(&job, a)
    matrix_of(&job, made)
    if _few(&job):
        run_shared(_inverse_few, &job, <double>job.n * job.n * job.n)
    else:
        run_each(_one_inverse, &job, (64 if job.kind > 1 else job.n) * job.n, job.n * sizeof(lint),
                 <double>job.n * job.n * job.n)
    return made, info


def inverse(ndarray a not None):
    """Return the inverses and info."""
    return _inverse(a)


# ---- L, U and the permutation ----

cdef void _permute(const int32_t* pivots, npy_intp least, npy_intp m, npy_intp* order) noexcept:
    """Which row of the product L U each row of the matrix is: the column of its one in P."""
    cdef npy_intp i, j
    for i in range(m):
        order[i] = i
    for i in range(least):
        j = pivots[i] - 1
        if 0 <= j < m:
            order[i], order[j] = order[j], order[i]


def permutation(ndarray pivots not None, npy_intp m):
    """Return, for each column of the permutation matrices, the row that holds its one."""
    cdef npy_intp least = size_of(pivots, 1), i
    pivots = cnp.PyArray_GETCONTIGUOUS(pivots)
    order = np.empty((<object>pivots).shape[:pivots.ndim - 1] + (m,), np.intp)
    for i in range(order.size // m if m else 0):
        _permute(<int32_t*>data_of(pivots) + i * least, least, m,
                 <npy_intp*>data_of(<ndarray>order) + i * m)
    return order


cdef ndarray _rows_of(ndarray a, npy_intp m, npy_intp n):
    """New matrices of zeros, row by row, one for each of a stack."""
    cdef npy_intp[MAX_DIMS] dims
    cdef int d
    cdef ndarray made
    for d in range(a.ndim - 2):
        dims[d] = a.shape[d]
    dims[a.ndim - 2], dims[a.ndim - 1] = m, n
    made = empty(cnp.PyArray_TYPE(a), a.ndim, dims)
    memset(cnp.PyArray_DATA(made), 0, cnp.PyArray_NBYTES(made))
    return made


cdef tuple _unpack(ndarray factors, ndarray pivots):
    """(P, L, U) of factors that lie column by column."""
    cdef Job job
    cdef npy_intp m = size_of(factors, 2), n = size_of(factors, 1), least = min(m, n), i, j, b
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(factors)
    cdef ndarray p = _rows_of(factors, m, m)
    cdef ndarray lower = _rows_of(factors, m, least)
    cdef ndarray upper = _rows_of(factors, least, n)
    cdef npy_intp* order = <npy_intp*>malloc((m + 1) * sizeof(npy_intp))
    cdef char* a
    cdef char* to_p = data_of(p)
    cdef char* to_l = data_of(lower)
    cdef char* to_u = data_of(upper)
    if order == NULL:
        raise MemoryError
    start(&job, factors)
    for b in range(job.count):
        a = data_of(factors) + b * m * n * item
        _permute(<int32_t*>data_of(pivots) + b * least, least, m, order)
        for i in range(m):
            put(to_p + (order[i] * m + i) * item, job.kind, 1, 0)
            for j in range(min(i, least)):
                memcpy(to_l + (i * least + j) * item, a + (j * m + i) * item, item)
            if i < least:
                put(to_l + (i * least + i) * item, job.kind, 1, 0)
                for j in range(i, n):
                    memcpy(to_u + (i * n + j) * item, a + (j * m + i) * item, item)
        to_p, to_l, to_u = to_p + m * m * item, to_l + m * least * item, to_u + least * n * item
    free(order)
    return p, lower, upper


def lu_parts(ndarray a not None):
    """Return P, L and U."""
    cdef tuple found = _lu(a)
    return _unpack(found[0], found[1])


# ---- triangular systems ----

cdef void _solve_triangular(Job* job) noexcept nogil:
    """op(A) X = B or X op(A) = B; options: SIDE, UPLO, TRANSA, DIAG."""
    cdef call11_t trsm = <call11_t>job.call
    cdef bint plain = job.options[2] == c"N"
    cdef npy_intp i
    cdef double[2] one
    put(<char*>one, job.kind, 1, 0)
    if job.kind <= 1 and job.options[0] == c"L" and (
            plain and job.m > IMODE_FEW or job.n >= COLUMNS):
        for i in range(job.count if job.m else 0):
            if not solve_triangle(
                    job.kind, (job.options[1] == c"L") == plain, job.options[3] == c"U", job.m,
                    job.n, job.a + i * job.a_step, 1 if plain else job.lda,
                    job.lda if plain else 1, job.b + i * job.b_step, job.ldb, job.count == 1):
                job.no_memory = True
        return
    for i in range(job.count if job.m and job.n else 0):
        trsm(&job.options[0], &job.options[1], &job.options[2], &job.options[3], &job.m, &job.n,
             one, job.a + i * job.a_step, &job.lda, job.b + i * job.b_step, &job.ldb)


cdef ndarray _triangular(ndarray a, ndarray b, bint upper, bint left, bint unit, char how):
    """The solution, column by column. A matrix that lies row by row is the transposed one of the
    other triangle, where no conjugate is wanted."""
    cdef Job job
    cdef int nd = a.ndim
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a), n = a.shape[nd - 1]
    cdef ndarray x = in_columns(b)
    cdef bint flat = nd == 2
    start(&job, b)
    job.call = routine(TRSM, job.kind)
    if flat and how != c"C" and n and a.strides[1] == item and a.strides[0] >= n * item:
        job.a, job.lda, upper = data_of(a), a.strides[0] // item, not upper
        how = c"N" if how == c"T" else c"T"
    else:
        if not (flat and n and a.strides[0] == item and a.strides[1] >= n * item):
            a = in_columns(a)
        matrix_of(&job, a)
    right_side(&job, x)
    job.m, job.n = size_of(b, 2), size_of(b, 1)
    job.options = [c"L" if left else c"R", c"U" if upper else c"L", how, c"U" if unit else c"N"]
    run(_solve_triangular, &job, <double>n * job.m * job.n / 2)
    return x


def triangular(ndarray a not None, ndarray b not None, bint upper, bint left, bint unit,
               bint transpose):
    """Return the solutions of A X = B, X A = B, or of A.T X = B."""
    return _triangular(a, b, upper, left, unit, c"T" if transpose else c"N")


# ---- determinants ----

cdef void _multiply_diagonals(Job* job, npy_intp i, double* re, double* im,
                              double* logarithm) noexcept nogil:
    """The product of the diagonal of LU with the sign of the pivots, or its direction alone and the
    sum of logarithms."""
    cdef npy_intp j
    cdef double x, y, size
    cdef const int32_t* pivots = job.pivots + i * job.pivots_step
    re[0], im[0] = 1, 0
    for j in range(job.n):
        element(job.a + i * job.a_step + j * (job.lda + 1) * job.item, job.kind, &x, &y)
        if logarithm != NULL:
            size = hypot(x, y) if job.kind > 1 else abs(x)
            logarithm[0] += log(size)
            if size:
                x, y = x / size, y / size
        if pivots[j] != j + 1:
            x, y = -x, -y
        if job.kind > 1:
            re[0], im[0] = re[0] * x - im[0] * y, re[0] * y + im[0] * x
        else:
            re[0] *= x


cdef void _determine(Job* job) noexcept nogil:
    cdef npy_intp i
    cdef double re, im
    for i in range(job.count):
        _multiply_diagonals(job, i, &re, &im, NULL)
        put(job.b + i * job.item, job.kind, re, im)


cdef void _determine_sign(Job* job) noexcept nogil:
    cdef npy_intp i
    cdef double re, im, logarithm
    for i in range(job.count):
        logarithm = 0
        _multiply_diagonals(job, i, &re, &im, &logarithm)
        put(job.b + i * job.item, job.kind, re, im)
        put(job.c + i * job.real, job.kind & 1, logarithm, 0)


cdef tuple _det(ndarray a, bint parts):
    """(determinant, LU, pivots), or (sign, logarithm of the absolute value, LU, pivots)."""
    cdef tuple found = _lu(a)
    cdef ndarray factors = found[0]
    cdef ndarray pivots = found[1]
    cdef ndarray product = empty(cnp.PyArray_TYPE(a), a.ndim - 2, a.shape)
    cdef ndarray logarithm
    cdef Job job
    start(&job, a)
    matrix_of(&job, factors)
    pivots_of(&job, pivots)
    job.b, job.b_step = data_of(product), job.item
    if not parts:
        run_shared(_determine, &job, job.n)
        return product, factors, pivots
    logarithm = empty(cnp.NPY_DOUBLE if job.kind & 1 else cnp.NPY_FLOAT, a.ndim - 2, a.shape)
    job.c, job.c_step = data_of(logarithm), job.real
    run_shared(_determine_sign, &job, job.n)
    return product, logarithm, factors, pivots


def det(ndarray a not None):
    """Return the determinants, LU and the pivots."""
    return _det(a, False)


def slogdet(ndarray a not None):
    """Return signs, logarithms of the absolute values of determinants, LU and the pivots."""
    return _det(a, True)


# ---- fast cases ----

cdef object _inv_ex_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_inv_ex(A, *, check_errors)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if square(a):
        found = _inverse(a)
        if <object>args[1] is False or all_zero(found[1]):
            return deliver(op, found, args)
    return run_general(op, keys, args)


cdef object _lu_factor_ex_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_lu_factor_ex(A, *, pivot, check_errors)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if a.ndim >= 2 and a.ndim < MAX_DIMS and kind_of(a) >= 0 and <object>args[1] is True:
        found = _lu(a)
        if <object>args[2] is False or all_zero(found[2]):
            return deliver(op, found, args)
    return run_general(op, keys, args)


cdef object _lu_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_lu(A, *, pivot)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if a.ndim >= 2 and a.ndim < MAX_DIMS and kind_of(a) >= 0 and <object>args[1] is True:
        found = _lu(a)
        return deliver(op, _unpack(found[0], found[1]), args)
    return run_general(op, keys, args)


cdef object _lu_solve_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_lu_solve(LU, pivots, B, *, left, adjoint), of matrices on the left."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef ndarray pivots = storage(<Tensor>args[1])
    cdef ndarray b = storage(<Tensor>args[2])
    if square(a) and a.ndim == 2 and b.ndim == 2 and pivots.ndim == 1 and (
            <object>args[3] is True and cnp.PyArray_TYPE(pivots) == cnp.NPY_INT32
            and cnp.PyArray_IS_C_CONTIGUOUS(pivots) and pivots.shape[0] == a.shape[0]
            and b.shape[0] == a.shape[0] and like_stacks(a, b)):
        return deliver(op, lu_solve(a, pivots, b, True, <object>args[4] is True), args)
    return run_general(op, keys, args)


cdef object _lu_unpack_kernel(Operator op, keyset_t keys, PyObject** args):
    """lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots), of all."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef ndarray pivots = storage(<Tensor>args[1])
    cdef npy_intp i, m
    if a.ndim < 2 or a.ndim >= MAX_DIMS or kind_of(a) < 0 or pivots.ndim != a.ndim - 1 or (
            cnp.PyArray_TYPE(pivots) != cnp.NPY_INT32 or not cnp.PyArray_IS_C_CONTIGUOUS(pivots)
            or <object>args[2] is not True or <object>args[3] is not True
            or size_of(pivots, 1) != min(size_of(a, 1), size_of(a, 2))):
        return run_general(op, keys, args)
    for i in range(a.ndim - 2):
        if a.shape[i] != pivots.shape[i]:
            return run_general(op, keys, args)
    m = size_of(a, 2)
    for i in range(cnp.PyArray_SIZE(pivots)):
        if not 1 <= (<int32_t*>cnp.PyArray_DATA(pivots))[i] <= m:
            return run_general(op, keys, args)
    return deliver(op, _unpack(in_columns(a), pivots), args)


cdef object _det_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    if square(a):
        return deliver(op, _det(a, False), args)
    return run_general(op, keys, args)


cdef object _slogdet_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef ndarray a = storage(<Tensor>args[0])
    if square(a):
        return deliver(op, _det(a, True), args)
    return run_general(op, keys, args)


cdef object _solve_ex_kernel(Operator op, keyset_t keys, PyObject** args):
    """_linalg_solve_ex(A, B, *, left, check_errors): of matrices, and of a lone vector."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef ndarray b = storage(<Tensor>args[1])
    cdef bint left = <object>args[2] is True
    cdef bint vector = a.ndim == 2 and b.ndim == 1
    cdef tuple found
    if square(a) and (
            size_of(b, 1) == size_of(a, 1) and left and cnp.PyArray_TYPE(a) == cnp.PyArray_TYPE(b)
            if vector else
            like_stacks(a, b) and size_of(b, 2 if left else 1) == size_of(a, 1)):
        found = _solve(a, b, left, vector)
        if <object>args[3] is False or all_zero(found[3]):
            return deliver(op, found, args)
    return run_general(op, keys, args)


cdef object _solve_triangular_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_solve_triangular(self, B, *, upper, left, unitriangular)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef ndarray b = storage(<Tensor>args[1])
    cdef bint left = <object>args[3] is True
    if args[op.nargs] == NULL and square(a) and like_stacks(a, b) and (
            size_of(b, 2 if left else 1) == size_of(a, 1)):
        return deliver(op, _triangular(a, b, <object>args[2] is True, left,
                                       <object>args[4] is True, c"N"), args)
    return run_general(op, keys, args)


inv_ex = CKernel.new(_inv_ex_kernel)
lu_factor_ex = CKernel.new(_lu_factor_ex_kernel)
lu_fast = CKernel.new(_lu_kernel)
lu_solve_fast = CKernel.new(_lu_solve_kernel)
lu_unpack = CKernel.new(_lu_unpack_kernel)
det_fast = CKernel.new(_det_kernel)
slogdet_fast = CKernel.new(_slogdet_kernel)
solve_ex = CKernel.new(_solve_ex_kernel)
solve_triangular = CKernel.new(_solve_triangular_kernel)
