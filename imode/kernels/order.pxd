# See order.pyx for the rule.
from numpy cimport ndarray, npy_intp


cdef int order_axes(ndarray a, int *axes) noexcept    # OUT axes, innermost first; returns how many
cpdef ndarray empty_for(tuple arrays, tuple shape, object dtype)    # a result's layout
cpdef tuple iteration_order(ndarray a)                # the same, outermost first
cpdef tuple common_order(tuple shape, list strides)   # of a result, by the operands' strides
cpdef ndarray empty_in(tuple order, tuple shape, object dtype)
cpdef ndarray empty_like(ndarray a, object dtype=*)   # uninitialised, dense, axes ordered as a's
