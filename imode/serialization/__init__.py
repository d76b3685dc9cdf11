"""Save and load tensors in nested containers, safely: `save`, `load`."""

from imode.serialization.files import load, save

__all__ = ["load", "save"]
