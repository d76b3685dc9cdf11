"""Several processes, which are not here: the questions that scripts ask before they use them."""

from imode._core.importing import import_late as _import_late
from imode._switches.absent import refusing as _refusing
from imode.errors import names_of as _names_of


def is_available():
    """False.

    >>> imode.distributed.is_available()
    False
    """
    return False


def is_initialized():
    """False."""
    return False


def is_torchelastic_launched():
    """False."""
    return False


def is_nccl_available():
    """False."""
    return False


def is_gloo_available():
    """False."""
    return False


def is_mpi_available():
    """False."""
    return False


_NO_GROUP = (
    "Default process group has not been initialized, please make sure to call init_process_group"
)


def _ungrouped(name):
    def refuse(*args, **kwargs):
        raise ValueError(
            f"{_NO_GROUP}.\nimode has no process groups: ask imode.distributed.is_initialized() "
            "first"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raise ValueError: there is no process group."
    return refuse


for _name in (
    *("get_rank", "get_world_size", "get_backend", "barrier", "all_reduce", "all_gather"),
    *("all_gather_object", "broadcast", "broadcast_object_list", "reduce", "gather", "scatter"),
):
    globals()[_name] = _ungrouped(_name)
for _name in ("init_process_group", "new_group"):
    globals()[_name] = _refusing(_name, RuntimeError, f"imode.distributed has no {_name}")

_missing = _names_of(__name__)


def __getattr__(name):
    if name == "rpc":
        return _import_late(".rpc", __name__)
    return _missing(name)
