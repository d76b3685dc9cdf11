"""The device beside the CPU, by whatever maker: there is none."""

from imode._switches.absent import refusing as _refusing
from imode.errors import names_of as _names_of


def is_available():
    """False.

    >>> imode.accelerator.is_available()
    False
    """
    return False


def device_count():
    """0."""
    return 0


def current_accelerator(check_available=False):
    """None.

    >>> imode.accelerator.current_accelerator() is None
    True
    """
    return None


_SENTENCE = "Cannot access accelerator device when none is available"
for _name in (
    *("current_device_index", "current_device_idx", "set_device_index", "set_device_idx"),
    *("current_stream", "set_stream", "synchronize", "empty_cache", "get_memory_info"),
    *("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"),
    *("memory_stats", "reset_peak_memory_stats", "reset_accumulated_memory_stats"),
):
    globals()[_name] = _refusing(_name, RuntimeError, _SENTENCE)

__getattr__ = _names_of(__name__)
