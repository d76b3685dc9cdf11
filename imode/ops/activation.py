"""Activation functions: relu, gelu, silu, softplus, elu, hardtanh, ... and their gradients.

A gradient that one compiled loop computes is an operator of its own (`_tanh_backward`), with a
derivative of its own, so that gradients of gradients follow.
"""

import math

import numpy as np

from imode import ops
from imode.kernels import loops, strided
from imode.kernels.order import empty_for

from .._core.dispatch import is_grad_enabled
from .._core.numbers import largest
from .._core.words import not_implemented, scalar_name
from .expect import expect
from .refuse import by_numpy, refusing, zeros
from .schema import composite, conj, functional, op, ufunc

_GELU_BETA, _GELU_KAPPA = math.sqrt(2 / math.pi), 0.044715


# ---- gradients of sigmoid and tanh --------------------------------------------------------------

op(
    "_sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
    ufunc(
        loops.sigmoid_backward,
        otherwise=by_numpy(lambda grad, y: grad * np.conj((1 - y) * y)),
    ),
    derivative={
        "grad_output": lambda grad, output: ops._sigmoid_backward(grad, conj(output)),
        "output": lambda grad, grad_output, output: (
            conj(grad) * grad_output * (1 - 2 * conj(output))
        ),
    },
    variants="",
)
op(
    "_tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
    ufunc(
        loops.tanh_backward,
        otherwise=by_numpy(lambda grad, y: grad * np.conj(1 - y * y)),
    ),
    derivative={
        "grad_output": lambda grad, output: ops._tanh_backward(grad, conj(output)),
        "output": lambda grad, grad_output, output: conj(grad) * (-2 * conj(output)) * grad_output,
    },
    variants="",
)

# ---- relu, threshold ----------------------------------------------------------------------------


def _refuse_relu(self):
    if self.dtype == np.bool_:
        raise RuntimeError("Boolean inputs not supported for relu")
    raise NotImplementedError("clamp is not supported for complex types")


op(
    "_threshold_backward(Tensor self, Tensor grad_output, Scalar threshold) -> Tensor",
    ufunc(
        loops.threshold_backward, ints="tensors", otherwise=refusing("threshold_cpu", numbers=False)
    ),
    derivative={
        "grad_output": lambda grad, self, threshold: ops._threshold_backward(self, grad, threshold),
        "self": zeros,
    },
    variants="",
)
op(
    "relu(Tensor self) -> Tensor",
    ufunc(loops.relu, otherwise=_refuse_relu),
    derivative={"self": lambda grad, result: ops._threshold_backward(result, grad, 0)},
    variants="function method inplace",
    doc="""Return the elements, negative ones replaced by 0.

>>> imode.relu(imode.tensor([-1., 2.]))
tensor([0., 2.])
""",
)
op(
    "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    ufunc(loops.threshold, ints="alike", otherwise=refusing("threshold_cpu", numbers=False)),
    derivative={
        "self": lambda grad, self, threshold: ops._threshold_backward(self, grad, threshold)
    },
    inplace_derivative={
        "self": lambda grad, self, threshold: ops._threshold_backward(self, grad, threshold)
    },
    variants="function inplace out",
    doc="""Return the elements, those not above `threshold` replaced by `value`.

>>> imode.threshold(imode.tensor([0., 2.]), 1, -5)
tensor([-5.,  2.])
""",
)

# ---- hardtanh and kin ---------------------------------------------------------------------------

op(
    "_hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
    ufunc(
        loops.hardtanh_backward,
        ints="tensors",
        otherwise=refusing("hardtanh_backward_cpu", numbers=False),
    ),
    derivative={
        "grad_output": lambda grad, self, min_val, max_val: ops._hardtanh_backward(
            grad, self, min_val, max_val
        ),
        "self": zeros,
    },
    variants="",
)


def _refuse_hardtanh(self, min_val, max_val):
    if self.dtype == np.bool_:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    raise NotImplementedError("clamp is not supported for complex types")


