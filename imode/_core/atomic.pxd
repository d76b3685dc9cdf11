# C atomics on 64-bit counters, memory order in the name.
from libc.stdint cimport uint64_t

cdef extern from "atomic.h" nogil:
    uint64_t add_relaxed "imode_add_relaxed"(uint64_t* counter, uint64_t n)   # the value before
    void add_with_gil "imode_add_with_gil"(uint64_t* counter, uint64_t n)
    uint64_t load_relaxed "imode_load_relaxed"(const uint64_t* counter)
    void store_relaxed "imode_store_relaxed"(uint64_t* counter, uint64_t n)
