"""Channels as pixels, and the reverse."""

import numpy as np

from imode import ops
from imode._core.layout import empty_in, is_channels_last
from imode.kernels.shapes import pixels
from imode.ops.schema import op


def _check(self, name, word, factor):
    if self.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {self.ndim} "
            "dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {word}_factor, but got {factor}")


def _laid(moved, shape, source):
    """Blocks in their new order as an array of `shape`; with channels last where the source is."""
    if not is_channels_last(source):
        return np.ascontiguousarray(moved, like=moved).reshape(shape)
    if source.ndim != 4:
        raise RuntimeError(
            "Unsupported memory format. Supports only ChannelsLast, Contiguous: not volumes with "
            "channels last, give their contiguous()"
        )
    made = empty_in((0, 2, 3, 1), shape, source.dtype)
    np.copyto(made, moved.reshape(shape))
    return made


@op(
    "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
    fast=pixels.pixel_shuffle,
    derivative={"self": lambda grad, upscale_factor: ops.pixel_unshuffle(grad, upscale_factor)},
    variants="function nn",
)
def _pixel_shuffle(self, factor):
    """Return images `upscale_factor` times as high and wide, of pixels that were channels.

    Raises RuntimeError where the channels cannot be divided by the square of the factor.

    >>> imode.pixel_shuffle(imode.arange(4).view(4, 1, 1), 2)
    tensor([[[0, 1],
             [2, 3]]])
    """
    _check(self, "pixel_shuffle", "upscale", factor)
    if factor >= 1 << 32:
        raise ValueError(
            f"upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor={factor}"
        )
    *lead, channels, height, width = self.shape
    if channels % (factor * factor):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by "
            f"{factor * factor}"
        )
    channels //= factor * factor
    n = len(lead)
    blocks = self.reshape(*lead, channels, factor, factor, height, width)
    moved = blocks.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return _laid(moved, (*lead, channels, height * factor, width * factor), self)


@op(
    "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    fast=pixels.pixel_unshuffle,
    derivative={"self": lambda grad, downscale_factor: ops.pixel_shuffle(grad, downscale_factor)},
    variants="function nn",
)
def _pixel_unshuffle(self, factor):
    """Return images whose height and width is divided by `downscale_factor`: the reverse.

    Raises RuntimeError where they cannot be divided by the factor.

    >>> imode.pixel_unshuffle(imode.arange(4).view(1, 2, 2), 2).flatten()
    tensor([0, 1, 2, 3])
    """
    _check(self, "pixel_unshuffle", "downscale", factor)
    *lead, channels, height, width = self.shape
    for size, name, dim in ((height, "height", -2), (width, "width", -1)):
        if size % factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={size} is not divisible by {factor}"
            )
    if not self.size:
        return self.copy()  # PyTorch's shape for it
    height, width = height // factor, width // factor
    n = len(lead)
    blocks = self.reshape(*lead, channels, height, factor, width, factor)
    moved = blocks.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return _laid(moved, (*lead, channels * factor * factor, height, width), self)
