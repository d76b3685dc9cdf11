"""What scripts written for PyTorch ask about Intel's GPUs, which are not used."""

from imode._switches.absent import doing_nothing as _doing_nothing
from imode._switches.absent import refusing as _refusing
from imode.errors import names_of as _names_of


def is_available():
    """False.

    >>> imode.xpu.is_available()
    False
    """
    return False


def device_count():
    """0."""
    return 0


def is_initialized():
    """False."""
    return False


def is_bf16_supported():
    """False."""
    return False


for _name in ("manual_seed", "manual_seed_all", "seed", "seed_all", "empty_cache"):
    globals()[_name] = _doing_nothing(_name)
for _name in ("memory_allocated", "max_memory_allocated", "memory_reserved"):
    globals()[_name] = _doing_nothing(_name, 0)
for _name in (
    *("init", "synchronize", "current_device", "set_device", "get_device_name"),
    *("get_device_properties", "get_device_capability", "current_stream"),
):
    globals()[_name] = _refusing(_name, AssertionError, "Torch not compiled with XPU enabled")

__getattr__ = _names_of(__name__)
