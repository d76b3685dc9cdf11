"""The order in which PyTorch visits the axes of a tensor, and new arrays laid out in that order."""
import numpy as np

cimport numpy as cnp
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from imode._core.allocator cimport empty, view
from libc.string cimport memcmp
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:
    MAX_DIMS = 64


cdef void _sort(int nd, npy_intp *shape, int n, npy_intp *strides, int *axes) noexcept:
    """Insertion sort of the axes by the strides of n operands, smallest first.

    The first operand that decides about two axes counts; one of stride 0 in either has no say. Of
    two axes with equal strides the longer one goes outside. Ties keep the order of the axes.
    """
    cdef npy_intp inner, outer
    cdef int i, j, k, place, order
    for i in range(nd):
        axes[i] = nd - 1 - i
    for i in range(1, nd):
        place = i
        for j in range(i - 1, -1, -1):
            order = 0
            for k in range(n):
                inner, outer = strides[k * nd + axes[j]], strides[k * nd + axes[place]]
                if inner == 0 or outer == 0:
                    continue
                if inner != outer:
                    order = 1 if inner > outer else -1
                    break
                if shape[axes[j]] > shape[axes[place]]:
                    order = 1
                    break
            if order > 0:
                axes[j], axes[place] = axes[place], axes[j]
                place = j
            elif order < 0:
                break


cdef int order_axes(ndarray a, int *axes) noexcept:
    """The axes of `a`, innermost first; returns how many."""
    _sort(cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a), 1, cnp.PyArray_STRIDES(a), axes)
    return cnp.PyArray_NDIM(a)


cpdef tuple iteration_order(ndarray a):
    """Return the axes of `a`, outermost first."""
    return common_order((<object>a).shape, [(<object>a).strides])


cpdef tuple common_order(tuple shape, list strides):
    """Return the axes of a pointwise result of `shape`, outermost first.

    strides: each operand's, one per axis of the result, 0 where the operand stands still.
    """
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp *steps
    cdef int axes[MAX_DIMS]
    cdef int i, k, nd = len(shape)
    steps = <npy_intp*>PyMem_Malloc(nd * len(strides) * sizeof(npy_intp))
    if steps == NULL:
        raise MemoryError()
    try:
        for i in range(nd):
            dims[i] = shape[i]
            for k in range(len(strides)):
                steps[k * nd + i] = strides[k][i]
        _sort(nd, dims, len(strides), steps, axes)
    finally:
        PyMem_Free(steps)
    return tuple([axes[nd - 1 - i] for i in range(nd)])


cpdef ndarray empty_in(tuple order, tuple shape, object dtype):
    """Return an uninitialised array of `shape`, its axes in memory in `order`, outermost first."""
    cdef npy_intp back[MAX_DIMS]
    cdef cnp.PyArray_Dims permutation
    cdef int i, nd = len(shape)
    for i in range(nd):
        back[<int>order[i]] = i
    permutation.ptr, permutation.len = back, nd
    return <ndarray> cnp.PyArray_Transpose(
        np.empty([shape[axis] for axis in order], dtype), &permutation)


cpdef ndarray empty_for(tuple arrays, tuple shape, object dtype):
    """Return an uninitialised array of `shape` with the layout of a pointwise result."""
    cdef list strides = []
    for array in arrays:
        missing = len(shape) - (<ndarray> array).ndim
        strides.append((0,) * missing + tuple([
            0 if n == 1 and shape[missing + i] != 1 else s
            for i, (n, s) in enumerate(zip(array.shape, array.strides))
        ]))
    return empty_in(common_order(shape, strides), shape, dtype)


cpdef ndarray empty_like(ndarray a, object dtype=None):
    """Return an uninitialised array of a's shape, dense, its axes in the order of a's.

    It has the very strides of one that is dense itself, or has no elements: those of dimensions of
    size 1, too.
    """
    cdef int axes[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef npy_intp *shape = cnp.PyArray_DIMS(a)
    cdef npy_intp step = 1, item
    cdef int i, nd = cnp.PyArray_NDIM(a)
    cdef bint dense = True
    cdef ndarray made
    dtype = a.dtype if dtype is None else np.dtype(dtype)
    made = empty(dtype.num, nd, shape)
    item = cnp.PyArray_ITEMSIZE(a)
    if cnp.PyArray_SIZE(a) and not cnp.PyArray_IS_C_CONTIGUOUS(a):
        order_axes(a, axes)
        for i in range(nd):
            strides[axes[i]] = step
            dense = dense and (shape[axes[i]] == 1 or a.strides[axes[i]] == step * item)
            step *= shape[axes[i]]
    if dense:
        for i in range(nd):
            strides[i] = a.strides[i] // item
    for i in range(nd):
        strides[i] *= cnp.PyArray_ITEMSIZE(made)
    if memcmp(strides, made.strides, nd * sizeof(npy_intp)) == 0:
        return made
    return view(made, nd, shape, strides, <char*>cnp.PyArray_DATA(made))
