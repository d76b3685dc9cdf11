"""PyTorch's names for the order of a tensor's elements in memory, such as `imode.channels_last`.

A tensor's `layout` is `strided` or `sparse_coo`; of the others there are the names alone.
"""

from imode._core import library_name

__all__ = [
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "layout",
    "memory_format",
    "preserve_format",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
]


class _Name:
    """A class that has one instance per name defined below, and no others."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"{library_name.name}.{self.name}"

    def __reduce__(self):
        return _find, (self.name,)


class memory_format(_Name):
    """The order of the dimensions in memory: `contiguous_format`, `channels_last`, ..."""

    __slots__ = ()


class layout(_Name):
    """How the elements are stored: `strided`, or `sparse_coo`, by coordinates."""

    __slots__ = ()


def _find(name):
    return globals()[name]


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr, sparse_csc = layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc = layout("sparse_bsr"), layout("sparse_bsc")

# The dimensions, from outermost to innermost in memory.
_ORDERS = {"channels_last": (0, 2, 3, 1), "channels_last_3d": (0, 2, 3, 4, 1)}


def memory_order(format, ndim, operator):
    """Return the order of `ndim` dimensions in memory; None if the format does not set one.

    `format`: None, a memory_format or its name. Raises TypeError for anything else, RuntimeError
    for a number of dimensions that does not fit.
    """
    if format is None:
        return None
    name = format if isinstance(format, str) else getattr(format, "name", None)
    if name in ("contiguous", "contiguous_format"):
        return tuple(range(ndim))
    if name in ("preserve", "preserve_format"):
        return None
    if name not in _ORDERS:
        raise TypeError(
            f"{operator}(): argument 'memory_format' must be imode.memory_format, "
            f"not {type(format).__name__}"
        )
    order = _ORDERS[name]
    if len(order) != ndim:
        raise RuntimeError(f"required rank {len(order)} tensor to use {name} format")
    return order
