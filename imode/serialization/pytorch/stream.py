"""PyTorch's formats before the zip archive: pickles in a row, then the storages; and the tar."""

import io
import pickle
import sys
import tarfile

import numpy as np

from imode.serialization.pytorch import rebuild
from imode.serialization.pytorch.machine import Machine
from imode.serialization.pytorch.storages import StorageType, described, part, swap

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
_LONG = np.dtype("<i8")


class Stream:
    """A file of pickles: a magic number, a version, facts of the machine, the object, the keys of
    its storages; then each storage as its number of elements in 8 bytes, and its elements.

    The elements come last, and some functions read them (a sparse tensor's checks). So the object
    is read twice: first its outline, for the storages that it names; and once they are filled, as
    it is.

    data: all bytes of the file. unpickle, outline: functions of (data, persistent, at) that return
    an object and where its pickle ends; the second calls nothing.
    """

    def __init__(self, data, fail, placing, unpickle, outline):
        self.outline = outline
        self.data = data
        self.fail = fail
        self.placing = placing
        self.unpickle = unpickle
        self.storages = {}  # key -> storage, not yet filled
        self.views = {}
        self.wanted = 0  # bytes of them

    def load(self):
        """Return the object."""
        at = 0
        for what, expected in (("magic number", MAGIC), ("protocol version", PROTOCOL)):
            found, at = self._plain(at)
            if type(found) is not int or found != expected:
                self.fail(f"Invalid {what}; corrupt file?")
        facts, at = self._plain(at)
        if type(facts) is not dict or type(facts.get("little_endian", True)) is not bool:
            self.fail("no facts of the machine that wrote it")
        little = facts.get("little_endian", True)
        begin = at
        _, at = self.outline(self.data, self.storage, at)
        keys, at = self._plain(at)
        if type(keys) is not list or any(type(key) is not str for key in keys):
            self.fail("no list of storages after the object")
        if len(set(keys)) != len(keys) or set(keys) != set(self.storages):
            self.fail("the list of storages is not that of the object")
        for key in keys:
            at = self._fill(key, at, little)
        return self.unpickle(self.data, self.storage, begin)[0]

    def _plain(self, at):
        machine = Machine(self.data, _NoNames(), at=at)
        return machine.run(), machine.at

    def storage(self, record):
        """Return the storage of a persistent id, whose bytes come later in the file."""
        if type(record) is tuple and len(record) == 4 and record[0] == "module":
            return record[1]  # a class, with the text of its source at the time
        kind, key, location, count, view = described(record, self.fail)
        dtype = kind.numpy_dtype
        if key not in self.storages:
            self.wanted += count * dtype.itemsize
            if self.wanted > len(self.data):
                self.fail(f"cut short: its storages take {self.wanted} bytes and more")
            data = np.zeros(count * dtype.itemsize, np.uint8)
            self.storages[key] = self.placing.place(data, dtype, location)
        storage = self.storages[key]
        if storage.kind != dtype:
            self.fail(f"storage {key!r} is of {storage.kind} and of {dtype}")
        return storage if not view or view[0] is None else self._view(storage, view[0])

    def _view(self, storage, record):
        if type(record) is not tuple or len(record) != 3:
            self.fail(f"a part of a storage that is not described: {str(record)[:80]}")
        key, offset, count = record
        if key not in self.views:
            self.views[key] = part(storage, offset, count, self.fail)
        return self.views[key]

    def _fill(self, key, at, little):
        storage = self.storages[key]
        order = "<" if little else ">"
        item = storage.kind.itemsize
        if at + 8 > len(self.data):
            self.fail(f"cut short before storage {key!r}")
        count = int(np.frombuffer(self.data, f"{order}i8", 1, at)[0])
        if count * item != storage.bytes.nbytes or at + 8 + count * item > len(self.data):
            self.fail(
                f"storage {key!r} has {count} elements, and {storage.bytes.nbytes // item} are "
                f"wanted; {len(self.data) - at - 8} bytes are left"
            )
        at += 8
        storage.bytes[:] = np.frombuffer(self.data, np.uint8, count * item, at)
        if little != (sys.byteorder == "little"):
            swap(storage.bytes, storage.kind)
        return at + count * item


