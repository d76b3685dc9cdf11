"""Measure how long statements take, and compare: Timer, Measurement, Compare."""

from imode.errors import names_of as _names_of

from . import utils
from .utils.common import *  # noqa: F403
from .utils.compare import *  # noqa: F403
from .utils.timer import *  # noqa: F403

__all__ = ["utils", *utils.common.__all__, *utils.compare.__all__, *utils.timer.__all__]

__getattr__ = _names_of(__name__)
