"""TorchScript's decorators that packages take from PyTorch's private module: see `imode.jit`."""

from imode.errors import names_of as _names_of
from imode.jit import (  # noqa: F401
    _overload,
    _overload_method,
    export,
    ignore,
    is_scripting,
    unused,
)

__all__ = ["export", "ignore", "is_scripting", "unused"]


def _copy_to_script_wrapper(fn):
    """Return the method."""
    return fn


__getattr__ = _names_of(__name__)
