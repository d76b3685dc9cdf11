"""The handle that registering a hook gives back."""

from imode.autograd.handles import RemovableHandle

__all__ = ["RemovableHandle"]
