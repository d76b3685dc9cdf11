"""The CPU by the names that PyTorch's devices have."""

from contextlib import nullcontext

from imode._core.importing import import_late as _import_late
from imode.errors import names_of as _names_of


def is_available():
    """True.

    >>> imode.cpu.is_available()
    True
    """
    return True


def is_initialized():
    """True."""
    return True


def device_count():
    """1."""
    return 1


def current_device():
    """Return "cpu"."""
    return "cpu"


def set_device(device):
    """Do nothing: there is one CPU."""


def synchronize(device=None):
    """Do nothing: every operator has finished when it returns."""


def stream(stream):
    """Return a block that changes nothing: operators run in order."""
    return nullcontext()


_missing = _names_of(__name__)


def __getattr__(name):
    if name == "amp":
        return _import_late(".amp", __name__)
    return _missing(name)
