"""Read a file of PyTorch's, in whichever of its formats."""

import contextlib
import importlib
import io
import mmap
import pickle
import pickletools

import numpy as np

from imode.serialization.options import get_default_mmap_options
from imode.serialization.pytorch.archive import Archive
from imode.serialization.pytorch.known import UNSUPPORTED, Names, Outline
from imode.serialization.pytorch.machine import Machine
from imode.serialization.pytorch.storages import STORAGE_TYPES, Placing
from imode.serialization.pytorch.stream import Stream, Tar

_ZIP = b"PK"
_TAR = b"ustar"  # at byte 257
# Classes that are another's in all but the name.
_SAME = {"NonDynamicallyQuantizableLinear": "Linear"}
_PACKAGES = ("torch.nn", "torch.optim", "torch.utils.data", "torch.distributions")


def load(f, source, map_location, weights_only, mapped=None):
    """Return the object of a file.

    f: a seekable binary file at its start. source: what to call it. mapped: its bytes mapped to
    memory, or None.
    """

    def fail(text, cause=None):
        raise RuntimeError(f"load: {source}: {text}") from cause

    placing = Placing(map_location)
    unpickle = _safely if weights_only else _as_python_does
    outline = _outline if weights_only else _outline_as_python_does
    start = f.read(512)
    f.seek(0)
    try:
        if start[:2] == _ZIP:
            archive = Archive(f, fail, placing, mapped)
            return unpickle(archive.pickled(), archive.storage, 0)[0]
        if mapped is not None:
            fail(
                "mmap can only be used with files saved with "
                "`torch.save(_use_new_zipfile_serialization=True), please torch.save your "
                "checkpoint with this option in order to use mmap."
            )
        kind = Tar if start[257:262] == _TAR else Stream
        return kind(f.read(), fail, placing, unpickle, outline).load()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        fail(f"its contents do not fit together: {type(error).__name__}: {error}", error)
    except pickle.UnpicklingError as error:
        if not weights_only or not str(error).startswith(UNSUPPORTED):
            raise pickle.UnpicklingError(f"load: {source}: {error}") from None
        raise pickle.UnpicklingError(
            "Weights only load failed. This file can still be loaded, to do so you have two "
            "options, do those steps only if you trust the source of the checkpoint. \n"
            "\t(1) Call `imode.load` with weights_only=False, which runs what the file says.\n"
            "\t(2) Allow the classes that it names, one by one, as follows.\n"
            f"load: {source}: {error}"
        ) from None


def names_refused(f):
    """Return the names in a zip archive's pickle that are not allowed, sorted."""
    if f.read(2) != _ZIP:
        raise ValueError("Expected input to be a checkpoint returned by torch.save")
    f.seek(-2, io.SEEK_CUR)

    def fail(text, cause=None):
        raise ValueError(
            f"Expected input to be a checkpoint returned by torch.save, got {text}"
        ) from cause

    known, texts, memo, found = Names(), [""], {}, set()
    for opcode, arg, _ in pickletools.genops(Archive(f, fail, Placing(None)).pickled()):
        if opcode.name == "GLOBAL":
            found.add(".".join(arg.split(" ")))
        elif opcode.name == "STACK_GLOBAL":
            found.add(".".join(texts[-2:]))
        elif "PUT" in opcode.name or opcode.name == "MEMOIZE":
            memo[len(memo) if arg is None else arg] = texts[-1]
        elif "GET" in opcode.name:
            texts.append(memo.get(arg, ""))
        elif isinstance(arg, str):
            texts.append(arg)
    return sorted(name for name in found if name not in known.table and name not in known.added)


def _safely(data, persistent, at):
    machine = Machine(data, Names(), persistent, at)
    return machine.run(), machine.at


def _outline(data, persistent, at):
    machine = Machine(data, Outline(), persistent, at)
    return machine.run(), machine.at


def _outline_as_python_does(data, persistent, at):
    return _as_python_does(data, persistent, at, _Outliner)


def _as_python_does(data, persistent, at, kind=None):
    f = io.BytesIO(data)
    f.seek(at)
    unpickler = (kind or _Unpickler)(f)
    if persistent is not None:
        unpickler.persistent_load = persistent
    return unpickler.load(), f.tell()


class _Unpickler(pickle.Unpickler):
    """Python's own, to which PyTorch's names are imode's."""

    table = None

    def find_class(self, module, name):
        if module.partition(".")[0] != "torch":
            return super().find_class(module, name)
        if self.table is None:
            self.table = Names().table
        found = self.table.get(f"{module}.{name}")
        if found is not None:
            return found
        # A class of nn stands in another file here; its package has it, too.
        name = _SAME.get(name, name)
        places = [module, *(p for p in _PACKAGES if module.startswith(p))]
        for place in places:
            with contextlib.suppress(ImportError, AttributeError):
                return getattr(importlib.import_module("imode" + place[len("torch") :]), name)
        raise pickle.UnpicklingError(
            f"the file names {module}.{name}, which is not in imode; docs/coverage.md lists what is"
        )


class _Anything:
    """What stands for every class and function of a pickle that is read for its outline."""

    def __new__(cls, *args, **keywords):
        return object.__new__(cls)

    def __init__(self, *args, **keywords):
        pass

    def __setstate__(self, state):
        pass

    def __setitem__(self, key, value):
        pass

    def append(self, item):
        pass

    def extend(self, items):
        pass

    def add(self, item):
        pass


class _Outliner(_Unpickler):
    """Calls nothing; the types of storages are what they are."""

    def find_class(self, module, name):
        found = STORAGE_TYPES.get(name) if module.partition(".")[0] == "torch" else None
        return _Anything if found is None else found


def mapped_bytes(path):
    """The bytes of a file, mapped to memory: read when used, written back where that is set."""
    shared = get_default_mmap_options() == mmap.MAP_SHARED
    return np.memmap(path, np.uint8, "r+" if shared else "c").view(np.ndarray)
