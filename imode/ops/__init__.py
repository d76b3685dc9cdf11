"""Every operator, as an object: `imode.ops.add`. One entry each, in the modules of this folder."""

import importlib
import sys
import types

sys.modules["imode.return_types"] = types.ModuleType(
    "imode.return_types", "The named tuples that operators with several results return."
)

# What arithmetic, views, indexing and autograd themselves need.
_MODULES = (
    "copy",
    "views",
    "parts",
    "create",
    "arithmetic",
    "pointwise",
    "compare",
    "reduce",
    "linalg",
    "contract",
    "shape",
    "index",
)
# The rest is imported when the first of it is used, so that `import imode` costs little; until then
# the methods among them are placeholders on Tensor (deferred.py).
_DEFERRED = (
    "ranges",
    "exchange",
    "random",
    "sample",
    "activation",
    "activation_nn",
    "extrema",
    "distance",
    "einsum",
    "scan",
    "join",
    "masks",
    "sort",
    "conv",
    "norm",
    "loss",
    "nn",
)
for _name in _MODULES:
    importlib.import_module(f"{__name__}.{_name}")

from .._core.dispatch import set_loader  # noqa: E402
from .._core.internals import DeferredMethod, install  # noqa: E402
from .deferred import METHODS  # noqa: E402
from .schema import published  # noqa: E402

_loaded = False


def load_all():
    """Import the deferred operators; gives back whether they were missing until now."""
    global _loaded
    if _loaded:
        return False
    _loaded = True
    for name in _DEFERRED:
        importlib.import_module(f"{__name__}.{name}")
    globals().update(published())
    return True


def __getattr__(name):
    if not name.startswith("__") and load_all() and name in globals():
        return globals()[name]
    raise AttributeError(f"module 'imode.ops' has no attribute {name!r}")


def __dir__():
    load_all()
    return sorted(globals())


set_loader(load_all)
for _name in METHODS:
    install(_name, DeferredMethod(_name, load_all))
globals().update(published())
