# Views in the graph: records, creation metadata, in-place writes, regenerated grad_fn.
# See views.pyx for implementation details.
from cpython.object cimport PyObject
from imode._core.dispatch cimport Operator
from imode._core.tensor cimport Tensor
from imode.autograd.node cimport Node

cdef int track(Operator op, PyObject** args, Tensor base, Tensor result, bint multiple) except -1
# of the same elements; maker: the operator, as errors.py numbers them
cdef int track_alias(int maker, Tensor base, Tensor result, bint multiple) except -1
# writer: as errors.py numbers operators
cdef int check_write(int writer, Tensor target) except -1   # outside the mode: no inference tensor
cdef int count_write(int writer, Tensor target) except -1   # a version bump
cdef int check_inplace(str writer, Tensor self, bint geometry=*) except -1  # before it is recorded
# after a write: the node is the tensor's new history; `edge` leads to the old one, -1: none does
cdef int rebase_history(Tensor self, Node node, int output_nr, int edge) except -1


cdef class CopySlices(Node):
    # The base's node after an in-place write to a view of it. One edge goes to the base's history,
    # the others are the write's own. Thread rule: a Node's.
    # The node of the write, whose edge leads to the view before it; None once released.
    cdef Node function
    cdef int base_edge            # which; where the write reads the view, its edge for that
    cdef tuple base_geometry      # (size, stride, storage offset) of the base
    cdef tuple view_geometry      # likewise of the view
    cdef object replay            # makes the view from the base where as_strided cannot; or None
