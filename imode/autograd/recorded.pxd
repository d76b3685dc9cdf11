# Nodes of operators from the table. See recorded.pyx for implementation details.
# Thread rule: as for Node; classes are added with the GIL held, and are never removed.
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core.tensor cimport Tensor
from imode.autograd.derivative cimport Derivative, Formula
from imode.autograd.node cimport Node, saved_values


cdef class OpNode(Node):
    # The node of an operator: it saves what its derivative's formulas read, and runs them. It adds
    # no fields to Node; `derivative` is never None.

    cdef int set_saved(self, int n) except -1
    cdef int keep_input(self, int slot, Tensor tensor, str saver) except -1
    cdef int keep_result(self, int slot, Tensor tensor, int output_nr) except -1
    cdef bint _saves_tensors(self, int slot)
    cdef PyObject* _saved(self, int slot) noexcept
    cdef object _unpacked(self, int slot)
    cdef int _compute(self, Formula* formula, PyObject** saved, PyObject** grads,
                      PyObject** out) except -1
    cdef bint _any_grad(self, PyObject** grads) noexcept
    cdef int _first_edge(self, int input) noexcept
    cdef bint _wanted(self, Formula* formula) noexcept
    cdef tuple _needs(self, Formula* formula)
    cdef int _distribute(self, Formula* formula, object value, PyObject** out) except -1
    cdef int _put(self, int edge, object gradient, PyObject** out) except -1
    cdef object _shown(self, int slot)
    cdef object _computed(self, str name)
    cdef object _raw(self, int slot)
    cdef object _raw_computed(self, str name)
    cdef bint _lists(self, str name) except -1
    cdef bint _holds_tensors(self, int slot) noexcept


cdef inline void keep(OpNode node, int slot, object value) noexcept:
    """Save a value that is no tensor, or a SavedTensor, or several in a tuple."""
    Py_INCREF(value)
    saved_values(node)[slot] = <PyObject*>value


cdef OpNode new_node(Derivative derivative)  # without edges yet, counted as recorded
