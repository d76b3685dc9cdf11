"""A table from addresses to live objects: like a dict with int keys, but without int objects.

Each object has a field, its link, that chains it to its bucket. So entering an object allocates
nothing, except when the number of buckets doubles.
"""
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t, uintptr_t

cdef enum:
    FEWEST = 64               # buckets at first


cdef inline size_t _bucket(Addresses* table, void* address) noexcept:
    # The low bits of addresses are all zero; the multiplication moves the others to the top.
    return <size_t>((<uint64_t><uintptr_t>address * 0x9E3779B97F4A7C15ULL) >> 32) & table.mask


cdef PyObject* at_address(Addresses* table, void* address) noexcept:
    cdef Link* link
    if table.n == 0:
        return NULL
    link = table.buckets[_bucket(table, address)]
    while link != NULL and link.address != address:
        link = link.following
    return NULL if link == NULL else link.owner


cdef int note_at(Addresses* table, void* address, Link* link, PyObject* owner) except -1:
    if table.buckets == NULL or table.n > table.mask:
        _grow(table)
    link.address, link.owner = address, owner
    _chain(table, link)
    table.n += 1
    return 0


cdef inline void _chain(Addresses* table, Link* link) noexcept:
    cdef Link** bucket = &table.buckets[_bucket(table, link.address)]
    link.following = bucket[0]
    bucket[0] = link


cdef void forget(Addresses* table, Link* link) noexcept:
    cdef Link** at
    if link.address == NULL:
        return
    at = &table.buckets[_bucket(table, link.address)]
    while at[0] != link:
        at = &at[0].following
    at[0] = link.following
    link.address = NULL
    table.n -= 1


cdef int _grow(Addresses* table) except -1:
    cdef Addresses larger
    cdef Link* link
    cdef Link* following
    cdef size_t i
    larger.n = table.n
    larger.mask = FEWEST - 1 if table.buckets == NULL else 2 * table.mask + 1
    larger.buckets = <Link**>PyMem_Calloc(larger.mask + 1, sizeof(Link*))
    if larger.buckets == NULL:
        raise MemoryError()
    if table.buckets != NULL:
        for i in range(table.mask + 1):
            link = table.buckets[i]
            while link != NULL:
                following = link.following
                _chain(&larger, link)
                link = following
        PyMem_Free(table.buckets)
    table[0] = larger
    return 0
