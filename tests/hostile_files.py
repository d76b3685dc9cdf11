"""Files of PyTorch's formats, changed at random: each loads, or raises an error that names it.

python -m tests.hostile_files --count 1000000 --seed 0
"""

import argparse
import functools
import io
import itertools
import pickle
import pickletools
import random
import resource
import struct
import sys
import tarfile
import time
import tracemalloc

import numpy as np

import imode
from imode.serialization.pytorch.stream import MAGIC, PROTOCOL
from imode.serialization.pytorch.writer import Prepared

ALLOWED = (RuntimeError, pickle.UnpicklingError)


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
    prepared = Prepared(obj, protocol)
    facts = {"protocol_version": PROTOCOL, "little_endian": True, "type_sizes": {}}
    parts = [pickle.dumps(part, 2) for part in (MAGIC, PROTOCOL, facts)]
    storages = prepared.storages
    counts = {saved.record[2]: saved.record[4] for saved in storages.saved.values()}
    keys = [str(i) for i in range(len(storages.bytes))]
    parts += [prepared.pickle, pickle.dumps(keys, 2)]
    for key, data in zip(keys, storages.bytes):
        parts += [struct.pack("<q", counts[key]), data.tobytes()]
    return b"".join(parts)


def tar(tensors):
    """The tar of a dict of float32 tensors, which share one storage in parts."""

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
    storages.append(dumps([]))
    pickled = io.BytesIO()
    Pickler(pickled, 2).dump(tensors)
    parts = {
        "sys_info": dumps({}),
        "storages": b"".join(storages),
        "tensors": b"".join(listed),
        "pickle": pickled.getvalue(),
    }
    f = io.BytesIO()
    with tarfile.open(fileobj=f, mode="w") as made:
        for name, data in parts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            made.addfile(entry, io.BytesIO(data))
    return f.getvalue()


def whole_files():
    """Files as they should be, each with where its pickle is."""
    for obj, protocol in itertools.product(objects(), (2, 4)):
        yield archive(obj, protocol)
        yield stream(obj, protocol)
    yield tar({"a": imode.ones(2, 3), "b": imode.arange(4.0)})


_NUMBERS = [struct.pack("<q", n) for n in (-1, 0, 1, 2**31, 2**62, -(2**63), 2**63 - 1)]
_OPCODES = [opcode.code.encode("latin1") for opcode in pickletools.opcodes]


def change(raw, rng, others):
    """A file with a few random changes: bytes, opcodes, numbers, pieces that go, double or move."""
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
            data[at : at + 8] = rng.choice(_NUMBERS)
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


def check(raw):
    """Load a file; anything but an object or an error that names the file is a defect."""
    try:
        imode.load(io.BytesIO(raw))
    except ALLOWED as error:
        assert "load: " in str(error), error
        return False
    return True


def run(count, seed, progress=False):
    """Check `count` files; return how many of them loaded."""
    files = list(whole_files())
    rng = random.Random(seed)
    loaded, begun = 0, time.time()
    for i in range(count):
        raw = change(rng.choice(files), rng, files)
        try:
            loaded += check(raw)
        except BaseException:
            print(f"seed {seed}, file {i}: {raw!r}", file=sys.stderr)
            raise
        if progress and i % 10_000 == 9_999:
            rate = (i + 1) / (time.time() - begun)
            print(f"\r{i + 1} of {count} files, {loaded} loaded, {rate:.0f} a second", end="")
    if progress:
        print()
    return loaded


def peak_memory(raw):
    """The most memory that loading takes, in bytes, as Python and NumPy count it."""
    tracemalloc.start()
    try:
        check(raw)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main():
    """Check many files, in an address space of 4 GB."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30,) * 2)
    run(options.count, options.seed, progress=True)


if __name__ == "__main__":
    main()
