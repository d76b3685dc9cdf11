# C atomics on 64-bit counters, memory order in the name, and on the flags of locks.
from libc.stdint cimport uint64_t

cdef extern from "atomic.h" nogil:
    uint64_t add_relaxed "imode_add_relaxed"(uint64_t* counter, uint64_t n)   # the value before
    void add_with_gil "imode_add_with_gil"(uint64_t* counter, uint64_t n)
    uint64_t load_relaxed "imode_load_relaxed"(const uint64_t* counter)
    void store_relaxed "imode_store_relaxed"(uint64_t* counter, uint64_t n)
    bint claim "imode_claim"(uint64_t* flag)                  # from 0 to 1; False: it was not 0
    uint64_t swap "imode_swap"(uint64_t* flag, uint64_t n)    # the value before
