"""Smooth activation functions: gelu, silu, mish, softplus, elu and kin, and their gradients.

A gradient that one compiled loop computes is an operator of its own (`_tanh_backward`), with a
derivative of its own, so that gradients of gradients follow.
"""

import math

import numpy as np

from imode import errors, ops
from imode._core.dispatch import is_grad_enabled
from imode._core.loops import in_layout
from imode._core.numbers import number_as, scalar_as
from imode._core.overlap import refuse_overlaps
from imode.autograd.views import write_as
from imode.kernels.pointwise import loops
from imode.ops.pointwise.common import OF_ITS_DTYPE, by_numpy, cast, refusing, with_numbers
from imode.ops.schema import LINEAR, Out, composite, conj, functional, op, ufunc

_GELU_BETA, _GELU_KAPPA = math.sqrt(2 / math.pi), 0.044715


# ---- gradients of sigmoid and tanh --------------------------------------------------------------

op(
    "_sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
    ufunc(
        loops.sigmoid_backward,
        fallback=by_numpy(lambda grad, y: grad * np.conj((1 - y) * y)),
    ),
    derivative={
        "grad_output": lambda grad, output: ops._sigmoid_backward(grad, conj(output)),
        "output": lambda grad, grad_output, output: (
            conj(grad) * grad_output * (-2 * conj(output) + 1)
        ),
    },
)
op(
    "_tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
    ufunc(
        loops.tanh_backward,
        fallback=by_numpy(lambda grad, y: grad * np.conj(1 - y * y)),
    ),
    derivative={
        "grad_output": lambda grad, output: ops._tanh_backward(grad, conj(output)),
        "output": lambda grad, grad_output, output: conj(grad) * (-2 * conj(output) * grad_output),
    },
)

# ---- gelu ---------------------------------------------------------------------------------------


def _gelu(self, approximate):
    if approximate not in ("none", "tanh"):
        raise errors.arguments.approximate()
    if self.dtype.kind != "f":
        raise errors.dtypes.not_implemented("GeluKernelImpl", self.dtype)
    return loops.gelu_tanh(self) if approximate == "tanh" else loops.gelu(self)


def _gelu_backward(grad_output, self, approximate):
    slope = loops.gelu_tanh_backward if approximate == "tanh" else loops.gelu_backward
    return slope(grad_output, self)


def _gelu_second(grad, grad_output, self, approximate):
    given = grad * grad_output
    if approximate == "none":
        square = self * self
        density = _GELU_BETA / 2 * ops.exp(-0.5 * square)
        return given * (2 * density - square * density)
    inner = _GELU_BETA * (self + _GELU_KAPPA * self.pow(3))
    t, sech = ops.tanh(inner), ops.div(1, ops.cosh(inner))
    half, bend = 0.5 * self, ops.sub(1, t * t)
    slope = _GELU_BETA * (1 + 3 * _GELU_KAPPA * self * self)
    straight = 0.5 * bend * slope
    turning = half * slope * (2 * sech * (-sech * t) * slope)
    curved = half * bend * (6 * _GELU_KAPPA * self * _GELU_BETA)
    return given * (2 * straight + turning + curved)


_GELU_BACKWARD = op(
    '_gelu_backward(Tensor grad_output, Tensor self, str approximate="none") -> Tensor',
    ufunc(loops.gelu_backward, fallback=_gelu_backward),
    derivative={
        "grad_output": LINEAR,
        "self": _gelu_second,
    },
)
op(
    'gelu(Tensor self, *, str approximate="none") -> Tensor',
    ufunc(loops.gelu, fallback=_gelu),
    out=OF_ITS_DTYPE,
    derivative={"self": _GELU_BACKWARD},
    variants="nn out",
    doc="""Return every element times the normal distribution function at it.

>>> imode.ops.gelu(imode.tensor([0., 1.]))
tensor([0.0000, 0.8413])
""",
)


_GELU_TANH_BACKWARD = op(
    "_gelu_tanh_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.gelu_tanh_backward, fallback=refusing("GeluBackwardKernelImpl")),
    derivative={
        "grad_output": LINEAR,
        "self": lambda grad, grad_output, self: _gelu_second(grad, grad_output, self, "tanh"),
    },
    name="GeluBackwardBackward0",
)
op(
    "_gelu_tanh(Tensor self) -> Tensor",
    ufunc(loops.gelu_tanh, fallback=refusing("GeluKernelImpl")),
    derivative={"self": _GELU_TANH_BACKWARD},
    variants="out",
    out=Out("same", errors.out.FOUND, name="gelu"),
    name="GeluBackward0",
    shows={"approximate": lambda: "tanh"},
)


