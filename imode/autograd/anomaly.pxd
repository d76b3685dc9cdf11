# Anomaly mode: where the forward pass recorded the node that fails. See anomaly.pyx.
# Thread rule: on or off for all threads, switched with the GIL held.
from cpython.object cimport PyObject
from imode.autograd.node cimport Node

cdef bint nan_checked() noexcept                           # whether gradients are searched for NaN
cdef int check_nan(Node node, PyObject** out) except -1    # raises if a node gave NaN
cdef int report(Node node, object error) except -1         # says where a failing node was recorded
