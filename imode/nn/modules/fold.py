"""Windows as columns and back."""

from .. import functional as F
from ._layer import Layer

__all__ = ["Fold", "Unfold"]


class Fold(Layer):
    """Adds columns (N, C * kernel, L) up to images (N, C, H, W).

    >>> imode.nn.Fold(2, 2)(imode.ones(1, 4, 1)).shape
    imode.Size([1, 1, 2, 2])
    """

    _shown = (
        "output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, "
        "padding={padding}, stride={stride}"
    )

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__(
            output_size=output_size,
            kernel_size=kernel_size,
            dilation=dilation,
            padding=padding,
            stride=stride,
        )

    def forward(self, input):
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )


class Unfold(Layer):
    """Gives each window of images (N, C, H, W) as a column: (N, C * kernel, L).

    >>> imode.nn.Unfold(2)(imode.ones(1, 1, 2, 2)).shape
    imode.Size([1, 4, 1])
    """

    _shown = "kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}"

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)
