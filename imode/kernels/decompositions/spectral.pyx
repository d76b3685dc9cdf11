"""Singular values, and eigenvalues of Hermitian and of any matrices, with their vectors.

The functions over ndarrays take matrices whose shapes, dtypes and stacks have been found to fit.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport empty, release
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport skipping
from imode._core.tensor cimport Tensor, storage
from imode.kernels.decompositions.lapack cimport (
    GEEV, GESDD, MAX_DIMS, SYEVD, Job, asked, call11_t, call13_t, call14_t, call15_t, kind_of,
    lint, routine, run, run_each, start)
from imode.kernels.decompositions.stacks cimport (
    all_zero, copy_columns, data_of, epsilon, in_columns, infos_of, leading, matrix_of,
    matrix_stack, new_columns, real_type, size_of, some_matrices, vector_stack)
from imode.kernels.fast_guards cimport PyFloat_CheckExact
from libc.stdint cimport int64_t
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "spectral.h" nogil:
    size_t imode_eigh_work(int wide, long n) noexcept
    size_t imode_eig_work(int wide, long n) noexcept
    int imode_eigh(int wide, long n, void* a, int upper, int vectors, void* values,
                   void* work) noexcept
    int imode_eig(int wide, long n, const void* a, void* values, void* vectors,
                  void* work) noexcept
    enum:
        IMODE_VERY_FEW            # rows and columns of matrices that are worked on together
    int imode_singular_values(int wide, long count, long m, long n, const void* a,
                              void* values) noexcept

cdef enum:
    SMALL = 32                    # up to this size no routine asks for more than it must have
    BLOCK = 32                    # columns that blocked routines work on at once
    # Rows of real matrices up to which the functions above are faster than LAPACK's.
    MOST_SYMMETRIC = 128
    MOST_GENERAL = 240
    LINE = 64                     # bytes of a line of the cache
    PERIOD = 512                  # bytes: columns of a multiple share the sets of the cache


# ---- singular values ----

cdef void _one_svd(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    """options: JOBZ; b: U; c: singular values; d: V^H."""
    cdef char* ints = work + (lwork[0] * job.item + 7) // 8 * 8
    cdef char* rest = ints + 8 * min(job.m, job.n) * sizeof(lint)
    if job.kind > 1:
        (<call15_t>job.call)(
            &job.options[0], &job.m, &job.n, job.a + i * job.a_step, &job.lda,
            job.c + i * job.c_step, job.b + i * job.b_step, &job.ldb, job.d + i * job.d_step,
            &job.ldc, work, lwork, rest, ints, info)
    else:
        (<call14_t>job.call)(
            &job.options[0], &job.m, &job.n, job.a + i * job.a_step, &job.lda,
            job.c + i * job.c_step, job.b + i * job.b_step, &job.ldb, job.d + i * job.d_step,
            &job.ldc, work, lwork, ints, info)


cdef int _factor_svd(Job* job) except -1:
    """Run it with the workspace that it must have, or that it asks for, where that is more."""
    cdef lint least = min(job.m, job.n), most = max(job.m, job.n)
    cdef lint lwork = 4 * least * least + 10 * least + 2 * most + 1
    cdef lint reals = max(5 * least * least + 7 * least,
                          2 * most * least + 2 * least * least + least)
    if most > SMALL and least:
        lwork = max(lwork, asked(job, _one_svd))
    return run_each(_one_svd, job, lwork, 8 + 8 * least * sizeof(lint) + reals * job.real,
                    4.0 * job.m * job.n * least)


cdef void _singular_values(Job* job) noexcept nogil:
    """options: 1 afterwards if a matrix is left to LAPACK."""
    cdef npy_intp i
    job.options[1] = imode_singular_values(job.kind, job.count, job.m, job.n, job.a, job.c) != 0
    for i in range(job.count):
        job.info[i] = 0


cdef int _eye(ndarray a) except -1:
    """Fill new matrices, of which there may be none, with ones on the diagonals."""
    a[...] = 0
    cdef npy_intp i
    for i in range(min(size_of(a, 2), size_of(a, 1))):
        a[..., i, i] = 1
    return 0


cdef tuple _svd(ndarray a, bint full, bint vectors):
    """(U, S, V^H, info); U and V^H None where they are not wanted."""
    cdef Job job
    cdef npy_intp m = size_of(a, 2), n = size_of(a, 1), least = min(m, n)
    cdef ndarray made, values, info
    cdef PyObject* spare
    cdef ndarray u = None
    cdef ndarray vh = None
    start(&job, a)
    job.call = routine(GESDD, job.kind)
    made, values = in_columns(a), vector_stack(a, real_type(a), least)
    info = infos_of(&job, a)
    matrix_of(&job, made)
    job.c, job.c_step = data_of(values), least * job.real
    job.ldb = job.ldc = 1
    job.options[0] = c"N"
    if vectors:
        u = matrix_stack(a, m, m if full else least)
        vh = matrix_stack(a, n if full else least, n)
        job.b, job.ldb, job.b_step = data_of(u), leading(u), m * size_of(u, 1) * job.item
        job.d, job.ldc, job.d_step = data_of(vh), leading(vh), size_of(vh, 2) * n * job.item
        job.options[0] = c"A" if full else c"S"
        if not least:
            _eye(u)
            _eye(vh)
    elif 0 < max(m, n) <= IMODE_VERY_FEW and least and job.kind <= 1:
        run(_singular_values, &job, 4.0 * m * n * least)
        if not job.options[1]:
            return None, values, None, info
    _factor_svd(&job)
    spare = <PyObject*>made
    Py_INCREF(made)
    made = None
    release(spare)                # to be used again
    return u, values, vh, info


def svd(ndarray a not None, bint full, bint vectors):
    """Return U, the singular values, V^H and info."""
    return _svd(a, full, vectors)


# ---- eigenvalues of symmetric and Hermitian matrices ----

cdef void _one_eigh(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    """options: JOBZ, UPLO; c: eigenvalues."""
    if job.kind <= 1 and job.n <= MOST_SYMMETRIC and imode_eigh(
            job.kind, job.n, job.a + i * job.a_step, job.options[1] == c"U",
            job.options[0] == c"V", job.c + i * job.c_step, work) == 0:
        return
    cdef lint reals = 1 + 5 * job.n + 2 * job.n * job.n, ints = 3 + 5 * job.n
    cdef char* iwork = work + (lwork[0] * job.item + 7) // 8 * 8
    cdef char* rwork = iwork + ints * sizeof(lint)
    if job.kind > 1:
        (<call13_t>job.call)(
            &job.options[0], &job.options[1], &job.n, job.a + i * job.a_step, &job.lda,
            job.c + i * job.c_step, work, lwork, rwork, &reals, iwork, &ints, info)
    else:
        (<call11_t>job.call)(
            &job.options[0], &job.options[1], &job.n, job.a + i * job.a_step, &job.lda,
            job.c + i * job.c_step, work, lwork, iwork, &ints, info)


cdef tuple _eigh(ndarray a, bint upper, bint vectors):
    """(eigenvalues, eigenvectors, info)."""
    cdef Job job
    cdef ndarray made, values, info
    cdef lint n = size_of(a, 1), squares = 2 * n * n
    cdef npy_intp more
    start(&job, a)
    job.call = routine(SYEVD, job.kind)
    made, values, info = in_columns(a), vector_stack(a, real_type(a), n), infos_of(&job, a)
    matrix_of(&job, made)
    job.c, job.c_step = data_of(values), n * job.real
    job.options[0], job.options[1] = c"V" if vectors else c"N", c"U" if upper else c"L"
    more = 8 + (3 + 5 * n) * sizeof(lint) + (1 + 5 * n + squares) * job.real
    if job.kind <= 1 and n <= MOST_SYMMETRIC:
        more = max(more, <npy_intp>imode_eigh_work(job.kind, n))
    run_each(_one_eigh, &job, 1 + 70 * n + squares, more, 2.0 * n * n * n)
    return values, made, info


def eigh(ndarray a not None, bint upper, bint vectors):
    """Return the eigenvalues, the eigenvectors if wanted, and info."""
    return _eigh(a, upper, vectors)


# ---- eigenvalues of any matrices ----

cdef void _pair(Job* job, char* to, const char* given, npy_intp conjugate,
                bint lone) noexcept nogil:
    """A column of complex numbers from the columns of real and imaginary parts."""
    cdef lint i
    cdef const float* x = <const float*>given
    cdef const double* y = <const double*>given
    for i in range(job.n):
        if job.kind == 0:
            (<float*>to)[2 * i] = x[i]
            (<float*>to)[2 * i + 1] = 0 if lone else conjugate * x[job.ldb + i]
        else:
            (<double*>to)[2 * i] = y[i]
            (<double*>to)[2 * i + 1] = 0 if lone else conjugate * y[job.ldb + i]


cdef void _from_parts(Job* job, char* values, char* vectors, const char* parts,
                      const char* columns) noexcept nogil:
    """Eigenvalues and vectors of a real matrix as complex numbers; pairs are conjugates."""
    cdef lint j = 0
    cdef npy_intp wide = 2 * job.item, n = job.n, column = job.ldb * job.item
    cdef double im
    while j < n:
        if job.kind == 0:
            im = (<const float*>parts)[n + j]
            (<float*>values)[2 * j] = (<const float*>parts)[j]
            (<float*>values)[2 * j + 1] = <float>im
        else:
            im = (<const double*>parts)[n + j]
            (<double*>values)[2 * j] = (<const double*>parts)[j]
            (<double*>values)[2 * j + 1] = im
        if vectors != NULL:
            # Of a pair the first has the positive imaginary part; the second its columns, too.
            if im < 0 and j > 0:
                _pair(job, vectors + j * n * wide, columns + (j - 1) * column, -1, False)
            else:
                _pair(job, vectors + j * n * wide, columns + j * column, 1, im == 0)
        j += 1


cdef void _one_eig(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil:
    """options: JOBVR; b: eigenvectors; c: eigenvalues."""
    cdef call14_t geev = <call14_t>job.call
    cdef lint n = job.n, one = 1
    cdef char none = c"N"
    cdef char* parts = work + lwork[0] * job.item      # real: eigenvalues; complex: workspace
    cdef char* columns = parts + 2 * n * job.item      # real: eigenvectors
    cdef char* a = job.a + i * job.a_step
    cdef char* values = job.c + i * job.c_step
    cdef char* vectors = job.b + i * job.b_step
    if job.kind <= 1 and n <= MOST_GENERAL and imode_eig(
            job.kind, n, a, values, vectors if job.b != NULL else NULL, work) == 0:
        return
    if job.kind > 1:
        geev(&none, &job.options[0], &n, a, &job.lda, values, NULL, &one, vectors, &job.ldb, work,
             lwork, parts, info)
    else:
        (<call14_t>job.call)(
            &none, &job.options[0], &n, a, &job.lda, parts, parts + n * job.item, NULL, &one,
            columns, &job.ldb, work, lwork, info)
        if lwork[0] >= 0:
            _from_parts(job, values, vectors if job.b != NULL else NULL, parts, columns)


cdef int _factor_eig(Job* job) except -1:
    cdef lint n = job.n, lwork = (4 + BLOCK) * n + 1
    cdef npy_intp more = (2 * n + 2 + (0 if job.kind > 1 else n * job.ldb)) * job.item
    if job.kind <= 1 and n <= MOST_GENERAL:
        more = max(more, <npy_intp>imode_eig_work(job.kind, n))
    elif n > SMALL:
        lwork = max(lwork, asked(job, _one_eig))
    lwork += lwork % 2
    return run_each(_one_eig, job, lwork, more, 8.0 * n * n * n)


cdef ndarray _apart(ndarray a):
    """The matrices in columns, which begin in different sets of the cache: they may have more rows.

    Rows of a matrix of 512 would all lie in the same few sets, and steps along them take twice as
    long.
    """
    cdef npy_intp[MAX_DIMS] dims
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(a), n = size_of(a, 1)
    cdef int d
    cdef ndarray made
    if n <= MOST_GENERAL or n * item % PERIOD:
        return in_columns(a)
    for d in range(a.ndim):
        dims[d] = a.shape[d]
    dims[a.ndim - 2] += LINE // item
    made = new_columns(cnp.PyArray_TYPE(a), a.ndim, dims)
    copy_columns(made, a, False)
    return made


cdef tuple _eig(ndarray a, bint vectors):
    """(eigenvalues, eigenvectors or None, info)."""
    cdef Job job
    cdef ndarray made, values, info
    cdef ndarray found = None
    cdef int typenum
    start(&job, a)
    job.call = routine(GEEV, job.kind)
    typenum = cnp.NPY_CDOUBLE if job.kind & 1 else cnp.NPY_CFLOAT
    made, values = _apart(a), vector_stack(a, typenum, size_of(a, 1))
    info = infos_of(&job, a)
    matrix_of(&job, made)
    job.c, job.c_step = data_of(values), job.n * cnp.PyArray_ITEMSIZE(values)
    job.ldb = max(1, job.n if job.kind > 1 else job.lda)
    job.options[0] = c"V" if vectors else c"N"
    if vectors:
        found = new_columns(typenum, a.ndim, a.shape)
        job.b = data_of(found)
        job.b_step = job.n * job.n * cnp.PyArray_ITEMSIZE(found)
    _factor_eig(&job)
    return values, found, info


def eig(ndarray a not None, bint vectors):
    """Return the eigenvalues, the eigenvectors (or None) and info."""
    return _eig(a, vectors)


# ---- fast cases ----

cdef bint _finite(ndarray a) noexcept:
    """Whether contiguous numbers are; of others it is not known."""
    cdef npy_intp i, n = cnp.PyArray_SIZE(a) * (2 if kind_of(a) > 1 else 1)
    cdef double difference = 0
    cdef void* data = cnp.PyArray_DATA(a)
    if not cnp.PyArray_IS_C_CONTIGUOUS(a) and not cnp.PyArray_IS_F_CONTIGUOUS(a):
        return False
    if kind_of(a) & 1:
        for i in range(n):
            difference += (<double*>data)[i] - (<double*>data)[i]
    else:
        for i in range(n):
            difference += (<float*>data)[i] - (<float*>data)[i]
    return difference == 0


cdef ndarray _count_large(ndarray values, ndarray a, double rtol):
    """How many of the values of each matrix are above `rtol` times the largest, which is first."""
    cdef ndarray counts = vector_stack(a, cnp.NPY_INT64, -1)
    cdef npy_intp n = size_of(values, 1), i, j, total = cnp.PyArray_SIZE(counts)
    cdef int64_t* to = <int64_t*>data_of(counts)
    cdef bint double_precision = cnp.PyArray_TYPE(values) == cnp.NPY_DOUBLE
    cdef float* x = <float*>data_of(values)
    cdef double* y = <double*>data_of(values)
    for i in range(total):
        to[i] = 0
        for j in range(n):
            if double_precision:
                to[i] += y[i * n + j] > rtol * y[i * n]
            else:
                to[i] += x[i * n + j] > <float>rtol * x[i * n]
    return counts


cdef object _svd_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_svd(A, full_matrices, *, driver)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if some_matrices(a) and <object>args[2] is None:
        found = _svd(a, <object>args[1] is True, True)
        if all_zero(found[3]):
            return deliver(op, found[:3], args)
    return run_general(op, keys, args)


cdef object _svdvals_kernel(Operator op, keyset_t keys, PyObject** args):
    """_linalg_svdvals(A, *, driver)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if some_matrices(a) and <object>args[1] is None:
        found = _svd(a, False, False)
        if all_zero(found[3]):
            return deliver(op, found[1], args)
    return run_general(op, keys, args)


