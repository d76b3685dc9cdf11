"""Factorizations of symmetric and Hermitian matrices, Cholesky and LDL, and solutions by them.

The functions over ndarrays take matrices whose shapes, dtypes and stacks have been found to fit.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.tensor cimport Tensor, storage
from imode.kernels.decompositions.lapack cimport (
    HETRF, HETRS, POTRF, POTRI, POTRS, SYTRF, SYTRS, Job, call5_t, call8_t, call9_t, lint,
    read_pivots, routine, run_each, start, write_pivots)
from imode.kernels.decompositions.stacks cimport (
    all_zero, as_columns, clear_triangle, element, in_columns, infos_of, like_stacks, matrix_of,
    pivots_of, put, right_side, size_of, square, vector_stack)
from numpy cimport ndarray, npy_intp

cnp.import_array()


# ---- Cholesky ----

cdef void _one_cholesky(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    cdef char* a = job.a + i * job.a_step
    (<call5_t>job.call)(&job.options[0], &job.n, a, &job.lda, info)
    clear_triangle(a, job.item, job.n, job.n, job.lda, job.options[0] == c"U")


cdef tuple _cholesky(ndarray a, bint upper):
    cdef Job job
    cdef ndarray made, info
    start(&job, a)
    job.call = routine(POTRF, job.kind)
    made, info = in_columns(a), infos_of(&job, a)
    matrix_of(&job, made)
    job.options[0] = c"U" if upper else c"L"
    run_each(_one_cholesky, &job, 0, 0, <double>job.n * job.n * job.n / 6)
    return made, info


def cholesky(ndarray a not None, bint upper):
    """Return the factors, and info."""
    return _cholesky(a, upper)


cdef void _one_solution(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    if job.k:
        (<call8_t>job.call)(&job.options[0], &job.n, &job.k, job.a + i * job.a_step, &job.lda,
                            job.b + i * job.b_step, &job.ldb, info)


cdef ndarray _cholesky_solve(ndarray b, ndarray factor, bint upper):
    cdef Job job
    cdef ndarray x = in_columns(b)
    start(&job, factor)
    job.call = routine(POTRS, job.kind)
    factor = as_columns(factor)
    matrix_of(&job, factor)
    right_side(&job, x)
    job.options[0] = c"U" if upper else c"L"
    run_each(_one_solution, &job, 0, 0, <double>job.n * job.n * job.k)
    return x


def cholesky_solve(ndarray b not None, ndarray factor not None, bint upper):
    """Return the solutions of A X = B, given the factor of A."""
    return _cholesky_solve(b, factor, upper)


cdef void _reflect(char* a, int kind, npy_intp item, lint n, lint lda, bint upper) noexcept nogil:
    """Copy the triangle that is there to the other one, conjugated."""
    cdef lint i, j
    cdef double re, im
    for j in range(n):
        for i in range(j + 1, n):
            if upper:
                element(a + (i * lda + j) * item, kind, &re, &im)
                put(a + (j * lda + i) * item, kind, re, -im)
            else:
                element(a + (j * lda + i) * item, kind, &re, &im)
                put(a + (i * lda + j) * item, kind, re, -im)


cdef void _one_inverse(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    cdef char* a = job.a + i * job.a_step
    (<call5_t>job.call)(&job.options[0], &job.n, a, &job.lda, info)
    _reflect(a, job.kind, job.item, job.n, job.lda, job.options[0] == c"U")


cdef tuple _cholesky_inverse(ndarray factor, bint upper):
    cdef Job job
    cdef ndarray made, info
    start(&job, factor)
    job.call = routine(POTRI, job.kind)
    made, info = in_columns(factor), infos_of(&job, factor)
    matrix_of(&job, made)
    job.options[0] = c"U" if upper else c"L"
    run_each(_one_inverse, &job, 0, 0, <double>job.n * job.n * job.n / 3)
    return made, info


def cholesky_inverse(ndarray factor not None, bint upper):
    """Return the inverses of matrices, given their factors, and info."""
    return _cholesky_inverse(factor, upper)


# ---- LDL ----

cdef void _one_ldl(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    cdef lint* pivots = <lint*>(work + lwork[0] * job.item)
    cdef char* a = job.a + i * job.a_step
    (<call8_t>job.call)(&job.options[0], &job.n, a, &job.lda, pivots, work, lwork, info)
    clear_triangle(a, job.item, job.n, job.n, job.lda, False)
    write_pivots(job, i, pivots, job.n)


cdef tuple _ldl(ndarray a, bint hermitian):
    cdef Job job
    cdef ndarray made, pivots, info
    start(&job, a)
    job.call = routine(HETRF if hermitian else SYTRF, job.kind)
    made, pivots = in_columns(a), vector_stack(a, cnp.NPY_INT32, size_of(a, 1))
    info = infos_of(&job, a)
    matrix_of(&job, made)
    pivots_of(&job, pivots)
    job.options[0] = c"L"
    run_each(_one_ldl, &job, 64 * job.n, job.n * sizeof(lint),
             <double>job.n * job.n * job.n / 6)
    return made, pivots, info


def ldl(ndarray a not None, bint hermitian):
    """Return L with D on its diagonals, the pivots and info, from the lower triangles."""
    return _ldl(a, hermitian)


cdef void _one_ldl_solution(Job* job, npy_intp i, char* work, lint* lwork,
                            lint* info) noexcept nogil:
    cdef lint* pivots = <lint*>work
    if job.k:
        read_pivots(job, i, pivots, job.n)
        (<call9_t>job.call)(&job.options[0], &job.n, &job.k, job.a + i * job.a_step, &job.lda,
                            pivots, job.b + i * job.b_step, &job.ldb, info)


def ldl_solve(ndarray factors not None, ndarray pivots not None, ndarray b not None,
              bint hermitian):
    """Return the solutions of A X = B, given L, D and the pivots of A."""
    cdef Job job
    cdef ndarray x = in_columns(b)
    start(&job, factors)
    job.call = routine(HETRS if hermitian else SYTRS, job.kind)
    factors = as_columns(factors)
    matrix_of(&job, factors)
    right_side(&job, x)
    pivots_of(&job, pivots)
    job.options[0] = c"L"
    run_each(_one_ldl_solution, &job, 0, job.n * sizeof(lint), <double>job.n * job.n * job.k)
    return x


# ---- fast cases ----

cdef object _ldl_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_ldl_factor_ex(self, *, hermitian, check_errors)."""
    cdef ndarray a = storage(<Tensor>args[0])
    if square(a) and <object>args[2] is False:
        return deliver(op, _ldl(a, <object>args[1] is True), args)
    return run_general(op, keys, args)


