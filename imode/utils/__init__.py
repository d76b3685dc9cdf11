"""Data loading, DLPack, hooks, checkpoints; dispatch modes, trees of containers, devices' names."""

from imode.errors import names_of as _names_of

from . import _python_dispatch, _pytree, backend_registration, checkpoint, data, dlpack, hooks
from .backend_registration import (
    generate_methods_for_privateuse1_backend,
    rename_privateuse1_backend,
)

__all__ = [
    "_python_dispatch",
    "_pytree",
    "backend_registration",
    "checkpoint",
    "data",
    "dlpack",
    "generate_methods_for_privateuse1_backend",
    "hooks",
    "rename_privateuse1_backend",
]

__getattr__ = _names_of(__name__)
