"""PyTorch's zip archive: a pickle, and one entry for each storage; reading."""

import sys
import zipfile

import numpy as np

from imode.serialization.options import assumed_order, skips_data
from imode.serialization.pytorch.storages import described, swap

_LOCAL_HEADER = 30  # bytes before an entry's name


class Archive:
    """A zip file of PyTorch's, open for reading.

    f: a seekable binary file. mapped: the file as an array of bytes, whose parts the storages are,
    or None: each is read into memory of its own. placing: see `storages.Placing`.
    """

    def __init__(self, f, fail, placing, mapped=None):
        self.f = f
        self.fail = fail
        self.placing = placing
        self.mapped = mapped
        try:
            self.zip = zipfile.ZipFile(f)
            entries = self.zip.infolist()
        except Exception as error:  # zipfile raises many kinds for files that are none
            fail(f"PytorchStreamReader failed reading zip archive: {error}", error)
        self.size = f.seek(0, 2)
        self.entries = {entry.filename: entry for entry in entries}
        if len(self.entries) != len(entries):
            fail("an entry's name comes twice in the zip archive")
        found = [name for name in self.entries if name.endswith("/data.pkl") or name == "data.pkl"]
        if len(found) != 1:
            fail("no entry 'data.pkl' in the zip archive: not a file of torch.save")
        self.folder = found[0].removesuffix("data.pkl")
        if f"{self.folder}constants.pkl" in self.entries:
            fail(
                "a TorchScript archive, which holds a program: imode loads the weights of a state "
                "dict, which PyTorch saves by torch.save(torch.jit.load(file).state_dict(), other)"
            )
        self._check_overlaps()
        self.swapped = self._is_swapped()
        self.storages = {}

    def pickled(self):
        """Return the bytes of the pickle."""
        return self._read("data.pkl").tobytes()

    def storage(self, record):
        """Return the storage of a persistent id: ("storage", type, key, location, count)."""
        kind, key, location, count, _ = described(record, self.fail)
        if key not in self.storages:
            data = self._read(f"data/{key}")
            if skips_data():
                data = np.zeros_like(data)
            dtype = kind.numpy_dtype
            if data.nbytes != count * dtype.itemsize:
                self.fail(
                    f"storage {key!r} of {count} elements of {dtype} takes "
                    f"{count * dtype.itemsize} bytes, its entry has {data.nbytes}"
                )
            if self.swapped:
                if kind.name == "UntypedStorage":
                    self.fail("an untyped storage in another byte order than this machine's")
                swap(data, dtype)
            self.storages[key] = self.placing.place(data, dtype, location)
        return self.storages[key]

    def _is_swapped(self):
        if f"{self.folder}byteorder" not in self.entries:
            order = assumed_order().encode()
        else:
            order = self._read("byteorder").tobytes()
        if order not in (b"little", b"big"):
            self.fail(f"an unknown byte order {order[:20]!r}")
        if order.decode() == sys.byteorder:
            return False
        if self.mapped is not None:
            self.fail("its byte order is not this machine's: it cannot be mapped")
        return True

    def _check_overlaps(self):
        """Refuse entries that share bytes, by which a small file fills a large memory."""
        spans = sorted((entry.header_offset, entry.file_size) for entry in self.entries.values())
        end = 0
        for start, size in spans:
            if start < end:
                self.fail("entries of the zip archive overlap")
            end = start + size
        if end > self.size:
            self.fail("the zip archive is cut short")

    def _read(self, name):
        """Return the bytes of an entry as an array that may be written."""
        entry = self.entries.get(self.folder + name)
        if entry is None:
            self.fail(f"no entry {self.folder + name!r} in the zip archive")
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            self.fail(
                f"entry {entry.filename!r} is compressed or encrypted; PyTorch stores entries "
                "as they are: unpack the archive and pack it with `zip -0`"
            )
        self.f.seek(entry.header_offset)
        header = self.f.read(_LOCAL_HEADER)
        if len(header) != _LOCAL_HEADER or header[:4] != b"PK\3\4":
            self.fail(f"no entry where the zip archive's directory says: {entry.filename!r}")
        start = entry.header_offset + _LOCAL_HEADER
        start += int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        if entry.compress_size != entry.file_size or start + entry.file_size > self.size:
            self.fail(f"cut short: entry {entry.filename!r} of {entry.file_size} bytes")
        if self.mapped is not None:
            # An array of its own memory, which is then the storage; a slice's would be the file.
            part = memoryview(self.mapped)[start : start + entry.file_size]
            return np.frombuffer(part, np.uint8) if entry.file_size else np.empty(0, np.uint8)
        data = np.empty(entry.file_size, np.uint8)
        self.f.seek(start)
        read_into(self.f, data, self.fail)
        return data


def read_into(f, data, fail):
    """Fill an array of bytes from a file."""
    view = memoryview(data)
    at = 0
    while at < len(view):
        if hasattr(f, "readinto"):
            count = f.readinto(view[at:])
        else:
            piece = f.read(len(view) - at)
            count = len(piece)
            view[at : at + count] = piece
        if not count:
            fail(f"cut short: {len(view) - at} bytes are missing")
        at += count
