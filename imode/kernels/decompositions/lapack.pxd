# LAPACK's routines by number and by dtype, and how they are run over stacks of matrices.
# See lapack.pyx for implementation details. Thread rule: the tables are filled at import.
from libc.stdint cimport int32_t, int64_t
from numpy cimport ndarray, npy_intp

cdef enum:
    MAX_DIMS = 64

cdef enum Routine:
    GETRF
    GETRI
    POTRF
    POTRS
    POTRI
    TRSM
    GEQRF
    ORGQR
    ORMQR
    GESDD
    GEEV
    SYEVD
    SYTRF
    HETRF
    SYTRS
    HETRS
    GELS
    GELSY
    GELSD
    GELSS
    N_ROUTINES

# An integer of LAPACK's. Where its have 32 bits they are the lower half, which little-endian
# machines find first.
ctypedef int64_t lint

# A routine, by the number of its arguments: all of them are addresses.
ctypedef void (*call5_t)(void*, void*, void*, void*, void*) noexcept nogil
ctypedef void (*call6_t)(void*, void*, void*, void*, void*, void*) noexcept nogil
ctypedef void (*call7_t)(void*, void*, void*, void*, void*, void*, void*) noexcept nogil
ctypedef void (*call8_t)(void*, void*, void*, void*, void*, void*, void*, void*) noexcept nogil
ctypedef void (*call9_t)(void*, void*, void*, void*, void*, void*, void*, void*,
                         void*) noexcept nogil
ctypedef void (*call11_t)(void*, void*, void*, void*, void*, void*, void*, void*,
                          void*, void*, void*) noexcept nogil
ctypedef void (*call13_t)(void*, void*, void*, void*, void*, void*, void*, void*,
                          void*, void*, void*, void*, void*) noexcept nogil
ctypedef void (*call14_t)(void*, void*, void*, void*, void*, void*, void*, void*,
                          void*, void*, void*, void*, void*, void*) noexcept nogil
ctypedef void (*call15_t)(void*, void*, void*, void*, void*, void*, void*, void*,
                          void*, void*, void*, void*, void*, void*, void*) noexcept nogil

cdef struct Job

# One call of a routine: of the `i`-th matrix, with `lwork` elements of workspace.
ctypedef void (*step_t)(Job* job, npy_intp i, char* work, lint* lwork, lint* info) noexcept nogil

cdef struct Job:                  # a routine over a stack of matrices, each column by column
    int kind                      # the dtype: 0 float32, 1 float64, 2 complex64, 3 complex128
    npy_intp item                 # bytes of an element
    npy_intp real                 # bytes of a real one
    npy_intp count                # matrices
    lint m, n, k                  # sizes, as the routine takes them
    lint lda, ldb, ldc
    char[4] options               # UPLO, TRANS, SIDE, DIAG, JOBZ ..., as the routine takes them
    void* call                    # the routine
    char* a                       # matrices
    char* b
    char* c
    char* d
    npy_intp a_step, b_step, c_step, d_step
    int32_t* pivots               # one row for each matrix
    npy_intp pivots_step          # elements
    int32_t* info                 # one for each matrix, or NULL
    double rcond
    step_t step                   # what `run_each` does with each matrix,
    lint lwork                    # with so many elements of workspace
    npy_intp more                 # and so many bytes after them
    bint no_memory                # set where memory ran out

ctypedef void (*job_t)(Job* job) noexcept nogil

cdef int kind_of(ndarray a) noexcept                  # the dtype's, or -1
cdef void* routine(int which, int kind) except NULL
cdef int run(job_t function, Job* job, double work) except -1    # `work`: multiplications
# The same for a function that calls no BLAS and needs no memory, shared between threads; of the
# job's arrays, those are stepped through whose step is set.
cdef int run_shared(job_t function, Job* job, double work) except -1
# The step of each matrix, where they have elements, and its `info`.
cdef int run_each(step_t step, Job* job, lint lwork, npy_intp more, double work) except -1
cdef lint asked(Job* job, step_t step) noexcept       # the workspace that a step asks for
cdef void start(Job* job, ndarray a) noexcept         # the dtype and the number of matrices
cdef lint wanted(Job* job, const char* work) noexcept nogil      # what a query for lwork answers

cdef void read_pivots(Job* job, npy_intp i, lint* to, npy_intp n) noexcept nogil
cdef void write_pivots(Job* job, npy_intp i, const lint* given, npy_intp n) noexcept nogil
