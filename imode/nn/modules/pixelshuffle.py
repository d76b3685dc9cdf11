"""PixelShuffle and PixelUnshuffle."""

from imode import ops

from ._layer import Layer

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Layer):
    """Turns channels into pixels: images become upscale_factor times as high and wide.

    >>> imode.nn.PixelShuffle(3)(imode.zeros(1, 9, 4, 4)).shape
    imode.Size([1, 1, 12, 12])
    """

    _shown = "upscale_factor={upscale_factor}"

    def __init__(self, upscale_factor):
        super().__init__(upscale_factor=upscale_factor)

    def forward(self, input):
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Layer):
    """Turns pixels into channels: height and width of images are divided by downscale_factor.

    >>> imode.nn.PixelUnshuffle(3)(imode.zeros(1, 1, 12, 12)).shape
    imode.Size([1, 9, 4, 4])
    """

    _shown = "downscale_factor={downscale_factor}"

    def __init__(self, downscale_factor):
        super().__init__(downscale_factor=downscale_factor)

    def forward(self, input):
        return ops.pixel_unshuffle(input, self.downscale_factor)
