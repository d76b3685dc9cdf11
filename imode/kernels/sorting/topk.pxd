# The k first elements of a line in an order, and which of equal elements they are; see topk.pyx.
from libc.stdint cimport int64_t
from numpy cimport npy_intp

cdef struct Ranked:
    int64_t rank     # smaller comes first
    int64_t at       # the element's index in its line

# Put the k first of n elements at the front, 0 < k <= n; in order if `sorted`.
cdef void leading(Ranked* x, npy_intp n, npy_intp k, bint sorted) noexcept nogil
# The index in its line of the element that comes at `nth`, 0 <= nth < n.
cdef int64_t index_of_nth(Ranked* x, npy_intp n, npy_intp nth) noexcept nogil
