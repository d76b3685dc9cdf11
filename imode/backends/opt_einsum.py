"""The package opt_einsum, which is not used: `einsum` finds its order itself."""

from imode.errors import names_of as _names_of

enabled = False
strategy = None


def is_available():
    """False.

    >>> imode.backends.opt_einsum.is_available()
    False
    """
    return False


def get_opt_einsum():
    """None."""
    return None


__getattr__ = _names_of(__name__)
