"""Normalisation across channels."""

from .. import functional as F
from . import _functions
from ._layer import Layer

__all__ = ["CrossMapLRN2d", "LocalResponseNorm"]


class _AcrossChannels(Layer):
    _shown = "{size}, alpha={alpha}, beta={beta}, k={k}"

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__(size=size, alpha=alpha, beta=beta, k=k)


class LocalResponseNorm(_AcrossChannels):
    """Divides each channel of a (N, C, ...) input by a power of the mean square around it.

    >>> imode.nn.LocalResponseNorm(2)(imode.ones(1, 3, 4)).shape
    imode.Size([1, 3, 4])
    """

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class CrossMapLRN2d(_AcrossChannels):
    """Divides each channel of a (N, C, H, W) input by a power of the mean square around it.

    >>> imode.nn.CrossMapLRN2d(3)(imode.ones(1, 3, 4, 4)).shape
    imode.Size([1, 3, 4, 4])
    """

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1):
        super().__init__(size, alpha, beta, k)

    def forward(self, input):
        return _functions.CrossMapLRN2d.apply(input, self.size, self.alpha, self.beta, self.k)
