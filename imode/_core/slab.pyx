"""Slabs for classes of which a long graph has many objects; each such class asks for them."""
import sys

cdef extern from "slab.h":
    void _use_slabs "imode_use_slabs"(object cls, size_t header)
    void _drop_spare "imode_drop_spare"() noexcept

cdef size_t _HEADER = sys.getsizeof(()) - ().__sizeof__()    # of the collector's header


cdef void use_slabs(object cls):
    _use_slabs(cls, _HEADER)


cdef void drop_spare_slabs() noexcept:
    _drop_spare()
