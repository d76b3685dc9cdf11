"""Activations as modules. All but GLU keep the input's shape, and all keep its dtype."""

from imode import ops

from .. import functional as F
from .. import init
from ..parameter import Parameter
from ._layer import Layer
from .module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


# ---- without parameters ----


class Tanh(Module):
    """The hyperbolic tangent.

    >>> imode.nn.Tanh()(imode.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.7616,  0.0000,  0.7616])
    """

    def forward(self, input):
        return ops.tanh(input)


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    >>> imode.nn.Sigmoid()(imode.tensor([-1.0, 0.0, 1.0]))
    tensor([0.2689, 0.5000, 0.7311])
    """

    def forward(self, input):
        return ops.sigmoid(input)


class LogSigmoid(Module):
    """log(sigmoid(x)), without its underflow.

    >>> imode.nn.LogSigmoid()(imode.tensor([-1.0, 0.0, 1.0]))
    tensor([-1.3133, -0.6931, -0.3133])
    """

    def forward(self, input):
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|).

    >>> imode.nn.Softsign()(imode.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.5000,  0.0000,  0.7500])
    """

    def forward(self, input):
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x).

    >>> imode.nn.Tanhshrink()(imode.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2384,  0.0000,  0.2384])
    """

    def forward(self, input):
        return F.tanhshrink(input)


# ---- with `inplace` ----


class _Inplace(Layer):
    # The base of activations that can overwrite their input.
    def extra_repr(self):
        shown = [self._shown.format_map(vars(self))] if self._shown else []
        return ", ".join(shown + ["inplace=True"] * self.inplace)


class _InplaceOnly(_Inplace):
    def __init__(self, inplace=False):
        super().__init__(inplace=inplace)


class ReLU(_InplaceOnly):
    """max(0, x).

    >>> imode.nn.ReLU()(imode.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input):
        return ops.relu_(input) if self.inplace else ops.relu(input)


class SELU(_InplaceOnly):
    """The self-normalising scaled exponential linear unit.

    >>> imode.nn.SELU()(imode.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def forward(self, input):
        return F.selu(input, self.inplace)


class SiLU(_InplaceOnly):
    """x * sigmoid(x), also called swish.

    >>> imode.nn.SiLU()(imode.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    def forward(self, input):
        return F.silu(input, inplace=self.inplace)


class Mish(_InplaceOnly):
    """x * tanh(softplus(x)).

    >>> imode.nn.Mish()(imode.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """

    def forward(self, input):
        return F.mish(input, inplace=self.inplace)


class Hardsigmoid(_InplaceOnly):
    """relu6(x + 3) / 6.

    >>> imode.nn.Hardsigmoid()(imode.tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """

    def forward(self, input):
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self):
        return ""


class Hardswish(_InplaceOnly):
    """x * relu6(x + 3) / 6.

    >>> imode.nn.Hardswish()(imode.tensor([-4.0, 0.0, 1.5]))
    tensor([-0.0000, 0.0000, 1.1250])
    """

    def forward(self, input):
        return F.hardswish(input, self.inplace)

    def extra_repr(self):
        return ""


class Hardtanh(_Inplace):
    """x limited to [min_val, max_val].

    >>> imode.nn.Hardtanh()(imode.tensor([-4.0, 0.5, 4.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """

    _shown = "min_val={min_val}, max_val={max_val}"

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False):
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)
        if not max_val > min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """x limited to [0, 6].

    >>> imode.nn.ReLU6()(imode.tensor([-1.0, 5.0, 8.0]))
    tensor([0., 5., 6.])
    """

    _shown = ""

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)


class LeakyReLU(_Inplace):
    """x where positive, else negative_slope * x.

    >>> imode.nn.LeakyReLU(0.5)(imode.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    _shown = "negative_slope={negative_slope}"

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__(negative_slope=negative_slope, inplace=inplace)

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_Inplace):
    """x where positive, else alpha * (exp(x) - 1).

    >>> imode.nn.ELU()(imode.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    _shown = "alpha={alpha}"

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__(alpha=alpha, inplace=inplace)

    def forward(self, input):
        return F.elu(input, self.alpha, self.inplace)


class CELU(ELU):
    """x where positive, else alpha * (exp(x / alpha) - 1).

    >>> imode.nn.CELU(2.0)(imode.tensor([-1.0, 2.0]))
    tensor([-0.7869,  2.0000])
    """

    def forward(self, input):
        return F.celu(input, self.alpha, self.inplace)


class Threshold(_Inplace):
    """x where it is above threshold, else value.

    >>> imode.nn.Threshold(0.5, 9.0)(imode.tensor([0.0, 2.0]))
    tensor([9., 2.])
    """

    _shown = "threshold={threshold}, value={value}"

    def __init__(self, threshold, value, inplace=False):
        super().__init__(threshold=threshold, value=value, inplace=inplace)

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, self.inplace)


