"""The memory that the tensors of a file share, and where it is put."""

import numpy as np

from imode._core.device import device
from imode._core.dtype import all_dtypes
from imode._core.internals import wrap_array
from imode._core.storage import UntypedStorage
from imode.serialization.options import default_restore_location, device_of, has_packages

# PyTorch's name of a storage of each dtype. Those of the dtypes that are not here are untyped.
TYPED = {
    "float64": "DoubleStorage",
    "float32": "FloatStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "int64": "LongStorage",
    "int32": "IntStorage",
    "int16": "ShortStorage",
    "int8": "CharStorage",
    "uint8": "ByteStorage",
    "bool": "BoolStorage",
    "complex128": "ComplexDoubleStorage",
    "complex64": "ComplexFloatStorage",
}


class StorageType:
    """What a file calls the type of a storage."""

    def __init__(self, name, numpy_dtype):
        self.name = name
        self.numpy_dtype = numpy_dtype

    def __repr__(self):
        return f"<storage type {self.name}>"


_NATIVE = {d.name: d.numpy for d in all_dtypes()}
STORAGE_TYPES = {name: StorageType(name, _NATIVE[kind]) for kind, name in TYPED.items()}
STORAGE_TYPES["UntypedStorage"] = StorageType("UntypedStorage", np.dtype(np.uint8))


class Storage(UntypedStorage):
    """The bytes of a storage of a file, with the dtype of its elements and its device."""

    __slots__ = ("bytes", "kind", "target")

    def __init__(self, data, kind, target):
        super().__init__(wrap_array(data, "load"))
        self.bytes = data
        self.kind = kind
        self.target = target


class Placing:
    """Where storages go: the `map_location` of `load`."""

    def __init__(self, map_location):
        self.how = map_location
        known = map_location is None or isinstance(map_location, (str, device, dict))
        if not known and not callable(map_location):
            raise TypeError(
                f"'{type(map_location).__name__}' object is not callable. load: map_location is "
                "None, a device, its name, a dict of names, or a function of a storage and a name"
            )
        if isinstance(map_location, (str, device)) and not has_packages():
            _checked(str(map_location))

    def place(self, data, kind, location):
        """Return the storage on `data`, bytes that the file puts at `location`."""
        if isinstance(self.how, (str, device)):
            location = str(self.how)
        elif isinstance(self.how, dict):
            location = str(self.how.get(location, location))
        elif self.how is not None:
            given = Storage(data, kind, device("cpu"))
            chosen = self.how(given, location)
            if chosen is not None:
                return _chosen(given, chosen, "map_location")
        if not has_packages():
            return Storage(data, kind, _checked(location))
        given = Storage(data, kind, device("cpu"))
        return _chosen(given, default_restore_location(given, location), "register_package")


def _chosen(given, chosen, by):
    """Return the storage that a function of the user's has put somewhere."""
    if not isinstance(chosen, UntypedStorage):
        raise TypeError(
            f"load: {by} gave a {type(chosen).__name__}, and a storage or None is expected"
        )
    return given if chosen is given else Storage(_bytes_of(chosen), given.kind, chosen.device)


def _bytes_of(storage):
    return (
        storage.bytes if isinstance(storage, Storage) else storage._root.reshape(-1).view(np.uint8)
    )


def _checked(name):
    """Return the device of a location, if there is one here."""
    found = device_of(name)
    if found is None:
        raise RuntimeError(
            "don't know how to restore data location of torch.storage.UntypedStorage "
            f"(tagged with {name}). load: give map_location='cpu'"
        )
    return found


# ---- what the formats share ----


def described(record, fail):
    """Take apart ("storage", type, key, location, count) and what follows; check each."""
    if type(record) is not tuple or len(record) not in (5, 6) or record[0] != "storage":
        fail(f"a persistent id that is no storage's: {str(record)[:80]}")
    _, kind, key, location, count, *rest = record
    fits = isinstance(kind, StorageType) and type(key) is str and type(location) is str
    if not fits or type(count) is not int or not 0 <= count < 1 << 62:
        fail(f"a storage that is not described: {str(record)[:80]}")
    return kind, key, location, count, rest


def part(storage, offset, count, fail):
    """Return `count` elements of a storage as a storage."""
    whole = type(offset) is int and type(count) is int and min(offset, count) >= 0
    item = storage.kind.itemsize
    if not whole or (offset + count) * item > storage.bytes.nbytes:
        fail(f"a part of a storage, {offset} + {count} elements, reaches out of it")
    data = storage.bytes[offset * item : (offset + count) * item]
    return Storage(data, storage.kind, storage.target)


def swap(data, kind):
    """Reverse the bytes of each number, in place."""
    words = 2 if kind.kind == "c" else 1  # a complex number is two
    data.view(f"u{kind.itemsize // words}").byteswap(inplace=True)
