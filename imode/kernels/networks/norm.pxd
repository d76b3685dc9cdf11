# Batch, layer and group normalisation over ndarrays. See norm.pyx; the loops are in _norm_loops.h.
#
# Inputs may have any strides; results are new arrays. The only exception to "kernels write nothing"
# are running_mean and running_var: batch_norm in training updates them, after all checks.

cdef extern from "_norm.h" nogil:
    ctypedef struct plane_t:
        long outer, channels, inner   # the array is (outer, channels, inner), contiguous

    int norm_stats(const plane_t*, int, const void*, void*, void*)
    void norm_affine(const plane_t*, int, const void*, const void*, const void*, void*)
    int norm_sums(const plane_t*, int, const void*, const void*, const void*, void*, void*)
    void norm_combine(const plane_t*, int, const void*, const void*, const void*, const void*,
                      const void*, void*)
    void norm_rows(long, long, int, const void*, const void*, const void*, const void*,
                   const void*, void*)
    void norm_rows_backward(long, long, int, const void*, const void*, const void*, const void*,
                            const void*, void*, void*, void*)
