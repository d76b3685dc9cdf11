# The ends of the graph: AccumulateGrad adds to a leaf's .grad. See leaves.pyx.
from imode._core.dispatch cimport TLS
from imode._core.tensor cimport Tensor
from imode.autograd.node cimport Edge, Node


cdef class AccumulateGrad(Node):
    # One per leaf, while any graph leads to it. The leaf's meta points to it, without owning it.
    # Thread rule: used with the GIL held. Adding to `.grad` may release the GIL, so only the thread
    # in `owner` adds, while others wait.
    cdef Tensor variable
    cdef TLS* owner               # the thread that adds to the leaf's .grad; NULL: none
    cdef list aliases             # weak references to other tensors that share it; None: none


cdef AccumulateGrad accumulator_of(Tensor leaf)    # the leaf's; created if it has none
cdef int share_accumulator(AccumulateGrad node, Tensor alias) except -1   # the alias gets it too
cdef bint node_edge(Tensor tensor, Edge* edge) except -1     # False: it needs no gradient
cdef int connect(Node node, int edge, Tensor tensor) except -1   # let the edge lead to the tensor
