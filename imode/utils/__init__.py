"""Data loading, DLPack, hook handles, and checkpointing."""

from . import checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks"]
