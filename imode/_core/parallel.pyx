"""Threads for the kernels: how many, and the loop that shares work between them."""

import operator

from libc.stdlib cimport calloc, free

cdef extern from "parallel.h" nogil:
    int imode_parallel_for(Py_ssize_t n, Py_ssize_t grain, range_body body, void* ctx)
    void imode_set_num_threads(int n)
    int imode_get_num_threads()
    int imode_skipping()
    int imode_set_skipping(int on)


cdef int parallel_for(Py_ssize_t n, Py_ssize_t grain, range_body body, void* ctx) noexcept nogil:
    return imode_parallel_for(n, grain, body, ctx)


cdef int num_threads() noexcept nogil:
    return imode_get_num_threads()


cpdef bint skipping() noexcept nogil:
    """Whether this thread wants shapes alone: see Note [Shapes without elements]."""
    return imode_skipping()


cdef bint set_skipping(bint on) noexcept nogil:
    return imode_set_skipping(on)


def get_num_threads():
    """Return the number of threads a kernel may use.

    Starts at the cores this process may run on, or at OMP_NUM_THREADS where that is set.

    >>> imode.get_num_threads() >= 1
    True
    """
    return imode_get_num_threads()


def set_num_threads(number):
    """Set the number of threads a kernel may use.

    Raises RuntimeError unless it is a positive integer.

    >>> imode.set_num_threads(imode.get_num_threads())
    """
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(number).__name__}")
    number = operator.index(number)
    if number <= 0:
        raise RuntimeError(f"set_num_threads expects a positive integer. Got {number}.")
    if number > 0x7FFFFFFF:
        raise ValueError("Overflow when unpacking long")
    imode_set_num_threads(number)


# ---- for the tests ----

cdef struct Recorder:
    long* counts        # one per index
    int nested          # run a loop inside the body


cdef void _count_one(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Recorder* recorder = <Recorder*> ctx
    cdef Py_ssize_t i
    for i in range(begin, end):
        recorder.counts[i] += 1


cdef void _count(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Recorder inner
    cdef Recorder* recorder = <Recorder*> ctx
    if recorder.nested:
        inner.counts = recorder.counts + begin
        inner.nested = 0
        imode_parallel_for(end - begin, 1, _count_one, &inner)
    else:
        _count_one(ctx, begin, end)


def _cover(Py_ssize_t n, Py_ssize_t grain, bint nested=False):
    """Add one to each of n zeros through parallel_for; return them and the threads used."""
    cdef Recorder recorder
    cdef int used
    cdef Py_ssize_t i
    recorder.counts = <long*> calloc(n + 1, sizeof(long))
    if recorder.counts == NULL:
        raise MemoryError
    recorder.nested = nested
    with nogil:
        used = imode_parallel_for(n, grain, _count, &recorder)
    counts = [recorder.counts[i] for i in range(n)]
    free(recorder.counts)
    return counts, used
