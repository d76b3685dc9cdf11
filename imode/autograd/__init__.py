"""Reverse-mode automatic differentiation: the graph, `backward` and `grad`, and checks of both."""

import importlib

from .anomaly import detect_anomaly, set_detect_anomaly
from .entry import backward, grad
from .function import Function
from .gradcheck import gradcheck, gradgradcheck
from .node import Node

__all__ = [
    "Function",
    "Node",
    "backward",
    "detect_anomaly",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "set_detect_anomaly",
]


def __getattr__(name):
    if name == "functional":  # imported when first used
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
