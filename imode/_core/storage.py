"""The memory behind tensors as an object, which tells which tensors share it."""

import operator
import os

import numpy as np

from imode._core.dtype import from_numpy_dtype
from imode._core.internals import array_of, wrap_array

BYTE = from_numpy_dtype(np.dtype(np.uint8))


def root_of(array):
    """The ndarray at the root of a chain of views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def offset_in(root, array):
    """Bytes from the first element of `root` to that of `array`."""
    return array.__array_interface__["data"][0] - root.__array_interface__["data"][0]


def expect_inside(index, size):
    """Raise IndexError for a number that no element of a storage has."""
    if not -size <= index < size:
        raise IndexError(f"index {index} out of range for storage of size {size}")


class UntypedStorage:
    """The bytes that a tensor shares with its views; returned by `tensor.untyped_storage()`.

    Made of a number, so many bytes, or of a sequence of bytes, it is new memory. Two storages are
    equal if they are the same memory.

    >>> imode.UntypedStorage([1, 2]).tolist()
    [1, 2]
    """

    __slots__ = ("_tensor",)

    def __init__(self, tensor=0):
        if isinstance(tensor, (int, list, tuple, bytes)):
            made = np.empty(tensor, np.uint8) if isinstance(tensor, int) else bytearray(tensor)
            tensor = UntypedStorage._of(np.asarray(made, np.uint8))._tensor
        self._tensor = tensor.detach()  # an inference tensor if `tensor` is one

    @property
    def _root(self):  # another one once the tensor was moved to shared memory
        return root_of(array_of(self._tensor))

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The bytes of a file, mapped to memory and read when they are used.

        shared: whether writes go to the file, too. nbytes: how many bytes. Raises RuntimeError if
        the file has fewer; a shared one is made longer.

        >>> imode.save(imode.ones(2), "x.pt")
        >>> imode.UntypedStorage.from_file("x.pt", nbytes=4).tolist()
        [80, 75, 3, 4]
        """
        count = operator.index(nbytes)
        if count < 0:
            raise RuntimeError(f"from_file: nbytes is {count}, less than 0")
        if not count:
            return cls._of(np.empty(0, np.uint8))
        try:
            size = 0 if shared and not os.path.exists(filename) else os.path.getsize(filename)
        except OSError as error:
            raise RuntimeError(
                f"unable to open file <{os.fsdecode(filename)}> in read-only mode: "
                f"{error.strerror} ({error.errno})"
            ) from None
        if count > size and not shared:
            raise RuntimeError(
                f"file <{os.fsdecode(filename)}> size <{size}> is smaller than the required "
                f"mapping size <{count}>"
            )
        if count > size:
            with open(filename, "ab") as f:
                f.truncate(count)
        return cls._of(np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(count,)))

    @classmethod
    def _of(cls, data):
        """The storage of an array of bytes, and no more of what that is a part of."""
        if data.size:
            data = np.frombuffer(memoryview(data), np.uint8)
        return cls(wrap_array(data, "UntypedStorage"))

    def untyped(self):
        """The storage itself."""
        return self

    def tolist(self):
        """The bytes as a list of integers."""
        return self.elements(BYTE).tolist()

    def __getitem__(self, index):
        """A byte, or the storage of a slice of the bytes, in the same memory."""
        data = array_of(self.elements(BYTE))
        if not isinstance(index, slice):
            at = operator.index(index)
            expect_inside(at, len(data))
            return int(data[at])
        if index.step not in (None, 1):
            raise RuntimeError(
                f"Trying to slice with a step of {index.step}, but only a step of 1 is supported"
            )
        return UntypedStorage._of(data[index])

    def __setitem__(self, index, value):
        if not isinstance(index, slice) and not -self.nbytes() <= index < self.nbytes():
            raise RuntimeError(f"out of bounds: index {index} of {self.nbytes()} bytes")
        self.elements(BYTE)[index] = value

    def fill_(self, value):
        """Set all bytes to a number; returns the storage."""
        self.elements(BYTE).fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Copy the bytes of a storage of as many; returns this one."""
        if self.nbytes() != source.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was "
                f"{source.nbytes()} bytes"
            )
        self.elements(BYTE).copy_(source.untyped().elements(BYTE))
        return self

    def clone(self):
        """A copy in memory of its own."""
        return UntypedStorage(self.elements(BYTE).clone())

    __copy__ = clone

    def cpu(self):
        """The bytes on the CPU."""
        return self if self._tensor.is_cpu else UntypedStorage(self._tensor.cpu())

    @property
    def device(self):
        """Where the bytes are."""
        return self._tensor.device

    def data_ptr(self):
        """The address of the first byte; 0 if there is none, as on a device other than the CPU."""
        return self._address() if self._tensor.is_cpu else 0

    def _address(self):
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
        flat = flat.view(BYTE)
        return flat[: len(flat) // dtype.itemsize * dtype.itemsize].view(dtype)

    def share_memory_(self):
        """Move the bytes, and all tensors over them, to memory that processes share."""
        self._tensor.share_memory_()
        return self

    def is_shared(self):
        """Whether the bytes are in memory that processes share."""
        return self._tensor.is_shared()

    def pin_memory(self, device=None):
        """Raise RuntimeError: there is no accelerator to copy to."""
        return self._tensor.pin_memory(device).untyped_storage()

    def is_pinned(self, device=None):
        """Return False."""
        return self._tensor.is_pinned(device)

    def _identity(self):
        return self._address() or id(self._root)

    def __eq__(self, other):
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self):
        return hash(self._identity())

    def __repr__(self):
        return f"imode.UntypedStorage(device={self.device}) of size {self.nbytes()}"
