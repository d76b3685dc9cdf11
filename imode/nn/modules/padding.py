"""Padding of (N, C, ...) or (C, ...) inputs, by one width for all sides or a width per side."""

from .. import functional as F
from ._layer import Layer
from .utils import ntuple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Layer):
    # `padding` is one width for all sides, or a width per side: left, right, top, bottom.
    _sides = 0
    _mode = "constant"
    _shown = "{padding}"

    def __init__(self, padding):
        super().__init__(padding=ntuple(padding, self._sides))

    def forward(self, input):
        return F.pad(input, self.padding, self._mode)


class _ConstantPadNd(_Pad):
    _shown = "padding={padding}, value={value}"

    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)


class ConstantPad1d(_ConstantPadNd):
    """Puts a value before and after the last dimension.

    >>> imode.nn.ConstantPad1d(1, 7.0)(imode.zeros(1, 2))
    tensor([[7., 0., 0., 7.]])
    """

    _sides = 2


class ConstantPad2d(_ConstantPadNd):
    """Puts a value around the last two dimensions.

    >>> imode.nn.ConstantPad2d((1, 0, 0, 0), 7.0)(imode.zeros(1, 1, 2))
    tensor([[[7., 0., 0.]]])
    """

    _sides = 4


class ConstantPad3d(_ConstantPadNd):
    """Puts a value around the last three dimensions.

    >>> imode.nn.ConstantPad3d(1, 7.0)(imode.ones(1, 2, 2, 2)).shape
    imode.Size([1, 4, 4, 4])
    """

    _sides = 6


class _ZeroPad(_ConstantPadNd):
    _shown = "{padding}"

    def __init__(self, padding):
        super().__init__(padding, 0.0)


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Puts zeros before and after the last dimension.

    >>> imode.nn.ZeroPad1d((0, 2))(imode.ones(1, 2))
    tensor([[1., 1., 0., 0.]])
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Puts zeros around the last two dimensions.

    >>> imode.nn.ZeroPad2d(1)(imode.ones(1, 2, 2)).shape
    imode.Size([1, 4, 4])
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Puts zeros around the last three dimensions.

    >>> imode.nn.ZeroPad3d(1)(imode.ones(1, 2, 2, 2)).shape
    imode.Size([1, 4, 4, 4])
    """


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Continues the last dimension by its mirror image, the edge not repeated.

    >>> imode.nn.ReflectionPad1d(2)(imode.tensor([[0.0, 1.0, 2.0]]))
    tensor([[2., 1., 0., 1., 2., 1., 0.]])
    """

    _sides = 2


class ReflectionPad2d(_ReflectionPadNd):
    """Continues the last two dimensions by their mirror image, the edges not repeated.

    >>> imode.nn.ReflectionPad2d(1)(imode.ones(1, 2, 2)).shape
    imode.Size([1, 4, 4])
    """

    _sides = 4


class ReflectionPad3d(_ReflectionPadNd):
    """Continues the last three dimensions by their mirror image, the edges not repeated.

    >>> imode.nn.ReflectionPad3d(1)(imode.ones(1, 2, 2, 2)).shape
    imode.Size([1, 4, 4, 4])
    """

    _sides = 6


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Continues the last dimension by its edge values.

    >>> imode.nn.ReplicationPad1d(2)(imode.tensor([[0.0, 1.0, 2.0]]))
    tensor([[0., 0., 0., 1., 2., 2., 2.]])
    """

    _sides = 2


class ReplicationPad2d(_ReplicationPadNd):
    """Continues the last two dimensions by their edge values.

    >>> imode.nn.ReplicationPad2d(1)(imode.ones(1, 2, 2)).shape
    imode.Size([1, 4, 4])
    """

    _sides = 4


class ReplicationPad3d(_ReplicationPadNd):
    """Continues the last three dimensions by their edge values.

    >>> imode.nn.ReplicationPad3d(1)(imode.ones(1, 2, 2, 2)).shape
    imode.Size([1, 4, 4, 4])
    """

    _sides = 6


class _CircularPadNd(_Pad):
    _mode = "circular"

    def forward(self, input):
        least = self._sides // 2 + 1
        if input.dim() not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.dim()}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Continues the last dimension from its other end.

    >>> imode.nn.CircularPad1d(2)(imode.tensor([[0.0, 1.0, 2.0]]))
    tensor([[1., 2., 0., 1., 2., 0., 1.]])
    """

    _sides = 2


class CircularPad2d(_CircularPadNd):
    """Continues the last two dimensions from their other ends.

    >>> imode.nn.CircularPad2d(1)(imode.ones(1, 2, 2)).shape
    imode.Size([1, 4, 4])
    """

    _sides = 4


class CircularPad3d(_CircularPadNd):
    """Continues the last three dimensions from their other ends.

    >>> imode.nn.CircularPad3d(1)(imode.ones(1, 2, 2, 2)).shape
    imode.Size([1, 4, 4, 4])
    """

    _sides = 6
