"""Small helpers of the modules."""

from collections.abc import Iterable

__all__ = ["ntuple"]


def ntuple(value, n):
    """`value` as a tuple: itself when it has several numbers, `n` times itself when it is one."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n
