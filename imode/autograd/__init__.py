"""Reverse-mode automatic differentiation: the graph, `backward` and `grad`, and checks of both."""

from imode import errors
from imode._core.importing import import_late

from .anomaly import detect_anomaly, set_detect_anomaly
from .engine import is_multithreading_enabled, set_multithreading_enabled
from .entry import backward, grad
from .function import Function
from .gradcheck import gradcheck, gradgradcheck
from .node import Node
from .saved import SavedTensor

__all__ = [
    "Function",
    "Node",
    "SavedTensor",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "is_multithreading_enabled",
    "profiler",
    "profiler_util",
    "set_detect_anomaly",
    "set_multithreading_enabled",
    "variable",
]

_LATER = ("anomaly_mode", "functional", "grad_mode", "graph", "profiler", "profiler_util")
_LATER += ("variable",)

_GUARDS = (
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
)


def __getattr__(name):
    if name in _LATER:
        return import_late(f".{name}", __name__)
    if name in _GUARDS:
        return getattr(import_late(".grad_mode", __name__), name)
    if name == "Variable":
        from imode._tensor.legacy import Variable

        return Variable
    raise errors.no_such_name(__name__, name)
