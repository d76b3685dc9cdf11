"""oneDNN, which is not used: its switches keep what is set and change nothing."""

from contextlib import contextmanager

from imode.errors import names_of as _names_of

enabled = True
deterministic = False
allow_tf32 = None


def is_available():
    """False.

    >>> imode.backends.mkldnn.is_available()
    False
    """
    return False


@contextmanager
def flags(enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none"):
    """Set the switches for a block."""
    names = ("enabled", "deterministic", "allow_tf32")
    before = {name: globals()[name] for name in names}
    globals().update(zip(names, (enabled, deterministic, allow_tf32), strict=True))
    try:
        yield
    finally:
        globals().update(before)


__getattr__ = _names_of(__name__)