cdef object _rank_kernel(Operator op, keyset_t keys, PyObject** args):
    """_linalg_matrix_rank(self)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if some_matrices(a):
        found = _svd(a, False, False)
        if all_zero(found[3]):
            return deliver(op, _count_large(
                found[1], a, epsilon(a) * max(size_of(a, 1), size_of(a, 2))), args)
    return run_general(op, keys, args)


cdef object _eigh_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_eigh(self, UPLO)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if some_matrices(a) and size_of(a, 1) == size_of(a, 2) and <object>args[1] == "L":
        found = _eigh(a, False, True)
        if all_zero(found[2]):
            return deliver(op, found[:2], args)
    return run_general(op, keys, args)


cdef object _eigvalsh_kernel(Operator op, keyset_t keys, PyObject** args):
    """_linalg_eigvalsh(self, UPLO)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if some_matrices(a) and size_of(a, 1) == size_of(a, 2) and <object>args[1] == "L":
        found = _eigh(a, False, False)
        if all_zero(found[2]):
            return deliver(op, found[0], args)
    return run_general(op, keys, args)


cdef object _eig_kernel(Operator op, keyset_t keys, PyObject** args):
    """linalg_eig(self)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if some_matrices(a) and size_of(a, 1) == size_of(a, 2) and _finite(a):
        found = _eig(a, True)
        if all_zero(found[2]):
            return deliver(op, found[:2], args)
    return run_general(op, keys, args)


cdef object _eigvals_kernel(Operator op, keyset_t keys, PyObject** args):
    """_linalg_eigvals(self)."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef tuple found
    if some_matrices(a) and size_of(a, 1) == size_of(a, 2) and _finite(a):
        found = _eig(a, False)
        if all_zero(found[2]):
            return deliver(op, found[0], args)
    return run_general(op, keys, args)


