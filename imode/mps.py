"""What scripts written for PyTorch ask about Apple's GPUs, which are not used."""

from imode._switches.absent import refusing as _refusing
from imode.errors import names_of as _names_of


def is_available():
    """False.

    >>> imode.mps.is_available()
    False
    """
    return False


def device_count():
    """0."""
    return 0


def manual_seed(seed):
    """Do nothing: there is no such generator to seed."""


for _name, _inner in {
    "empty_cache": "emptyCache",
    "synchronize": "deviceSynchronize",
    "current_allocated_memory": "getCurrentAllocatedMemory",
    "driver_allocated_memory": "getDriverAllocatedMemory",
    "recommended_max_memory": "getRecommendedMaxMemory",
}.items():
    globals()[_name] = _refusing(
        _name, RuntimeError, f"Cannot execute {_inner}() without MPS backend"
    )

__getattr__ = _names_of(__name__)
