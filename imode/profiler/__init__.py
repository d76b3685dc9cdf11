"""Where the time goes: `with imode.profiler.profile() as prof:`, with PyTorch's names.

`recorder` notes each call while a profile is on; `events` turns that into events and averages;
`table`, `chrome` and `lines` show them; `session` is `profile` and its schedule.
"""

from imode._core.importing import import_late as _import_late
from imode.errors import names_of as _names_of

from .events import EventList, FunctionEvent, FunctionEventAvg
from .session import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


def kineto_available():
    """False: events come from imode's own recorder, not from the library Kineto.

    >>> imode.profiler.kineto_available()
    False
    """
    return False


_missing = _names_of(__name__)


def __getattr__(name):
    if name == "profiler":  # PyTorch's module of the same names
        return _import_late(".profiler", __name__)
    return _missing(name)
