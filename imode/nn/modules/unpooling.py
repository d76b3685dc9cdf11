"""Unpooling, pooling of windows at random places, power means."""

from .. import functional as F
from ._layer import Layer
from .module import Module
from .utils import ntuple

__all__ = [
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxUnpoolNd(Layer):
    _spatial = 0
    _unpool = None
    _shown = "kernel_size={kernel_size}, stride={stride}, padding={padding}"

    def __init__(self, kernel_size, stride=None, padding=0):
        n = self._spatial
        stride = kernel_size if stride is None else stride
        super().__init__(
            kernel_size=ntuple(kernel_size, n), stride=ntuple(stride, n), padding=ntuple(padding, n)
        )

    def forward(self, input, indices, output_size=None):
        return self._unpool(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts maxima over a (N, C, L) input back to where MaxPool1d found them, among zeros.

    >>> values, places = imode.nn.MaxPool1d(2, return_indices=True)(imode.tensor([[1.0, 3.0]]))
    >>> imode.nn.MaxUnpool1d(2)(values, places)
    tensor([[0., 3.]])
    """

    _spatial, _unpool = 1, staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts maxima over a (N, C, H, W) input back to where MaxPool2d found them, among zeros.

    >>> imode.nn.MaxUnpool2d(2)(imode.ones(1, 1, 1), imode.zeros(1, 1, 1).long()).shape
    imode.Size([1, 2, 2])
    """

    _spatial, _unpool = 2, staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts maxima over a (N, C, D, H, W) input back to where MaxPool3d found them, among zeros.

    >>> imode.nn.MaxUnpool3d(2)(imode.ones(1, 1, 1, 1), imode.zeros(1, 1, 1, 1).long()).shape
    imode.Size([1, 2, 2, 2])
    """

    _spatial, _unpool = 3, staticmethod(F.max_unpool3d)


class _FractionalMaxPool(Module):
    _spatial = 0
    _pool = None

    def __init__(
        self,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        super().__init__()
        n = self._spatial
        self.kernel_size = ntuple(kernel_size, n)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else ntuple(output_size, n)
        self.output_ratio = None if output_ratio is None else ntuple(output_ratio, n)
        name = f"FractionalMaxPool{n}d"
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        return self._pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The maxima of windows at random places that give an output of a size or a share of it.

    >>> imode.nn.FractionalMaxPool2d(2, output_ratio=0.5)(imode.ones(1, 3, 8, 8)).shape
    imode.Size([1, 3, 4, 4])
    """

    _spatial, _pool = 2, staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The maxima of windows at random places that give an output of a size or a share of it.

    >>> imode.nn.FractionalMaxPool3d(2, output_size=3)(imode.ones(1, 3, 8, 8, 8)).shape
    imode.Size([1, 3, 3, 3, 3])
    """

    _spatial, _pool = 3, staticmethod(F.fractional_max_pool3d)


class _LPPoolNd(Layer):
    _pool = None
    _shown = (
        "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}"
    )

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__(
            norm_type=norm_type, kernel_size=kernel_size, stride=stride, ceil_mode=ceil_mode
        )

    def forward(self, input):
        return self._pool(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool1d(_LPPoolNd):
    """The root of the sum of powers of each window over a (N, C, L) or (C, L) input.

    >>> imode.nn.LPPool1d(1, 2)(imode.tensor([[1.0, 3.0]]))
    tensor([[4.]])
    """

    _pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """The root of the sum of powers of each window over a (N, C, H, W) or (C, H, W) input.

    >>> imode.nn.LPPool2d(2, 2)(imode.ones(1, 3, 8, 8)).shape
    imode.Size([1, 3, 4, 4])
    """

    _pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """The root of the sum of powers of each window over a (N, C, D, H, W) or (C, D, H, W) input.

    >>> imode.nn.LPPool3d(2, 2)(imode.ones(1, 3, 8, 8, 8)).shape
    imode.Size([1, 3, 4, 4, 4])
    """

    _pool = staticmethod(F.lp_pool3d)
