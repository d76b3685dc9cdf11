# Brackets on a tensor, fast; the general case is imode/ops/indexing/subscript.py.
# See subscript_fast.pyx for implementation details.
from imode._core.tensor cimport Tensor

cdef object get_item(Tensor self, object index)
cdef int set_item(Tensor self, object index, object value) except -1
cdef object slice_dim(Tensor self, object dim, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t step)
