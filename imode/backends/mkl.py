"""Intel's MKL, which is not used: products are NumPy's BLAS."""

from imode.errors import names_of as _names_of


def is_available():
    """False.

    >>> imode.backends.mkl.is_available()
    False
    """
    return False


__getattr__ = _names_of(__name__)
