"""Version counters: one atomic integer per storage that autograd may have saved."""
cimport cython
from imode._core.atomic cimport add_relaxed, load_relaxed
from imode._core.live cimport alive, born, count_deaths
from imode._core.slab cimport use_slabs


def live_counters():
    """How many version counters are alive; None unless this is a debug build."""
    return alive()


@cython.binding(False)
@cython.final
cdef class VersionCounter:
    """The number of in-place writes to a storage.

    A tensor, its views and what `detach()` returns share one counter. It is atomic: when threads
    bump it at the same time, no bump is lost.

    >>> from imode._core.version import VersionCounter
    >>> counter = VersionCounter()
    >>> counter.bump(3)
    >>> counter.current
    3
    """

    def __init__(self):
        born()

    @property
    def current(self):
        """The number of writes so far."""
        return load_relaxed(&self.value)

    @property
    def savers(self):
        """How many saved tensors compare with it."""
        return load_relaxed(&self.savers)

    @property
    def writer(self):
        """(operator, line), numbers of provenance.py, of the last write while there were savers."""
        return writer_of(self)

    def bump(self, unsigned long long times=1):
        """Count `times` writes, one atomic increment each, with the GIL released."""
        cdef unsigned long long _
        cdef uint64_t* value = &self.value
        with nogil:
            for _ in range(times):
                add_relaxed(value, 1)


use_slabs(VersionCounter)
count_deaths(VersionCounter)


cdef tuple writer_of(VersionCounter counter):
    cdef uint64_t writer = load_relaxed(&counter.writer)
    return <int>(writer >> 32), <int>writer


cdef VersionCounter new_counter():
    born()
    return VersionCounter.__new__(VersionCounter)
