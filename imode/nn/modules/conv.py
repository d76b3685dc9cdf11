"""Convolutions."""

from imode import errors

from .. import functional as F
from .linear import Affine
from .utils import ntuple

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Affine):
    # The base of convolutions over one to three dimensions; `_spatial` is how many.
    _spatial = 0
    _transposed = False
    _convolve = None

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        kernel_size, stride, dilation = (
            ntuple(value, self._spatial) for value in (kernel_size, stride, dilation)
        )
        if not isinstance(padding, str):
            padding = ntuple(padding, self._spatial)
        _check(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = self._transposed
        self.output_padding = (0,) * self._spatial
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _explicit_padding(kernel_size, padding, dilation)
        channels = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        shape = (channels[0], channels[1] // groups, *kernel_size)
        self._make(shape, bias, device, dtype, out_channels)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):  # subclasses change what it is given
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._spatial
        return self._convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self):
        parts = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        if self.padding != (0,) * len(self.padding):
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * len(self.dilation):
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * self._spatial:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class Conv1d(_ConvNd):
    """Convolution over a sequence: (N, C_in, L) or (C_in, L) to (N, C_out, L_out).

    >>> imode.nn.Conv1d(16, 33, 3, stride=2)(imode.zeros(20, 16, 50)).shape
    imode.Size([20, 33, 24])
    """

    _spatial = 1
    _convolve = staticmethod(F.conv1d)


class Conv2d(_ConvNd):
    """Convolution over an image: (N, C_in, H, W) or (C_in, H, W) to (N, C_out, H_out, W_out).

    >>> imode.nn.Conv2d(1, 8, 3, padding=1)(imode.zeros(1, 1, 8, 8)).shape
    imode.Size([1, 8, 8, 8])
    """

    _spatial = 2
    _convolve = staticmethod(F.conv2d)


class Conv3d(_ConvNd):
    """Convolution over a volume: (N, C_in, D, H, W), or without N, to (N, C_out, D, H, W).

    >>> imode.nn.Conv3d(1, 8, 3, padding=1)(imode.zeros(1, 1, 4, 4, 4)).shape
    imode.Size([1, 8, 4, 4, 4])
    """

    _spatial = 3
    _convolve = staticmethod(F.conv3d)


# ---- transposed ---------------------------------------------------------------------------------


class _ConvTransposeNd(_ConvNd):
    _transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )
        self.output_padding = ntuple(output_padding, self._spatial)

    def forward(self, input, output_size=None):
        more = self.output_padding
        if output_size is not None:
            sizes = self.stride, self.padding, self.kernel_size, self._spatial, self.dilation
            more = self._output_padding(input, output_size, *sizes)
        return self._convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            more,
            self.groups,
            self.dilation,
        )

    def _output_padding(
        self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None
    ):
        """The output_padding that gives output_size."""
        if output_size is None:
            return ntuple(self.output_padding, 1)
        n = num_spatial_dims
        dilation = ntuple(1, n) if dilation is None else dilation
        lead = 2 if input.dim() == n + 2 else 1
        if len(output_size) == lead + n:
            output_size = output_size[lead:]
        if len(output_size) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or "
                f"{lead + n} elements (got {len(output_size)})"
            )
        least = [
            (input.size(lead + d) - 1) * stride[d]
            - 2 * padding[d]
            + dilation[d] * (kernel_size[d] - 1)
            + 1
            for d in range(n)
        ]
        most = [size + step - 1 for size, step in zip(least, stride, strict=True)]
        if not all(
            low <= size <= high for low, size, high in zip(least, output_size, most, strict=True)
        ):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} "
                f"to {most} (for an input of {input.size()[2:]})"
            )
        return tuple(size - low for size, low in zip(output_size, least, strict=True))


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of Conv1d by its input: (N, C_in, L) or (C_in, L) to (N, C_out, L_out).

    >>> imode.nn.ConvTranspose1d(16, 33, 3, stride=2)(imode.zeros(20, 16, 50)).shape
    imode.Size([20, 33, 101])
    """

    _spatial = 1
    _convolve = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of Conv2d by its input: (N, C_in, H, W) or (C_in, H, W) to (N, C_out, H, W).

    >>> imode.nn.ConvTranspose2d(1, 8, 2, stride=2)(imode.zeros(1, 1, 8, 8)).shape
    imode.Size([1, 8, 16, 16])
    """

    _spatial = 2
    _convolve = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of Conv3d by its input: (N, C_in, D, H, W), or without N, to (N, C_out, ...).

    >>> imode.nn.ConvTranspose3d(1, 8, 2, stride=2)(imode.zeros(1, 1, 4, 4, 4)).shape
    imode.Size([1, 8, 8, 8, 8])
    """

    _spatial = 3
    _convolve = staticmethod(F.conv_transpose3d)


# ---- checks -------------------------------------------------------------------------------------


def check_channels(in_channels, out_channels, groups):
    """Refuse channels that do not divide into the groups."""
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")


def _check(in_channels, out_channels, stride, padding, groups, padding_mode):
    check_channels(in_channels, out_channels, groups)
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of ('same', 'valid')"
            )
        if padding == "same" and any(step != 1 for step in stride):
            raise errors.arguments.same_padding(ValueError)
    if padding_mode not in PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {PADDING_MODES}, but got padding_mode='{padding_mode}'"
        )


def _explicit_padding(kernel_size, padding, dilation):
    """What F.pad must add, last dimension first, before a convolution without padding."""
    pad = []
    for i in reversed(range(len(kernel_size))):
        if padding == "same":
            total = dilation[i] * (kernel_size[i] - 1)
            pad += [total // 2, total - total // 2]
        elif padding == "valid":
            pad += [0, 0]
        else:
            pad += [padding[i], padding[i]]
    return pad
