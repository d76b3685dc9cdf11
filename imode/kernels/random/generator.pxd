# See generator.pyx for the state's layout.
cimport numpy as cnp
from libc.stdint cimport int64_t, uint32_t, uint64_t
from cpython.pythread cimport PyThread_type_lock


cdef extern from "mt19937.h" nogil:
    int MT_N
    ctypedef struct mt_state:
        uint32_t *key
        uint64_t seed
        int next
        int unread
    void mt_seed(mt_state *mt, uint64_t seed) noexcept
    uint32_t mt_next(mt_state *mt) noexcept
    uint64_t mt_next64(mt_state *mt) noexcept
    void mt_fill(mt_state *mt, uint32_t *out, int64_t n) noexcept


cdef class Generator:
    # A stream of random numbers. Thread-safe: whoever reads or writes the fields below holds
    # the lock; a thread waits for it without the GIL.
    cdef mt_state engine            # the Mersenne twister
    # The lock is a number of our own: CPython's asks for the time even where it is free.
    cdef uint64_t held              # 1: while a distribution is drawn; 2: and threads may wait
    cdef PyThread_type_lock freed   # released for one of those that wait; NULL before __cinit__
    cdef double next_normal         # the second normal of the last Box-Muller pair
    cdef bint has_next_normal       # whether next_normal holds one
    cdef float next_float_normal    # only part of the state's layout; never used
    cdef bint has_next_float_normal

    cdef int acquire(self) except -1
    cdef void release(self) noexcept
    cdef void seed_with(self, uint64_t seed) noexcept


cdef Generator choose(object generator)    # None: the default generator
