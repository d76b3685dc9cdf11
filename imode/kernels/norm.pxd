# Batch, layer and group normalisation over ndarrays. See norm.pyx; the loops are in _norm_loops.h.
#
# Inputs may have any strides; results are new arrays. running_mean and running_var are the one
# exception to "kernels write nothing": a training batch_norm updates them, after all checks.

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


cpdef tuple batch_norm(x, weight, bias, running_mean, running_var, bint training, double momentum,
                       double eps)
cpdef tuple batch_norm_backward(
    grad, x, weight, running_mean, running_var, mean, invstd, bint training, double eps,
    tuple needs)
cpdef tuple layer_norm(x, tuple shape, weight, bias, double eps)
cpdef tuple layer_norm_backward(grad, x, tuple shape, mean, rstd, weight, tuple needs)
cpdef tuple group_norm(x, weight, bias, long groups, double eps)
cpdef tuple group_norm_backward(grad, x, mean, rstd, weight, long groups, tuple needs)
