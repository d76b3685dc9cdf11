# Whether and how arrays share memory, for in-place writes.

from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from numpy cimport ndarray

# Whether two arrays may share memory.
cdef bint ranges_meet(ndarray a, ndarray b) noexcept

# Whether writing the target element by element could change a source element not yet read.
cdef bint entangled(ndarray source, ndarray target) noexcept

# PyTorch's rules, by strides: no two elements of the target share memory; and if an operand and the
# target are dense, they are identical or do not overlap. RuntimeError otherwise.
cdef int refuse_self_overlap(ndarray target) except -1
cdef int refuse_overlap(PyObject** args, int nin, Tensor target) except -1