class _NoNames:
    """For pickles of numbers and text alone."""

    def find(self, module, name):
        """Refuse."""
        raise pickle.UnpicklingError(f"the name {module}.{name} where none belongs")

    def call(self, function, args, machine):
        """Refuse."""
        raise machine.error("a call where none belongs")

    new = build = call

    def is_key(self, obj):
        """Nothing else than a plain value."""
        return False


class Tar:
    """The first format: a tar of storages, tensors and the object, whose tensors are numbers."""

    def __init__(self, data, fail, placing, unpickle, outline):
        self.data = data
        self.fail = fail
        self.placing = placing
        self.unpickle = unpickle
        self.tensors = {}

    def load(self):
        """Return the object."""
        try:
            with tarfile.open(fileobj=io.BytesIO(self.data), mode="r:") as tar:
                parts = {name: self._part(tar, name) for name in ("storages", "tensors", "pickle")}
        except tarfile.TarError as error:
            self.fail(f"not a tar archive: {error}", error)
        storages = self._storages(parts["storages"])
        self._tensors(parts["tensors"], storages)
        return self.unpickle(parts["pickle"], self.tensor, 0)[0]

    def tensor(self, key):
        """Return the tensor of a number."""
        if type(key) not in (int, str) or key not in self.tensors:
            self.fail(f"no tensor {str(key)[:80]}")
        return self.tensors[key]

    def _part(self, tar, name):
        try:
            member = tar.getmember(name)
        except KeyError:
            self.fail(f"no {name!r} in the tar archive: not a file of torch.save")
        found = tar.extractfile(member) if member.isreg() and not member.issparse() else None
        if found is None:
            self.fail(f"{name!r} in the tar archive is no plain file")
        return found.read()

    def _counted(self, data):
        count, at = self.unpickle(data, None, 0)
        if type(count) is not int or not 0 <= count <= len(data):
            self.fail(f"a count that is none: {str(count)[:80]}")
        return count, at

    def _storages(self, data):
        count, at = self._counted(data)
        storages = {}
        for _ in range(count):
            record, at = self.unpickle(data, None, at)
            key, location, kind = record
            if type(key) is not int or not isinstance(kind, StorageType):
                self.fail(f"storage {str(key)[:80]} of a {type(kind).__name__}")
            size, at = self._longs(data, at, 1)
            nbytes = size[0] * kind.numpy_dtype.itemsize
            if not 0 <= nbytes <= len(data) - at:
                self.fail(f"cut short: storage {key} of {size[0]} elements")
            held = np.frombuffer(data, np.uint8, nbytes, at).copy()
            storages[key] = self.placing.place(held, kind.numpy_dtype, location)
            at += nbytes
        views, at = self.unpickle(data, None, at)
        if type(views) is not list:
            self.fail("no list of parts of storages")
        for key, root, offset, count in views:
            storages[key] = part(storages[root], offset, count, self.fail)
        return storages

    def _tensors(self, data, storages):
        count, at = self._counted(data)
        for _ in range(count):
            record, at = self.unpickle(data, None, at)
            fits = type(record) is tuple and len(record) == 3 and record[1] in storages
            if not fits or type(record[0]) not in (int, str):
                self.fail("a tensor that is not described")
            ndim = int.from_bytes(data[at : at + 4], "little", signed=True)
            if not 0 <= ndim <= 64:
                self.fail(f"a tensor of {ndim} dimensions")
            numbers, at = self._longs(data, at + 8, 2 * ndim + 1)
            try:
                self.tensors[record[0]] = rebuild.tensor_v1(
                    storages[record[1]], numbers[-1], numbers[:ndim], numbers[ndim:-1]
                )
            except (TypeError, ValueError) as error:
                self.fail(f"tensor {record[0]}: {error}", error)

    def _longs(self, data, at, count):
        if at + count * _LONG.itemsize > len(data):
            self.fail("cut short within a tensor or storage")
        found = np.frombuffer(data, _LONG, count, at)
        return tuple(int(n) for n in found), at + found.nbytes
