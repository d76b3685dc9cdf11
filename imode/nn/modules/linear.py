"""Linear and Identity."""

from imode import ops

from .. import functional as F
from ..parameter import Parameter
from .module import Module
from .utils import start_uniform

__all__ = ["Identity", "Linear"]


class Identity(Module):
    """Gives its input back; takes any arguments, so it can stand in for any layer."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Module):
    """`input @ weight.T + bias` over the last dimension: (*, in_features) to (*, out_features).

    Weight and bias start uniform in plus or minus 1 / sqrt(in_features).

    >>> imode.nn.Linear(20, 30)(imode.ones(128, 20)).shape
    imode.Size([128, 30])
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        made = {"device": device, "dtype": dtype}
        self.weight = Parameter(ops.empty((out_features, in_features), **made))
        if bias:
            self.bias = Parameter(ops.empty((out_features,), **made))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the starting values again."""
        start_uniform(self.weight, self.bias)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
