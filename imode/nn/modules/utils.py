"""Small helpers of the modules."""

from collections.abc import Iterable

__all__ = ["ntuple"]


def ntuple(value, n):
    """`value` as a tuple: its items if it has several, `n` times the value if it is one number."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n
