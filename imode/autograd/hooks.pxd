# Hooks: what users have called with gradients while backward runs. See hooks.pyx.
#
# A table of hooks is an OrderedDict from a handle's id to the callable, changed with the GIL held;
# a hook may change the table that it is called from: the calls go over a copy.
from cpython.object cimport PyObject
from imode.autograd.node cimport Node

cdef object add_hook(object table, object hook)      # a RemovableHandle; `table` an OrderedDict
cdef object call_hooks(object table, object gradient)    # each may replace the gradient
cdef object new_table()

# grads: a node's gradients, one per result; out: those it gave, one per edge. Replaced in place.
cdef int run_tensor_hooks(Node node, PyObject** grads) except -1   # and retain_grad, last of them
cdef int run_pre_hooks(Node node, PyObject** grads) except -1
cdef int run_post_hooks(Node node, PyObject** grads, PyObject** out) except -1
