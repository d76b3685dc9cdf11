"""Save and load tensors in nested containers, safely: `save`, `load`.

PyTorch's files are read and written by `pytorch/`. The other format is a safetensors file: 8 bytes
with the length of a JSON header, the header, then the raw little-endian buffers without gaps. Its
`__metadata__` holds what safetensors lacks: the nesting, strides and sharing of storage, flags, and
a checksum over everything. Other readers can open a flat dict of tensors saved here, and their
files can be loaded here.

Nothing in a file is ever executed, and nothing is returned until all of it has been checked.
"""

import contextlib
import io
import os
import pickle
import stat
from pathlib import Path

import numpy as np

from imode.serialization.options import skips_data
from imode.serialization.reader import Reader
from imode.serialization.writer import Writer

__all__ = ["load", "save"]


def save(
    obj,
    f,
    pickle_module=None,
    pickle_protocol=2,
    _use_new_zipfile_serialization=True,
    *,
    format=None,
):
    """Write `obj` to a path or a binary file object; a path is replaced in one step or not at all.

    format: "pytorch", a zip archive that `torch.load` reads, or "safetensors", which other
    libraries read, too, and whose contents are checked by a sum when they are loaded. None:
    "pytorch" for a path that ends in .pt, .pth, .ckpt, .bin or .tar, else "safetensors".

    obj, for "safetensors": tensors, numbers, strings, bytes, None, dtypes, devices and sizes, in
    dicts, OrderedDicts, lists and tuples; raises a TypeError that names the path of anything else.
    For "pytorch": whatever Python's pickle takes; what is more than data is loaded with
    `weights_only=False` alone. Both keep which tensors are the same object or share storage,
    strides, requires_grad, being a Parameter.

    pickle_module, pickle_protocol, _use_new_zipfile_serialization: PyTorch's; of the first and the
    last only the default, `pickle` and True, is there.

    >>> imode.save({"weight": imode.ones(2)}, "model.pt")
    >>> imode.load("model.pt")
    {'weight': tensor([1., 1.])}
    """
    if not hasattr(f, "write") and not isinstance(f, (str, bytes, os.PathLike)):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute. "
            f"It is of type {type(f).__name__}"
        )
    if pickle_module not in (None, pickle) or not _use_new_zipfile_serialization:
        raise ValueError(
            "save: imode writes PyTorch's zip archive with Python's own pickle: leave out "
            "pickle_module and _use_new_zipfile_serialization"
        )
    path = None if hasattr(f, "write") else os.fspath(f)
    if format is None:
        named = path is not None and _is_pytorch_name(path)
        format = "pytorch" if named or skips_data() else "safetensors"
    if format not in ("pytorch", "safetensors"):
        raise ValueError(f"save: format is 'pytorch' or 'safetensors', got {format!r}")
    if format == "pytorch":
        from imode.serialization.pytorch.writer import Prepared

        prepared = Prepared(obj, pickle_protocol)
        folder = "archive" if path is None else _stem(path)

        def write(file):
            prepared.write(file, folder)
    else:
        writer = Writer()
        root = writer.node(obj, "obj", 0)
        pieces = writer.file(root)

        def write(file):
            for piece in pieces:
                _write_all(file, piece)

    if path is None:
        write(f)
    else:
        _replace(path, write)


def load(
    f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None, **pickle_load_args
):
    """Read what `save` wrote, any file of PyTorch's, or any safetensors file.

    f: a path, or a binary file object. PyTorch's files: the zip archive, and the two formats before
    it. They are pickles, which are programs; imode reads them by a machine that runs nothing, and
    refuses a file that asks for more than data.

    map_location: a device, its name, a dict of names, or a function of a storage and a name, for
    tensors of PyTorch's files that were saved on another device. None: where they were.
    weights_only: False runs what the file says, as Python's pickle does: whole modules, and any
    class that can be imported. Only for files that you trust. `serialization.add_safe_globals`
    allows single classes. mmap: True leaves the tensors of a zip archive in the file, which is read
    when they are. pickle_module, pickle_load_args: PyTorch's; of the first only None and `pickle`.

    Raises a RuntimeError that names the file and the entry if anything is truncated, changed or
    inconsistent; a pickle.UnpicklingError that names the class, if one is not allowed; a ValueError
    for mmap of something else than a path.

    >>> imode.save([imode.arange(3), "note"], "pair.pt")
    >>> imode.load("pair.pt")
    [tensor([0, 1, 2]), 'note']
    """
    if pickle_module not in (None, pickle) or pickle_load_args.keys() - {"encoding"}:
        raise ValueError(
            "load: pickle_module is None or pickle, and of its arguments only encoding is taken"
        )
    is_path = isinstance(f, (str, bytes, os.PathLike))
    if mmap and not is_path:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if is_path:
        path = os.fspath(f)
        with open(path, "rb") as opened:
            return _load(opened, repr(path), map_location, weights_only, path if mmap else None)
    if not hasattr(f, "read"):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. Give a path, or a binary file "
            "object that is open for reading"
        )
    name = getattr(f, "name", None)
    return _load(
        f, repr(name) if name is not None else "the file object", map_location, weights_only
    )


