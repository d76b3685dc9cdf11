"""Parts of the DataLoader, under the names that packages import from PyTorch's."""

from . import collate, exceptions, fetch, pin_memory, worker
from .exceptions import ExceptionWrapper
from .worker import MP_STATUS_CHECK_INTERVAL

__all__ = [
    "MP_STATUS_CHECK_INTERVAL",
    "ExceptionWrapper",
    "collate",
    "exceptions",
    "fetch",
    "pin_memory",
    "worker",
]
