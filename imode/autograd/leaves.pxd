# The ends of the graph: AccumulateGrad adds to a leaf's .grad. See leaves.pyx.
from imode._core.dispatch cimport TLS
from imode._core.tensor cimport Tensor
from imode.autograd.node cimport Node


cdef class AccumulateGrad(Node):
    # One per leaf while any graph leads to it. The leaf's meta points back, unowned.
    # Thread rule: with the GIL held; and as adding to `.grad` may give the GIL up in its middle,
    # only the thread in `owner` does it, while others wait.
    cdef Tensor variable
    cdef TLS* owner               # the thread that adds to the leaf's .grad; NULL: none
    cdef list aliases             # weak references to tensors that share it; None: no others


cdef AccumulateGrad accumulator_of(Tensor leaf)    # the leaf's; made when there is none
cdef int share_accumulator(AccumulateGrad node, Tensor alias) except -1   # alias: the leaf's too
