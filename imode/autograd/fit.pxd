# Fitting gradients to the tensors they belong to. See fit.pyx.
from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from imode.autograd.node cimport Node

# One that backward starts from: the i-th of them, of this result of the node.
cdef Tensor fit_root(Node node, int number, Tensor gradient, int i)
cdef int fit_all(Node node, PyObject** out) except -1          # those that a node gave
cdef bint same_shape(Tensor a, Tensor b) noexcept
