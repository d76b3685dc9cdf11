"""What kernels that place elements check first: indices, what is written to, a number."""

import numpy as np

from imode import errors
from imode._core.numbers import number_as
from imode._core.overlap import refuse_shared
from imode._core.user_frames import warn


def check_index(index, size, dim, error=RuntimeError, prefix=""):
    """Raise for an index below 0, or `size` and above."""
    unsigned = index.view(np.uint64 if index.itemsize == 8 else np.uint32)
    if index.size and int(unsigned.max()) >= size:
        flat = index.ravel()
        bad = int(flat[(flat < 0) | (flat >= size)][0])
        raise error(f"{prefix}index {bad} is out of bounds for dimension {dim} with size {size}")


def check_written(target, *others, expanded=None):
    """Raise if a target is read-only, its elements share memory, or it overlaps with `others`.

    others: arrays that are read meanwhile. expanded: the name of an operator that still allows
    elements to share memory, with a warning.
    """
    if not target.flags.writeable:
        raise errors.views.read_only()
    if target.size > 1 and any(
        step == 0 and n > 1 for step, n in zip(target.strides, target.shape)
    ):
        if expanded is None:
            raise errors.views.overlap_inside(target)
        warn(
            f"Use of {expanded} on expanded tensors is deprecated. Please clone() the tensor "
            "before performing this operation.",
        )
    for other in others:
        if other is target:
            raise errors.views.overlap_between()
        refuse_shared(target, other)


def cast_number(value, dtype):
    """A Python number as a 0-dim array of `dtype`; raises if it does not fit."""
    if not 0 <= value.real <= 127 or type(value) is complex:  # else it fits into every dtype
        value = number_as(value, dtype)
    return np.array(value, dtype)


def only_number(name, value):
    """The number that an operator fills with, which may be given as a 0-dim array."""
    if not isinstance(value, np.ndarray):
        return value
    if value.ndim:
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return value.item()
