# Negative log-likelihood over ndarrays. See loss.pyx. Reductions are PyTorch's numbers.

cdef enum:
    NONE = 0
    MEAN = 1
    SUM = 2


cpdef tuple nll(x, target, weight, long reduction, long ignore_index)
cpdef object nll_backward(grad, x, target, weight, long reduction, long ignore_index, total)