@functional("gelu")
def gelu(input, *, approximate="none", out=None):
    """Return every element times the normal distribution function at it.

    `approximate="tanh"` computes that function by tanh.

    >>> imode.nn.functional.gelu(imode.tensor([0., 1.]))
    tensor([0.0000, 0.8413])
    """
    if approximate == "none":
        return ops.gelu(input) if out is None else ops.gelu(input, out=out)
    if approximate == "tanh":
        return ops._gelu_tanh(input) if out is None else ops._gelu_tanh(input, out=out)
    raise errors.arguments.approximate()


# ---- silu, mish, softplus, log-sigmoid ----------------------------------------------------------


op(
    "_silu_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.silu_backward, fallback=refusing("silu_backward_cpu")),
    differentiable=False,
)


def _silu(self):
    if self.dtype.kind != "c":
        raise errors.dtypes.not_implemented("silu_cpu", self.dtype)
    return self / (1 + np.exp(-self))


def _silu_self(grad, self):
    if not is_grad_enabled():
        return ops._silu_backward(grad, self)
    s = self.sigmoid()
    bend = 1 + self * ops.sub(1, s)
    return grad * s * bend


op(
    "silu(Tensor self) -> Tensor",
    ufunc(loops.silu, fallback=_silu),
    derivative={"self": _silu_self},
    real_only="silu",
    variants="inplace",
    doc="""Return ``x * sigmoid(x)``.

>>> imode.ops.silu(imode.tensor([0.]))
tensor([0.])
""",
)


def _softplus_of(self):
    return self.exp().log1p() if is_grad_enabled() else ops.softplus(self)


def _mish_self(grad, self):
    s, t = self.sigmoid(), ops.tanh(_softplus_of(self))
    return grad * (t + self * s * ops.sub(1, t * t))


op(
    "mish(Tensor self) -> Tensor",
    ufunc(loops.mish, fallback=refusing("mish_cpu")),
    derivative={"self": _mish_self},
    variants="inplace",
    doc="""Return ``x * tanh(softplus(x))``.

>>> imode.ops.mish(imode.tensor([0.]))
tensor([0.])
""",
)


def _softplus_second(grad, grad_output, self, beta, threshold):
    x = self * beta
    bend = ops._sigmoid_backward(grad * grad_output, x.sigmoid())
    return bend * (x < threshold).type_as(grad) * beta


_SOFTPLUS_BACKWARD = op(
    "_softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
    with_numbers(loops.softplus_backward, "softplus_backward_cpu", "tensors", "checked wide"),
    derivative={
        "grad_output": LINEAR,
        "self": _softplus_second,
    },
)
op(
    "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    with_numbers(loops.softplus, "softplus_cpu", "alike", "checked wide"),
    out=OF_ITS_DTYPE,
    derivative={"self": _SOFTPLUS_BACKWARD},
    variants="nn out",
    compiled=True,
    doc="""Return ``log(1 + exp(beta * x)) / beta``, and x itself where ``beta * x > threshold``.

>>> imode.nn.functional.softplus(imode.tensor([0.]))
tensor([0.6931])
""",
)


def _log_sigmoid_second(grad, grad_output, self):
    z = self.sigmoid()
    return grad * grad_output * (z - 1) * z


_BUFFER = {"buffer": lambda self: (-self.detach().abs()).exp()}
_LOG_SIGMOID_BACKWARD = op(
    "_log_sigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.log_sigmoid_backward, fallback=refusing("log_sigmoid_backward_cpu")),
    derivative={
        "grad_output": LINEAR,
        "self": _log_sigmoid_second,
    },
    shows=_BUFFER,
)
op(
    "_log_sigmoid(Tensor self) -> Tensor",
    ufunc(loops.log_sigmoid, fallback=refusing("log_sigmoid_cpu"), layout="rows"),
    derivative={"self": _LOG_SIGMOID_BACKWARD},
    variants="out",
    out=Out("same", errors.out.SCALAR_TYPE_OF, name="log_sigmoid_forward"),
    shows=_BUFFER,
)


