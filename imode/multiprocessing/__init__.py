"""Python's multiprocessing by PyTorch's name: tensors travel between processes as shared memory.

What is sent is seen on both sides, as is what `Tensor.share_memory_()` moved: see reductions.py.
"""

import multiprocessing as _python
from multiprocessing import *  # noqa: F403

from imode.errors import names_of as _names_of

from . import reductions
from .spawn import (
    ENV_VAR_PARALLEL_START,
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"
__all__ = [
    "ENV_VAR_PARALLEL_START",
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "reductions",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]
__all__ += _python.__all__


def get_all_sharing_strategies():
    """Return the words that `set_sharing_strategy` takes.

    >>> sorted(imode.multiprocessing.get_all_sharing_strategies())
    ['file_descriptor', 'file_system']
    """
    return set(_STRATEGIES)


def get_sharing_strategy():
    """Return what `set_sharing_strategy` was told: "file_descriptor" at first."""
    return _strategy


def set_sharing_strategy(new_strategy):
    """Keep a word. AssertionError for other words.

    Memory is sent as a file descriptor under either: it has no name in a file system, so there is
    nothing that a process could leave behind.
    """
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(
            f"invalid sharing strategy '{new_strategy}', expected one of "
            f"{get_all_sharing_strategies()}"
        )
    _strategy = new_strategy


__getattr__ = _names_of(__name__)
