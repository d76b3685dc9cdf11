"""OpenMP, which is not used: kernels have threads of their own."""

from imode.errors import names_of as _names_of


def is_available():
    """False.

    >>> imode.backends.openmp.is_available()
    False
    """
    return False


__getattr__ = _names_of(__name__)
