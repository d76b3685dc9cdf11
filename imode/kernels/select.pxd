# The k first elements of a line in an order, and which of equal ones they are; see select.pyx.
from libc.stdint cimport int64_t
from numpy cimport npy_intp

cdef struct Ranked:
    int64_t rank     # smaller comes first
    int64_t at       # where in its line the element stood

# Put the k first of n elements at the front, 0 < k <= n; all in order if `sorted`, else some order.
cdef void leading(Ranked* x, npy_intp n, npy_intp k, bint sorted) noexcept nogil
# Where in its line the element stood that comes at `nth`, 0 <= nth < n.
cdef int64_t place_of(Ranked* x, npy_intp n, npy_intp nth) noexcept nogil
