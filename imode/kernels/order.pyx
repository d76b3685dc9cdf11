"""The order in which PyTorch visits the axes of a tensor, and new arrays laid out in that order."""
import numpy as np

cimport numpy as cnp
from imode._core.allocator cimport empty, view
from libc.string cimport memcmp
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:
    MAX_DIMS = 64


cdef int order_axes(ndarray a, int *axes) noexcept:
    """Insertion sort by stride, smallest first.

    An axis of stride 0 is never moved past another; of two with equal strides the longer one goes
    outside. Ties keep the order of the axes.
    """
    cdef int nd = cnp.PyArray_NDIM(a)
    cdef npy_intp *shape = cnp.PyArray_DIMS(a)
    cdef npy_intp *strides = cnp.PyArray_STRIDES(a)
    cdef npy_intp inner, outer
    cdef int i, j, place, order
    for i in range(nd):
        axes[i] = nd - 1 - i
    for i in range(1, nd):
        place = i
        for j in range(i - 1, -1, -1):
            inner, outer = strides[axes[j]], strides[axes[place]]
            order = 0
            if inner != 0 and outer != 0:
                if inner != outer:
                    order = 1 if inner > outer else -1
                elif shape[axes[j]] > shape[axes[place]]:
                    order = 1
            if order > 0:
                axes[j], axes[place] = axes[place], axes[j]
                place = j
            elif order < 0:
                break
    return nd


cdef int order_all(tuple arrays, int nd, npy_intp *shape, int *axes) except -1:
    """The same for several operands that broadcast to `shape`: the first that decides counts."""
    cdef int i, j, place, order
    cdef npy_intp inner, outer
    cdef list strides = []
    cdef tuple theirs
    for array in arrays:
        missing = nd - (<ndarray> array).ndim
        strides.append((0,) * missing + tuple([
            0 if n == 1 and shape[missing + i] != 1 else s
            for i, (n, s) in enumerate(zip(array.shape, array.strides))
        ]))
    for i in range(nd):
        axes[i] = nd - 1 - i
    for i in range(1, nd):
        place = i
        for j in range(i - 1, -1, -1):
            order = 0
            for theirs in strides:
                inner, outer = theirs[axes[j]], theirs[axes[place]]
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
    return nd


cpdef ndarray empty_for(tuple arrays, tuple shape, object dtype):
    """Return an uninitialised array of `shape` with the layout of a pointwise result."""
    cdef int axes[MAX_DIMS]
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp back[MAX_DIMS]
    cdef cnp.PyArray_Dims permutation
    cdef int i, nd = len(shape)
    for i in range(nd):
        dims[i] = shape[i]
    order_all(arrays, nd, dims, axes)
    for i in range(nd):
        back[axes[nd - 1 - i]] = i
    made = np.empty(tuple([dims[axes[nd - 1 - i]] for i in range(nd)]), dtype)
    permutation.ptr, permutation.len = back, nd
    return <ndarray> cnp.PyArray_Transpose(made, &permutation)


cpdef tuple iteration_order(ndarray a):
    """Return the axes of `a`, outermost first."""
    cdef int axes[MAX_DIMS]
    cdef int i, nd = order_axes(a, axes)
    return tuple([axes[nd - 1 - i] for i in range(nd)])


def empty_in(order, tuple shape, dtype):
    """Return an uninitialised array of `shape`, its axes in memory in `order`, outermost first."""
    return np.empty([shape[axis] for axis in order], dtype).transpose(np.argsort(order))


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
