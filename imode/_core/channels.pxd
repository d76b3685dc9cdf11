# Memory order of images: if the inputs have "channels last" strides, so has PyTorch's result.

cimport numpy as cnp
from imode._core.parallel cimport skipping


cdef inline bint _is_last(int nd, cnp.npy_intp* size, cnp.npy_intp* stride) noexcept:
    # Decided by the strides, which may leave gaps; with one channel and one pixel: row-major.
    cdef cnp.npy_intp least = 0
    cdef int i, d
    if stride[1] == 0:
        return False
    for i in range(nd):                       # channels, then space from the innermost, then images
        d = 1 if i == 0 else 0 if i == nd - 1 else nd - i
        if size[d] == 0 or stride[d] < least or (d == 0 and least == stride[1]):
            return False
        least = stride[d] * (size[d] if size[d] > 1 else 1)
    return True


cdef inline bint is_channels_last(cnp.ndarray a) noexcept:
    return 4 <= cnp.PyArray_NDIM(a) <= 5 and _is_last(
        cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a), cnp.PyArray_STRIDES(a))


cdef inline bint lines_are_last(cnp.ndarray a) noexcept:
    # Like is_channels_last; lines count as images of height 1.
    if cnp.PyArray_NDIM(a) != 3:
        return is_channels_last(a)
    cdef cnp.npy_intp* size = cnp.PyArray_DIMS(a)
    cdef cnp.npy_intp* stride = cnp.PyArray_STRIDES(a)
    return _is_last(4, [size[0], size[1], 1, size[2]],
                    [stride[0], stride[1], size[2] * stride[2], stride[2]])


cdef inline object channels_to_end(a):
    # A view with the channels as the last dimension.
    return a.transpose(0, *range(2, a.ndim), 1)


cdef inline object channels_back(a):
    return a.transpose(0, a.ndim - 1, *range(1, a.ndim - 1))


cdef inline object as_channels_last(out):
    # Always a copy: NumPy would leave the strides of dimensions of size 1 as they are.
    return channels_back(_copied(channels_to_end(out)))


cdef inline cnp.ndarray contiguous(a):
    return a if cnp.PyArray_IS_C_CONTIGUOUS(a) else _copied(a)


cdef inline cnp.ndarray _copied(cnp.ndarray a):
    # In rows; without the elements where nobody wants them.
    if skipping():
        return cnp.PyArray_EMPTY(
            cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a), cnp.PyArray_TYPE(a), 0)
    return cnp.PyArray_NewCopy(a, cnp.NPY_CORDER)
