# See order.pyx for the rule.
from numpy cimport ndarray


cdef int order_axes(ndarray a, int *axes) noexcept    # OUT axes, innermost first; returns how many
cpdef tuple iteration_order(ndarray a)                # the same, outermost first
cpdef ndarray empty_like(ndarray a, object dtype=*)   # uninitialised, dense, axes ordered as a's
