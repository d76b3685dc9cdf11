"""The rest of what scripts ask about CUDA. Questions that need a device are refused with PyTorch's
sentence; what can be answered without one is."""

from collections import OrderedDict

from imode._core.device import usable_device
from imode._switches.absent import Block, doing_nothing, refused_class, refusing

has_half = True
has_magma = False
default_generators = ()


class OutOfMemoryError(RuntimeError):
    """Never raised: there is no memory of a device to run out of."""


class AcceleratorError(RuntimeError):
    """Never raised: there is no device to fail."""


class device(Block):
    """A block on a device: refused when it is entered, unless the index is -1."""


class stream(Block):
    """A block on a stream: refused when it is entered, unless it is None."""


Stream = refused_class("Stream", "torch.cuda.Stream requires CUDA support")
Event = refused_class("Event", "Tried to instantiate dummy base class Event")
CUDAGraph = refused_class("CUDAGraph", "Tried to instantiate dummy base class CUDAGraph")


def memory_stats(device=None):
    """Return an empty OrderedDict."""
    return OrderedDict()


def get_rng_state_all():
    """Return an empty list: there are no generators."""
    return []


def get_arch_list():
    """Return an empty list."""
    return []


def set_device(device):
    """Do nothing for a negative index. Raises ValueError for a device of another kind and
    AssertionError for one of CUDA's."""
    kind = getattr(device, "type", device)
    if isinstance(kind, str) and not kind.startswith("cuda"):
        raise ValueError(f"Expected a cuda device, but got: {device}")
    if not isinstance(device, int) or device >= 0:
        usable_device("cuda")


def is_bf16_supported(including_emulation=True):
    """False."""
    return False


def is_tf32_supported():
    """False."""
    return False


for _name in ("seed", "seed_all", "set_rng_state", "set_rng_state_all"):
    globals()[_name] = doing_nothing(_name)
for _name in (
    *("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"),
):
    globals()[_name] = doing_nothing(_name, 0)
get_gencode_flags = doing_nothing("get_gencode_flags", "")
for _name in (
    *("init", "current_device", "get_device_name", "get_device_capability", "mem_get_info"),
    *("get_device_properties", "ipc_collect", "get_rng_state", "initial_seed", "current_stream"),
    *("default_stream", "can_device_access_peer", "set_per_process_memory_fraction"),
    *("get_sync_debug_mode", "set_sync_debug_mode", "reset_peak_memory_stats"),
    *("reset_max_memory_allocated", "memory_summary", "utilization"),
):
    globals()[_name] = refusing(_name, AssertionError, "Torch not compiled with CUDA enabled")

NAMES = frozenset(name for name in globals() if not name.startswith("_")) - {
    *("OrderedDict", "Block", "doing_nothing", "refused_class", "refusing"),
}
