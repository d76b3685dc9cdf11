# A table from addresses to live objects, which it does not keep alive.
# See addresses.pyx for implementation details. Thread rule: with the GIL held.
from cpython.object cimport PyObject


ctypedef struct Link:
    # A field of each object in a table; the object's destructor removes it from the table.
    void* address             # NULL: in no table
    PyObject* owner           # the object itself, borrowed
    Link* following           # the next of the same bucket

ctypedef struct Addresses:
    Link** buckets            # NULL before the first
    size_t mask               # number of buckets - 1; that number is a power of 2
    size_t n


# The object at an address, borrowed; NULL: none
cdef PyObject* at_address(Addresses* table, void* address) noexcept
# Enter an object, by its link, at an address; neither may be in the table yet
cdef int note_at(Addresses* table, void* address, Link* link, PyObject* owner) except -1
# Remove a link, if it is in the table
cdef void forget(Addresses* table, Link* link) noexcept
