"""Files of each format, changed at random: each loads, or raises an error that names it.

python -m tests.hostile_files --count 1000000 --seed 0 --format zip|stream|tar|safetensors

Half of the changes are of bytes. The others go by the format's grammar, and lie deeper: operations
of a pickle, values of a JSON header, whole entries; the file is then put together anew, with the
sums and lengths that it should have. No file may open another, import, start a process, take much
memory or long, or end this process; of what loads, every tensor is read.
"""

import argparse
import codecs
import contextlib
import functools
import importlib
import io
import itertools
import json
import pickle
import pkgutil
import random
import re
import resource
import signal
import struct
import sys
import tarfile
import time
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np

import imode
from imode.serialization.format import NO_SUM, sum_field
from imode.serialization.pytorch.stream import MAGIC, PROTOCOL
from imode.serialization.pytorch.writer import Prepared
from tests.hostile_changes import change_bytes, change_json, change_operations, operations

ALLOWED = (RuntimeError, pickle.UnpicklingError)
PICKLES = (b"\x80\x02", b"\x80\x04")  # how they begin
KINDS = ("zip", "stream", "tar", "safetensors")
LONGEST = 20  # seconds for a file of a few kilobytes, on a busy machine
MEMORY = 192 << 20  # bytes of address space beyond what there is at the start
# What Python reports of code that does more than compute.
REPORTED = ("os.", "subprocess.", "socket.", "shutil.", "import", "exec", "compile", "open")


def objects():
    """Small objects that use each function of the formats."""
    base = imode.arange(12.0)
    half = imode.ones(3, dtype=imode.bfloat16)
    yield {"weight": imode.ones(2, 3), "bias": imode.zeros(2), "step": 3, "name": "a"}
    yield [base[2:5], base.view(3, 4).t(), base[::3], imode.Size([2, 3]), imode.float32]
    yield imode.nn.Sequential(imode.nn.Linear(2, 3), imode.nn.BatchNorm1d(3)).state_dict()
    yield (imode.nn.Parameter(imode.ones(2)), imode.eye(3).to_sparse(), imode.device("cpu"))
    yield {1: {2.5, None}, (1, "a"): [True, b"bytes", 1j, 2**70], "deep": [[[[base]]]]}
    yield {"kinds": [half, imode.ones(2, dtype=imode.uint16), imode.ones(1, dtype=imode.bool)]}
    yield {"arrays": [np.arange(4.0).reshape(2, 2), np.float32(2), np.array(["ab", "c"])]}
    yield {
        "none": imode.empty(0, 3),
        "wide": imode.ones(1).expand(5),
        "meta": imode.ones(2, device="meta"),
    }


def archive(obj, protocol=2):
    """The zip archive."""
    f = io.BytesIO()
    Prepared(obj, protocol).write(f, "archive")
    return f.getvalue()


def stream(obj, protocol=2):
    """The pickles in a row."""
    return b"".join(_stream_parts(obj, protocol).values())


def tar(tensors):
    """The tar of a dict of float32 tensors."""
    return _pack_tar(_tar_parts(tensors))


def safetensors(obj):
    """The other format."""
    f = io.BytesIO()
    imode.save(obj, f, format="safetensors")
    return f.getvalue()


# ---- files as parts, and put together of them ----


def _zip_parts(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as f:
        return {name: f.read(name) for name in f.namelist()}


def _pack_zip(parts):
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w") as made:
        for name, data in parts.items():
            made.writestr(zipfile.ZipInfo(name), data)
    return f.getvalue()


def _stream_parts(obj, protocol):
    prepared = Prepared(obj, protocol)
    facts = {"protocol_version": PROTOCOL, "little_endian": True, "type_sizes": {}}
    parts = {str(i): pickle.dumps(part, 2) for i, part in enumerate((MAGIC, PROTOCOL, facts))}
    storages = prepared.storages
    counts = {saved.record[2]: saved.record[4] for saved in storages.saved.values()}
    keys = [str(i) for i in range(len(storages.bytes))]
    parts |= {"object": prepared.pickle, "keys": pickle.dumps(keys, 2)}
    for key, data in zip(keys, storages.bytes):
        parts[f"storage {key}"] = struct.pack("<q", counts[key]) + data.tobytes()
    return parts


def _pack_stream(parts):
    return b"".join(parts.values())


def _tar_parts(tensors):
    numbered = {id(tensor): i for i, tensor in enumerate(tensors.values())}

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj):
            return numbered.get(id(obj))

    dumps = functools.partial(pickle.dumps, protocol=2)
    kind = b"\x80\x02ctorch\nFloatStorage\n."
    storages = [dumps(len(tensors))]
    listed = [dumps(len(tensors))]
    for i, tensor in enumerate(tensors.values()):
        record = dumps((100 + i, "cpu", None))
        record = record.replace(b"N\x87", kind[2:-1] + b"\x87")
        data = tensor.contiguous().numpy()
        storages += [record, struct.pack("<q", data.size), data.tobytes()]
        listed.append(dumps((i, 100 + i, "torch.FloatTensor")))
        numbers = (*tensor.shape, *tensor.contiguous().stride(), 0)
        listed.append(struct.pack(f"<ii{len(numbers)}q", tensor.dim(), 0, *numbers))
    storages.append(dumps([(7, 100, 1, 2)]))  # a part of the first
    pickled = io.BytesIO()
    Pickler(pickled, 2).dump(tensors)
    return {
        "sys_info": dumps({}),
        "storages": b"".join(storages),
        "tensors": b"".join(listed),
        "pickle": pickled.getvalue(),
    }


