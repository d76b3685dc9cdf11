"""Reverse-mode automatic differentiation: the graph, `backward` and `grad`."""

from .engine import backward, grad
from .function import Function
from .node import Node

__all__ = ["Function", "Node", "backward", "grad"]
