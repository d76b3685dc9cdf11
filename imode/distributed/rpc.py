"""Calls between processes, which are not here: the question that programs ask first."""

from imode.errors import names_of as _names_of

__all__ = ["is_available"]


def is_available():
    """False.

    >>> imode.distributed.rpc.is_available()
    False
    """
    return False


__getattr__ = _names_of(__name__)
