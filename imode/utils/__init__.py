"""Data loading, DLPack, hook handles, checkpointing; dispatch modes, and trees of containers."""

from . import _python_dispatch, _pytree, checkpoint, data, dlpack, hooks

__all__ = ["_python_dispatch", "_pytree", "checkpoint", "data", "dlpack", "hooks"]
