"""Layers, losses, containers and initialisation under PyTorch's names."""

from imode.errors import names_of as _names_of

from . import functional, init, modules, utils
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "functional", "init", "modules", "utils", *modules.__all__]

__getattr__ = _names_of(__name__)
