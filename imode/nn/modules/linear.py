"""Linear and Identity."""

import math

from imode import ops

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["Identity", "Linear"]


class Identity(Module):
    """Returns its input; accepts any arguments, so it can replace any layer.

    >>> imode.nn.Identity()(imode.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Affine(Module):
    """The base of layers with a weight and a bias (or None), both starting uniformly distributed
    in plus or minus 1 / sqrt(inputs)."""

    def _make(self, shape, bias, device, dtype, outputs=None):
        made = {"device": device, "dtype": dtype}
        self.weight = Parameter(ops.empty(shape, **made))
        if bias:
            self.bias = Parameter(ops.empty((shape[0] if outputs is None else outputs,), **made))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Redraw the starting values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = init._calculate_fan_in_and_fan_out(self.weight)[0]
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)


class Linear(Affine):
    """`input @ weight.T + bias` over the last dimension: (*, in_features) to (*, out_features).

    Weight and bias start uniformly distributed in plus or minus 1 / sqrt(in_features).

    >>> imode.nn.Linear(20, 30)(imode.ones(128, 20)).shape
    imode.Size([128, 30])
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self._make((out_features, in_features), bias, device, dtype)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
