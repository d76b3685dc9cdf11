"""The same programs in imode and in PyTorch, every observable compared."""
