"""Grouped channels in turn."""

from .. import functional as F
from ._layer import Layer

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Layer):
    """Takes channels of a (N, C, ...) input in turn from `groups` groups of them.

    >>> imode.nn.ChannelShuffle(2)(imode.arange(4).view(1, 4, 1)).flatten()
    tensor([0, 2, 1, 3])
    """

    _shown = "groups={groups}"

    def __init__(self, groups):
        super().__init__(groups=groups)

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)
