"""Every operator, as an object: `imode.ops.add`. One entry each, in the modules of this folder.

A module is imported when the first of its operators is used, under any of its names: `import imode`
costs little, and a script pays for what it uses. Which name is declared where stands in `names.py`,
which the build writes (tools/names.py) and which an edit of this folder makes out of date: without
it, everything is imported at once. `load_all()` imports what is missing.
"""

import importlib
import os
import sys
import types
from _thread import RLock, get_ident

# Each module after those that it imports, and after those whose names it adds an overload to.
MODULES = (
    "copy",
    "views",
    "parts",
    "create",
    "arithmetic",
    "power",
    "pointwise",
    "compare",
    "reduce",
    "spread",
    "linalg",
    "cross",
    "contract",
    "shape",
    "index",
    "ranges",
    "complex_numbers",
    "exchange",
    "random",
    "sample",
    "rectify",
    "activation",
    "activation_nn",
    "extrema",
    "distance",
    "copies",
    "unsafe",
    "replaced",
    "diagonals",
    "einsum",
    "scan",
    "join",
    "series",
    "shuffle",
    "masks",
    "sort",
    "unique",
    "search",
    "conv",
    "pool",
    "norm",
    "class_loss",
    "loss",
    "nn",
)


class _ReturnTypes(types.ModuleType):
    def __getattr__(self, name):
        if not name.startswith("__"):
            find(name)
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"module 'imode.return_types' has no attribute {name!r}")


sys.modules["imode.return_types"] = _ReturnTypes(
    "imode.return_types", "The named tuples that operators with several results return."
)

from .._core.dispatch import set_loader  # noqa: E402
from .._core.internals import DeferredMethod, install  # noqa: E402


def stamp():
    """What tells one state of this folder from another: its files' times, added up."""
    total = 0  # sum() is an operator here
    with os.scandir(os.path.dirname(__file__)) as entries:
        for entry in entries:
            if entry.name.endswith(".py") and entry.name != "names.py":
                total += entry.stat().st_mtime_ns
    return total


def digest():
    """What tells one content of this folder from another: slower, and not misled by a touch."""
    import zlib

    total, folder = 0, os.path.dirname(__file__)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") and name != "names.py":
            with open(os.path.join(folder, name), "rb") as file:
                total = zlib.crc32(file.read(), total)
    return total


try:
    from .names import DIGEST, METHODS, PLACES, STAMP

    _known = STAMP is None or stamp() == STAMP or digest() == DIGEST
except ImportError:
    _known = False
_missing = dict.fromkeys(MODULES)  # in order


def _load(module):
    """Import a module, and publish what it declares here and in `imode`."""
    if module not in _missing:
        return
    from . import schema

    before = schema.mark(), set(sys.modules)
    with _importing:
        _importers.append(get_ident())
    try:
        importlib.import_module(f"{__name__}.{module}")
    except BaseException:  # an interrupt, no memory: forget the half, to try again
        for name in schema.undo(before[0]):
            install(name, DeferredMethod(name, find))
        for name in set(sys.modules) - before[1]:
            if name.startswith(f"{__name__}."):
                del sys.modules[name]
        raise
    finally:
        _importers.remove(get_ident())
    _missing.pop(module, None)
    _publish(globals(), schema.published())
    _publish(vars(sys.modules["imode"]), schema.functions)


# A fork waits for the imports of other threads: nobody would unlock their modules in the child.
# For seconds at most, for an import may itself wait for the thread that forks.
_importing = RLock()  # held to begin an import, and while forking
_importers = []  # the thread of each that is under way


def _before_fork():
    from time import sleep

    for _ in range(5000):
        _importing.acquire()
        if set(_importers) <= {get_ident()}:
            return
        _importing.release()
        sleep(0.001)
    _importing.acquire()


def _after_fork_in_child():
    _importers[:] = [thread for thread in _importers if thread == get_ident()]
    _importing.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_importing.release,
        after_in_child=_after_fork_in_child,
    )


def _publish(space, names):
    for name, value in list(names.items()):  # other threads may import too
        # What a user has put in its place stays; a module of the operator's name gives way.
        if name not in space or isinstance(space[name], types.ModuleType):
            space[name] = value


def find(name):
    """Import the modules that declare `name`: an operator, function or method, in any variant."""
    for module in PLACES.get(name.partition(".")[0], "").split():
        _load(module)


def load_all():
    """Import all operators that are not imported yet."""
    for module in tuple(_missing):
        _load(module)


def __getattr__(name):
    if not name.startswith("__"):
        find(name)
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module 'imode.ops' has no attribute {name!r}")


def __dir__():
    load_all()
    return sorted(globals())


if _known:
    set_loader(find, load_all)
    for _name in METHODS:
        install(_name, DeferredMethod(_name, find))
else:
    PLACES = {}
    load_all()
