# VersionCounter: how often a piece of storage was written.
# See version.pyx for implementation details.
from libc.stdint cimport uint64_t
from imode._core.atomic cimport add_relaxed, load_relaxed


cdef class VersionCounter:
    # One heap object shared by a tensor, its views and detach(). Inference tensors have none.
    # Thread rule: `value` is only touched through C atomics; bumps need no GIL.
    cdef uint64_t value           # writes so far


cdef inline void bump(VersionCounter counter) noexcept:
    add_relaxed(&counter.value, 1)


cdef inline uint64_t current(VersionCounter counter) noexcept:
    return load_relaxed(&counter.value)


cdef VersionCounter new_counter()
