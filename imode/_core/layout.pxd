# See layout.pyx.
from numpy cimport ndarray


cpdef ndarray empty_for(tuple arrays, tuple shape, object dtype, bint numbers=*)  # pointwise result
cpdef ndarray empty_like(ndarray a, object dtype=*)   # uninitialised, dense, axes ordered as a's
cpdef tuple iteration_order(ndarray a)                # outermost first
cpdef tuple common_order(tuple shape, list strides)   # the same, for a result
cpdef ndarray empty_in(tuple order, tuple shape, object dtype)
cdef ndarray as_hollow_as(object a, ndarray made)
