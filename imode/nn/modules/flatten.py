"""Flatten and Unflatten."""

from ._layer import Layer

__all__ = ["Flatten", "Unflatten"]


class Flatten(Layer):
    """Merges the dimensions from start_dim to end_dim into one.

    >>> imode.nn.Flatten()(imode.zeros(32, 1, 5, 5)).shape
    imode.Size([32, 25])
    """

    _shown = "start_dim={start_dim}, end_dim={end_dim}"

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__(start_dim=start_dim, end_dim=end_dim)

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Layer):
    """Splits one dimension into several.

    >>> imode.nn.Unflatten(1, (2, 5, 5))(imode.zeros(2, 50)).shape
    imode.Size([2, 2, 5, 5])
    """

    _shown = "dim={dim}, unflattened_size={unflattened_size}"

    def __init__(self, dim, unflattened_size):
        if isinstance(dim, str):
            raise TypeError(
                "unflattened_size must be tuple of tuples, named dimensions are unsupported"
            )
        _require_ints(unflattened_size)
        super().__init__(dim=dim, unflattened_size=unflattened_size)

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)


def _require_ints(sizes):
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(f"unflattened_size must be a tuple of ints, but found type {_name(sizes)}")
    for i, size in enumerate(sizes):
        if not isinstance(size, int):
            raise TypeError(
                "unflattened_size must be tuple of ints, "
                f"but found element of type {_name(size)} at pos {i}"
            )


def _name(value):
    return type(value).__name__
