"""Data loading, DLPack, hook handles, graphs that compute again what they did not keep."""

from . import checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks"]
