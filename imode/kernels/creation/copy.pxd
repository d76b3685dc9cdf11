# Copies and conversions between arrays; see copy.pyx for implementation details.
from numpy cimport ndarray, npy_intp

# Converts n contiguous elements.
ctypedef void (*imode_converter)(char* to, const char* source, npy_intp n) noexcept nogil

# The loop from one dtype to another, given by their codes; NULL: NumPy's.
cdef imode_converter converter(int source, int target) noexcept nogil
# Copy between arrays of one shape that share no memory, converting as NumPy does.
cdef int write(ndarray target, ndarray source) except -1
# In another dtype, dense, in the same order of dimensions; itself if it has the dtype.
cpdef ndarray cast(ndarray a, object dtype)
