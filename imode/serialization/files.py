"""Save and load tensors in nested containers, safely: `save`, `load`.

The file is a safetensors file: 8 bytes with the length of a JSON header, the header, then the raw
little-endian buffers without gaps. Its `__metadata__` holds what safetensors lacks: the nesting,
strides and sharing of storage, flags, and a checksum over everything. Other readers can open a flat
dict of tensors saved here, and their files can be loaded here.

Nothing in a file is ever executed, and nothing is returned until all of it has been checked.
"""

import contextlib
import os
import stat

import numpy as np

from imode.serialization.reader import Reader
from imode.serialization.writer import Writer

__all__ = ["load", "save"]


def save(obj, f):
    """Write `obj` to a path or a binary file object; a path is replaced in one step or not at all.

    obj: tensors, numbers, strings, bytes, None, dtypes, devices and sizes, in dicts, OrderedDicts,
    lists and tuples. Also saved: which tensors are the same object or share storage, strides,
    requires_grad, being a Parameter. Raises a TypeError that names the path of anything else.

    >>> imode.save({"weight": imode.ones(2)}, "model.safetensors")
    >>> imode.load("model.safetensors")
    {'weight': tensor([1., 1.])}
    """
    if not hasattr(f, "write") and not isinstance(f, (str, bytes, os.PathLike)):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute. "
            f"It is of type {type(f).__name__}"
        )
    writer = Writer()
    root = writer.node(obj, "obj", 0)
    pieces = writer.file(root)
    if hasattr(f, "write"):
        for piece in pieces:
            _write_all(f, piece)
        return
    _replace(os.fspath(f), pieces)


def load(f, map_location=None, *, weights_only=True):
    """Read what `save` wrote, or any safetensors file, from a path or a binary file object.

    map_location: None or the CPU, the only device. weights_only: has no effect; loading never runs
    code from the file. Raises a RuntimeError that names the file and the entry if anything is
    truncated, changed or inconsistent.

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
        return Reader(repr(name) if name is not None else "the file object").load(data)
    if not isinstance(f, (str, bytes, os.PathLike)):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. Give a path, or a binary file "
            "object that is open for reading"
        )
    path = os.fspath(f)
    with open(path, "rb") as opened:
        data = np.fromfile(opened, np.uint8) if opened.seekable() else opened.read()
    return Reader(repr(path)).load(memoryview(data).cast("B"))


# ---- files ----


def _write_all(f, piece):
    view = memoryview(piece).cast("B")
    while view.nbytes:
        done = f.write(view)
        if done is None:  # a file object whose write() returns no count
            return
        view = view[done:]


def _replace(path, pieces):
    """Write a file beside `path`, flush it to disk, and rename it to `path`."""
    path = os.path.realpath(path)
    mode = None
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(path).st_mode
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
    if os.name == "posix":  # the new name must reach the disk, too
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
