# Fitting gradients to the tensors they belong to. See fit.pyx.
from cpython.object cimport PyObject
from imode._core.tensor cimport Tensor
from imode.autograd.node cimport Node

# The i-th gradient that backward starts from, which belongs to this result of the node.
cdef Tensor fit_root(Node node, int number, Tensor gradient, int i)
cdef int fit_all(Node node, PyObject** out) except -1          # the gradients that a node computed
