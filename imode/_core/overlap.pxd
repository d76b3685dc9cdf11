# Whether arrays share memory, and how: what in-place writes have to know.

from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from numpy cimport ndarray

# Whether the address ranges of two arrays intersect.
cdef bint ranges_meet(ndarray a, ndarray b) noexcept

# Whether writing the target element by element could change a source element not yet read.
cdef bint entangled(ndarray source, ndarray target) noexcept

# PyTorch's rules, by strides: no two elements of what is written share a place, and an operand that
# is dense, as is the target, is the target or apart from it. RuntimeError otherwise.
cdef int refuse_self_overlap(Tensor target) except -1
cdef int refuse_overlap(PyObject** args, int nin, Tensor target) except -1
