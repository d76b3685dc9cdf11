"""The fast case of take_along_dim, see `imode/ops/composites_fast.pyx`."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport Operator, call2, call3
from imode._core.keyset cimport BIT_CPU, keyset_t
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, requires_grad
from imode.kernels.fast_guards cimport _array, _dim, _indices
from imode.ops.composites_fast cimport callee, calling
from libc.stdint cimport int64_t
from numpy cimport ndarray, npy_intp

cnp.import_array()


cdef object _take_along(Operator op, keyset_t keys, PyObject** args):
    """take_along_dim(self, indices, dim) where nothing is broadcast."""
    cdef Fields* a = _array(args[0])
    cdef Fields* at = _array(args[1])
    cdef int dim, d
    if not (<Tensor>args[1]).keys & BIT_CPU:
        return NotImplemented
    if args[2] == <PyObject*>None or a.nd == 0 or at.nd != a.nd or not _indices(at):
        return NotImplemented
    dim = _dim(args[2], a.nd)
    if dim < 0 or a.dimensions[dim] == 0:
        return NotImplemented
    for d in range(a.nd):
        if d != dim and a.dimensions[d] != at.dimensions[d]:
            return NotImplemented
    source = <object>args[0]
    if requires_grad(<Tensor>source):
        # Recorded, the expansion shows in the graph.
        source = call2(callee(op, 1), source, tuple([a.dimensions[d] for d in range(a.nd)]))
    return call3(callee(op, 0), source, dim, _counted(at, a.dimensions[dim]))


cdef Tensor _counted(Fields* at, npy_intp length):
    """Indices counted modulo the length, as tensors of their own."""
    cdef ndarray made = empty(cnp.NPY_INT64, at.nd, at.dimensions)
    cdef int64_t* to = <int64_t*>cnp.PyArray_DATA(made)
    cdef int64_t index
    cdef npy_intp i
    for i in range(cnp.PyArray_SIZE(made)):
        index = (<int64_t*>at.data)[i] % length
        to[i] = index + length if index < 0 else index
    return wrap(made)


take_along_dim = calling(_take_along, ["gather", "expand"])
