"""Clipping, parametrized weights, pruning, fusion, and parameters as one vector."""

from imode.errors import names_of as _names_of

from . import (
    clip_grad,
    convert_parameters,
    fusion,
    init,
    memory_format,
    parametrizations,
    parametrize,
    prune,
    rnn,
    stateless,
)
from .clip_grad import *  # noqa: F403
from .convert_parameters import *  # noqa: F403
from .fusion import *  # noqa: F403
from .init import *  # noqa: F403
from .memory_format import *  # noqa: F403

# These functions hide the modules of their names, as in PyTorch.
from .spectral_norm import remove_spectral_norm, spectral_norm
from .weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "spectral_norm",
    "stateless",
    "weight_norm",
]
__all__ += clip_grad.__all__ + convert_parameters.__all__ + fusion.__all__
__all__ += init.__all__ + memory_format.__all__

__getattr__ = _names_of(__name__)
