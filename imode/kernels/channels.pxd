# Memory order of images: PyTorch keeps "channels last" strides where its inputs have them.

cimport numpy as cnp


cdef inline bint is_channels_last(cnp.ndarray a) noexcept:
    # The strides decide; contiguous wins where both would fit (one channel, one pixel).
    if cnp.PyArray_NDIM(a) != 4 or cnp.PyArray_IS_C_CONTIGUOUS(a):
        return False
    cdef cnp.npy_intp* size = cnp.PyArray_DIMS(a)
    cdef cnp.npy_intp* stride = cnp.PyArray_STRIDES(a)
    cdef cnp.npy_intp least = 0
    cdef int[4] order = [1, 3, 2, 0]
    if stride[1] == 0:
        return False
    for d in order:
        if size[d] == 0 or stride[d] < least or (d == 0 and least == stride[1]):
            return False
        least = stride[d] * (size[d] if size[d] > 1 else 1)
    return True


cdef inline object as_channels_last(out):
    return cnp.PyArray_GETCONTIGUOUS(out.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


cdef inline cnp.ndarray contiguous(a):
    return cnp.PyArray_GETCONTIGUOUS(a)
