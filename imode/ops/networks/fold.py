"""Windows of images as columns and back, and grouped channels in turn.

The kernels are `imode.kernels.networks.fold`'s.
"""

import numpy as np

from imode import errors, ops
from imode._core.layout import empty_in, is_channels_last
from imode.kernels.networks import fold as kernels
from imode.ops.networks import functional_fast
from imode.ops.pointwise.common import no_derivative
from imode.ops.schema import functional, op

# ---- windows ------------------------------------------------------------------------------------


def _check_window(kernel_size, dilation, padding, stride):
    for name, given in (
        ("kernel_size", kernel_size),
        ("dilation", dilation),
        ("padding", padding),
        ("stride", stride),
    ):
        if len(given) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(given)}")
    for word, short, given, least in (
        ("kernel size", "kernel", kernel_size, 1),
        ("stride", "stride", stride, 1),
        ("dilation", "dilation", dilation, 1),
        ("padding", "pad", padding, 0),
    ):
        if min(given) < least:
            must = "non-negative" if least == 0 else "greater than zero"
            raise RuntimeError(
                f"{word} should be {must}, but got {short}_height: {given[0]} "
                f"{short}_width: {given[1]}"
            )


def _windows(size, kernel_size, dilation, padding, stride):
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, kernel_size, dilation, padding, stride, strict=True)
    )


def _refuse(name, x):
    if x.dtype.kind in "iu":
        raise errors.dtypes.not_implemented(name, x.dtype)


@op(
    "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) "
    "-> Tensor",
    fast=kernels.im2col,
    derivative={
        "self": lambda grad, self_shape, kernel_size, dilation, padding, stride: ops.col2im(
            grad, tuple(self_shape[-2:]), kernel_size, dilation, padding, stride
        ),
    },
    shows={
        "self_sym_sizes": None,
        "self_sym_argsize_minus_1": lambda self_shape: self_shape[-1],
        "self_sym_argsize_minus_2": lambda self_shape: self_shape[-2],
    },
    name="Im2ColBackward0",
    variants="",
)
def _im2col(x, kernel_size, dilation, padding, stride):
    """What `imode.nn.functional.unfold` ends in."""
    _check_window(kernel_size, dilation, padding, stride)
    shape = list(x.shape)
    if x.ndim not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {shape}"
        )
    count = _windows(shape[-2:], kernel_size, dilation, padding, stride)
    if min(count) < 1:
        raise RuntimeError(
            f"Given input with spatial size ({shape[-2]}, {shape[-1]}), kernel_size={kernel_size}, "
            f"dilation={dilation}, padding={padding}, calculated shape of the array of sliding "
            f"blocks as {count}, but its components must be at least one."
        )
    _refuse("im2col_out_cpu", x)
    batch = x if x.ndim == 4 else x[None]
    made = kernels.unfold(batch, kernel_size, dilation, padding, stride, count)
    return made if x.ndim == 4 else made[0]


@op(
    "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, "
    "int[2] stride) -> Tensor",
    fast=kernels.col2im,
    derivative={
        "self": lambda grad, kernel_size, dilation, padding, stride: ops.im2col(
            grad, kernel_size, dilation, padding, stride
        ),
    },
    name="Col2ImBackward0",
    variants="",
)
def _col2im(x, output_size, kernel_size, dilation, padding, stride):
    """What `imode.nn.functional.fold` ends in."""
    if len(output_size) != 2:
        raise RuntimeError(
            f"It is expected output_size equals to 2, but got size {len(output_size)}"
        )
    _check_window(kernel_size, dilation, padding, stride)
    _check_columns(x, output_size, kernel_size, dilation, padding, stride)
    _refuse("col2im_out_cpu", x)
    count = _windows(output_size, kernel_size, dilation, padding, stride)
    batch = x if x.ndim == 3 else x[None]
    made = kernels.fold(batch, output_size, kernel_size, dilation, padding, stride, count)
    return made if x.ndim == 3 else made[0]


