# Views in the graph: records, creation metadata, in-place writes, regenerated grad_fn.
# See views.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator
from imode._core.tensor cimport Tensor
from imode.autograd.node cimport Node

cdef int track(Operator op, PyObject** args, Tensor base, Tensor result, bint multiple) except -1
# of the same elements; maker: the operator's number in provenance.py
cdef int track_alias(int maker, Tensor base, Tensor result, bint multiple) except -1
# writer: the operator's number in provenance.py
cdef int check_write(int writer, Tensor target) except -1   # no inference tensor outside the mode
cdef int count_write(int writer, Tensor target) except -1   # a version bump
cdef int check_inplace(str writer, Tensor self, bint geometry=*) except -1  # before it is recorded
# After a write: make the node the tensor's new history; `edge` leads to the old one, -1: none does.
cdef int rebase_history(Tensor self, Node node, int output_nr, int edge) except -1


cdef class CopySlices(Node):
    # The base's node after an in-place write to a view of it. One edge leads to the base's history,
    # the others are those of the write. Thread rule: as for Node.
    # `function`: the node of the write, one edge of which leads to the view's old history; None
    # once released.
    cdef Node function
    cdef int base_edge            # which; the write's edge to the view, if it has one
    cdef tuple base_geometry      # (size, stride, storage offset) of the base
    cdef tuple view_geometry      # likewise of the view
    cdef object replay            # makes the view from the base where as_strided cannot; or None
