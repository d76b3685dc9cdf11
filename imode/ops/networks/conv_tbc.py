"""Convolution of sequences whose dimensions are (time, batch, channels)."""

import numpy as np

from imode import errors, ops
from imode._core.parallel import skipping
from imode._core.type_names import scalar_name
from imode.kernels.products.multiply import OneThread
from imode.ops.schema import op


def _check(self, weight, bias):
    if self.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError(
            "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."
        )
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if self.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.shape[2] != bias.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")


def _steps(k, pad, length, made):
    """Of one step of the kernel: the times of the result that it adds to, and the input's."""
    first, last = max(0, pad - k), min(made, length + pad - k)
    return first, last, first - pad + k, last - pad + k


def _conv_tbc_backward(grad, self, weight, bias, pad, needs):
    width, length, made = weight.shape[0], self.shape[0], grad.shape[0]
    to_self = self.new_zeros(self.shape) if needs[0] else None
    to_weight = []
    for k in range(width):
        first, last, start, stop = _steps(k, pad, length, made)
        if first >= last:
            to_weight.append(ops.zeros_like(weight[k]))
            continue
        part = grad[first:last]
        if needs[0]:
            share = ops.matmul(part, weight[k].mH)
            to_self = to_self + ops.constant_pad_nd(share, (0, 0, 0, 0, start, length - stop))
        if needs[1]:
            rows = self[start:stop].flatten(0, 1)
            to_weight.append(ops.matmul(rows.mH, part.flatten(0, 1)))
    return (
        to_self,
        ops.stack(to_weight) if needs[1] else None,
        grad.sum((0, 1)) if needs[2] else None,
    )


@op(
    "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
    derivative={("self", "weight", "bias"): _conv_tbc_backward},
    real_only="conv_tbc",
    variants="function nn",
)
def _conv_tbc(self, weight, bias, pad):
    """Return the convolution of (time, batch, channels) along time.

    weight: (width, channels, channels of the result). bias: (channels of the result). pad: zeros
    before the first and after the last time. Raises RuntimeError where shapes or dtypes do not fit.

    >>> imode.conv_tbc(imode.ones(3, 1, 1), imode.ones(2, 1, 1), imode.zeros(1)).flatten()
    tensor([2., 2.])
    """
    _check(self, weight, bias)
    length, batch, _ = self.shape
    width, _, channels = weight.shape
    made = length + 2 * pad - width + 1
    if made < 0:
        raise errors.shapes.negative_dimension(made, (made, batch, channels))
    wide = np.float32 if self.dtype == np.float16 else self.dtype
    result = np.empty((made, batch, channels), wide)
    if skipping():
        return result.astype(self.dtype)
    result[...] = bias
    for k in range(width):
        first, last, start, stop = _steps(k, pad, length, made)
        if first < last and self.dtype != weight.dtype:
            raise RuntimeError(
                "self and mat2 must have the same dtype, but got "
                f"{scalar_name(self.dtype)} and {scalar_name(weight.dtype)}"
            )
        if first < last:
            with OneThread():
                result[first:last] += self[start:stop].astype(wide) @ weight[k].astype(wide)
    return result.astype(self.dtype, copy=False)
