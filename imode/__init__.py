"""PyTorch's operator dispatcher, autograd and InferenceMode on NumPy storage.

A script ports by changing one import. `with imode.inference_mode():` skips autograd, view tracking
and version bumps, and still can never lead to a wrong gradient.
"""

import importlib

from . import autograd, cuda, ops
from ._core.dispatch import (
    excluded_keys,
    included_keys,
    is_grad_enabled,
    is_inference_mode_enabled,
    set_local_keys,
)
from ._core.dtype import (
    Size,
    all_dtypes,
    can_cast,
    device,
    dtype,
    get_default_dtype,
    promote_types,
    set_default_dtype,
)
from ._core.keyset import DispatchKey, DispatchKeySet
from ._core.parallel import get_num_threads, set_num_threads
from ._core.syntax import fill_slots
from ._core.tensor import Tensor
from .autograd.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .counting import counters, trace_dispatch
from .formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from .guards import (
    AutoDispatchBelowADInplaceOrView,
    AutoDispatchBelowAutograd,
    AutoNonVariableTypeMode,
    InferenceMode,
    enable_grad,
    inference_mode,
    is_inference,
    no_grad,
    normal_mode,
    set_grad_enabled,
)
from .kernels.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .legacy import legacy_types
from .methods import (
    install_methods,
    is_complex,
    is_conj,
    is_floating_point,
    is_neg,
    is_nonzero,
    is_same_size,
    is_signed,
    is_tensor,
    numel,
)
from .printing import set_printoptions

__version__ = "0.1.0"


def _late(slot, module, function=None):
    """Set the function behind one of Tensor's special methods, imported when first called."""

    def first(*args, **kwargs):
        found = getattr(importlib.import_module(module, __name__), function or slot)
        fill_slots(**{slot: found})
        return found(*args, **kwargs)

    fill_slots(**{slot: first})


_late("getitem", ".ops.subscript")
_late("setitem", ".ops.subscript")
_late("check_value", ".ops.subscript")
_late("repr", ".printing", "show")
_late("constructor", ".legacy", "legacy_constructor")
for _slot in ("iterate", "contains", "transposed", "matrix_transposed", "contiguous_in"):
    _late(_slot, ".methods")
install_methods()

globals().update({d.name: d for d in all_dtypes()})
globals().update(legacy_types)
float, double, half = float32, float64, float16  # noqa: F821
long, int, short = int64, int32, int16  # noqa: F821
cfloat, cdouble = complex64, complex128  # noqa: F821
inf, nan, pi, e = map(
    __builtins__["float"], ("inf", "nan", "3.141592653589793", "2.718281828459045")
)

# Imported when first used: they are no part of what a guard in a script costs to import.
_LAZY = {
    "nn": ".nn",
    "optim": ".optim",
    "utils": ".utils",
    "serialization": ".serialization",
    "errors": ".errors",
    "linalg": ".linalg",
    "return_types": ".return_types",
    "UntypedStorage": ".storage",
    "save": ".serialization",
    "load": ".serialization",
    "finfo": ".limits",
    "iinfo": ".limits",
    "result_type": ".limits",
    "broadcast_shapes": ".limits",
}


_MODULES = {"autograd", "cuda", "ops", *_LAZY}  # the submodules that are public
_INTERNAL = {"all_dtypes", "fill_slots", "install_methods", "legacy_types"}


def _is_public(name):
    if name.startswith("_") or name in _INTERNAL:
        return False
    return name in _MODULES or not isinstance(globals().get(name), type(importlib))


def __getattr__(name):
    if name == "__all__":
        return [n for n in __dir__() if _is_public(n)]
    where = _LAZY.get(name)
    if where is not None:
        module = importlib.import_module(where, __name__)
        value = module if where == f".{name}" else getattr(module, name)
        globals()[name] = value
        return value
    if not name.startswith("__"):
        ops.find(name)  # puts the functions into this module
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module 'imode' has no attribute {name!r}")


def __dir__():
    ops.load_all()
    return sorted({*globals(), *_LAZY})
