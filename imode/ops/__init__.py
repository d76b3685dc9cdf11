"""Every operator, as an object: `imode.ops.add`. One entry each, in a folder by family.

A module is imported when the first of its operators is used, under any of its names: `import imode`
costs little, and a script pays for what it uses. Which name is declared where stands in `names.py`,
which the build writes (tools/names.py) and which an edit of this folder makes out of date: without
it, everything is imported at once. `load_all()` imports what is missing.
"""

import os
import sys
import types
from _thread import RLock

from imode import errors

# Each module after those that it imports, and after those whose names it adds an overload to.
MODULES = (
    "creation.copy",
    "shapes.views",
    "shapes.slicing",
    "creation.create",
    "pointwise.arithmetic",
    "pointwise.power",
    "pointwise.sign_and_rounding",
    "pointwise.functions",
    "pointwise.functions_of_two",
    "pointwise.compare",
    "pointwise.logical",
    "pointwise.clamp",
    "pointwise.where",
    "reductions.reduce",
    "reductions.variance",
    "products.linalg",
    "products.cross",
    "products.contract",
    "products.grouped",
    "products.scaled",
    "shapes.rearrange",
    "indexing.index",
    "indexing.gather",
    "indexing.index_slices",
    "shapes.geometry",
    "creation.ranges",
    "pointwise.complex_numbers",
    "creation.exchange",
    "random.distributions",
    "random.gammas",
    "random.sample",
    "pointwise.piecewise_activation",
    "pointwise.activation",
    "pointwise.activation_nn",
    "pointwise.special_gamma",
    "pointwise.special_normal",
    "pointwise.special_bessel",
    "pointwise.special_polynomials",
    "reductions.extrema",
    "reductions.quantiles",
    "reductions.distance",
    "shapes.view_copy",
    "shapes.unsafe_split",
    "shapes.view_scatter",
    "shapes.diagonals",
    "products.einsum",
    "reductions.scan",
    "shapes.join",
    "reductions.series",
    "reductions.covariance",
    "reductions.finite_differences",
    "reductions.segments",
    "shapes.pixel_shuffle",
    "indexing.masks",
    "pointwise.special_names",
    "sorting.sort",
    "sorting.unique",
    "sorting.search",
    "sorting.histogram",
    "decompositions.lu",
    "decompositions.cholesky",
    "decompositions.ldl",
    "decompositions.solve",
    "decompositions.inverse",
    "decompositions.determinants",
    "decompositions.qr",
    "decompositions.svd",
    "decompositions.eigen",
    "decompositions.pseudoinverse",
    "decompositions.least_squares",
    "decompositions.matrix_functions",
    "decompositions.low_rank",
    "networks.conv",
    "networks.conv_tbc",
    "networks.pool",
    "networks.pool3d",
    "networks.unpool",
    "networks.resample",
    "networks.fold",
    "networks.grid",
    "networks.norm",
    "networks.norm_more",
    "networks.core_names",
    "networks.class_loss",
    "networks.loss",
    "networks.layers",
    "sparse.making",
    "sparse.products",
    "sparse.reductions",
    "fourier.transforms",
    "fourier.fft",
    "fourier.frequencies",
    "fourier.windows",
    "fourier.stft",
    "networks.dropout",
    "networks.margin_loss",
    "networks.distance_loss",
    "networks.likelihood_loss",
    "networks.bilinear",
    "sequences.ctc_loss",
    "sequences.embedding_bag",
    "sequences.packing",
    "sequences.recurrent",
    "sequences.attention",
    "sequences.multi_head",
)


class _ReturnTypes(types.ModuleType):
    def __getattr__(self, name):
        if not name.startswith("__"):
            find(name)
            if name in self.__dict__:
                return self.__dict__[name]
        raise errors.no_such_name("imode.return_types", name)


sys.modules["imode.return_types"] = _ReturnTypes(
    "imode.return_types", "The named tuples that operators with several results return."
)

from imode._core.dispatch import set_loader  # noqa: E402
from imode._core.importing import import_late, uninterrupted  # noqa: E402
from imode._core.internals import AbsentMethod, DeferredMethod, install  # noqa: E402


