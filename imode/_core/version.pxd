# VersionCounter: how often a storage was written.
# See version.pyx for implementation details.
from libc.stdint cimport uint64_t
from imode._core.atomic cimport add_relaxed, add_with_gil, load_relaxed, store_relaxed


cdef class VersionCounter:
    # One heap object shared by a tensor, its views and detach(). Inference tensors have none.
    # Thread rule: fields are only accessed through C atomics; `savers` changes with the GIL held;
    # a bump does not need it.
    cdef uint64_t value           # writes so far
    cdef uint64_t savers          # live saved tensors that compare with it
    # The last write while there was a saver: operator << 32 | line, numbers of provenance.py; 0:
    # none. Without a saver no message can ask for it, so a write then costs only the test.
    cdef uint64_t writer


cdef inline void bump(VersionCounter counter) noexcept:
    add_relaxed(&counter.value, 1)


cdef inline uint64_t current(VersionCounter counter) noexcept:
    return load_relaxed(&counter.value)


cdef inline void add_saver(VersionCounter counter) noexcept:
    add_with_gil(&counter.savers, 1)


cdef inline void drop_saver(VersionCounter counter) noexcept:
    add_with_gil(&counter.savers, <uint64_t>-1)


cdef inline bint is_saved(VersionCounter counter) noexcept:
    """Whether any live saved tensor compares with it."""
    return load_relaxed(&counter.savers) != 0


cdef inline void name_writer(VersionCounter counter, int operator_id, int location) noexcept:
    store_relaxed(&counter.writer, <uint64_t>operator_id << 32 | <uint64_t>location)


cdef inline void rename_writer(VersionCounter counter, int operator_id) noexcept:
    """Change the operator of the last write; its line stays."""
    name_writer(counter, operator_id, <int>load_relaxed(&counter.writer))


cdef tuple writer_of(VersionCounter counter)     # (operator, line), or (0, 0)
cdef VersionCounter new_counter()
