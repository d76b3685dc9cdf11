"""The shape that several shapes broadcast to: for operators, and as a public function."""

from imode import errors
from imode._core.size import Size


def broadcast_shape(*shapes):
    """The common shape, a tuple; PyTorch's RuntimeError if there is none."""
    common = ()
    for shape in shapes:
        nd = max(len(common), len(shape))
        a = (1,) * (nd - len(common)) + common
        b = (1,) * (nd - len(shape)) + tuple(shape)
        for dim in reversed(range(nd)):
            if a[dim] != b[dim] and 1 not in (a[dim], b[dim]):
                raise errors.shapes.not_broadcast(common, tuple(shape), dim, a[dim], b[dim])
        common = tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))
    return common


def broadcast_shapes(*shapes):
    """Return the shape that tensors of these shapes (each a tuple or a number) broadcast to.

    Raises RuntimeError for shapes that do not fit, ValueError for negative sizes.

    >>> imode.broadcast_shapes((2, 1), (3,))
    imode.Size([2, 3])
    """
    shapes = [(shape,) if isinstance(shape, int) else shape for shape in shapes]
    for shape in shapes:
        if not isinstance(shape, (list, tuple)):
            raise RuntimeError(
                "Input shapes should be of type ints, a tuple of ints, or a list of ints, "
                f"got {shape}"
            )
    ndim = max(map(len, shapes), default=0)
    common = [1] * ndim
    for at, shape in enumerate(shapes):
        for dim in range(-1, -1 - len(shape), -1):
            n = shape[dim]
            if n < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if n in (1, common[dim]):
                continue
            if common[dim] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {n} at {dim}! Mismatching "
                    f"argument at index {at} had {shape}; but expected shape should be "
                    f"broadcastable to {common}"
                )
            common[dim] = n
    return Size(common)