def _folders():
    here = os.path.dirname(__file__)
    families = dict.fromkeys(module.partition(".")[0] for module in MODULES)
    return [here, *[os.path.join(here, family) for family in families]]


def stamp():
    """What tells one state of this folder from another: its files' times, added up."""
    total = 0  # sum() is an operator here
    for folder in _folders():
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py") and entry.name != "names.py":
                    total += entry.stat().st_mtime_ns
    return total


def digest():
    """What tells one content of this folder from another: slower, and not misled by a touch."""
    import zlib

    total = 0
    for folder in _folders():
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py") and name != "names.py":
                with open(os.path.join(folder, name), "rb") as file:
                    total = zlib.crc32(file.read(), total)
    return total


try:
    from imode.ops.names import (
        ABSENT,
        DECLARED_IN,
        DIGEST,
        FUNCTIONS,
        METHODS,
        NN_FUNCTIONS,
        STAMP,
    )

    _known = True
    _compared = STAMP is None  # whether the names are known to be those of this folder
except ImportError:
    _known, _compared = False, True
_missing = dict.fromkeys(MODULES)  # in order


def _load(module):
    """Import a module, and publish what it declares here and in `imode`: all of it, or nothing."""
    global _missing
    if module not in _missing:
        return
    with _loading, uninterrupted:
        from imode.ops import schema

        before = schema.mark()
        try:
            import_late(f".{module}", __name__, __name__)
        except BaseException:  # no memory, a hook's error: forget the half, to try again
            _withdraw(*schema.undo(before))
            gone = [name for name in MODULES if f"{__name__}.{name}" not in sys.modules]
            _missing = dict.fromkeys(name for name in MODULES if name in _missing or name in gone)
            raise
        _publish(globals(), schema.published())
        _publish(vars(sys.modules["imode"]), schema.functions)
        _missing.pop(module, None)


# One thread imports at a time, and a fork waits for it: nobody would unlock its modules in the
# child. For seconds at most, for an import may itself wait for the thread that forks.
_loading = RLock()


def _before_fork():
    _loading.acquire(timeout=5)


def _after_fork():
    if _loading._is_owned():
        _loading.release()


def _after_fork_in_child():
    global _loading
    if not _loading._is_owned():
        _loading = RLock()
        uninterrupted.forget()
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork,
        after_in_child=_after_fork_in_child,
    )


def _publish(space, names):
    for name, value in list(names.items()):  # other threads may import too
        # What a user has put in its place stays; a module of the operator's name gives way.
        if name not in space or isinstance(space[name], types.ModuleType):
            space[name] = value


def _withdraw(functions, methods, operators):
    """Take back what an import that failed, or one within it, has published."""
    for name in methods:
        install(name, DeferredMethod(name, find))
    for space, names in ((globals(), operators), (vars(sys.modules["imode"]), functions)):
        for name, value in names.items():
            if space.get(name) is value:
                del space[name]


def _compare():
    """Import everything if the folder has been edited since its names were written."""
    global _compared
    _compared = True
    if stamp() != STAMP and digest() != DIGEST:
        load_all()


def find(name):
    """Import the modules that declare `name`: an operator, function or method, in any variant."""
    if not _compared:
        _compare()
    for module in DECLARED_IN.get(name.partition(".")[0], "").split():
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
        if name in ("aten", "imode"):  # the operators again, by PyTorch's overloads
            return import_late(".namespaces", "imode.library").namespace(name)
    raise errors.no_such_name(__name__, name)


def __dir__():
    load_all()
    return sorted(globals())


if _known:
    set_loader(find, load_all)
    for _name in METHODS:
        install(_name, DeferredMethod(_name, find))
    for _name in ABSENT:
        install(_name, AbsentMethod(_name))
else:
    DECLARED_IN = {}
    load_all()
    FUNCTIONS = tuple(sorted(sys.modules["imode.ops.schema"].functions))
    NN_FUNCTIONS = tuple(sorted(sys.modules["imode.ops.schema"].nn_functions))
