# Whether arrays share memory, and how: what in-place writes have to know.

from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from numpy cimport ndarray

# Whether writing the target element by element could change a source element not yet read.
cdef bint entangled(ndarray source, ndarray target) noexcept

# PyTorch's rule: a dense operand may be the written-to tensor or apart from it, not between.
cdef int refuse_partial_overlap(PyObject** args, int nin, Tensor target) except -1
