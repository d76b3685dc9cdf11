"""Save and load tensors in nested containers, safely: `save`, `load`.

The file is a safetensors file: 8 bytes with the length of a JSON header, the header, then the raw
little-endian buffers without holes. What safetensors lacks stands in its `__metadata__`: the
nesting, strides and sharing of storage, flags, and a checksum over everything. A flat dict of
tensors saved here opens in other readers, and their files load here.

Nothing in a file is ever executed, and nothing is returned until all of it has been checked.
"""

import base64
import json
import math
import os
import stat
import zlib
from collections import OrderedDict

import numpy as np

__all__ = ["load", "save"]

# Note [File format]
# `__metadata__` = {"crc32": 8 hex digits, "format": "imode", "object": JSON text}. The checksum
# covers header (with zeros in its own place) and buffers; it stands first, so it is found by bytes.
# The object text is {"tensors": [...], "root": node}. A tensor: entry (name of a buffer), dtype,
# shape, strides and offset in elements, requires_grad, parameter. Tensors of one storage name one
# entry. A node: null, true, false, a string, an integer, a finite float, or an object
# with one key, a tag of _TAGS, whose value describes it.

_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
    "complex128": "C128",
}
_DTYPES = {code: np.dtype(name).newbyteorder("<") for name, code in _NAMES.items()}
_FORMAT = "imode"
_HEADER_LIMIT = 100_000_000  # the limit of safetensors
_DEPTH_LIMIT = 100
_NO_SUM = "00000000"
_PLAIN_INT = 1 << 53  # larger ones go as text: JSON readers may round them


# ---- save -------------------------------------------------------------------------------------------


def save(obj, f):
    """Write `obj` to a path or a binary file object; a path is replaced in one step or not at all.

    obj: tensors, numbers, strings, bytes, None, dtypes, devices and sizes, in dicts, OrderedDicts,
    lists and tuples. Kept: which tensors are the same object, which share storage, their strides,
    requires_grad, being a Parameter. Raises TypeError naming the place of anything else.

    >>> imode.save({"weight": imode.ones(2)}, "model.safetensors")
    >>> imode.load("model.safetensors")
    {'weight': tensor([1., 1.])}
    """
    writer = _Writer()
    root = writer.node(obj, "obj", 0)
    pieces = writer.file(root)
    if hasattr(f, "write"):
        for piece in pieces:
            _write_all(f, piece)
        return
    _replace(os.fspath(f), pieces)


