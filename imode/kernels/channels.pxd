# Memory order of images: PyTorch keeps "channels last" strides where its inputs have them.

cimport numpy as cnp


cdef inline bint _is_last(int nd, cnp.npy_intp* size, cnp.npy_intp* stride) noexcept:
    # The strides decide, which may have gaps; row-major wins for one channel and one pixel.
    cdef cnp.npy_intp least = 0
    cdef int i, d
    if stride[1] == 0:
        return False
    for i in range(nd):                       # the channels, the others inwards out, the images
        d = 1 if i == 0 else 0 if i == nd - 1 else nd - i
        if size[d] == 0 or stride[d] < least or (d == 0 and least == stride[1]):
            return False
        least = stride[d] * (size[d] if size[d] > 1 else 1)
    return True


cdef inline bint is_channels_last(cnp.ndarray a) noexcept:
    return 4 <= cnp.PyArray_NDIM(a) <= 5 and _is_last(
        cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a), cnp.PyArray_STRIDES(a))


cdef inline bint lines_are_last(cnp.ndarray a) noexcept:
    # Of images, or of lines as images of height 1.
    if cnp.PyArray_NDIM(a) != 3:
        return is_channels_last(a)
    cdef cnp.npy_intp* size = cnp.PyArray_DIMS(a)
    cdef cnp.npy_intp* stride = cnp.PyArray_STRIDES(a)
    return _is_last(4, [size[0], size[1], 1, size[2]],
                    [stride[0], stride[1], size[2] * stride[2], stride[2]])


cdef inline object channels_to_end(a):
    # A view whose row order is that of channels last.
    return a.transpose(0, *range(2, a.ndim), 1)


cdef inline object channels_back(a):
    return a.transpose(0, a.ndim - 1, *range(1, a.ndim - 1))


cdef inline object as_channels_last(out):
    # Always a copy: NumPy would take strides of dimensions of size 1 as they are.
    return channels_back(cnp.PyArray_NewCopy(channels_to_end(out), cnp.NPY_CORDER))


cdef inline cnp.ndarray contiguous(a):
    return cnp.PyArray_GETCONTIGUOUS(a)
