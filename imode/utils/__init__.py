"""Data loading, DLPack, hooks, checkpoints; dispatch modes, trees of containers, devices' names."""

from imode._core.importing import import_late as _import_late
from imode.errors import names_of as _names_of

from . import _python_dispatch, _pytree, backend_registration, checkpoint, dlpack, hooks
from .backend_registration import (
    generate_methods_for_privateuse1_backend,
    rename_privateuse1_backend,
)
from .swapping import swap_tensors

_MODULES_LATER = ("benchmark", "collect_env", "data", "deterministic", "tensorboard", "weak")
__all__ = [
    "_python_dispatch",
    "_pytree",
    "backend_registration",
    "checkpoint",
    "dlpack",
    "generate_methods_for_privateuse1_backend",
    "hooks",
    "rename_privateuse1_backend",
    "set_module",
    "swap_tensors",
]
__all__ += _MODULES_LATER


def set_module(obj, mod):
    """Set `obj.__module__`, which its repr shows. TypeError unless `mod` is a string.

    >>> class Named:
    ...     pass
    >>> imode.utils.set_module(Named, "mylib")
    >>> Named
    <class 'mylib.Named'>
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


_missing = _names_of(__name__)


def __getattr__(name):
    if name in _MODULES_LATER:
        return _import_late(f".{name}", __name__)
    return _missing(name)
