# Convolution over ndarrays, one and two dimensional. See conv.pyx; the loops are in _conv_tile.h.
#
# Shapes, strides and dtypes are checked here, with PyTorch's messages, so that an operator's kernel
# is one call. Inputs may have any strides; results are new arrays. The GIL is released while the
# loops run.

cdef extern from "_conv.h" nogil:
    ctypedef struct conv_t:
        long n, c, h, w                # input: batch, channels, height, width
        long oc, kh, kw                # output channels; kernel height, width
        long oh, ow                    # output height, width
        long sh, sw                    # stride
        long top, bottom, left, right  # zero padding; negative: cropping
        long dh, dw                    # dilation
        long groups

    int conv_forward(const conv_t*, int, const void*, const void*, const void*, void*)
    int conv_grad_input(const conv_t*, int, const void*, const void*, void*)
    int conv_grad_weight(const conv_t*, int, const void*, const void*, void*)
