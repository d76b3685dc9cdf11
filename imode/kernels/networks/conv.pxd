# Convolution over ndarrays, of one to three dimensions. See conv.pyx; the loops: _conv_tile.h.
#
# Shapes, strides and dtypes are checked first, with PyTorch's messages, so that an operator's
# kernel is one call. Inputs may have any strides; results are new arrays. The GIL is released while
# the loops run.
from imode.kernels.networks.conv_check cimport conv_t

cdef extern from "_conv.h" nogil:
    long conv_groups(const conv_t*)
    long conv_units(const conv_t*, long parts)
    int conv_forward(const conv_t*, int, const void*, const void*, const void*, void*,
                     long parts, long begin, long end)
    int conv_is_flat(const conv_t*)
    void conv_turned(const conv_t*, conv_t*)
    void conv_turn_weight(const conv_t*, int, const void*, void*)
    int conv_grad_input(const conv_t*, int, const void*, const void*, void*)
    long conv_weight_units(const conv_t*, long parts)
    int conv_grad_weight(const conv_t*, int, const void*, const void*, void*,
                         long parts, long begin, long end)
