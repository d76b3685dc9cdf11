"""The names of PyTorch's torch.linalg that imode has: norms, cross and chained products.

>>> imode.linalg.norm(imode.tensor([3.0, 4.0]))
tensor(5.)
"""

from . import (
    linalg_cross as cross,
)
from . import (
    linalg_matrix_norm as matrix_norm,
)
from . import (
    linalg_multi_dot as multi_dot,
)
from . import (
    linalg_norm as norm,
)
from . import (
    linalg_vector_norm as vector_norm,
)

__all__ = ["cross", "matrix_norm", "multi_dot", "norm", "vector_norm"]
