"""Read an object from the bytes of a file, checked from the outside in; Note [File format]."""

import base64
import json
import math
import zlib
from collections import OrderedDict

import numpy as np

from imode._tensor.copying import rebuild_sparse, rebuild_tensor
from imode.serialization.format import (
    DEPTH_LIMIT,
    DTYPES,
    FORMAT,
    HEADER_LIMIT,
    NAMES,
    NATIVE,
    NO_SUM,
    strides_of,
    sum_field,
)


class Reader:
    """Checks a file from the outside in; every error starts with the file's name."""

    def __init__(self, source):
        self.source = source
        self.tensors = []
        self.unused = set()
        self.made = {}  # sparse tensors by their descriptions

    def fail(self, text):
        raise RuntimeError(f"load: {self.source}: {text}")

    def load(self, data):
        data = memoryview(data)
        if len(data) < 8:
            self.fail(f"cut short: {len(data)} bytes, and 8 for the header's length are missing")
        length = int.from_bytes(data[:8], "little")
        if length > HEADER_LIMIT:
            self.fail(f"the header's length is {length}, more than {HEADER_LIMIT}")
        if length > len(data) - 8:
            self.fail(f"cut short: the header takes {length} bytes, {len(data) - 8} are left")
        raw = bytes(data[8 : 8 + length])
        header = self.json(raw, "the header")
        metadata = header.pop("__metadata__", {})
        self.strings(metadata)
        buffers = data[8 + length :]
        self.checksum(metadata, raw, buffers)
        entries = self.entries(header, buffers)
        if "object" not in metadata:
            return {name: rebuild_tensor(array) for name, array in entries.items()}
        described = self.json(metadata["object"], "'__metadata__': 'object'")
        if described.keys() != {"tensors", "root"} or type(described["tensors"]) is not list:
            self.fail("'__metadata__': 'object' needs a list 'tensors' and a 'root'")
        self.unused = set(entries)
        self.tensors = [
            self.tensor(record, f"tensor {i}", entries)
            for i, record in enumerate(described["tensors"])
        ]
        if self.unused:
            self.fail(f"entry {min(self.unused)!r} belongs to no tensor")
        return self.value(described["root"], 0)

    def json(self, text, what):
        """Parse an object; repeated keys, NaN and infinity raise."""

        def unique(pairs):
            found = dict(pairs)
            if len(found) != len(pairs):
                keys = [key for key, _ in pairs]
                twice = next(key for key in keys if keys.count(key) > 1)
                self.fail(f"{what} has the name {twice!r} twice")
            return found

        def refuse(word):
            raise ValueError(f"{word} is not JSON")

        try:
            text = text if isinstance(text, str) else text.decode()
            found = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
        except (ValueError, RecursionError) as error:
            self.fail(f"{what} is not valid JSON: {error}")
        if type(found) is not dict:
            self.fail(f"{what} is not a JSON object but a {type(found).__name__}")
        return found

    def strings(self, metadata):
        if type(metadata) is not dict or not all(type(v) is str for v in metadata.values()):
            self.fail("'__metadata__' is not an object of strings")

    def checksum(self, metadata, raw, buffers):
        ours = {"crc32", "object"} & metadata.keys() or metadata.get("format") == FORMAT
        if not ours:
            return
        for key in ("crc32", "format", "object"):
            if key not in metadata:
                self.fail(f"'__metadata__' lacks {key!r}")
        if metadata["format"] != FORMAT:
            self.fail(f"unknown format {metadata['format']!r}")
        blank = raw.replace(sum_field(metadata["crc32"]), sum_field(NO_SUM), 1)
        total = zlib.crc32(buffers, zlib.crc32(blank))
        if f"{total:08x}" != metadata["crc32"]:
            self.fail(
                f"cut short or changed: the checksum is {total:08x}, "
                f"the header says {metadata['crc32']}"
            )

    def entries(self, header, buffers):
        """Return {name: array}, each a copy with its own memory."""
        spans = []
        for name, entry in header.items():
            spans.append((*self.entry(name, entry), name))
        at, arrays = 0, {}
        for begin, end, dtype, shape, name in sorted(spans, key=lambda span: span[:2]):
            if begin != at:
                word = "overlaps the one before" if begin < at else "leaves a hole before it"
                self.fail(f"entry {name!r} {word}: it starts at byte {begin}, expected {at}")
            if end > len(buffers):
                self.fail(
                    f"cut short: entry {name!r} ends at byte {end} of {len(buffers)} in the file"
                )
            at = end
            array = np.empty(shape, dtype.newbyteorder("="))
            stored = np.frombuffer(buffers[begin:end], dtype)
            if dtype.kind == "b" and (stored.view(np.uint8) > 1).any():
                self.fail(f"entry {name!r} has a byte that is neither true nor false")
            array.reshape(-1)[...] = stored
            arrays[name] = array
        if at != len(buffers):
            self.fail(f"{len(buffers) - at} bytes too many after the last entry")
        return {name: arrays[name] for name in header}

    def check_dtype(self, name, known, where):
        if type(name) is not str or name not in known:
            self.fail(f"{where} has the unknown dtype {name!r}")

    def entry(self, name, entry):
        """Check one entry of the header; return (begin, end, dtype, shape)."""
        where = f"entry {name!r}"
        if type(entry) is not dict or entry.keys() != {"dtype", "shape", "data_offsets"}:
            self.fail(f"{where} needs 'dtype', 'shape' and 'data_offsets' and nothing else")
        code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        self.check_dtype(code, DTYPES, where)
        shape = self.sizes(shape, f"{where}: shape")
        offsets = self.sizes(offsets, f"{where}: data_offsets")
        if len(offsets) != 2 or offsets[0] > offsets[1]:
            self.fail(f"{where}: data_offsets {list(offsets)} are not [begin, end]")
        dtype = DTYPES[code]
        wanted = math.prod(shape) * dtype.itemsize
        if offsets[1] - offsets[0] != wanted:
            self.fail(
                f"{where} of shape {list(shape)} and dtype {code} takes {wanted} bytes, "
                f"its data_offsets span {offsets[1] - offsets[0]}"
            )
        return (*offsets, dtype, shape)

    def sizes(self, value, what):
        """Check a list of sizes, no longer than NumPy allows."""
        fits = type(value) is list and len(value) <= 64
        if not fits or not all(type(n) is int and 0 <= n < 1 << 62 for n in value):
            self.fail(f"{what} is not a list of sizes: {str(value)[:80]}")
        if math.prod(n for n in value if n) >= 1 << 62:
            self.fail(f"{what} is too large: {value}")
        return tuple(value)

    def tensor(self, record, where, entries):
        """Build one tensor from its record."""
        keys = {"entry", "dtype", "shape", "strides", "offset", "requires_grad", "parameter"}
        if type(record) is not dict or record.keys() != keys:
            self.fail(f"{where} needs exactly {', '.join(sorted(keys))}")
        name = record["entry"]
        if type(name) is not str or name not in entries:
            self.fail(f"{where} names the entry {name!r}, which does not exist")
        self.unused.discard(name)
        where = f"{where} (entry {name!r})"
        stored, kind = entries[name], record["dtype"]
        self.check_dtype(kind, NAMES, where)
        dtype = NATIVE[kind]
        shape = self.sizes(record["shape"], f"{where}: shape")
        strides = self.sizes(record["strides"], f"{where}: strides")
        offset = self.sizes([record["offset"]], f"{where}: offset")[0]
        for flag in ("requires_grad", "parameter"):
            if type(record[flag]) is not bool:
                self.fail(f"{where}: {flag} is {record[flag]!r}")
        if record["requires_grad"] and dtype.kind not in "fc":
            self.fail(f"{where}: requires_grad on dtype {kind}")
        item = dtype.itemsize
        unit = item if stored.dtype == dtype else 1
        if stored.dtype.itemsize != unit:
            self.fail(f"{where}: dtype {kind} in an entry of {stored.dtype}")
        if len(shape) != len(strides):
            self.fail(f"{where}: {len(shape)} sizes and {len(strides)} strides")
        last = sum((n - 1) * s for n, s in zip(shape, strides)) * unit + item
        if math.prod(shape) and offset * unit + last > stored.nbytes:
            self.fail(f"{where}: shape, strides and offset reach out of the entry")
        whole = stored.dtype == dtype and stored.shape == shape and offset == 0
        if whole and list(strides) == strides_of(stored):
            return rebuild_tensor(stored, record["requires_grad"], record["parameter"])
        if not math.prod(shape):
            offset = 0
        steps = tuple(s * unit for s in strides)
        flat = stored.reshape(-1)
        try:
            array = np.ndarray(shape, dtype, flat, offset * unit, steps)
        except (ValueError, TypeError) as error:
            self.fail(f"{where}: {error}")
        if dtype.kind == "b" and stored.dtype != dtype and (array.view(np.uint8) > 1).any():
            self.fail(f"{where} has a byte that is neither true nor false")
        return rebuild_tensor(array, record["requires_grad"], record["parameter"])

    def value(self, node, depth):
        """Return the object that a node describes."""
        if node is None or type(node) in (bool, str, int, float):
            return node
        if depth > DEPTH_LIMIT:
            self.fail("the object is nested too deep")
        if type(node) is not dict or len(node) != 1:
            self.fail(f"not a description of an object: {str(node)[:80]}")
        ((tag, content),) = node.items()
        make = _TAGS.get(tag)
        if make is None:
            self.fail(f"unknown kind of object {tag!r}")
        try:
            return make(self, content, depth)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            self.fail(f"bad {tag}: {error}")

    def items(self, content, depth):
        if type(content) is not list:
            raise ValueError("not a list")
        return [self.value(item, depth + 1) for item in content]

    def pairs(self, content, depth, kind):
        if type(content) is not list or any(
            type(pair) is not list or len(pair) != 2 for pair in content
        ):
            raise ValueError("not a list of pairs")
        found = kind()
        for pair in content:
            key = self.value(pair[0], depth + 1)
            if key in found:
                raise ValueError(f"the key {key!r} comes twice")
            found[key] = self.value(pair[1], depth + 1)
        return found

    def state(self, content, depth):
        pairs, metadata = content
        found = self.pairs(pairs, depth, OrderedDict)
        found._metadata = self.value(metadata, depth + 1)
        return found

    def indexed(self, content):
        if type(content) is not int or not 0 <= content < len(self.tensors):
            raise ValueError(f"no tensor {content!r}")
        return self.tensors[content]

    def sparse(self, content):
        """Return the sparse tensor of a description, the same one for the same."""
        indices, values, shape, *flags = content
        key = json.dumps(content)
        if [*map(type, flags)] != [bool] * 3:
            raise ValueError(f"flags {flags!r}")
        if key not in self.made:
            parts = [self.indexed(i).detach().numpy() for i in (indices, values)]
            shape = self.sizes(shape, "a sparse tensor's shape")
            try:
                self.made[key] = rebuild_sparse(*parts, shape, *flags)
            except RuntimeError as error:
                raise ValueError(str(error)) from None
        return self.made[key]

    def named(self, content, kind):
        import imode

        if type(content) is not str:
            raise ValueError(f"not a name: {content!r}")
        if kind == "device":
            try:
                return imode.device(content)
            except RuntimeError as error:
                raise ValueError(str(error)) from None
        if content not in NAMES:
            raise ValueError(f"unknown dtype {content!r}")
        return getattr(imode, content)


def _complex(real, imag):  # requires both, unlike complex()
    return complex(real, imag)


def _size(reader, content, depth):
    from imode import Size

    return Size(reader.sizes(content, "a size"))


# Each builds an object from (reader, content, depth); its errors become errors about the file.
_TAGS = {
    "tensor": lambda reader, content, depth: reader.indexed(content),
    "sparse": lambda reader, content, depth: reader.sparse(content),
    "list": lambda reader, content, depth: reader.items(content, depth),
    "tuple": lambda reader, content, depth: tuple(reader.items(content, depth)),
    "dict": lambda reader, content, depth: reader.pairs(content, depth, dict),
    "odict": lambda reader, content, depth: reader.pairs(content, depth, OrderedDict),
    "state": lambda reader, content, depth: reader.state(content, depth),
    "int": lambda reader, content, depth: int(content, 16),
    "float": lambda reader, content, depth: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[
        content
    ],
    "complex": lambda reader, content, depth: _complex(*map(float.fromhex, content)),
    "bytes": lambda reader, content, depth: base64.b64decode(content, validate=True),
    "dtype": lambda reader, content, depth: reader.named(content, "dtype"),
    "device": lambda reader, content, depth: reader.named(content, "device"),
    "size": _size,
}
