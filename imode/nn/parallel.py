"""Several devices, which are not here: what runs is the module itself."""

from imode.distributed import _NO_GROUP
from imode.errors import names_of as _names_of

from .modules.parallel import DataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """Spread a call over devices: there is but one, and PyTorch refuses that, too."""
    raise RuntimeError(
        f"device type could not be determined.\nThere is the CPU alone: call the module itself, or "
        f"DataParallel(module), here of a {type(module).__name__}"
    )


class DistributedDataParallel:
    """Training in several processes: there are none here, and making one raises ValueError."""

    def __init__(self, module, *args, **kwargs):
        raise ValueError(
            f"{_NO_GROUP}.\nimode has no process groups: train {type(module).__name__} itself"
        )


__getattr__ = _names_of(__name__)