def get_unsafe_globals_in_checkpoint(f):
    """Return the names in a file of PyTorch's that `load` would refuse, sorted.

    f: a path, or a binary file object. The pickle is looked through, not run. Raises ValueError for
    a file that is no zip archive of PyTorch's.

    >>> import fractions
    >>> imode.save(fractions.Fraction(1, 2), "half.pt")
    >>> imode.serialization.get_unsafe_globals_in_checkpoint("half.pt")
    ['fractions.Fraction']
    """
    from imode.serialization.pytorch.load import names_refused

    if isinstance(f, (str, bytes, os.PathLike)):
        with open(f, "rb") as opened:
            return names_refused(opened)
    return names_refused(f)


def _load(f, source, map_location, weights_only, mapped_path=None):
    """Read an open file, which may be one that cannot seek."""
    start = f.read(512)
    if not isinstance(start, (bytes, bytearray, memoryview)):
        raise TypeError(f"load: expected a binary file, read() gave {type(start).__name__}")
    start = bytes(start)
    if _is_pytorch(start):
        from imode.serialization.pytorch import load as pytorch

        mapped = None if mapped_path is None else pytorch.mapped_bytes(mapped_path)
        if _seekable(f):
            f.seek(-len(start), os.SEEK_CUR)
            if f.tell():
                f = io.BytesIO(f.read())
        else:
            f = io.BytesIO(start + f.read())
        return pytorch.load(f, source, map_location, weights_only, mapped)
    if map_location is not None and str(map_location).split(":")[0] != "cpu":
        raise RuntimeError(
            f"load: cannot map to {map_location!r}: a safetensors file is loaded to the CPU"
        )
    if isinstance(f, io.BufferedReader) and _seekable(f):
        f.seek(-len(start), os.SEEK_CUR)
        data = np.fromfile(f, np.uint8)
    else:
        data = np.frombuffer(start + bytes(f.read()), np.uint8)
    return Reader(source).load(memoryview(data).cast("B"))


# ---- files ----

_PYTORCH_NAMES = (".pt", ".pth", ".ckpt", ".bin", ".tar")


def _is_pytorch_name(path):
    return os.fsdecode(path).lower().endswith(_PYTORCH_NAMES)


def _stem(path):
    """The name of the folder within an archive: that of the file, as in PyTorch."""
    return Path(os.fsdecode(path)).stem or "archive"


def _is_pytorch(start):
    """Whether a file begins as one of PyTorch's: a zip, a tar, a pickle (no header's length)."""
    pickled = start[:1] == b"\x80" and start[7:9] != b"\0{"
    return start[:2] == b"PK" or pickled or start[257:262] == b"ustar"


def _seekable(f):
    return hasattr(f, "seek") and hasattr(f, "seekable") and f.seekable()


def _write_all(f, piece):
    view = memoryview(piece).cast("B")
    while view.nbytes:
        done = f.write(view)
        if done is None:  # a file object whose write() returns no count
            return
        view = view[done:]


def _replace(path, write):
    """Write a file beside `path`, flush it to disk, and rename it to `path`."""
    path = os.path.realpath(path)
    mode = None
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(path).st_mode
    if mode is not None and not stat.S_ISREG(mode):  # a device or a pipe cannot be replaced
        with open(path, "wb") as f:
            write(f)
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
            write(f)
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
