"""Pinned memory, which only copies to a GPU need."""

from imode._core.tensor import Tensor

from .collate import map_containers

__all__ = ["pin_memory"]


def pin_memory(data, device=None):
    """Return the data with what `pin_memory()` of tensors and of other objects in it gives.

    Raises RuntimeError for a tensor: there is no accelerator to copy to.

    >>> imode.utils.data._utils.pin_memory.pin_memory([1, "a"])
    [1, 'a']
    """
    if isinstance(data, Tensor) or hasattr(data, "pin_memory"):
        return data.pin_memory()
    if type(data) is tuple:
        return tuple(pin_memory(value, device) for value in data)
    return map_containers(data, lambda value: pin_memory(value, device))
