"""Dropout. The shape is kept; in evaluation the result is the input itself."""

from imode import errors

from .. import functional as F
from ._layer import Layer

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Layer):
    _shown = "p={p}, inplace={inplace}"

    def __init__(self, p=0.5, inplace=False):
        if p < 0 or p > 1:
            raise errors.numbers.dropout_probability(p)
        super().__init__(p=p, inplace=inplace)


class Dropout(_DropoutNd):
    """In training, zeroes each element with probability p and scales the rest by 1 / (1 - p).

    >>> imode.nn.Dropout(1.0)(imode.ones(2)), imode.nn.Dropout().eval()(imode.ones(2))
    (tensor([0., 0.]), tensor([1., 1.]))
    """

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of a (N, C, L) or (C, L) input.

    >>> imode.nn.Dropout1d(1.0)(imode.ones(1, 2, 2))
    tensor([[[0., 0.],
             [0., 0.]]])
    """

    def forward(self, input):
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of a (N, C, H, W) or (N, C, L) input.

    >>> imode.nn.Dropout2d().eval()(imode.ones(1, 1, 1, 2))
    tensor([[[[1., 1.]]]])
    """

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of a (N, C, D, H, W) or (C, D, H, W) input.

    >>> imode.nn.Dropout3d().eval()(imode.ones(1, 1, 1, 1, 2)).shape
    imode.Size([1, 1, 1, 1, 2])
    """

    def forward(self, input):
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout to the limit of SELU, which keeps mean and variance.

    >>> imode.nn.AlphaDropout().eval()(imode.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels.

    >>> imode.nn.FeatureAlphaDropout().eval()(imode.ones(1, 2))
    tensor([[1., 1.]])
    """

    def forward(self, input):
        return F.feature_alpha_dropout(input, self.p, self.training)
