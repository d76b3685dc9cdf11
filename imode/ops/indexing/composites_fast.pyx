"""Fast cases of take_along_dim and unravel_index, see `imode/ops/composites_fast.pyx`."""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport Operator, call2, call3
from imode._core.keyset cimport BIT_CPU, keyset_t
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, requires_grad
from imode.kernels.fast_guards cimport MAX_DIMS, _array, _count, _dim, _indices, _integer
from imode.ops.composites_fast cimport callee, calling, unseen
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
        index = (<int64_t*>at.data)[i]
        if not 0 <= index < length:            # a division takes as long as all the rest
            index %= length
            index += length if index < 0 else 0
        to[i] = index
    return wrap(made)


cdef enum:
    FEW = 1024                    # most positions
    MAX_NDIM = 16                 # most dimensions that they are counted in


cdef void _unravel(int64_t* to, const int64_t* flat, npy_intp n, const int64_t* sizes,
                   int count) noexcept nogil:
    """Coordinates of positions, which may be beyond the first or the last."""
    cdef npy_intp i
    cdef int64_t rest, size
    cdef int d
    for i in range(n):
        rest = flat[i]
        for d in range(count - 1, -1, -1):
            size = sizes[d]
            to[i * count + d] = rest % size + (size if rest % size < 0 else 0)
            rest = (rest - to[i * count + d]) // size


cdef object _unravel_index(Operator op, keyset_t keys, PyObject** args):
    """unravel_index(indices, shape): int64 positions, a tuple or a list of sizes above 0."""
    cdef Fields* a = _array(args[0])
    cdef npy_intp[MAX_DIMS] dims
    cdef int64_t[MAX_NDIM] sizes
    cdef int d, count
    cdef npy_intp n
    cdef ndarray out
    if not isinstance(<object>args[1], (tuple, list)) or not _indices(a) or a.nd >= MAX_DIMS:
        return NotImplemented
    shape, count, n = tuple(<object>args[1]), len(<object>args[1]), _count(a, 0, a.nd)
    if not 0 < count <= MAX_NDIM or not 0 < n <= FEW or not unseen(op, (<Tensor>args[0]).keys):
        return NotImplemented
    for d in range(count):
        if not _integer(PyTuple_GET_ITEM(shape, d), &sizes[d]) or sizes[d] < 1:
            return NotImplemented
    for d in range(a.nd):
        dims[d] = a.dimensions[d]
    dims[a.nd] = count
    out = empty(cnp.NPY_INT64, a.nd + 1, dims)
    _unravel(<int64_t*>cnp.PyArray_DATA(out), <int64_t*>a.data, n, sizes, count)
    return call2(callee(op, 0), wrap(out), -1)


take_along_dim = calling(_take_along, ["gather", "expand"])
unravel_index = calling(_unravel_index, ["unbind", "unsqueeze", "floor_divide", "remainder"])