@functional("logsigmoid")
def logsigmoid(input, *, out=None):
    """Return the logarithm of the sigmoid of every element.

    >>> imode.nn.functional.logsigmoid(imode.zeros(1))
    tensor([-0.6931])
    """
    return ops._log_sigmoid(input) if out is None else ops._log_sigmoid(input, out=out)


# ---- elu and kin --------------------------------------------------------------------------------


@np.errstate(all="ignore")
def _elu_slope(grad_output, self, factor, scale, input_scale=1):
    if self.dtype.kind != "f" or grad_output.dtype != self.dtype:
        raise errors.dtypes.not_implemented("elu_backward_cpu", self.dtype)
    factor, scale, input_scale = (self.dtype.type(x) for x in (factor, scale, input_scale))
    slope = loops.celu_backward(grad_output, self, factor, input_scale)
    return slope if scale == 1 else np.where(self <= 0, slope, grad_output * scale)


op(
    "_elu_backward(Tensor grad_output, Tensor self_or_result, Scalar factor, Scalar scale, "
    "Scalar input_scale=1) -> Tensor",
    ufunc(loops.elu_backward, ints="tensors", fallback=_elu_slope, numbers="checked wide"),
    derivative={
        "grad_output": LINEAR,
        "self_or_result": lambda grad, grad_output, self_or_result, factor, scale, input_scale: (
            ops._elu_backward(
                grad * grad_output * input_scale, self_or_result, factor, scale, input_scale
            )
            * (self_or_result < 0)
        ),
    },
)


@np.errstate(all="ignore")
def _elu_slope_of_result(grad_output, self_or_result, alpha, scale, input_scale):
    factor, scale, input_scale = (
        grad_output.dtype.type(x) for x in (alpha * scale, scale, input_scale)
    )
    curve = grad_output * input_scale * (self_or_result + factor)
    return np.where(self_or_result <= 0, curve, grad_output * scale)


op(
    "_elu_backward_of_result(Tensor grad_output, Tensor self_or_result, Scalar alpha, "
    "Scalar scale, Scalar input_scale) -> Tensor",
    in_layout(_elu_slope_of_result),
    derivative={
        "grad_output": LINEAR,
        "self_or_result": lambda grad, grad_output, self_or_result, input_scale: (
            grad * grad_output * input_scale * (self_or_result < 0)
        ),
    },
    name="EluBackwardBackward0",
)


def _elu_self(grad, self, alpha, scale, input_scale):
    return ops._elu_backward(grad, self, alpha * scale * input_scale, scale, input_scale)


def _elu_result(grad, result, alpha, scale, input_scale):
    if alpha < 0:
        raise errors.graph.negative_slope("elu")
    return ops._elu_backward_of_result(grad, result, alpha, scale, input_scale)


op(
    "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    with_numbers(loops.elu, "elu_cpu", "alike", "checked wide"),
    derivative={"self": _elu_self},
    inplace_derivative={"self": _elu_result},
    variants="nn inplace",
    doc="""Return ``scale * x``, and below 0 ``scale * alpha * (exp(input_scale * x) - 1)``.

>>> imode.ops.elu(imode.tensor([1., 0.]))
tensor([1., 0.])
""",
)


def _celu_alpha(alpha):
    alpha = number_as(alpha, np.dtype(np.float64))
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return alpha


@np.errstate(all="ignore")
def _celu(self, alpha):
    alpha = _celu_alpha(alpha)
    if self.dtype.kind != "f":
        raise errors.dtypes.not_implemented("elu_cpu", self.dtype)
    wide = np.dtype(np.float32) if self.dtype == np.float16 else self.dtype
    alpha, inverse = (scalar_as(x, wide) for x in (alpha, 1 / alpha))
    return cast(loops.elu(cast(self, wide), alpha, wide.type(1), inverse), self.dtype)


def _celu_in_place(self, alpha):
    _celu_alpha(alpha)
    refuse_overlaps(self, None)  # before the dtype
    return _celu(self, alpha)


op(
    "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
    _celu,
    inplace_kernel=_celu_in_place,
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
    written=lambda self: write_as("selu_", ops.elu_, self, *_SELU),
)
def selu(self):
    """Return the scaled exponential linear unit, which keeps mean 0 and variance 1.

    >>> imode.selu(imode.tensor([1., 0.]))
    tensor([1.0507, 0.0000])
    """
    return ops.elu(self, *_SELU)
