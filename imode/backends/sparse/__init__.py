"""What computes the operators of sparse tensors, by name: see Note [Sparse tensors]."""