ctypedef fused real_number:
    float
    double


cdef void _invert(real_number* out, const real_number* u, const real_number* s,
                  const real_number* vh, npy_intp m, npy_intp n, double atol,
                  double rtol) noexcept nogil:
    """V S^-1 U^T of one matrix, row by row; U and V^T lie column by column."""
    cdef npy_intp least = min(m, n), i, j, k
    cdef real_number threshold = max(<real_number>atol, <real_number>rtol * s[0]), factor
    for j in range(n):
        for i in range(m):
            out[j * m + i] = 0
        for k in range(least):
            if s[k] > threshold:
                factor = vh[j * least + k] * (1 / s[k])
                for i in range(m):
                    out[j * m + i] += factor * u[k * m + i]


cdef object _pinv_kernel(Operator op, keyset_t keys, PyObject** args):
    """_linalg_pinv(self, atol, rtol, hermitian) of small real matrices, tolerances that are
    numbers."""
    cdef ndarray a = storage(<Tensor>args[0])
    cdef npy_intp[MAX_DIMS] dims
    cdef npy_intp m, n, least, i
    cdef double atol, rtol
    cdef tuple found
    cdef ndarray u, s, vh, out
    if not some_matrices(a) or kind_of(a) > 1 or <object>args[3] is not False or not (
            PyFloat_CheckExact(args[1]) and PyFloat_CheckExact(args[2])) or (
            max(size_of(a, 1), size_of(a, 2)) > SMALL) or skipping():
        return run_general(op, keys, args)
    found = _svd(a, False, True)
    if not all_zero(found[3]):
        return run_general(op, keys, args)
    u, s, vh = found[0], found[1], found[2]
    m, n, least = size_of(a, 2), size_of(a, 1), size_of(s, 1)
    atol, rtol = <object>args[1], <object>args[2]
    for i in range(a.ndim - 2):
        dims[i] = a.shape[i]
    dims[a.ndim - 2], dims[a.ndim - 1] = n, m
    out = empty(cnp.PyArray_TYPE(a), a.ndim, dims)
    for i in range(cnp.PyArray_SIZE(s) // least):
        if kind_of(a):
            _invert(<double*>data_of(out) + i * m * n, <double*>data_of(u) + i * m * least,
                    <double*>data_of(s) + i * least, <double*>data_of(vh) + i * least * n, m, n,
                    atol, rtol)
        else:
            _invert(<float*>data_of(out) + i * m * n, <float*>data_of(u) + i * m * least,
                    <float*>data_of(s) + i * least, <float*>data_of(vh) + i * least * n, m, n,
                    atol, rtol)
    return deliver(op, out, args)


svd_fast = CKernel.new(_svd_kernel)
svdvals_fast = CKernel.new(_svdvals_kernel)
rank = CKernel.new(_rank_kernel)
eigh_fast = CKernel.new(_eigh_kernel)
eigvalsh_fast = CKernel.new(_eigvalsh_kernel)
eig_fast = CKernel.new(_eig_kernel)
eigvals_fast = CKernel.new(_eigvals_kernel)
pinv = CKernel.new(_pinv_kernel)
