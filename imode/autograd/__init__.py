"""Reverse-mode automatic differentiation: the graph, `backward` and `grad`, and checks of both."""

import importlib

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
    "backward",
    "detect_anomaly",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "is_multithreading_enabled",
    "set_detect_anomaly",
    "set_multithreading_enabled",
]


def __getattr__(name):
    if name in ("functional", "graph"):  # imported when first used
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
