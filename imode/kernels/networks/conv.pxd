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
    ctypedef struct conv_part_t:
        conv_t q
        long weight
    ctypedef struct conv_plan_t:
        long parts, across, result
        conv_part_t* part
    int conv_plan(const conv_t*, conv_plan_t*)
    long conv_turn_units(const conv_t*)
    void conv_turn_weight(const conv_t*, const conv_plan_t*, int, const void*, void*,
                          long begin, long end)
    int conv_reads_weight(const conv_t*, const conv_plan_t*, int)
    int conv_grad_input(const conv_t*, const conv_plan_t*, int, const void*, const void*, void*,
                        long apart, long begin, long end)
    void conv_place(const conv_t*, const conv_plan_t*, const conv_part_t*, int, const void*,
                    long apart, void*, long begin, long end)
    long conv_weight_units(const conv_t*, long parts)
    int conv_grad_weight(const conv_t*, int, const void*, const void*, void*,
                         long parts, long begin, long end)
