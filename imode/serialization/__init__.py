"""Save and load tensors in nested containers, safely: `save`, `load`."""

from imode.errors import names_of as _names_of
from imode.serialization.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from imode.serialization.files import load, save

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "safe_globals",
    "save",
]

__getattr__ = _names_of(__name__)
