"""Apple's GPUs, which are not used."""

from imode.errors import names_of as _names_of


def is_available():
    """False.

    >>> imode.backends.mps.is_available()
    False
    """
    return False


def is_built():
    """False."""
    return False


__getattr__ = _names_of(__name__)
