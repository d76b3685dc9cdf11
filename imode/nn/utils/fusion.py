"""A normalisation layer's numbers put into the layer before it."""

import copy

from imode import ops
from imode.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def _fused(w, b, mean, var, eps, scale, shift, shape):
    dtypes = w.dtype, w.dtype if b is None else b.dtype
    factor = (ops.ones_like(mean) if scale is None else scale) * ops.rsqrt(var + eps)
    b = ops.zeros_like(mean) if b is None else b
    bias = (b - mean) * factor + (ops.zeros_like(mean) if shift is None else shift)
    weight = w * factor.reshape(shape)
    return (
        Parameter(weight.to(dtypes[0]).detach(), w.requires_grad),
        Parameter(bias.to(dtypes[1]).detach(), b.requires_grad),
    )


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Return the weight and bias of a convolution that does what it and a batch norm did.

    conv_b, bn_w, bn_b: tensors or None. transpose: of a transposed convolution.

    >>> one = imode.ones(2)
    >>> weight, numbers = imode.ones(2, 1, 1), (one, one, 0.0, one, one)
    >>> fused = imode.nn.utils.fuse_conv_bn_weights(weight, None, *numbers)
    >>> fused[1].tolist()
    [0.0, 0.0]
    """
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Return the weight and bias of a linear layer that does what it and a batch norm did.

    >>> one = imode.ones(2)
    >>> weight, numbers = imode.ones(2, 1), (one, one, 0.0, one, one)
    >>> fused = imode.nn.utils.fuse_linear_bn_weights(weight, None, *numbers)
    >>> fused[0].tolist()
    [[1.0], [1.0]]
    """
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, (-1, 1))


def _check_modes(layer, bn):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("running_mean and running_var must not be None")


def _numbers(layer, bn):
    return (
        *(layer.weight, layer.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias),
    )


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """Return a copy of a convolution that does what it and a batch norm behind it do in eval mode.

    Raises AssertionError where one of them is in training mode.

    >>> conv, bn = imode.nn.Conv2d(1, 2, 3).eval(), imode.nn.BatchNorm2d(2).eval()
    >>> imode.nn.utils.fuse_conv_bn_eval(conv, bn)(imode.ones(1, 1, 3, 3)).shape
    imode.Size([1, 2, 1, 1])
    """
    _check_modes(conv, bn)
    made = copy.deepcopy(conv)
    made.weight, made.bias = fuse_conv_bn_weights(*_numbers(made, bn), transpose)
    return made


def fuse_linear_bn_eval(linear, bn):
    """Return a copy of a linear layer that does what it and a batch norm behind it do in eval mode.

    Raises AssertionError where one of them is in training mode, or their features differ.

    >>> layer, bn = imode.nn.Linear(3, 2).eval(), imode.nn.BatchNorm1d(2).eval()
    >>> imode.nn.utils.fuse_linear_bn_eval(layer, bn)(imode.ones(3)).shape
    imode.Size([2])
    """
    _check_modes(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    made = copy.deepcopy(linear)
    made.weight, made.bias = fuse_linear_bn_weights(*_numbers(made, bn))
    return made
