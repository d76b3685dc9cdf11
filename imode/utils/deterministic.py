"""A switch of PyTorch's about memory that was not filled: here it is kept, and changes nothing."""

fill_uninitialized_memory = True  # where deterministic algorithms are asked for
