# Rows of a table by index over ndarrays. See embedding.pyx.

cpdef object embedding(weight, indices)
cpdef object embedding_backward(
    grad, indices, long num_weights, long padding_idx, bint scale_grad_by_freq)
