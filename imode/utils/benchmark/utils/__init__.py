"""The parts of imode.utils.benchmark."""

from . import common, compare, timer

__all__ = ["common", "compare", "timer"]