cdef object _cholesky_ex_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_cholesky_ex(self, *, upper, check_errors)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if square(a):
        found = _cholesky(a, <object>args[1] is True)
        if <object>args[2] is False or all_zero(found[1]):
            return deliver(op, found, args)
    return run_general(op, keys, args)


cdef object _cholesky_kernel(Operator op, keyset_t keys, PyObject** args):
    """cholesky(self, upper)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if square(a) and cnp.PyArray_SIZE(a):
        found = _cholesky(a, <object>args[1] is True)
        if all_zero(found[1]):
            return deliver(op, found[0], args)
    return run_general(op, keys, args)


cdef object _cholesky_solve_kernel(Operator op, keyset_t keys, PyObject** args):
    """cholesky_solve(self, input2, upper)."""
    cdef ndarray b = storage(<Tensor>args[0])
    cdef ndarray a = storage(<Tensor>args[1])
    if square(a) and like_stacks(a, b) and size_of(b, 2) == size_of(a, 1):
        return deliver(op, _cholesky_solve(b, a, <object>args[2] is True), args)
    return run_general(op, keys, args)


cdef object _cholesky_inverse_kernel(Operator op, keyset_t keys, PyObject** args):
    """cholesky_inverse(self, upper)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if square(a):
        found = _cholesky_inverse(a, <object>args[1] is True)
        if all_zero(found[1]):
            return deliver(op, found[0], args)
    return run_general(op, keys, args)


ldl_fast = CKernel.new(_ldl_kernel)
cholesky_ex_fast = CKernel.new(_cholesky_ex_kernel)
cholesky_fast = CKernel.new(_cholesky_kernel)
cholesky_solve_fast = CKernel.new(_cholesky_solve_kernel)
cholesky_inverse_fast = CKernel.new(_cholesky_inverse_kernel)
