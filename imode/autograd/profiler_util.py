"""PyTorch's name of the events of the profiler; see `imode.profiler`."""

from imode.errors import names_of as _names_of
from imode.profiler.events import EventList, FunctionEvent, FunctionEventAvg, Interval

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]

__getattr__ = _names_of(__name__)
