"""Every operator, as an object: `imode.ops.add`. One entry each, in the modules of this folder."""

import importlib
import sys
import types

sys.modules["imode.return_types"] = types.ModuleType(
    "imode.return_types", "The named tuples that operators with several results return."
)

_MODULES = (
    "copy",
    "views",
    "parts",
    "create",
    "ranges",
    "exchange",
    "random",
    "sample",
    "arithmetic",
    "pointwise",
    "activation",
    "compare",
    "reduce",
    "extrema",
    "distance",
    "contract",
    "einsum",
    "scan",
    "linalg",
    "shape",
    "join",
    "index",
    "masks",
    "sort",
)
# Neural network operators: imported with the first use of one. A script that only computes, and
# `import imode` itself, are not charged for them.
_NEURAL_MODULES = ("conv", "norm", "loss", "nn")
for _name in _MODULES:
    importlib.import_module(f"{__name__}.{_name}")

from .._core.dispatch import set_loader  # noqa: E402
from .schema import published  # noqa: E402

_loaded = False


def load_all():
    """Import the neural network operators too; gives back whether they were missing until now."""
    global _loaded
    if _loaded:
        return False
    _loaded = True
    for name in _NEURAL_MODULES:
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
globals().update(published())
