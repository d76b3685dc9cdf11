"""The two booleans that losses took before `reduction` existed."""

from imode.ops.networks.reduction import older_reduction

__all__ = ["legacy_get_string"]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The `reduction` that the two older booleans stand for; None means True."""
    return older_reduction(size_average, reduce, emit_warning)
