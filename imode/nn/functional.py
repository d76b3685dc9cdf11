"""The functions behind the layers: the operators that the table assigns to imode.nn.functional."""

import imode.ops.schema as _schema  # by its own name: imode.ops looks names up as operators
from imode import ops as _ops
from imode._core.importing import import_late as _import_late
from imode.errors import no_such_name as _no_such_name

# In-place forms and two older names are functions of `imode` as well.
_SHARED = ("celu_", "relu_", "selu_", "sigmoid", "tanh", "threshold_")
_SCALED = ("ScalingType", "SwizzleType", "scaled_grouped_mm", "scaled_mm")
_STEPS = (
    *("_canonical_mask", "_check_key_padding_mask", "_in_projection", "_in_projection_packed"),
    *("_mha_shape_check", "_none_or_dtype"),
)

__all__ = sorted({*_SHARED, *_SCALED, *_ops.NN_FUNCTIONS})

_names = frozenset(__all__)


def __getattr__(name):
    """Return a name of the list above; its operators are loaded when it is first asked for."""
    if name in _STEPS:
        return getattr(_import_late("._attention_steps", "imode.nn"), name)
    if name not in _names:
        raise _no_such_name(__name__, name)
    _ops.find("_scaled_mm_v2" if name in _SCALED else name)
    if name in _SCALED:
        found = vars(_import_late(".products.scaled", "imode.ops"))
    else:
        found = _schema.nn_functions
    value = globals()[name] = found[name] if name in found else _schema.functions[name]
    return value


def __dir__():
    return sorted({*globals(), *__all__})
