# Copies and conversions between arrays; see copy.pyx for implementation details.
from numpy cimport ndarray

# Copy between arrays of one shape that share no memory, converting as NumPy does.
cdef int write(ndarray target, ndarray source) except -1
# In another dtype, dense, in the same order of dimensions; itself if it has the dtype.
cdef ndarray cast(ndarray a, object dtype)
