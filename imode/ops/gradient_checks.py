"""What the kernels of gradients rely on, checked.

From the graph, gradients and saved tensors come as the forward left them. A hook, a node called by
hand or an operator called by its inner name can put anything in their place.
"""

from imode import errors
from imode._core.broadcast import broadcast_shape


def expect(kernel, name, array, shape, dtype=None):
    """Raise RuntimeError unless an argument has the shape, and the dtype where one is given."""
    if array.shape != tuple(shape):
        raise RuntimeError(
            f"{kernel}(): expected {name} of the shape {list(shape)}, but got {list(array.shape)}"
        )
    if dtype is not None and array.dtype != dtype:
        raise RuntimeError(f"{kernel}(): expected {name} of dtype {dtype}, but got {array.dtype}")


def expect_float(kernel, name, array, dims):
    """Raise RuntimeError unless an argument is of floats and of one of the numbers of dimensions.

    dims: (the least, the most).
    """
    if array.dtype.kind != "f" or not dims[0] <= array.ndim <= dims[1]:
        raise RuntimeError(
            f"{kernel}(): expected {name} of floats with {dims[0]} to {dims[1]} dimensions, but "
            f"got {array.dtype} of the shape {list(array.shape)}"
        )


def wanted(kernel, output_mask, count=3):
    """Which of the gradients a kernel is asked for, as a tuple; raise RuntimeError for no bools."""
    given = isinstance(output_mask, (list, tuple))
    if not given or len(output_mask) != count or {*map(type, output_mask)} != {bool}:
        raise RuntimeError(f"{kernel}(): expected {count} bools, but got {output_mask!r}")
    return tuple(output_mask)


def mismatch(target, source):
    """The error for a source that does not broadcast to the target; may raise it itself."""
    shape = broadcast_shape(target, source)
    return errors.out.wrong_shape(target, shape)
