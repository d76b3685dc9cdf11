"""The names of PyTorch's torch.linalg: decompositions of matrices, systems, norms, products.

>>> imode.linalg.norm(imode.tensor([3.0, 4.0]))
tensor(5.)
"""

from imode.errors import names_of as _names_of

from . import (
    linalg_cholesky as cholesky,
)
from . import (
    linalg_cholesky_ex as cholesky_ex,
)
from . import (
    linalg_cond as cond,
)
from . import (
    linalg_cross as cross,
)
from . import (
    linalg_det as det,
)
from . import (
    linalg_diagonal as diagonal,
)
from . import (
    linalg_eig as eig,
)
from . import (
    linalg_eigh as eigh,
)
from . import (
    linalg_eigvals as eigvals,
)
from . import (
    linalg_eigvalsh as eigvalsh,
)
from . import (
    linalg_householder_product as householder_product,
)
from . import (
    linalg_inv as inv,
)
from . import (
    linalg_inv_ex as inv_ex,
)
from . import (
    linalg_ldl_factor as ldl_factor,
)
from . import (
    linalg_ldl_factor_ex as ldl_factor_ex,
)
from . import (
    linalg_ldl_solve as ldl_solve,
)
from . import (
    linalg_lstsq as lstsq,
)
from . import (
    linalg_lu as lu,
)
from . import (
    linalg_lu_factor as lu_factor,
)
from . import (
    linalg_lu_factor_ex as lu_factor_ex,
)
from . import (
    linalg_lu_solve as lu_solve,
)
from . import (
    linalg_matmul as matmul,
)
from . import (
    linalg_matrix_exp as matrix_exp,
)
from . import (
    linalg_matrix_norm as matrix_norm,
)
from . import (
    linalg_matrix_power as matrix_power,
)
from . import (
    linalg_matrix_rank as matrix_rank,
)
from . import (
    linalg_multi_dot as multi_dot,
)
from . import (
    linalg_norm as norm,
)
from . import (
    linalg_pinv as pinv,
)
from . import (
    linalg_qr as qr,
)
from . import (
    linalg_slogdet as slogdet,
)
from . import (
    linalg_solve as solve,
)
from . import (
    linalg_solve_ex as solve_ex,
)
from . import (
    linalg_solve_triangular as solve_triangular,
)
from . import (
    linalg_svd as svd,
)
from . import (
    linalg_svdvals as svdvals,
)
from . import (
    linalg_tensorinv as tensorinv,
)
from . import (
    linalg_tensorsolve as tensorsolve,
)
from . import (
    linalg_vander as vander,
)
from . import (
    linalg_vecdot as vecdot,
)
from . import (
    linalg_vector_norm as vector_norm,
)
from .errors.linalg import _LinAlgError as LinAlgError

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

__getattr__ = _names_of(__name__)
