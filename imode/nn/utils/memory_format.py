"""The memory format of the weights of all convolutions in a module."""

from imode import no_grad

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module, memory_format, kinds):
    if isinstance(module, kinds):
        with no_grad():
            module.weight.data = (
                module.weight.detach().clone().contiguous(memory_format=memory_format)
            )
    for child in module.children():
        _convert(child, memory_format, kinds)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """Let the weights of all two-dimensional convolutions lie in a memory format.

    >>> conv = imode.nn.Conv2d(3, 2, 3)
    >>> conv = imode.nn.utils.convert_conv2d_weight_memory_format(conv, imode.channels_last)
    >>> conv.weight.stride()
    (27, 1, 9, 3)
    """
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module, memory_format):
    """Let the weights of all three-dimensional convolutions lie in a memory format.

    >>> conv, form = imode.nn.Conv3d(3, 2, 2), imode.channels_last_3d
    >>> imode.nn.utils.convert_conv3d_weight_memory_format(conv, form).weight.stride()
    (24, 1, 12, 6, 3)
    """
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
