"""What reductions and scans share: wrapping dimensions, accumulation types, restoring shapes."""

import numpy as np

from imode import errors
from imode.kernels.shapes.views import wrap_dim

FLOATING = "fc"  # dtype kinds that have fractions

# For kernels: no warning where a result is infinite or NaN; PyTorch has none.
quiet = np.errstate(all="ignore")


def size(x, dim):
    """The size of an array along `dim`; one without dimensions is refused."""
    if x.ndim == 0:
        raise errors.shapes.no_dimensions(dim)
    return x.shape[wrap_dim(dim, x.ndim)]


def wrap_one(dim, ndim):
    """One dimension as a tuple of axes; () for a 0-dim tensor."""
    axis = wrap_dim(dim, ndim)
    return (axis,) if ndim else ()


def wrap_all(dim, ndim):
    """`dim`, None or a tuple, as a tuple of distinct axes; None and () mean all of them."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    axes = []
    for each in dim:
        axis = wrap_dim(each, ndim)
        if axis in axes:
            raise errors.shapes.repeated_dim(axis)
        axes.append(axis)
    return tuple(axes) if ndim else ()


def count(shape, dim):
    """How many elements are reduced into one along `dim` of `shape`."""
    axes = (dim,) if isinstance(dim, int) else dim
    total = 1
    for axis in wrap_all(axes, len(shape)):
        total *= shape[axis]
    return total


def restore(grad, dim, keepdim, ndim):
    """Put dimensions of size 1 where a reduction along `dim` removed them."""
    if keepdim or ndim == 0 or dim is None or dim == ():
        return grad
    for axis in sorted(wrap_all((dim,) if isinstance(dim, int) else dim, ndim)):
        grad = grad.unsqueeze(axis)
    return grad


def accumulate_type(dtype):
    """The type to add up in: float32 for float16, which runs out of precision at 2048."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def convert(x, dtype):
    return x.astype(dtype, copy=False)


@quiet
def reduced(values, dtype):
    """What a reduction returns: an ndarray, contiguous, of exactly this dtype."""
    like = values if isinstance(values, np.ndarray) else None  # without elements as `values`
    return np.asarray(values, dtype=dtype, order="C", like=like)
