"""Dropout: of any shape to the same; in evaluation the input itself."""

from .. import functional as F
from .module import Module

__all__ = ["Dropout", "Dropout1d", "Dropout2d"]


class _Dropout(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """In training, zeroes each element with probability p and scales the rest by 1 / (1 - p).

    >>> imode.nn.Dropout(1.0)(imode.ones(2)), imode.nn.Dropout().eval()(imode.ones(2))
    (tensor([0., 0.]), tensor([1., 1.]))
    """

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Dropout of whole channels of a (N, C, L) or (C, L) input.

    >>> imode.nn.Dropout1d(1.0)(imode.ones(1, 2, 2))
    tensor([[[0., 0.],
             [0., 0.]]])
    """

    def forward(self, input):
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Dropout of whole channels of a (N, C, H, W) or (N, C, L) input.

    >>> imode.nn.Dropout2d().eval()(imode.ones(1, 1, 1, 2))
    tensor([[[[1., 1.]]]])
    """

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)
