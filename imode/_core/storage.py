"""The memory behind tensors as an object, which tells which tensors share it."""

import numpy as np

from imode._core.device import device
from imode._core.dtype import from_numpy_dtype
from imode._core.internals import array_of


def root_of(array):
    """The ndarray at the root of a chain of views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def offset_in(root, array):
    """Bytes from the first element of `root` to that of `array`."""
    return array.__array_interface__["data"][0] - root.__array_interface__["data"][0]


class UntypedStorage:
    """The bytes that a tensor shares with its views; returned by `tensor.untyped_storage()`.

    Two storages are equal if they are the same memory.
    """

    __slots__ = ("_root", "_tensor")
    device = device("cpu")

    def __init__(self, tensor):
        self._root = root_of(array_of(tensor))
        self._tensor = tensor.detach()  # an inference tensor if `tensor` is one

    def data_ptr(self):
        """The address of the first byte; 0 if there is none."""
        return np.lib.array_utils.byte_bounds(self._root)[0] if self._root.size else 0

    def nbytes(self):
        """The number of bytes."""
        if not self._root.size:
            return 0
        low, high = np.lib.array_utils.byte_bounds(self._root)
        return high - low

    size = __len__ = nbytes

    def element_size(self):
        """1: a storage counts bytes."""
        return 1

    def elements(self, dtype):
        """The bytes as elements of a dtype: a 1-D view of the tensors' memory."""
        tensor = self._tensor
        flat = tensor.as_strided((self.nbytes() // tensor.itemsize,), (1,), 0)
        flat = flat.view(from_numpy_dtype(np.dtype(np.uint8)))
        return flat[: len(flat) // dtype.itemsize * dtype.itemsize].view(dtype)

    def _identity(self):
        return self.data_ptr() or id(self._root)

    def __eq__(self, other):
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self):
        return hash(self._identity())

    def __repr__(self):
        return f"imode.UntypedStorage(device=cpu) of size {self.nbytes()}"
