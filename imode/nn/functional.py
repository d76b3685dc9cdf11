"""The functions behind the layers: the operators that the table assigns to imode.nn.functional."""

from imode.errors import names_of as _names_of
from imode.ops import load_all as _load_all
from imode.ops.schema import functions as _functions
from imode.ops.schema import nn_functions as _nn_functions

# In-place forms and two older names are functions of `imode` as well.
_shared = ("celu_", "relu_", "selu_", "sigmoid", "tanh", "threshold_")
_load_all()
from imode.ops.products import scaled as _scaled  # noqa: E402 - in its turn

_more = ("ScalingType", "SwizzleType", "scaled_grouped_mm", "scaled_mm")
_nn_functions = {
    **{name: _functions[name] for name in _shared},
    **{name: getattr(_scaled, name) for name in _more},
    **_nn_functions,
}
globals().update(_nn_functions)

__all__ = sorted(_nn_functions)

__getattr__ = _names_of(__name__)
