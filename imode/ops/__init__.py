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
    "conv",
    "norm",
    "loss",
    "nn",
)
for _name in _MODULES:
    importlib.import_module(f"{__name__}.{_name}")

from .schema import published  # noqa: E402

globals().update(published())
