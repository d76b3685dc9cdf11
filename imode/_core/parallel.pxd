# Loops shared between threads: one pool for the whole library, owned by this module.
# See _parallel.c for how it works.
#
# Thread rule: any thread may call; it should release the GIL first. While one caller has the pool,
# others run their loops alone; so does a loop inside a body.

ctypedef void (*range_body)(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil

# Run body over [0, n) in chunks of at least `grain`; returns the number of threads that took part
# (1 when n <= grain, with one thread, or when nested). Returns when all of [0, n) is done.
cdef int parallel_for(Py_ssize_t n, Py_ssize_t grain, range_body body, void* ctx) noexcept nogil

cdef extern from "Python.h":
    ctypedef struct Thread "PyThreadState":
        pass
    Thread* PyEval_SaveThread() noexcept
    void PyEval_RestoreThread(Thread* thread) noexcept

cdef enum:
    WORTH_IT = 4096               # elements; to give up the GIL and take it again takes 60 ns


# In place of `with nogil:` around a loop over so many elements: the GIL is given up for many only.
# Nothing between the two may touch a Python object, which Cython does not check here.
cdef inline Thread* give_up_gil(Py_ssize_t n) noexcept:
    return PyEval_SaveThread() if n >= WORTH_IT else NULL


cdef inline void take_gil(Thread* thread) noexcept:
    if thread != NULL:
        PyEval_RestoreThread(thread)


# Threads a loop may use, the caller included.
cdef int num_threads() noexcept nogil

# Whether this thread wants shapes alone: a loop over many elements is then left out. See
# Note [Shapes without elements].
cpdef bint skipping() noexcept nogil
cdef bint set_skipping(bint on) noexcept nogil      # returns what it was
