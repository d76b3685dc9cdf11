"""Kernels over ndarrays that write where a mask is true."""

import numpy as np

from imode import errors
from imode._core.broadcast import broadcast_shape
from imode._core.overlap import refuse_partial
from imode._core.parallel import skipping
from imode._core.type_names import c_name
from imode.kernels.indexing.checks import cast_number, check_written, only_number


def masked_fill(a, mask, value):
    """Write a number or 0-dim array where `mask` is true, in place."""
    value = only_number("masked_fill_", value)
    if mask.dtype != np.bool_:
        raise errors.dtypes.not_a_mask(
            "masked_fill_ only supports boolean masks, but got mask", c_name(mask.dtype)
        )
    value = cast_number(value, a.dtype)
    check_written(a, expanded="masked_fill_")
    refuse_partial(a, mask)
    shape = broadcast_shape(a.shape, mask.shape)
    if shape != a.shape:
        raise errors.out.wrong_shape(a.shape, shape)
    if not skipping():
        np.copyto(a, value, where=mask)
