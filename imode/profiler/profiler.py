"""The profile and its schedule, where PyTorch has them: `session` is the module that does it."""

from imode.errors import names_of as _names_of

from .session import (
    ProfilerAction,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "ProfilerAction",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

__getattr__ = _names_of(__name__)
