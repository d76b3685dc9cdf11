"""Operators under their older namespace: `imode.functional.einsum` is `imode.einsum`."""

import imode as _imode
from imode.errors import names_of as _names_of

__all__ = [
    *("atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes"),
    *("broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "einsum", "istft", "lu"),
    *("meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot", "unique"),
    *("unique_consecutive", "unravel_index"),
]

_missing = _names_of(__name__)


def __getattr__(name):
    return getattr(_imode, name) if name in __all__ else _missing(name)