def _pack_tar(parts):
    f = io.BytesIO()
    with tarfile.open(fileobj=f, mode="w") as made:
        for name, data in parts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            made.addfile(entry, io.BytesIO(data))
    return f.getvalue()


def _safetensors_parts(raw):
    length = int.from_bytes(raw[:8], "little")
    return {"header": raw[8 : 8 + length], "buffers": raw[8 + length :]}


def _pack_safetensors(parts):
    """The file, with the checksum that its changed parts have."""
    header, buffers = parts.get("header", b"{}"), parts.get("buffers", b"")
    blank = re.sub(rb'"crc32":"[^"]*"', sum_field(NO_SUM), header, count=1)
    total = zlib.crc32(buffers, zlib.crc32(blank))
    header = blank.replace(sum_field(NO_SUM), sum_field(f"{total:08x}"), 1)
    return len(header).to_bytes(8, "little") + header + buffers


def change_object(raw, change):
    """A safetensors file whose description of the object is `change` of its text."""
    parts = _safetensors_parts(raw)
    header = json.loads(parts["header"])
    before = header["__metadata__"]["object"]
    after = header["__metadata__"]["object"] = change(before)
    assert after != before
    text = json.dumps(header, separators=(",", ":")).encode()
    return _pack_safetensors(parts | {"header": text})


def _without_metadata(raw):
    """The file as other libraries write it."""
    parts = _safetensors_parts(raw)
    header = json.loads(parts["header"])
    header.pop("__metadata__")
    return _pack_safetensors(parts | {"header": json.dumps(header).encode()})


@functools.cache
def whole_files(kind):
    """The files of a format as they should be: (bytes, parts, what joins these)."""
    if kind == "tar":
        parts = _tar_parts({"a": imode.ones(2, 3), "b": imode.arange(4.0)})
        return [(_pack_tar(parts), parts, _pack_tar)]
    if kind == "safetensors":
        raw = []
        for obj in objects():
            with contextlib.suppress(TypeError):  # it holds what this format does not
                raw.append(safetensors(obj))
        flat = {"a": imode.ones(2, 3), "b": imode.zeros(0, 3), "c": imode.tensor(True)}
        raw.append(_without_metadata(safetensors(flat)))
        return [(r, _safetensors_parts(r), _pack_safetensors) for r in raw]
    found = []
    for obj, protocol in itertools.product(objects(), (2, 4)):
        if kind == "zip":
            raw = archive(obj, protocol)
            found.append((raw, _zip_parts(raw), _pack_zip))
        else:
            parts = _stream_parts(obj, protocol)
            found.append((_pack_stream(parts), parts, _pack_stream))
    return found


# ---- changes ----


@functools.cache
def _bytes_of(kind):
    return [raw for raw, _, _ in whole_files(kind)]


@functools.cache
def _operations_of(kind):
    parts = [part for _, parts, _ in whole_files(kind) for part in parts.values()]
    return [operations(part)[0] for part in parts if part[:2] in PICKLES and len(part) > 20]


def change(kind, rng):
    """A file of a format with a few changes."""
    raw, parts, pack = rng.choice(whole_files(kind))
    if rng.random() < 0.5:
        return change_bytes(raw, rng, _bytes_of(kind))
    parts = dict(parts)
    name = rng.choice([name for name, part in parts.items() if part] or [*parts])
    if rng.random() < 0.1:
        _change_entries(parts, name, rng)
    elif parts[name][:2] in PICKLES:
        parts[name] = _change_pickles(parts[name], rng, kind)
    elif parts[name][:1] == b"{":
        parts[name] = _change_header(parts[name], rng)
    else:
        parts[name] = change_bytes(parts[name], rng, _bytes_of(kind))
    return pack(parts)


