"""Gradient clipping and parameters as one vector."""

from . import clip_grad, convert_parameters
from .clip_grad import *  # noqa: F403
from .convert_parameters import *  # noqa: F403

__all__ = [*clip_grad.__all__, *convert_parameters.__all__]