op(
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    ufunc(loops.clamp, otherwise=_refuse_hardtanh),
    derivative={
        "self": lambda grad, self, min_val, max_val: ops._hardtanh_backward(
            grad, self, min_val, max_val
        )
    },
    variants="nn inplace",
    doc="""Return the elements moved into [min_val, max_val].

>>> imode.ops.hardtanh(imode.tensor([-3., 0.5]))
tensor([-1.0000,  0.5000])
""",
)
op(
    "_hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.hardsigmoid_backward, otherwise=refusing("hardsigmoid_backward")),
    derivative={
        "grad_output": lambda grad, self: ops._hardsigmoid_backward(grad, self),
        "self": zeros,
    },
    variants="",
)
op(
    "hardsigmoid(Tensor self) -> Tensor",
    ufunc(loops.hardsigmoid, otherwise=refusing("hardsigmoid_cpu")),
    derivative={"self": lambda grad, self: ops._hardsigmoid_backward(grad, self)},
    variants="inplace",
    doc="""Return ``relu6(x + 3) / 6``.

>>> imode.ops.hardsigmoid(imode.tensor([0., 4.]))
tensor([0.5000, 1.0000])
""",
)


op(
    "_hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.hardswish_backward, otherwise=refusing("hardswish_backward")),
    derivative={
        "grad_output": lambda grad, self: ops._hardswish_backward(grad, self),
        "self": lambda grad, grad_output, self: ops.where(
            (self > -3) & (self < 3), grad * grad_output / 3.0, 0
        ),
    },
    variants="",
)
op(
    "hardswish(Tensor self) -> Tensor",
    ufunc(loops.hardswish, otherwise=refusing("hardswish_cpu")),
    derivative={"self": lambda grad, self: ops._hardswish_backward(grad, self)},
    variants="inplace",
    doc="""Return ``x * relu6(x + 3) / 6``.

>>> imode.ops.hardswish(imode.tensor([0., 4.]))
tensor([0., 4.])
""",
)
for _name in ("hardshrink", "softshrink"):
    op(
        f"_{_name}_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
        ufunc(
            loops.shrink_backward,
            ints="tensors",
            otherwise=refusing(f"{_name}_backward_cpu", numbers=False),
        ),
        derivative={
            "grad_output": lambda grad, self, lambd: ops._hardshrink_backward(grad, self, lambd),
            "self": zeros,
        },
        variants="",
    )
op(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    ufunc(loops.hardshrink, ints="alike", otherwise=refusing("hardshrink_cpu", numbers=False)),
    derivative={"self": lambda grad, self, lambd: ops._hardshrink_backward(grad, self, lambd)},
    variants="function method nn",
    doc="""Return the elements, those within `lambd` of 0 replaced by 0.

>>> imode.hardshrink(imode.tensor([0.2, 2.]))
tensor([0., 2.])
""",
)
op(
    "_softshrink(Tensor self, Scalar lambd) -> Tensor",
    ufunc(loops.softshrink, ints="alike", otherwise=refusing("softshrink_cpu", numbers=False)),
    derivative={"self": lambda grad, self, lambd: ops._softshrink_backward(grad, self, lambd)},
    name="SoftshrinkBackward0",
    variants="",
)


@composite("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", variants="nn")
def softshrink(self, lambd):
    """Return the elements moved toward 0 by `lambd`, not past it.

    >>> imode.nn.functional.softshrink(imode.tensor([0.2, 2.]))
    tensor([0.0000, 1.5000])
    """
    if not self.is_floating_point():
        raise not_implemented("softshrink_check", self.dtype.numpy)
    if not 0 <= lambd <= largest(self.dtype.numpy):
        raise RuntimeError(
            f"lambda must be in range [0, {largest(self.dtype.numpy):g}] for input dtype "
            f"{scalar_name(self.dtype.numpy)}, but found {lambd:g}"
        )
    return ops._softshrink(self, lambd)


# ---- gelu ---------------------------------------------------------------------------------------


def _gelu(self, approximate):
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    if self.dtype.kind != "f":
        raise not_implemented("GeluKernelImpl", self.dtype)
    return loops.gelu_tanh(self) if approximate == "tanh" else loops.gelu(self)


