"""Reverse-mode automatic differentiation: the graph, `backward` and `grad`."""

from .engine import backward, grad
from .node import Node

__all__ = ["Node", "backward", "grad"]
