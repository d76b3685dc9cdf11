# See order.pyx for the rule.
from numpy cimport ndarray, npy_intp


cdef int order_axes(ndarray a, int *axes) noexcept    # OUT axes, innermost first; returns how many
cdef int order_all(tuple arrays, int nd, npy_intp *shape, int *axes) except -1
cpdef ndarray empty_for(tuple arrays, tuple shape, object dtype)    # a result's layout
cpdef tuple iteration_order(ndarray a)                # the same, outermost first
cpdef ndarray empty_like(ndarray a, object dtype=*)   # uninitialised, dense, axes ordered as a's
