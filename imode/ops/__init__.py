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
    "index",
    "masks",
    "sort",
    "conv",
    "norm",
    "loss",
    "nn",
)
for _name in _MODULES:
    try:
        importlib.import_module(f"{__name__}.{_name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{_name}":
            raise

from .schema import published  # noqa: E402

if "add" not in published():  # until the pointwise entries are here
    importlib.import_module(f"{__name__}.interim")
globals().update(published())