# ---- with other options ----


class RReLU(_Inplace):
    """The input where it is positive, else times a slope: in training one drawn for each element.

    >>> imode.nn.RReLU(0.25, 0.75).eval()(imode.tensor([-1.0, 1.0]))
    tensor([-0.5000,  1.0000])
    """

    _shown = "lower={lower}, upper={upper}"

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__(lower=lower, upper=upper, inplace=inplace)

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class GELU(Layer):
    """x * Phi(x); `approximate="tanh"` uses the tanh formula for Phi.

    >>> imode.nn.GELU()(imode.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """

    _shown = "approximate={approximate!r}"

    def __init__(self, approximate="none"):
        super().__init__(approximate=approximate)

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)


class Softplus(Layer):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above threshold.

    >>> imode.nn.Softplus()(imode.tensor([-1.0, 30.0]))
    tensor([ 0.3133, 30.0000])
    """

    _shown = "beta={beta}, threshold={threshold}"

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__(beta=beta, threshold=threshold)

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)


class _Shrink(Layer):
    _shown = "{lambd}"

    def __init__(self, lambd=0.5):
        super().__init__(lambd=lambd)


class Hardshrink(_Shrink):
    """x where |x| > lambd, else 0.

    >>> imode.nn.Hardshrink()(imode.tensor([-1.0, 0.25]))
    tensor([-1.,  0.])
    """

    def forward(self, input):
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved towards 0 by lambd, and 0 where |x| <= lambd.

    >>> imode.nn.Softshrink()(imode.tensor([-1.0, 0.25]))
    tensor([-0.5000,  0.0000])
    """

    def forward(self, input):
        return F.softshrink(input, self.lambd)


class _AlongDim(Layer):
    _shown = "dim={dim}"

    def __init__(self, dim=None):
        super().__init__(dim=dim)


class Softmax(_AlongDim):
    """exp(x) / sum(exp(x)) along dim.

    >>> imode.nn.Softmax(dim=1)(imode.tensor([[0.0, 0.0], [0.0, 1.0]]))
    tensor([[0.5000, 0.5000],
            [0.2689, 0.7311]])
    """

    def forward(self, input):
        return F.softmax(input, self.dim)


class Softmin(_AlongDim):
    """softmax(-x) along dim.

    >>> imode.nn.Softmin(dim=1)(imode.tensor([[0.0, 0.0], [0.0, 1.0]]))
    tensor([[0.5000, 0.5000],
            [0.7311, 0.2689]])
    """

    def forward(self, input):
        return F.softmin(input, self.dim)


class LogSoftmax(_AlongDim):
    """log(softmax(x)) along dim.

    >>> imode.nn.LogSoftmax(dim=0)(imode.tensor([0.0, 1.0]))
    tensor([-1.3133, -0.3133])
    """

    def forward(self, input):
        return F.log_softmax(input, self.dim)


class Softmax2d(Module):
    """Softmax over the channels of each pixel of a (N, C, H, W) or (C, H, W) input.

    >>> imode.nn.Softmax2d()(imode.zeros(2, 4, 3, 3)).sum(1).shape
    imode.Size([2, 3, 3])
    """

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3)


class GLU(_AlongDim):
    """The first half of x along dim, times the sigmoid of the second half.

    >>> imode.nn.GLU()(imode.tensor([2.0, 0.0]))
    tensor([1.])
    """

    def __init__(self, dim=-1):
        super().__init__(dim)

    def forward(self, input):
        return F.glu(input, self.dim)


class PReLU(Layer):
    """x where positive, else weight * x; one weight for all channels, or one per channel.

    >>> imode.nn.PReLU()(imode.tensor([-1.0, 2.0])).tolist()
    [-0.25, 2.0]
    """

    _shown = "num_parameters={num_parameters}"

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__(num_parameters=num_parameters, init=init)
        self.weight = Parameter(ops.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """Set the weights to their starting value."""
        init.constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)
