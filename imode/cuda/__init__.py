"""What scripts written for PyTorch ask about CUDA, which does not exist here."""

from imode._core.importing import import_late as _import_late
from imode.errors import names_of as _names_of

_initialized = False


def is_available():
    """False: tensors live on the CPU.

    >>> imode.cuda.is_available()
    False
    """
    return False


def device_count():
    """0."""
    return 0


def is_initialized():
    """False."""
    return False


def manual_seed(seed):
    """Do nothing: there is no CUDA generator to seed."""


manual_seed_all = manual_seed


def synchronize(device=None):
    """Do nothing: every operation has finished when it returns."""


def empty_cache():
    """Do nothing: there is no CUDA memory."""


_missing = _names_of(__name__)


def __getattr__(name):
    if name in ("amp", "more"):
        return _import_late(f".{name}", __name__)
    if not name.startswith("_"):
        more = vars(_import_late(".more", __name__))
        if name in more["NAMES"]:
            return more[name]
    return _missing(name)
