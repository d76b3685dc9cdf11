# Negative log-likelihood over ndarrays. See loss.pyx. Reductions are PyTorch's numbers.

cpdef enum Reduction:
    NONE = 0
    MEAN = 1
    SUM = 2


cpdef enum Pairwise:  # losses of pairs
    SQUARED = 0    # (x - y) ** 2
    SMOOTH = 1     # smooth L1; the parameter is beta
    HUBER = 2      # the parameter is delta
    ENTROPY = 3    # binary cross entropy of probabilities
    LOGITS = 4     # binary cross entropy of logits
