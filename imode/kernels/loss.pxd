# Negative log-likelihood over ndarrays. See loss.pyx. Reductions are PyTorch's numbers.

cdef enum:
    NONE = 0
    MEAN = 1
    SUM = 2


cpdef tuple nll(x, target, weight, long reduction, long ignore_index)
cpdef object nll_backward(grad, x, target, weight, long reduction, long ignore_index, total)

cdef enum:
    SQUARED = 0    # (x - y) ** 2
    SMOOTH = 1     # smooth L1; the parameter is beta
    HUBER = 2      # the parameter is delta
    ENTROPY = 3    # binary cross entropy of probabilities
    LOGITS = 4     # binary cross entropy of logits

cpdef object pairwise(int kind, x, y, double param, long reduction)
cpdef object squared(x, y, long reduction)
cpdef object smooth_l1(x, y, long reduction, double beta)
cpdef object huber(x, y, long reduction, double delta)
cpdef object pairwise_backward(int kind, grad, x, y, double param, long reduction)
cpdef bint within_unit(x)
