"""The names of PyTorch's torch.linalg that imode has: norms, cross and chained products.

>>> imode.linalg.norm(imode.tensor([3.0, 4.0]))
tensor(5.)
"""

from .ops.schema import functions as _functions

cross = _functions["linalg_cross"]
matrix_norm = _functions["linalg_matrix_norm"]
multi_dot = _functions["linalg_multi_dot"]
norm = _functions["linalg_norm"]
vector_norm = _functions["linalg_vector_norm"]

__all__ = ["cross", "matrix_norm", "multi_dot", "norm", "vector_norm"]
