"""PyTorch's own files: the zip archive, and the older stream of pickles and tar."""
