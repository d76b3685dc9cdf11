"""Layers, losses, containers and initialisation under PyTorch's names."""

from imode._core.importing import import_late as _import_late
from imode.errors import no_such_name as _no_such_name

from . import functional, init, modules, utils
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

_LATER = ("attention", "common_types", "grad", "parallel")  # loaded when first used

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "factory_kwargs",
    "functional",
    "init",
    "modules",
    "utils",
    *_LATER,
    *modules.__all__,
]


def factory_kwargs(kwargs):
    """Return the device, dtype and memory format among a layer's keyword arguments.

    `factory_kwargs` among them is a dict of more. Raises TypeError for others, and for one that is
    given twice.

    >>> imode.nn.factory_kwargs({"dtype": imode.float64})
    {'dtype': imode.float64}
    """
    if kwargs is None:
        return {}
    simple = {"device", "dtype", "memory_format"}
    unexpected = kwargs.keys() - {*simple, "factory_kwargs"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for name in ("device", "dtype", "memory_format"):
        if name in kwargs:
            if name in found:
                raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            found[name] = kwargs[name]
    return found


def __getattr__(name):
    if name in _LATER:
        return _import_late(f".{name}", __name__)
    raise _no_such_name(__name__, name)
