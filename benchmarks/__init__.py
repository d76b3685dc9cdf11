"""Times of imode beside PyTorch's and NumPy's: ratios from one process, on one thread."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy and PyTorch read them
