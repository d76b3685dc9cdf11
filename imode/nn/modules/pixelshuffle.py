"""PixelShuffle and PixelUnshuffle."""

from imode import ops

from .module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Makes pixels of channels: images upscale_factor times as high and wide.

    >>> imode.nn.PixelShuffle(3)(imode.zeros(1, 9, 4, 4)).shape
    imode.Size([1, 1, 12, 12])
    """

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return ops.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self):
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Makes channels of pixels: images whose height and width is divided by downscale_factor.

    >>> imode.nn.PixelUnshuffle(3)(imode.zeros(1, 1, 12, 12)).shape
    imode.Size([1, 9, 4, 4])
    """

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        return ops.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self):
        return f"downscale_factor={self.downscale_factor}"