def _change_pickles(data, rng, kind):
    """One of the pickles that stand in a row, changed."""
    before = b""
    found, after = operations(data)
    while after and rng.random() < 0.5:
        at = after.find(b"\x80\x02")
        if at < 0:
            break
        try:
            following = operations(after[at:])
        except Exception:  # bytes that look like the beginning of one
            break
        before, (found, after) = data[: len(data) - len(after) + at], following
    return before + change_operations(found, rng, _operations_of(kind)) + after


def _change_header(raw, rng):
    """The header of a safetensors file, or the object that its metadata describes, changed."""
    header = json.loads(raw)
    if rng.random() < 0.5 and "__metadata__" in header:
        described = header["__metadata__"]["object"].encode()
        header["__metadata__"]["object"] = change_json(described, rng).decode()
        return json.dumps(header, separators=(",", ":")).encode()
    return change_json(raw, rng)


def _change_entries(parts, name, rng):
    """An entry goes, comes twice, or has another's name or contents."""
    other = rng.choice([*parts])
    how = rng.randrange(4)
    if how == 0:
        del parts[name]
    elif how == 1:
        parts[f"{name}{rng.randrange(3)}"] = parts[name]
    elif how == 2:
        parts[name], parts[other] = parts[other], parts[name]
    else:
        parts[other] = parts.pop(name)


# ---- checks ----


class Watch:
    """Python's reports of what runs; while it is on, those of REPORTED are errors."""

    on = False

    def __init__(self):
        sys.addaudithook(self)

    def __call__(self, event, args):
        if self.on and event.startswith(REPORTED):
            self.on = False
            raise AssertionError(f"a file did {event}{args}")


def read(found, depth=0):
    """Read every tensor of what was loaded."""
    if isinstance(found, imode.Tensor):
        if found.device.type == "cpu" and found.layout is imode.strided and found.numel() < 10**6:
            found.detach().clone()
        repr(found)
    elif depth < 5 and isinstance(found, dict):
        for key, value in found.items():
            read(key, depth + 1)
            read(value, depth + 1)
    elif depth < 5 and isinstance(found, (list, tuple, set, frozenset)):
        for value in found:
            read(value, depth + 1)


def check(raw, path=None):
    """Load a file; anything but an object or an error that names the file is a defect.

    path: where to write it, to be mapped to memory.
    """
    try:
        if path is None:
            found = imode.load(io.BytesIO(raw))
        else:
            path.write_bytes(raw)
            found = imode.load(path, mmap=raw[:2] == b"PK")
    except ALLOWED as error:
        assert "load: " in str(error), error
        return False
    read(found)
    return True


def run(count, seed, kinds=KINDS, progress=False, watch=None):
    """Check `count` files of each format; return how many of them loaded."""
    loaded, begun, done = 0, time.time(), 0
    for kind in kinds:
        rng = random.Random(f"{seed} {kind}")
        for raw in _bytes_of(kind):  # what is imported on first use is, then
            assert check(raw)
        for i in range(count):
            raw = change(kind, rng)
            signal.alarm(LONGEST)
            try:
                if watch is not None:
                    watch.on = True
                loaded += check(raw)
            except BaseException:
                print(f"{kind}, seed {seed}, file {i}: {raw!r}", file=sys.stderr)
                raise
            finally:
                signal.alarm(0)
                if watch is not None:
                    watch.on = False
            done += 1
            if progress and done % 10_000 == 0:
                rate = done / (time.time() - begun)
                print(
                    f"{kind}: {i + 1} of {count}, {loaded} loaded, {rate:.0f} a second", flush=True
                )
    return loaded


def peak_memory(raw):
    """The most memory that loading takes, in bytes, as Python and NumPy count it."""
    tracemalloc.start()
    try:
        check(raw)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _too_long(number, frame):
    raise TimeoutError(f"a file took more than {LONGEST} s")


def _import_everything():
    """What the library imports on first use would be taken for a file's doing."""
    for module in pkgutil.walk_packages(imode.__path__, "imode."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    codecs.lookup("raw-unicode-escape")


def main():
    """Check many files, in little memory."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000, help="of each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", choices=KINDS, help="this one alone")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _too_long)
    kinds = [options.format] if options.format else KINDS
    _import_everything()
    run(100, 0, kinds)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY,) * 2)
    run(options.count, options.seed, kinds, progress=True, watch=Watch())


if __name__ == "__main__":
    main()
