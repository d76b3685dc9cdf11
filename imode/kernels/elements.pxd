# Views through memory itself, and of elements of another type. See elements.pyx.
from numpy cimport dtype, ndarray

cpdef ndarray as_strided(ndarray a, tuple size, tuple stride, storage_offset=*)
cpdef ndarray view_dtype(ndarray a, dtype to)
cpdef ndarray view_as_real(ndarray a)
cpdef ndarray view_as_complex(ndarray a)
