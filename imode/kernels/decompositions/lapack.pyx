"""LAPACK's routines, and running them over stacks of matrices.

The routines take every argument by address, so that one call with `void*` serves four dtypes: the
table of addresses has a row for each routine and a column for each dtype.

A routine over a stack is a function of a `Job`. It makes no Python object, so `run` gives up the
GIL around it where the matrices are large, and keeps the BLAS to one thread.
"""
cimport numpy as cnp
from imode._core.parallel cimport parallel_for, skipping
from imode.kernels.products.multiply cimport one_thread, restore_threads
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from numpy cimport ndarray, npy_intp

from imode.kernels.decompositions.symbols import addresses

cnp.import_array()

cdef enum:
    GIL_FREE = 32768              # from so many multiplications on, the GIL is released
    WORTH = 65536                 # so many are worth a thread
    GROUP = 16                    # matrices that may be worked on side by side
    FEW = 256                     # elements of 16 bytes that need no memory of their own

cdef void* _table[N_ROUTINES][4]
cdef bint _wide                   # integers have 64 bits
cdef tuple _NAMES = (             # of real numbers, of complex ones
    ("getrf",), ("getri",), ("potrf",), ("potrs",), ("potri",), ("trsm",), ("geqrf",),
    ("orgqr", "ungqr"), ("ormqr", "unmqr"), ("gesdd",), ("geev",), ("syevd", "heevd"), ("sytrf",),
    ("sytrf", "hetrf"), ("sytrs",), ("sytrs", "hetrs"), ("gels",), ("gelsy",), ("gelsd",),
    ("gelss",),
)


def _fill():
    global _wide
    cdef int i
    names = [letter + (of[len(of) - 1] if letter in "cz" else of[0])
             for of in _NAMES for letter in "sdcz"]
    found, _wide = addresses(names)
    for i in range(4 * N_ROUTINES):
        _table[i // 4][i % 4] = <void*><size_t>found[i]


_fill()


cdef int kind_of(ndarray a) noexcept:
    cdef int typenum = cnp.PyArray_TYPE(a)
    if typenum == cnp.NPY_FLOAT:
        return 0
    if typenum == cnp.NPY_DOUBLE:
        return 1
    if typenum == cnp.NPY_CFLOAT:
        return 2
    return 3 if typenum == cnp.NPY_CDOUBLE else -1


cdef void* routine(int which, int kind) except NULL:
    if _table[which][kind] == NULL:
        raise RuntimeError(
            f"{_NAMES[which][0]}: the NumPy that is installed is linked with no library that "
            "has LAPACK. NumPy's wheels are: install one")
    return _table[which][kind]


cdef void start(Job* job, ndarray a) noexcept:
    memset(job, 0, sizeof(Job))
    job.kind = kind_of(a)
    job.item = cnp.PyArray_ITEMSIZE(a)
    job.real = job.item // 2 if job.kind > 1 else job.item
    job.count = 1
    cdef int d
    for d in range(a.ndim - 2):
        job.count *= a.shape[d]


cdef int run(job_t function, Job* job, double work) except -1:
    if skipping():                # shapes alone; LAPACK would follow pivots that are zeros
        return 0
    cdef int threads
    if work * job.count < GIL_FREE:
        function(job)
    else:
        with nogil:
            threads = one_thread()
            function(job)
            restore_threads(threads)
    if job.no_memory:
        raise MemoryError
    return 0


cdef struct Sharing:
    job_t function
    Job* job


cdef void _some_groups(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Groups of matrices begin to end."""
    cdef Sharing* s = <Sharing*>ctx
    cdef Job part = s.job[0]
    cdef npy_intp first = begin * GROUP
    part.count = min(end * GROUP, s.job.count) - first
    part.a += first * part.a_step
    part.b += first * part.b_step
    part.c += first * part.c_step
    part.pivots += first * part.pivots_step
    if part.info != NULL:
        part.info += first
    s.function(&part)


cdef int run_shared(job_t function, Job* job, double work) except -1:
    cdef Sharing s
    if skipping():
        return 0
    if work * job.count < GIL_FREE:
        function(job)
        return 0
    s.function, s.job = function, job
    with nogil:
        parallel_for((job.count + GROUP - 1) // GROUP, <npy_intp>(WORTH / (work * GROUP + 1)) + 1,
                     _some_groups, &s)
    return 0


cdef void _each(Job* job) noexcept nogil:
    cdef double complex[FEW] few
    cdef npy_intp nbytes = job.lwork * job.item + job.more
    cdef char* work = <char*>few if nbytes <= <npy_intp>sizeof(few) else <char*>malloc(nbytes)
    cdef lint info
    cdef npy_intp i
    if work == NULL:
        job.no_memory = True
        return
    for i in range(job.count):
        info = 0
        if job.m and job.n:
            job.step(job, i, work, &job.lwork, &info)
        if job.info != NULL:
            job.info[i] = <int32_t>info
    if work != <char*>few:
        free(work)


cdef int run_each(step_t step, Job* job, lint lwork, npy_intp more, double work) except -1:
    job.step, job.lwork, job.more = step, lwork, more
    return run(_each, job, work)


cdef lint wanted(Job* job, const char* work) noexcept nogil:
    # Floats beyond 2^24 are rounded, perhaps down.
    if job.real == 4:
        return <lint>((<const float*>work)[0] * 1.000001) + 1
    return <lint>(<const double*>work)[0]


cdef lint asked(Job* job, step_t step) noexcept:
    cdef double[4] answer
    cdef lint query = -1, info = 0
    memset(answer, 0, sizeof(answer))
    step(job, 0, <char*>answer, &query, &info)
    return wanted(job, <char*>answer)


# ---- pivots: int32 in tensors ----

cdef void read_pivots(Job* job, npy_intp i, lint* to, npy_intp n) noexcept nogil:
    cdef const int32_t* row = job.pivots + i * job.pivots_step
    cdef npy_intp j
    if _wide:
        for j in range(n):
            to[j] = row[j]
    else:
        memcpy(to, row, n * sizeof(int32_t))


cdef void write_pivots(Job* job, npy_intp i, const lint* given, npy_intp n) noexcept nogil:
    cdef int32_t* row = job.pivots + i * job.pivots_step
    cdef npy_intp j
    if _wide:
        for j in range(n):
            row[j] = <int32_t>given[j]
    else:
        memcpy(row, given, n * sizeof(int32_t))
