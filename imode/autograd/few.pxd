# What recording does for a node of few inputs and one result, in line: for modules that do it at
# each call.
from imode._core.allocator cimport Fields, copy_dims, fields
from imode._core.tensor cimport Tensor
from imode.autograd.node cimport MAX_SHAPE, SMALL, Node, OutputMeta, describe


cdef inline int few_edges(Node node, int n) except -1:
    """As set_edges(), which it calls where there are many."""
    if n > SMALL:
        return node.set_edges(n)
    node.n_edges = n
    return 0


cdef inline void one_output(Node node) noexcept:
    """As set_outputs(1)."""
    node.output.n_outputs, node.output.typenum = 1, -1


cdef inline int describe_first(Node node, Tensor tensor) except -1:
    """As describe(), of the first result, which it calls where there are several."""
    cdef OutputMeta* meta = &node.output
    cdef Fields* array = fields(tensor.array)
    if array.nd > MAX_SHAPE or meta.nd > MAX_SHAPE or meta.n_outputs != 1:
        return describe(node, 0, tensor)
    meta.nd, meta.typenum = <short>array.nd, <short>array.descr.type_num
    copy_dims(&meta.shape.few[0], array.dimensions, array.nd)
    return 0
