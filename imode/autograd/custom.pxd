# Custom functions: the node that carries a user's backward. See custom.pyx.
from cpython.object cimport PyObject
from imode.autograd.node cimport Node

cdef extern from *:
    """
    #define IMODE_ITEMS(tuple) (((PyTupleObject*)(tuple))->ob_item)
    """
    PyObject** items_of "IMODE_ITEMS"(object)


cdef enum:
    STACK = 8                 # up to so many arguments, a call allocates nothing for them
    IS_TENSOR = 1             # flags of an argument
    NEEDS_GRAD = 2


cdef class FunctionNode(Node):
    # The context of one call of a custom function, and the graph's node if the call is recorded.
    # Thread rule: used with the GIL held. Its own call fills it; after that only `all_saved`
    # changes, once, from a tuple to None, when backward frees it or the only reading clears it.
    #
    # Invariant: there is one edge per argument that is a tensor, in order.
    cdef public object to_save             # what save_for_backward was given, until the call ends
    cdef public object saved_for_forward   # likewise save_for_forward
    cdef public object dirty_tensors       # likewise mark_dirty
    cdef public object non_differentiable  # likewise mark_non_differentiable
    cdef bytes arguments      # flags per argument: IS_TENSOR, NEEDS_GRAD
    cdef object needs         # needs_input_grad, once it has been read or set
    cdef tuple all_saved      # SavedTensor or None per saved value; None: nothing saved, or freed
    cdef list blanks          # per result: (shape, dtype) of a tensor without gradient, or None
    cdef bint materialize     # backward gets zeros where no gradient arrived
    cdef public bint _materialize_non_diff_grads   # also for results that have no gradient
    cdef bint clear_on_access  # the class's clear_saved_tensors_on_access
    cdef bint cleared         # reading saved_tensors has cleared it
    cdef bint boxed           # the class's boxed_grads_call: backward takes one list

    cdef object _blank(self, Py_ssize_t output, PyObject** grads)
    cdef int _deliver(self, object result, PyObject** out) except -1


cdef class Error(Node):
    # The node of a result that cannot be differentiated: raises when it runs.
    cdef str message
