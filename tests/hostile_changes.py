"""Changes of files: of their bytes, and of what the bytes say by a format's grammar."""

import functools
import json
import pickle
import pickletools
import struct

_NUMBERS = [-1, 0, 1, 2, 3, 255, 2**31, 2**53, 2**62, -(2**63), 2**63 - 1]
_LONGS = [struct.pack("<q", n) for n in _NUMBERS]
_CODES = {opcode.name: opcode.code.encode("latin1") for opcode in pickletools.opcodes}
_OPCODES = list(_CODES.values())
_CALLS = [_CODES[name] for name in ("REDUCE", "BUILD", "NEWOBJ", "BINPERSID", "STACK_GLOBAL")]
_GLOBALS = [
    b"cos\nsystem\n",
    b"cbuiltins\neval\n",
    b"cbuiltins\nset\n",
    b"ccollections\nOrderedDict\n",
    b"ctorch\nFloatStorage\n",
    b"ctorch\nSize\n",
    b"ctorch._utils\n_rebuild_tensor_v2\n",
    b"ctorch._utils\n_rebuild_sparse_tensor\n",
    b"cnumpy._core.multiarray\n_reconstruct\n",
    b"cnumpy\nndarray\n",
    b"cnumpy\ndtype\n",
]


def change_bytes(raw, rng, others):
    """A few random changes: bytes, opcodes, numbers, pieces that go, double or move."""
    data = bytearray(raw)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(8)
        if how == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif how == 1:
            data[at : at + 1] = rng.choice(_OPCODES)
        elif how == 2:
            data[at:at] = rng.choice(_OPCODES) * rng.choice((1, 1, 50))
        elif how == 3:
            data[at : at + 8] = rng.choice(_LONGS)
        elif how == 4:
            del data[at : at + rng.choice((1, 2, 8, 64))]
        elif how == 5:
            piece = data[at : at + rng.randrange(1, 80)]
            to = rng.randrange(len(data) + 1)
            data[to:to] = piece * rng.choice((1, 1, 30))
        elif how == 6:
            other = rng.choice(others)
            start = rng.randrange(len(other))
            data[at : at + 40] = other[start : start + rng.randrange(1, 80)]
        else:
            del data[at:]
    return bytes(data)


# ---- pickles ----


@functools.lru_cache(1000)
def operations(raw):
    """The operations of a pickle, each its bytes; and what follows the pickle."""
    starts = [at for _, _, at in pickletools.genops(raw)]
    end = starts[-1] + 1  # STOP is one byte
    return [raw[a:b] for a, b in zip(starts, [*starts[1:], end])], raw[end:]


def change_operations(found, rng, others):
    """A few changes of operations, each still one: other arguments, order, number, calls."""
    found = list(found)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(found))
        how = rng.randrange(8)
        if how == 0:
            found[at] = pickle.dumps(rng.choice(_NUMBERS), 2)[2:-1]
        elif how == 1:
            del found[at : at + rng.choice((1, 1, 3))]
        elif how == 2:
            to = rng.randrange(len(found))
            found[at], found[to] = found[to], found[at]
        elif how == 3:
            found[at:at] = found[at : at + rng.randrange(1, 12)] * rng.choice((1, 1, 20))
        elif how == 4:
            found.insert(at, rng.choice(_CALLS))
        elif how == 5:
            found[at] = rng.choice(_GLOBALS)
        elif how == 6:
            other = rng.choice(others)
            start = rng.randrange(len(other))
            found[at : at + rng.randrange(8)] = other[start : start + rng.randrange(1, 12)]
        else:  # what another place made
            found[at] = b"h" + bytes([rng.randrange(24)])
        if not found:
            break
    return b"".join(found)


# ---- JSON ----


def change_json(raw, rng):
    """The text of a JSON object in which values, keys and numbers are others."""
    tree = json.loads(raw)
    places = list(_places(tree))
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not places:
            break
        holder, key = rng.choice(places)
        other, name = rng.choice(places)
        try:
            _change_value(holder, key, other[name], rng)
        except (LookupError, ValueError):  # an earlier change removed the place
            continue
    try:
        return json.dumps(tree, separators=(",", ":")).encode()
    except (ValueError, RecursionError):  # it holds itself
        return raw


def _change_value(holder, key, other, rng):
    how = rng.randrange(6)
    value = holder[key]
    if how == 0 and isinstance(value, int):
        holder[key] = rng.choice([*_NUMBERS, value + 1, value - 1, value * 2])
    elif how == 1:
        holder[key] = rng.choice([None, True, 0.5, "x", [], {}, [[]], 2**70, "F32", "F8_E4M3"])
    elif how == 2:
        del holder[key]
    elif how == 3 and isinstance(holder, dict):
        holder[rng.choice(["a", "__metadata__", "shape", "object", "tensor"])] = value
    elif how == 4 and isinstance(holder, list):
        holder[key:key] = [value] * rng.choice((1, 1, 70))
    else:
        holder[key] = other


def _places(tree):
    """Each (container, key or index) within a tree."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree))
    for key in keys:
        yield tree, key
        if isinstance(tree[key], (dict, list)):
            yield from _places(tree[key])
