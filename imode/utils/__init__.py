"""Data loading, DLPack, hook handles."""

from . import data, dlpack, hooks

__all__ = ["data", "dlpack", "hooks"]
