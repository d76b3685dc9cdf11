"""Write an object as the bytes of a file; see Note [File format]."""

import base64
import json
import math
import zlib
from collections import OrderedDict

import numpy as np

from imode.serialization.format import (
    DEPTH_LIMIT,
    DTYPES,
    FORMAT,
    HEADER_LIMIT,
    LARGEST_INT,
    NAMES,
    NO_SUM,
    bytes_at,
    strides_of,
    sum_field,
)

_SIMPLE = {
    type(None): lambda obj: obj,
    bool: lambda obj: obj,
    str: lambda obj: obj,
    int: lambda obj: obj if abs(obj) < LARGEST_INT else {"int": hex(obj)},
    float: lambda obj: obj if math.isfinite(obj) else {"float": str(obj)},
    complex: lambda obj: {"complex": [obj.real.hex(), obj.imag.hex()]},
    bytes: lambda obj: {"bytes": base64.b64encode(obj).decode()},
}


class Writer:
    """Collects the tensors of an object and lays out the file."""

    def __init__(self):
        self.tensors = []  # (tensor, array, path) in order of first appearance
        self.seen = {}  # id(tensor) -> its index
        self.parts = {}  # id of a sparse tensor -> itself, its indices, its values
        self.open = set()  # ids of the containers around the current object

    def node(self, obj, path, depth):
        """Return the JSON node for `obj`."""
        from imode import Size, Tensor, device, dtype
        from imode._core.overriding import held

        kind = type(obj)
        if kind in _SIMPLE:
            return _SIMPLE[kind](obj)
        if isinstance(obj, Tensor):  # an object of a subclass is loaded as the tensor that it holds
            obj = held(obj)
        if isinstance(obj, Tensor) and obj.is_sparse:
            return {"sparse": self.sparse(obj, path)}
        if isinstance(obj, Tensor):
            return {"tensor": self.tensor(obj, path)}
        if isinstance(obj, dtype):
            return {"dtype": str(obj).rpartition(".")[2]}
        if isinstance(obj, device):
            return {"device": str(obj)}
        if kind is Size:
            return {"size": [int(n) for n in obj]}
        if isinstance(obj, dict):  # a subclass is loaded as the dict type that it extends
            kind = OrderedDict if isinstance(obj, OrderedDict) else dict
        if kind not in (dict, OrderedDict, list, tuple):
            hint = ""
            if hasattr(obj, "state_dict"):
                hint = "; save its state_dict() instead"
            raise TypeError(f"save: cannot save {path}: a {kind.__name__}{hint}")
        if id(obj) in self.open:
            raise ValueError(f"save: cannot save {path}: it contains itself")
        if depth >= DEPTH_LIMIT:
            raise ValueError(f"save: cannot save {path}: more than {DEPTH_LIMIT} levels deep")
        self.open.add(id(obj))
        if kind in (list, tuple):
            found = [self.node(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(obj)]
            node = {kind.__name__: found}
        else:
            found = []
            for key, value in obj.items():
                if isinstance(key, Tensor):
                    raise TypeError(f"save: cannot save {path}: a key is a Tensor")
                name = f"{path}[{key!r}]"
                pair = [
                    self.node(key, f"the key {key!r} of {path}", depth + 1),
                    self.node(value, name, depth + 1),
                ]
                found.append(pair)
            node = {"odict" if kind is OrderedDict else "dict": found}
            extra = getattr(obj, "_metadata", None)  # the versions of modules in a state dict
            if isinstance(extra, dict):
                node = {"state": [found, self.node(extra, f"{path}._metadata", depth + 1)]}
        self.open.discard(id(obj))
        return node

    def sparse(self, tensor, path):
        """Return the indices and the values of a sparse tensor, and what else makes it."""
        from imode._core.internals import is_parameter

        if id(tensor) not in self.parts:
            self.parts[id(tensor)] = tensor, tensor.detach()._indices(), tensor.detach()._values()
        _, indices, values = self.parts[id(tensor)]
        return [
            self.tensor(indices, f"{path}._indices()"),
            self.tensor(values, f"{path}._values()"),
            list(tensor.shape),
            tensor.is_coalesced(),
            tensor.requires_grad,
            is_parameter(tensor),
        ]

    def tensor(self, tensor, path):
        from imode._core.elsewhere import elements_of
        from imode._core.internals import is_parameter
        from imode.utils.hooks import warn_if_has_hooks

        if id(tensor) not in self.seen:
            self.seen[id(tensor)] = len(self.tensors)
            if not is_parameter(tensor):
                warn_if_has_hooks(tensor)
            if tensor.is_meta:
                raise TypeError(f"save: cannot save {path}: a tensor without values (meta)")
            array = elements_of(tensor)
            self.tensors.append((tensor, array, path))
        return self.seen[id(tensor)]

    def file(self, root):
        """Return the bytes of the file as a list of buffers."""
        from imode._core.internals import is_parameter

        arrays = [array for _, array, _ in self.tensors]
        entries = []  # (name, dtype code, shape, buffer)
        records = [None] * len(arrays)
        names = {"__metadata__"}
        for group in _storages(arrays):
            path = self.tensors[group[0]][2]
            name = _entry_name(path, names)
            stored, layouts = _flatten([arrays[i] for i in group])
            entries.append((name, NAMES[stored.dtype.name], stored.shape, stored))
            for i, (strides, offset) in zip(group, layouts):
                tensor = self.tensors[i][0]
                records[i] = {
                    "entry": name,
                    "dtype": arrays[i].dtype.name,
                    "shape": list(arrays[i].shape),
                    "strides": strides,
                    "offset": offset,
                    "requires_grad": tensor.requires_grad,
                    "parameter": is_parameter(tensor),
                }
        text = json.dumps({"tensors": records, "root": root}, separators=(",", ":"))
        header = {"__metadata__": {"crc32": NO_SUM, "format": FORMAT, "object": text}}
        at, buffers = 0, []
        # Those with the largest items first, so that each starts at a multiple of its item size.
        for name, code, shape, stored in sorted(entries, key=lambda e: -e[3].dtype.itemsize):
            stored = stored.astype(DTYPES[code], copy=False)
            header[name] = {
                "dtype": code,
                "shape": list(shape),
                "data_offsets": [at, at + stored.nbytes],
            }
            at += stored.nbytes
            buffers.append(stored.reshape(-1).view(np.uint8).data if stored.nbytes else b"")
        encoded = json.dumps(header, separators=(",", ":")).encode()
        encoded += b" " * (-len(encoded) % 8)
        if len(encoded) > HEADER_LIMIT:
            raise ValueError(f"save: the header would take {len(encoded)} bytes, too many")
        total = zlib.crc32(encoded)
        for buffer in buffers:
            total = zlib.crc32(buffer, total)
        encoded = encoded.replace(sum_field(NO_SUM), sum_field(f"{total:08x}"), 1)
        return [len(encoded).to_bytes(8, "little"), encoded, *buffers]


def _entry_name(path, taken):
    """`obj['layer.weight']` -> `layer.weight`; a deeper path stays; made unique by a number."""
    parts = path[len("obj") :].replace("][", ".").strip("[]")
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
        if first.flags.c_contiguous or span > first.size:  # gaps are not saved
            stored = np.ascontiguousarray(first).reshape(first.shape)
            return stored, [(strides_of(stored if first.size else first), 0)]
    bounds = [np.lib.array_utils.byte_bounds(array) for array in arrays]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    item = first.dtype.itemsize
    same = all(
        array.dtype == first.dtype
        and (b[0] - low) % item == 0
        and not any(s % item for s in array.strides)
        for array, b in zip(arrays, bounds)
    )
    same = same and (high - low) % item == 0
    if not same:
        item = 1
    # Maybe none of the arrays covers all of the span, so it is read by its address.
    stored = bytes_at(low, high - low, arrays).copy()
    if same:
        stored = stored.view(first.dtype)
    layouts = []
    for array, (start, _) in zip(arrays, bounds):
        layouts.append(([s // item for s in array.strides], (start - low) // item))
    return stored, layouts


def _span(array):
    """The number of elements, gaps included, from the first to the last in memory."""
    return 1 + sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides)) // array.itemsize
