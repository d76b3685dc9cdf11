# See from_data.pyx for how dtypes are inferred and numbers converted.
from numpy cimport ndarray

# The kinds of leaves met in a nested sequence, as bits; `typed` holds the dtypes of ndarrays.
cdef enum Met:
    BOOL = 1
    INT = 2
    FLOAT = 4
    COMPLEX = 8
    TYPED = 16


cdef class Ingest:
    # One conversion of a nested sequence to an ndarray. Lives for one call, on one thread.
    cdef object typed       # the common dtype of the typed leaves (NumPy scalars, tensors), or None
    cdef unsigned int met   # Met bits
    cdef int kind           # NumPy type number that leaves are stored as
    cdef bint indices       # the data is an index: its tensors are checked when stored

    cdef int look(self, object item, int depth) except -1
    cdef int add(self, object dtype) except -1
    cdef int fill(self, ndarray out, int axis, char *data, object sequence) except -1
    cdef int leaf(self, char *data, object item) except -1
    cdef int integer(self, char *data, object item) except -1
    cdef bint unsigned(self) noexcept
    cdef bint fits(self, long long value) noexcept