def _gelu_backward(grad_output, self, approximate):
    slope = loops.gelu_tanh_backward if approximate == "tanh" else loops.gelu_backward
    return slope(grad_output, self)


def _gelu_second(grad, grad_output, self, approximate):
    if approximate == "none":
        density = ops.exp(-0.5 * self * self) * (1 / math.sqrt(2 * math.pi))
        return grad * grad_output * density * (2 - self * self)
    square = self * self
    t = ops.tanh(_GELU_BETA * (self + _GELU_KAPPA * square * self))
    dt = (1 - t * t) * _GELU_BETA * (1 + 3 * _GELU_KAPPA * square)
    bend = (1 - t * t) * _GELU_BETA * 6 * _GELU_KAPPA * self
    bend = bend - 2 * t * dt * _GELU_BETA * (1 + 3 * _GELU_KAPPA * square)
    return grad * grad_output * (dt + 0.5 * self * bend)


op(
    '_gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor',
    ufunc(loops.gelu_backward, otherwise=_gelu_backward),
    derivative={
        "grad_output": lambda grad, self, approximate: ops._gelu_backward(
            grad, self, approximate=approximate
        ),
        "self": _gelu_second,
    },
    variants="",
)
op(
    'gelu(Tensor self, *, str approximate="none") -> Tensor',
    ufunc(loops.gelu, otherwise=_gelu),
    derivative={
        "self": lambda grad, self, approximate: ops._gelu_backward(
            grad, self, approximate=approximate
        )
    },
    variants="nn",
    doc="""Return every element times the normal distribution function at it.

>>> imode.ops.gelu(imode.tensor([0., 1.]))
tensor([0.0000, 0.8413])
""",
)


op(
    "_gelu_tanh(Tensor self) -> Tensor",
    ufunc(loops.gelu_tanh, otherwise=refusing("GeluKernelImpl")),
    derivative={"self": lambda grad, self: ops._gelu_tanh_backward(grad, self)},
    name="GeluBackward0",
    shows={"approximate": lambda: "tanh"},
    variants="",
)
op(
    "_gelu_tanh_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.gelu_tanh_backward, otherwise=refusing("GeluBackwardKernelImpl")),
    derivative={
        "grad_output": lambda grad, self: ops._gelu_tanh_backward(grad, self),
        "self": lambda grad, grad_output, self: _gelu_second(grad, grad_output, self, "tanh"),
    },
    name="GeluBackwardBackward0",
    variants="",
)


@functional("gelu")
def gelu(input, approximate="none"):
    """Return every element times the normal distribution function at it.

    `approximate="tanh"` computes that function by tanh.
    """
    if approximate == "none":
        return ops.gelu(input)
    if approximate == "tanh":
        return ops._gelu_tanh(input)
    raise RuntimeError("approximate argument must be either none or tanh.")


# ---- silu, mish, softplus, log-sigmoid ----------------------------------------------------------


op(
    "_silu_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.silu_backward, otherwise=refusing("silu_backward_cpu")),
    differentiable=False,
    variants="",
)


def _silu(self):
    if self.dtype.kind != "c":
        raise not_implemented("silu_cpu", self.dtype)
    return self / (1 + np.exp(-self))


def _silu_self(grad, self):
    if not is_grad_enabled():
        return ops._silu_backward(grad, self)
    s = self.sigmoid()
    return grad * s * (1 + self * (1 - s))


op(
    "silu(Tensor self) -> Tensor",
    ufunc(loops.silu, otherwise=_silu),
    derivative={"self": _silu_self},
    real_only="silu",
    variants="inplace",
    doc="""Return ``x * sigmoid(x)``.

>>> imode.ops.silu(imode.tensor([0.]))
tensor([0.])
""",
)


def _mish_self(grad, self):
    s, t = self.sigmoid(), ops.tanh(ops.softplus(self))
    return grad * (t + self * s * (1 - t * t))


op(
    "mish(Tensor self) -> Tensor",
    ufunc(loops.mish, otherwise=refusing("mish_cpu")),
    derivative={"self": _mish_self},
    variants="inplace",
    doc="""Return ``x * tanh(softplus(x))``.

>>> imode.ops.mish(imode.tensor([0.]))
tensor([0.])
""",
)