def _check_columns(x, output_size, kernel_size, dilation, padding, stride):
    shape = list(x.shape)
    if x.ndim not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {shape}"
        )
    dim = x.ndim - 2
    if shape[dim] % (kernel_size[0] * kernel_size[1]):
        raise RuntimeError(
            f"Expected size of input's dimension {dim} to be divisible by the product of "
            f"kernel_size, but got input.size({dim})={shape[dim]} and kernel_size={kernel_size}."
        )
    high, wide = _windows(output_size, kernel_size, dilation, padding, stride)
    given = (
        f"Given output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, "
        f"padding={padding}, stride={stride}, "
    )
    if shape[dim + 1] != high * wide:
        raise RuntimeError(
            f"{given}expected size of input's dimension 2 to match the calculated number of "
            f"sliding blocks {high} * {wide} = {high * wide}, but got "
            f"input.size(2)={shape[dim + 1]}."
        )
    if min(high, wide) < 1:
        raise RuntimeError(
            f"{given}calculated shape of the array of sliding blocks as ({high}, {wide}), which is "
            "too small (non-positive)"
        )
    if min(output_size) < 1:
        raise RuntimeError(f"Expected output spatial size to be positive, but got {output_size}")


def _pair(value):
    return tuple(value) if hasattr(value, "__iter__") else (value, value)


@functional("unfold")
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Return each window of (n, channels, height, width) as a column, or without n.

    The result is (n, channels * kernel, windows). Raises RuntimeError for windows that do not fit.

    >>> imode.nn.functional.unfold(imode.arange(4.0).view(1, 1, 2, 2), 2).flatten()
    tensor([0., 1., 2., 3.])
    """
    made = functional_fast.unfold(input, kernel_size, dilation, padding, stride)
    if made is not NotImplemented:
        return made
    return ops.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


@functional("fold")
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Add columns up to images: (n, channels * kernel, windows) to (n, channels, *output_size).

    What windows share is summed, so this is the gradient of `unfold`. Raises RuntimeError for sizes
    that do not fit.

    >>> imode.nn.functional.fold(imode.ones(1, 4, 1), 2, 2).flatten()
    tensor([1., 1., 1., 1.])
    """
    made = functional_fast.fold(input, output_size, kernel_size, dilation, padding, stride)
    if made is not NotImplemented:
        return made
    return ops.col2im(
        input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding),
        _pair(stride),
    )  # fmt: skip


# ---- channels in turn ---------------------------------------------------------------------------


def _shuffled(x, groups):
    if x.ndim <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(x.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    n, channels, *rest = x.shape
    if channels % groups:
        raise RuntimeError(
            "Number of channels must be divisible by groups. Got "
            f"{channels} channels and {groups} groups."
        )
    split = x.reshape(n, groups, channels // groups, *rest).swapaxes(1, 2)
    if not is_channels_last(x):
        return np.ascontiguousarray(split, like=split).reshape(x.shape)
    made = empty_in((0, *range(2, x.ndim), 1), x.shape, x.dtype)
    np.copyto(made, split.reshape(x.shape))
    return made


@op(
    "channel_shuffle(Tensor self, int groups) -> Tensor",
    derivative={
        "self": lambda grad, self_shape, groups: ops.channel_shuffle(grad, self_shape[1] // groups),
    },
    shows={"self_sym_sizes": None},
    variants="function nn",
)
def _channel_shuffle(self, groups):
    """Take channels of (n, channels, ...) in turn from so many groups of them.

    Raises RuntimeError where the channels do not divide into the groups.

    >>> imode.channel_shuffle(imode.arange(4).view(1, 4, 1), 2).flatten()
    tensor([0, 2, 1, 3])
    """
    return _shuffled(self, groups)


op(
    "native_channel_shuffle(Tensor self, int groups) -> Tensor",
    _shuffled,
    derivative={"self": no_derivative("native_channel_shuffle")},
    name="torch::autograd::NotImplemented",
    variants="function nn",
    doc="""As `channel_shuffle`, not differentiable.

    >>> imode.native_channel_shuffle(imode.arange(4).view(1, 4, 1), 2).flatten()
    tensor([0, 2, 1, 3])
    """,
)
