"""Pooling."""

from .. import functional as F
from ._layer import Layer
from .utils import ntuple

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]


class _Pool(Layer):
    _shown = "kernel_size={kernel_size}, stride={stride}, padding={padding}"

    def __init__(self, kernel_size, stride, padding, ceil_mode):
        super().__init__(kernel_size=kernel_size, padding=padding, ceil_mode=ceil_mode)
        self.stride = kernel_size if stride is None else stride


class _MaxPoolNd(_Pool):
    _pool = None
    _shown = _Pool._shown + ", dilation={dilation}, ceil_mode={ceil_mode}"

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        return_indices=False,
        ceil_mode=False,
    ):
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.dilation = dilation
        self.return_indices = return_indices

    def forward(self, input):
        return self._pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool1d(_MaxPoolNd):
    """The maximum of each window over a (N, C, L) or (C, L) input.

    >>> imode.nn.MaxPool1d(2)(imode.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    _pool = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """The maximum of each window over a (N, C, H, W) or (C, H, W) input.

    >>> imode.nn.MaxPool2d(2)(imode.zeros(1, 3, 8, 8)).shape
    imode.Size([1, 3, 4, 4])
    """

    _pool = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """The maximum of each window over a (N, C, D, H, W) or (C, D, H, W) input.

    >>> imode.nn.MaxPool3d(2)(imode.zeros(1, 3, 8, 8, 8)).shape
    imode.Size([1, 3, 4, 4, 4])
    """

    _pool = staticmethod(F.max_pool3d)


class _AvgPoolNd(_Pool):
    pass


class AvgPool1d(_AvgPoolNd):
    """The mean of each window over a (N, C, L) or (C, L) input.

    >>> imode.nn.AvgPool1d(2)(imode.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
    ):
        stride = None if stride is None else ntuple(stride, 1)
        super().__init__(ntuple(kernel_size, 1), stride, ntuple(padding, 1), ceil_mode)
        self.count_include_pad = count_include_pad

    def forward(self, input):
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class _AvgPool(_AvgPoolNd):
    _pool = None

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        return self._pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPool):
    """The mean of each window over a (N, C, H, W) or (C, H, W) input.

    >>> imode.nn.AvgPool2d(2)(imode.ones(1, 3, 8, 8)).shape
    imode.Size([1, 3, 4, 4])
    """

    _pool = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window over a (N, C, D, H, W) or (C, D, H, W) input.

    >>> imode.nn.AvgPool3d(2)(imode.ones(1, 3, 8, 8, 8)).shape
    imode.Size([1, 3, 4, 4, 4])
    """

    _pool = staticmethod(F.avg_pool3d)


class _AdaptivePool(Layer):
    _shown = "output_size={output_size}"

    def __init__(self, output_size):
        super().__init__(output_size=output_size)


class _AdaptiveAvgPoolNd(_AdaptivePool):
    pass


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of as many windows as give an output of length output_size.

    >>> imode.nn.AdaptiveAvgPool1d(2)(imode.tensor([[1.0, 3.0, 2.0]]))
    tensor([[2.0000, 2.5000]])
    """

    def forward(self, input):
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of as many windows as give an output of output_size; None keeps a dimension.

    >>> imode.nn.AdaptiveAvgPool2d((None, 1))(imode.ones(1, 3, 8, 8)).shape
    imode.Size([1, 3, 8, 1])
    """

    def forward(self, input):
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of as many windows as give an output of output_size; None keeps a dimension.

    >>> imode.nn.AdaptiveAvgPool3d((None, 1, 1))(imode.ones(1, 3, 8, 8, 8)).shape
    imode.Size([1, 3, 8, 1, 1])
    """

    def forward(self, input):
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(_AdaptivePool):
    _pool = None

    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input):
        return self._pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The maxima of as many windows as give an output of length output_size.

    >>> imode.nn.AdaptiveMaxPool1d(2)(imode.tensor([[1.0, 3.0, 2.0]]))
    tensor([[3., 3.]])
    """

    _pool = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The maxima of as many windows as give an output of output_size; None keeps a dimension.

    >>> imode.nn.AdaptiveMaxPool2d(1)(imode.ones(1, 3, 8, 8)).shape
    imode.Size([1, 3, 1, 1])
    """

    _pool = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The maxima of as many windows as give an output of output_size; None keeps a dimension.

    >>> imode.nn.AdaptiveMaxPool3d(1)(imode.ones(1, 3, 8, 8, 8)).shape
    imode.Size([1, 3, 1, 1, 1])
    """

    _pool = staticmethod(F.adaptive_max_pool3d)
