"""New arrays with PyTorch's layout: the rules of `imode._core.iterate`, for Python."""
import numpy as np

cimport numpy as cnp
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from imode._core cimport channels, iterate
from imode._core.allocator cimport fields
from imode._core.allocator cimport view as array_view
from imode._core.iterate cimport NDIM, Operand, operand_of
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:
    MOST = 8                      # most operands


cpdef tuple iteration_order(ndarray a):
    """Return the axes of `a`, outermost first."""
    return common_order((<object>a).shape, [(<object>a).strides])


cpdef tuple common_order(tuple shape, list strides):
    """Return the axes of a pointwise result of `shape`, outermost first.

    strides: each operand's, one per axis of the result, 0 where the operand is broadcast.
    """
    cdef npy_intp dims[NDIM]
    cdef int axes[NDIM]
    cdef int i, k, nd = len(shape), n = len(strides)
    cdef Operand* operands = <Operand*>PyMem_Malloc(n * (sizeof(Operand) + nd * sizeof(npy_intp)))
    if operands == NULL:
        raise MemoryError()
    try:
        for i in range(nd):
            dims[i] = shape[i]
        for k in range(n):
            operands[k].nd, operands[k].dims = nd, dims
            operands[k].strides = <npy_intp*>(operands + n) + k * nd
            for i in range(nd):
                operands[k].strides[i] = strides[k][i]
        iterate.order_axes(operands, n, nd, dims, axes)
    finally:
        PyMem_Free(operands)
    return tuple([axes[nd - 1 - i] for i in range(nd)])


def strides_in(order, shape, step):
    """Return the strides of a `shape` without gaps; `order`: its axes in memory, outermost first.

    step: the stride of the innermost axis.
    """
    strides = list(shape)
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis]
    return strides


cpdef ndarray empty_in(tuple order, tuple shape, object dtype):
    """Return an uninitialised array of `shape`; `order`: its axes in memory, outermost first."""
    cdef npy_intp back[NDIM]
    cdef cnp.PyArray_Dims permutation
    cdef int i, nd = len(shape)
    if 0 in shape and order != tuple(range(nd)):    # NumPy would lose the order
        strides = strides_in(order, shape, np.dtype(dtype).itemsize)
        return np.ndarray(shape, dtype, np.empty(0, dtype), 0, strides)
    for i in range(nd):
        back[<int>order[i]] = i
    permutation.ptr, permutation.len = back, nd
    return <ndarray> cnp.PyArray_Transpose(
        np.empty([shape[axis] for axis in order], dtype), &permutation)


cpdef ndarray empty_for(tuple arrays, tuple shape, object dtype, bint numbers=False):
    """Return an uninitialised array of `shape` with the layout of a pointwise result.

    arrays: the operands. numbers: whether there are Python numbers among the operands, too.
    """
    cdef Operand operands[MOST]
    cdef npy_intp dims[NDIM]
    cdef int i, n = len(arrays)
    cdef bint alike = not numbers
    if n > MOST:
        raise ValueError(f"at most {MOST} arrays have a layout in common, but got {n}")
    for i in range(len(shape)):
        dims[i] = shape[i]
    for i in range(n):
        operands[i] = operand_of(arrays[i])
        alike = alike and (<object>arrays[i]).shape == shape
    kind = np.dtype(dtype)
    made = iterate.empty_for(operands, n, len(shape), dims, kind.num, kind.itemsize, alike)
    for array in arrays:
        if type(array) is not ndarray:
            return as_hollow_as(array, made)
    return made


cdef ndarray as_hollow_as(object a, ndarray made):
    """See Note [Hollow arrays]."""
    return made if type(a) is ndarray else made.view(type(a))


def solid(value):
    """What a kernel gave, with ndarrays in the place of Hollow arrays: see Note [Hollow arrays]."""
    if isinstance(value, (tuple, list)):
        return type(value)([solid(item) for item in value])
    if type(value) is ndarray or not isinstance(value, ndarray):
        return value
    owner = value
    while isinstance(owner.base, ndarray):
        owner = owner.base
    if owner.shape == value.shape and owner.strides == value.strides and (
            owner.dtype == value.dtype and type(owner) is ndarray):
        return owner
    cdef ndarray source = owner.view(value.dtype) if owner.dtype != value.dtype else owner
    return array_view(source, value.ndim, cnp.PyArray_DIMS(value), cnp.PyArray_STRIDES(value),
                      cnp.PyArray_BYTES(value))


cpdef ndarray empty_like(ndarray a, object dtype=None):
    """Return an uninitialised dense array of a's shape, with a's order of axes.

    If `a` is dense or empty, it has exactly the strides of `a`, also in dimensions of size 1.
    """
    return as_hollow_as(
        a, iterate.empty_like(a, cnp.PyArray_TYPE(a) if dtype is None else np.dtype(dtype).num))


def in_rows(ndarray a not None):
    """Whether the strides are those of a new array, also in dimensions of size 1."""
    return iterate.in_row_order(fields(<PyObject*>a), cnp.PyArray_ITEMSIZE(a))


def is_channels_last(ndarray a not None):
    """Whether the strides are those of images, or of volumes, with the channels innermost."""
    return channels.is_channels_last(a)
