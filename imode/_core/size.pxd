# Size; see size.pyx.
from numpy cimport npy_intp

cdef object new_size(int nd, npy_intp* dims)
