# The only element of a tensor as a Python number; see element.pyx. Each raises where there is none,
# or more than one.
from imode._core.tensor cimport Tensor

cdef object only_number(Tensor self)              # item(): RuntimeError
cdef object only_element(Tensor self)             # Python's own conversions: ValueError
cdef object only_real(Tensor self, str wanted)    # the same, without an imaginary part
cdef bint only_flag(Tensor self) except -1        # bool(): RuntimeError
