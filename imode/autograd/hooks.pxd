# Hooks: users' functions that backward calls with gradients. See hooks.pyx.
from cpython.object cimport PyObject
from imode.autograd.node cimport Node

# grads: a node's gradients, one per result; out: those it computed, one per edge. The hooks'
# results replace them in the array.
cdef int run_tensor_hooks(Node node, PyObject** grads) except -1   # and, last, retain_grad
cdef int run_pre_hooks(Node node, PyObject** grads) except -1
cdef int run_post_hooks(Node node, PyObject** grads, PyObject** out) except -1
