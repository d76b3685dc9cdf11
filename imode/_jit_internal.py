"""TorchScript's decorators that packages take from PyTorch's private module: see `imode.jit`."""

from imode.errors import names_of as _names_of
from imode.jit import export, ignore, is_scripting, unused

__all__ = ["export", "ignore", "is_scripting", "unused"]


def _copy_to_script_wrapper(fn):
    """Return the method."""
    return fn


def _overload(func):
    """Return the function."""
    return func


def _overload_method(func):
    """Return the method."""
    return func


__getattr__ = _names_of(__name__)