class _Writer:
    """Collects the tensors of an object and lays out the file."""

    def __init__(self):
        self.tensors = []  # (tensor, array, place) in order of first appearance
        self.seen = {}  # id(tensor) -> its index
        self.open = set()  # ids of the containers around the current place

    def node(self, obj, place, depth):
        """Return the JSON node for `obj`."""
        from imode import Size, Tensor, device, dtype

        if obj is None or isinstance(obj, (bool, str)) and type(obj) in (bool, str):
            return obj
        kind = type(obj)
        if kind is int:
            return obj if abs(obj) < _PLAIN_INT else {"int": hex(obj)}
        if kind is float:
            return obj if math.isfinite(obj) else {"float": str(obj)}
        if kind is complex:
            return {"complex": [obj.real.hex(), obj.imag.hex()]}
        if kind is bytes:
            return {"bytes": base64.b64encode(obj).decode()}
        if isinstance(obj, Tensor):
            return {"tensor": self.tensor(obj, place)}
        if isinstance(obj, dtype):
            return {"dtype": str(obj).rpartition(".")[2]}
        if isinstance(obj, device):
            return {"device": str(obj)}
        if kind is Size:
            return {"size": [int(n) for n in obj]}
        if isinstance(obj, dict):  # a subclass comes back as what it extends
            kind = OrderedDict if isinstance(obj, OrderedDict) else dict
        if kind not in (dict, OrderedDict, list, tuple):
            hint = ""
            if hasattr(obj, "state_dict"):
                hint = "; save its state_dict() instead"
            raise TypeError(f"save: cannot save {place}: a {kind.__name__}{hint}")
        if id(obj) in self.open:
            raise ValueError(f"save: cannot save {place}: it contains itself")
        if depth >= _DEPTH_LIMIT:
            raise ValueError(f"save: cannot save {place}: more than {_DEPTH_LIMIT} levels deep")
        self.open.add(id(obj))
        if kind in (list, tuple):
            found = [self.node(item, f"{place}[{i}]", depth + 1) for i, item in enumerate(obj)]
            node = {kind.__name__: found}
        else:
            found = []
            for key, value in obj.items():
                if isinstance(key, Tensor):
                    raise TypeError(f"save: cannot save {place}: a key is a Tensor")
                name = f"{place}[{key!r}]"
                pair = [
                    self.node(key, f"the key {key!r} of {place}", depth + 1),
                    self.node(value, name, depth + 1),
                ]
                found.append(pair)
            node = {"odict" if kind is OrderedDict else "dict": found}
            extra = getattr(obj, "_metadata", None)  # versions that modules attach to state dicts
            if isinstance(extra, dict):
                node["odict"] = [found, self.node(extra, f"{place}._metadata", depth + 1)]
                node = {"state": node["odict"]}
        self.open.discard(id(obj))
        return node

    def tensor(self, tensor, place):
        from imode._core.tensor import array_of

        if id(tensor) not in self.seen:
            self.seen[id(tensor)] = len(self.tensors)
            array = array_of(tensor)
            if array is None:
                raise TypeError(f"save: cannot save {place}: a tensor without values (meta)")
            self.tensors.append((tensor, array, place))
        return self.seen[id(tensor)]

    def file(self, root):
        """Return the bytes of the file as a list of buffers."""
        from imode._core.tensor import is_parameter

        arrays = [array for _, array, _ in self.tensors]
        entries = []  # (name, dtype code, shape, buffer)
        records = [None] * len(arrays)
        names = {"__metadata__"}
        for group in _storages(arrays):
            tensor, array, place = self.tensors[group[0]]
            name = _entry_name(place, names)
            stored, layouts = _flatten([arrays[i] for i in group])
            entries.append((name, _NAMES[stored.dtype.name], stored.shape, stored))
            for i, (strides, offset) in zip(group, layouts):
                tensor = self.tensors[i][0]
                records[i] = {
                    "entry": name,
                    "dtype": arrays[i].dtype.name,
                    "shape": list(arrays[i].shape),
                    "strides": strides,
                    "offset": offset,
                    "requires_grad": bool(tensor.requires_grad and tensor.is_leaf),
                    "parameter": is_parameter(tensor),
                }
        text = json.dumps({"tensors": records, "root": root}, separators=(",", ":"))
        header = {"__metadata__": {"crc32": _NO_SUM, "format": _FORMAT, "object": text}}
        at, buffers = 0, []
        # The widest first, so that each buffer starts at a multiple of its item size.
        for name, code, shape, stored in sorted(entries, key=lambda e: -e[3].dtype.itemsize):
            stored = stored.astype(_DTYPES[code], copy=False)
            header[name] = {
                "dtype": code,
                "shape": list(shape),
                "data_offsets": [at, at + stored.nbytes],
            }
            at += stored.nbytes
            buffers.append(stored.reshape(-1).view(np.uint8).data if stored.nbytes else b"")
        encoded = json.dumps(header, separators=(",", ":")).encode()
        encoded += b" " * (-len(encoded) % 8)
        if len(encoded) > _HEADER_LIMIT:
            raise ValueError(f"save: the header would take {len(encoded)} bytes, too many")
        total = zlib.crc32(encoded)
        for buffer in buffers:
            total = zlib.crc32(buffer, total)
        encoded = encoded.replace(_sum_field(_NO_SUM), _sum_field(f"{total:08x}"), 1)
        return [len(encoded).to_bytes(8, "little"), encoded, *buffers]


