"""Tensors to and from other libraries without a copy, by the DLPack protocol."""

import imode

__all__ = ["from_dlpack", "to_dlpack"]


def from_dlpack(ext_tensor):
    """Return a tensor that shares the memory of an object with `__dlpack__`.

    Raises TypeError for other objects, BufferError for memory that cannot be shared.

    >>> imode.utils.dlpack.from_dlpack(imode.ones(2))
    tensor([1., 1.])
    """
    return imode.from_dlpack(ext_tensor)


def to_dlpack(tensor):
    """Return a DLPack capsule of the tensor's memory, for libraries that take capsules.

    It may require grad; `tensor.__dlpack__()` raises for such a tensor.

    >>> type(imode.utils.dlpack.to_dlpack(imode.ones(2))).__name__
    'PyCapsule'
    """
    return tensor.detach().__dlpack__()
