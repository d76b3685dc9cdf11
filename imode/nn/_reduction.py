"""How losses were told to reduce before `reduction` existed."""

import warnings

__all__ = ["legacy_get_string"]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The `reduction` that the two older booleans stand for; None means True."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    reduction = ("mean" if size_average else "sum") if reduce else "none"
    if emit_warning:
        warnings.warn(
            "size_average and reduce args will be deprecated, "
            f"please use reduction='{reduction}' instead.",
            stacklevel=4,
        )
    return reduction