def _sum_field(digits):
    return f'"crc32":"{digits}"'.encode()


def _entry_name(place, taken):
    """`obj['layer.weight']` -> `layer.weight`; deeper places keep their path; never one twice."""
    parts = place[len("obj") :].replace("][", ".").strip("[]")
    name = ".".join(part.strip("'\"") for part in parts.split(".")) or "tensor"
    wanted, count = name, 1
    while name in taken:
        count += 1
        name = f"{wanted}#{count}"
    taken.add(name)
    return name


def _storages(arrays):
    """Group the indices of arrays whose memory overlaps, in order of first appearance."""
    spans = []
    groups = []
    for i, array in enumerate(arrays):
        if array.size:
            spans.append((*np.lib.array_utils.byte_bounds(array), i))
        else:
            groups.append([i])
    end = -1
    for low, high, i in sorted(spans):
        if low < end:
            groups[-1].append(i)
        else:
            groups.append([i])
        end = max(end, high) if low < end else high
    return sorted((sorted(group) for group in groups), key=min)


def _flatten(arrays):
    """Return (what to store, [(strides, offset)]) for arrays of one storage."""
    first = arrays[0]
    if len(arrays) == 1:
        span = _span(first)
        if first.flags.c_contiguous or span > first.size:  # holes are not worth their bytes
            stored = np.ascontiguousarray(first)
            return stored.reshape(first.shape), [(_strides(stored.reshape(first.shape)), 0)]
    bounds = [np.lib.array_utils.byte_bounds(array) for array in arrays]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    item = first.dtype.itemsize
    same = all(
        array.dtype == first.dtype and (b[0] - low) % item == 0 and not any(
            s % item for s in array.strides
        )
        for array, b in zip(arrays, bounds)
    )
    same = same and (high - low) % item == 0
    if not same:
        item = 1
    # One of the arrays need not reach over all of the span, so it is read through its address.
    view = _Memory(low, (high - low) // item, first.dtype if same else np.dtype(np.uint8), arrays)
    stored = np.array(np.asarray(view))
    layouts = []
    for array, (start, _) in zip(arrays, bounds):
        layouts.append(([s // item for s in array.strides], (start - low) // item))
    return stored, layouts


class _Memory:
    """The bytes between two addresses of live arrays, as NumPy's array interface."""

    def __init__(self, address, count, dtype, owners):
        self.owners = owners
        self.__array_interface__ = {
            "version": 3,
            "data": (address, True),
            "shape": (count,),
            "typestr": dtype.str,
        }


def _span(array):
    """The number of elements from the first to the last in memory."""
    return 1 + sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides)) // array.itemsize


def _strides(array):
    return [s // array.itemsize for s in array.strides]


def _write_all(f, piece):
    view = memoryview(piece).cast("B")
    while view.nbytes:
        done = f.write(view)
        if done is None:  # text-like objects which do not count
            return
        view = view[done:]


def _replace(path, pieces):
    """Write a file beside `path`, make it durable, and put it in the place of `path`."""
    path = os.path.realpath(path)
    mode = None
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        pass
    if mode is not None and not stat.S_ISREG(mode):  # a device or a pipe cannot be replaced
        with open(path, "wb") as f:
            for piece in pieces:
                _write_all(f, piece)
        return
    folder, name = os.path.split(path)
    text = isinstance(name, str)
    suffix = f".{os.getpid()}.{os.urandom(4).hex()}.tmp"
    start = "." + name[:200] if text else b"." + name[:200]
    beside = os.path.join(folder, start + (suffix if text else suffix.encode()))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(beside, flags, 0o666)
    try:
        with open(descriptor, "wb") as f:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(f.fileno(), stat.S_IMODE(mode))
            for piece in pieces:
                _write_all(f, piece)
            f.flush()
            os.fsync(f.fileno())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
    if os.name == "posix":  # the new name itself must reach the disk, too
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# ---- load -------------------------------------------------------------------------------------------


def load(f, *, map_location=None, weights_only=True):
    """Read what `save` wrote, or any safetensors file, from a path or a binary file object.

    map_location: None or the CPU, the only device. weights_only: either value; loading never runs
    code from the file. Raises RuntimeError naming the file and the entry for anything that is cut
    short, changed or inconsistent; nothing is returned then.

    >>> imode.save([imode.arange(3), "note"], "pair.imode")
    >>> imode.load("pair.imode")
    [tensor([0, 1, 2]), 'note']
    """
    if map_location is not None and str(map_location).split(":")[0] != "cpu":
        raise RuntimeError(f"load: cannot map to {map_location!r}: the only device is 'cpu'")
    if hasattr(f, "read"):
        name = getattr(f, "name", None)
        data = f.read()
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"load: expected a binary file, read() gave {type(data).__name__}")
        return _Reader(repr(name) if name is not None else "the file object").load(data)
    path = os.fspath(f)
    with open(path, "rb") as opened:
        data = np.fromfile(opened, np.uint8) if opened.seekable() else opened.read()
    return _Reader(repr(path)).load(memoryview(data).cast("B"))


class _Reader:
    """Checks a file from the outside in; every complaint starts with the file's name."""

    def __init__(self, source):
        self.source = source
        self.tensors = []
        self.unused = set()

    def fail(self, text):
        raise RuntimeError(f"load: {self.source}: {text}")

    def load(self, data):
        data = memoryview(data)
        if bytes(data[:2]) == b"PK" or bytes(data[:1]) == b"\x80" and bytes(data[7:9]) != b"\0{":
            self.fail("not a safetensors file but a pickle or zip archive, which could run code")
        if len(data) < 8:
            self.fail(f"cut short: {len(data)} bytes, and 8 for the header's length are missing")
        length = int.from_bytes(data[:8], "little")
        if length > _HEADER_LIMIT:
            self.fail(f"the header's length is {length}, more than {_HEADER_LIMIT}")
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
            return {name: self.plain(array) for name, array in entries.items()}
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
        """Parse an object; keys may not come twice, nor NaN and infinity."""

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
        ours = {"crc32", "object"} & metadata.keys() or metadata.get("format") == _FORMAT
        if not ours:
            return
        for key in ("crc32", "format", "object"):
            if key not in metadata:
                self.fail(f"'__metadata__' lacks {key!r}")
        if metadata["format"] != _FORMAT:
            self.fail(f"unknown format {metadata['format']!r}")
        blank = raw.replace(_sum_field(metadata["crc32"]), _sum_field(_NO_SUM), 1)
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

    def entry(self, name, entry):
        """Check one entry of the header; return (begin, end, dtype, shape)."""
        where = f"entry {name!r}"
        if type(entry) is not dict or entry.keys() != {"dtype", "shape", "data_offsets"}:
            self.fail(f"{where} needs 'dtype', 'shape' and 'data_offsets' and nothing else")
        code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if type(code) is not str or code not in _DTYPES:
            self.fail(f"{where} has the unknown dtype {code!r}")
        shape = self.sizes(shape, f"{where}: shape")
        offsets = self.sizes(offsets, f"{where}: data_offsets")
        if len(offsets) != 2 or offsets[0] > offsets[1]:
            self.fail(f"{where}: data_offsets {list(offsets)} are not [begin, end]")
        dtype = _DTYPES[code]
        wanted = math.prod(shape) * dtype.itemsize
        if offsets[1] - offsets[0] != wanted:
            self.fail(
                f"{where} of shape {list(shape)} and dtype {code} takes {wanted} bytes, "
                f"its data_offsets span {offsets[1] - offsets[0]}"
            )
        return (*offsets, dtype, shape)

    def sizes(self, value, what):
        """Check a list of sizes, no more than NumPy takes."""
        fits = type(value) is list and len(value) <= 64
        if not fits or not all(type(n) is int and 0 <= n < 1 << 62 for n in value):
            self.fail(f"{what} is not a list of sizes: {str(value)[:80]}")
        if math.prod(n for n in value if n) >= 1 << 62:
            self.fail(f"{what} is too large: {value}")
        return tuple(value)

    def plain(self, array):
        return rebuild_tensor(array, False, False)

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
        if type(kind) is not str or kind not in _NAMES:
            self.fail(f"{where} has the unknown dtype {kind!r}")
        dtype = np.dtype(kind)
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
        if stored.dtype == dtype and stored.shape == shape and offset == 0:
            if list(strides) == _strides(stored) or not stored.size:
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
        if depth > 2 * _DEPTH_LIMIT:
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
        if type(content) is not list:
            raise ValueError("not a list of pairs")
        found = kind()
        for pair in content:
            if type(pair) is not list or len(pair) != 2:
                raise ValueError("not a list of pairs")
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

    def named(self, content, kind):
        import imode

        if type(content) is not str:
            raise ValueError(f"not a name: {content!r}")
        if kind == "device":
            return imode.device(content)
        if content not in _NAMES:
            raise ValueError(f"unknown dtype {content!r}")
        return getattr(imode, content)


def _complex(real, imag):
    return complex(real, imag)


def _size(reader, content, depth):
    from imode import Size

    return Size(reader.sizes(content, "a size"))


# Each builds from (reader, content, depth); what they raise becomes a complaint about the file.
_TAGS = {
    "tensor": lambda reader, content, depth: reader.indexed(content),
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


# ---- copy and pickle --------------------------------------------------------------------------------


def rebuild_tensor(array, requires_grad=False, is_parameter=False, layout=None):
    """Make a leaf tensor on `array`, or on the part of it that `layout` describes.

    layout: (dtype, shape, strides and offset in bytes) within `array`, which is then the storage
    that several tensors share.
    """
    from imode._core.tensor import make_parameter, wrap_array

    if layout is not None:
        dtype, shape, strides, offset = layout
        flat = array.ravel(order="K").view(np.uint8)
        array = np.ndarray(shape, dtype, flat, offset, strides)
    if not array.flags.writeable:
        array = array.copy()
    tensor = wrap_array(array)
    if is_parameter:
        return make_parameter(tensor, requires_grad)
    return tensor.requires_grad_() if requires_grad else tensor


def _storage(array):
    """Return (the array that owns `array`'s memory, flat; its layout there) or (array, None)."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    dense = root.flags.c_contiguous or root.flags.f_contiguous
    if root is array or not dense or root.base is not None:
        return array, None
    offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return root, (array.dtype, array.shape, array.strides, offset)


def reduce_tensor(tensor):
    """Return what `Tensor.__reduce_ex__` returns; views of one storage keep sharing it.

    Pickle keeps one object one, so naming the root array in each view is all that sharing takes.
    """
    from imode._core.tensor import array_of, is_parameter

    if tensor.requires_grad and not tensor.is_leaf:
        tensor = tensor.detach().requires_grad_()
    array, layout = _storage(array_of(tensor))
    arguments = (array, tensor.requires_grad, is_parameter(tensor), layout)
    return rebuild_tensor, arguments


def deepcopy_tensor(tensor, memo):
    """Return `copy.deepcopy(tensor, memo)`: leaves only; tensors of one storage still share one."""
    import copy

    from imode._core.tensor import array_of, is_parameter

    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  Copy its .detach() instead, or its .clone() to keep the "
            "graph."
        )
    if id(tensor) in memo:
        return memo[id(tensor)]
    array, layout = _storage(array_of(tensor))
    parameter = is_parameter(tensor)
    if parameter:  # a parameter's copy owns its storage and starts without a gradient
        array, layout = np.array(array_of(tensor), order="K"), None
    else:
        array = copy.deepcopy(array, memo)
    copied = memo[id(tensor)] = rebuild_tensor(array, tensor.requires_grad, parameter, layout)
    if not parameter and tensor.grad is not None:
        copied.grad = copy.deepcopy(tensor.grad, memo)
    return copied