def _softplus_second(grad, grad_output, self, beta, threshold):
    s = (self * beta).sigmoid()
    return ops.where(self * beta > threshold, 0, grad * grad_output * s * (1 - s) * beta)


op(
    "_softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
    ufunc(
        loops.softplus_backward,
        ints="tensors",
        otherwise=refusing("softplus_backward_cpu", numbers=False),
    ),
    derivative={
        "grad_output": lambda grad, self, beta, threshold: ops._softplus_backward(
            grad, self, beta, threshold
        ),
        "self": _softplus_second,
    },
    variants="",
)
op(
    "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    ufunc(loops.softplus, ints="alike", otherwise=refusing("softplus_cpu", numbers=False)),
    derivative={
        "self": lambda grad, self, beta, threshold: ops._softplus_backward(
            grad, self, beta, threshold
        )
    },
    variants="nn",
    doc="""Return ``log(1 + exp(beta * x)) / beta``, and x itself where ``beta * x > threshold``.

>>> imode.nn.functional.softplus(imode.tensor([0.]))
tensor([0.6931])
""",
)
op(
    "_log_sigmoid(Tensor self) -> Tensor",
    ufunc(loops.log_sigmoid, otherwise=refusing("log_sigmoid_cpu")),
    derivative={"self": lambda grad, self: grad * (-self).sigmoid()},
    shows={"buffer": lambda self: (-self.detach().abs()).exp()},
    variants="",
)


@functional("logsigmoid")
def logsigmoid(input):
    """Return the logarithm of the sigmoid of every element."""
    return ops._log_sigmoid(input)


# ---- elu and kin --------------------------------------------------------------------------------


op(
    "_elu_backward(Tensor grad_output, Tensor self, Scalar factor, Scalar input_scale) -> Tensor",
    ufunc(
        loops.elu_backward, ints="tensors", otherwise=refusing("elu_backward_cpu", numbers=False)
    ),
    derivative={
        "grad_output": lambda grad, self, factor, input_scale: ops._elu_backward(
            grad, self, factor, input_scale
        ),
        "self": lambda grad, grad_output, self, factor, input_scale: (
            ops._elu_backward(grad * grad_output * input_scale, self, factor, input_scale)
            * (self < 0)
        ),
    },
    variants="",
)


def _elu_self(grad, self, alpha, scale, input_scale):
    above = grad if scale == 1 else grad * scale
    return ops._elu_backward(above, self, alpha * input_scale, input_scale)


def _elu_result(grad, result, alpha, scale, input_scale):
    if alpha < 0:
        raise RuntimeError(
            "In-place elu backward calculation is triggered with a negative slope which is not "
            "supported. Call the function without inplace=True."
        )
    curve = grad * input_scale * (result + alpha * scale)
    return ops.where(result <= 0, curve, grad * scale)


op(
    "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    ufunc(loops.elu, ints="alike", otherwise=refusing("elu_cpu", numbers=False)),
    derivative={"self": _elu_self},
    inplace_derivative={"self": _elu_result},
    variants="nn inplace",
    doc="""Return ``scale * x``, and below 0 ``scale * alpha * (exp(input_scale * x) - 1)``.

>>> imode.ops.elu(imode.tensor([1., 0.]))
tensor([1., 0.])
""",
)


@np.errstate(all="ignore")
def _celu(self, alpha):
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    if self.dtype.kind != "f":
        raise not_implemented("elu_cpu", self.dtype)
    alpha, inverse = self.dtype.type(alpha), self.dtype.type(1 / alpha)
    return loops.elu(self, alpha, self.dtype.type(1), inverse)


op(
    "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
    _celu,
    derivative={"self": lambda grad, self, alpha: _elu_self(grad, self, alpha, 1, 1 / alpha)},
    inplace_derivative={
        "self": lambda grad, result, alpha: _elu_result(grad, result, alpha, 1, 1 / alpha)
    },
    variants="function inplace",
    doc="""Return the elements, x below 0 replaced by ``alpha * (exp(x / alpha) - 1)``.

>>> imode.celu(imode.tensor([1., 0.]))
tensor([1., 0.])
""",
)
_SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


@composite(
    "selu(Tensor self) -> Tensor",
    variants="function inplace",
    written=lambda self: ops.elu_(self, *_SELU),
)
def selu(self):
    """Return the scaled exponential linear unit, which keeps mean 0 and variance 1.

    >>> imode.selu(imode.tensor([1., 0.]))
    tensor([1.0507, 0.0000])
    """
    return ops.elu(self, *_SELU)


op(
    "_leaky_relu_backward(Tensor self, Tensor grad_output, Scalar negative_slope) -> Tensor",
    ufunc(
        loops.leaky_relu_backward,
        ints="tensors",
        otherwise=refusing("leaky_relu_backward_cpu", numbers=False),
    ),
    derivative={
        "grad_output": lambda grad, self, negative_slope: ops._leaky_relu_backward(
            self, grad, negative_slope
        ),
        "self": zeros,
    },
    variants="",
)


def _leaky_relu_result(grad, result, negative_slope):
    if negative_slope < 0:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is "
            "not supported. Call the function without inplace=True."
        )
    return ops._leaky_relu_backward(result, grad, negative_slope)


op(
    "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    ufunc(loops.leaky_relu, ints="alike", otherwise=refusing("leaky_relu_cpu", numbers=False)),
    derivative={
        "self": lambda grad, self, negative_slope: ops._leaky_relu_backward(
            self, grad, negative_slope
        )
    },
    inplace_derivative={"self": _leaky_relu_result},
    variants="nn inplace",
    doc="""Return the elements, negative ones times `negative_slope`.

>>> imode.ops.leaky_relu(imode.tensor([-1., 2.]), 0.1)
tensor([-0.1000,  2.0000])
""",
)


def _prelu_slopes(grad_output, self, weight):
    expect("_prelu_kernel_backward", "grad_output", grad_output, self.shape)
    above = self > 0
    wide = strided.apply(strided.expand, weight, self.shape)
    slopes = []
    for low, high in ((wide * grad_output, grad_output), (self * grad_output, 0)):
        made = empty_for((self, wide, grad_output), self.shape, self.dtype)
        made[...] = np.where(above, high, low)
        slopes.append(made)
    return tuple(slopes)


def _prelu_bend(grads, grad_output, self, weight):
    """At 0 the slope is the one below, its own derivatives those above: as in PyTorch."""
    to_self, to_weight = (ops.zeros_like(self) if grad is None else grad for grad in grads)
    above = self >= 0
    return (
        ops.where(above, to_self, to_self * weight + to_weight * self),
        ops.where(above, 0, to_weight * grad_output),
        ops.where(above, 0, to_self * grad_output),
    )


op(
    "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) "
    "-> (Tensor result0, Tensor result1)",
    _prelu_slopes,
    derivative={("grad_output", "self", "weight"): _prelu_bend},
    variants="",
)
op(
    "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    ufunc(loops.leaky_relu, ints="alike", otherwise=refusing("prelu_cpu", numbers=False)),
    derivative={
        ("self", "weight"): lambda grad, self, weight: ops._prelu_kernel_backward(
            grad, self, weight
        ),
    },
    variants="",
)


@composite("prelu(Tensor self, Tensor weight) -> Tensor", variants="function method nn")
def prelu(self, weight):
    """Return the elements, negative ones times `weight`: one number, or one per channel (dim 1).

    >>> imode.prelu(imode.tensor([-1., 2.]), imode.tensor([0.5]))
    tensor([-0.5000,  2.0000])
    """
    if self.dtype != weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {self.dtype} and {weight.dtype}"
        )
    if weight.numel() != 1:
        if self.dim() == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = self.shape[1] if self.dim() > 1 else 1
        if channels != weight.numel():
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
    if weight.dim() > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}"
        )
    if self.dim() < 2 or weight.dim() == 0:
        return ops._prelu_kernel(self, weight.reshape(()) if self.dim() == 0 else weight)
    return ops._prelu_kernel(self, weight.view(1, -1, *[1] * (self.dim() - 2)))
