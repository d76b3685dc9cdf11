"""Functions of one operand: exp, log, sqrt, sin, tanh, erf, sigmoid, ..."""

import math

import numpy as np

from imode import errors, ops
from imode._core.dispatch import is_grad_enabled
from imode._core.layout import empty_like
from imode._core.numbers import number_as
from imode._core.promotion import result_type
from imode.kernels.pointwise import loops
from imode.ops.pointwise.common import by_numpy, cast, refusing
from imode.ops.schema import alias, conj, op, ufunc

_ALL = "function method inplace out"
_LN2, _LN10 = math.log(2.0), math.log(10.0)

# ---- exp, log, roots, trigonometry --------------------------------------------------------------


def _function(name, fast, slow, derivative, example, also=None):
    """An operator of a float function: integers compute as floats, complex numbers by NumPy."""
    fallback = by_numpy(slow) if slow is not None else refusing(f"{name}_vml_cpu")
    operator = op(
        f"{name}(Tensor self) -> Tensor",
        ufunc(fast, ints="float", fallback=fallback),
        derivative={"self": derivative},
        variants=_ALL,
        doc=f"""Return {name} of every element; integers give the default float dtype.

>>> imode.{name}(imode.tensor([{example[0]}]))
tensor([{example[1]}])
""",
    )
    if also is not None:
        alias(also, operator)
    return operator


def _by_parts(operation, x, number):
    """A complex array times or over a number: an infinite part leaves a zero one alone."""
    result = empty_like(x)
    operation(x.real, x.real.dtype.type(number), out=result.real)
    operation(x.imag, x.real.dtype.type(number), out=result.imag)
    return result


def _log_base(base):
    return lambda x: _by_parts(np.divide, np.asarray(np.log(x)), math.log(base))


def _log1p_complex(x):
    """As PyTorch has it: NumPy's adds the 1 first, which loses what is small beside it."""
    real, imag = x.real, x.imag
    result = empty_like(x)
    near = real * (2 + real) + imag * imag  # |1 + x|² - 1
    small = np.where(near == 0, real, np.log1p(near) / 2)
    large = np.where(np.isnan(x), np.nan, np.log(np.hypot(real + 1, imag)))
    result.real = np.where(np.abs(x) < 0.5, small, large)
    result.imag = np.arctan2(imag, real + 1)
    return result


def _exp2_complex(x):
    return np.exp(_by_parts(np.multiply, x, _LN2))


_function("exp", loops.exp, np.exp, lambda grad, result: grad * conj(result), ("0.", "1."))
_function(
    "exp2", loops.exp2, _exp2_complex,
    lambda grad, result: grad * conj(result) * _LN2, ("3.", "8."),
)  # fmt: skip
_function(
    "expm1", loops.expm1, np.expm1, lambda grad, result: grad * (conj(result) + 1), ("0.", "0.")
)
_function("log", loops.log, np.log, lambda grad, self: grad / conj(self), ("1.", "0."))
_function(
    "log2", loops.log2, _log_base(2.0),
    lambda grad, self: grad / (conj(self) * _LN2), ("8.", "3."),
)  # fmt: skip
_function(
    "log10", loops.log10, _log_base(10.0),
    lambda grad, self: grad / (conj(self) * _LN10), ("100.", "2."),
)  # fmt: skip
_function(
    "log1p", loops.log1p, _log1p_complex, lambda grad, self: grad / conj(self + 1), ("0.", "0.")
)
_function("sqrt", loops.sqrt, np.sqrt, lambda grad, result: grad / (2 * conj(result)), ("9.", "3."))
_function(
    "rsqrt", loops.rsqrt, lambda x: 1 / np.sqrt(x),
    lambda grad, result: -0.5 * grad * conj(result.pow(3)), ("4.", "0.5000"),
)  # fmt: skip
_function(
    "sin", loops.joined((loops.sin, "efd"), (np.sin, "FD")), np.sin,
    lambda grad, self: grad * conj(self.cos()), ("0.", "0."),
)  # fmt: skip
_function(
    "cos", loops.joined((loops.cos, "efd"), (np.cos, "FD")), np.cos,
    lambda grad, self: grad * -conj(self.sin()), ("0.", "1."),
)  # fmt: skip
_function(
    "tan", loops.tan, np.tan, lambda grad, result: grad * conj(1 + result.square()), ("0.", "0.")
)
_function(
    "asin", loops.asin, np.arcsin,
    lambda grad, self: grad * conj((-self * self + 1).rsqrt()), ("1.", "1.5708"), "arcsin",
)  # fmt: skip
_function(
    "acos", loops.acos, np.arccos,
    lambda grad, self: grad * -conj((-self * self + 1).rsqrt()), ("1.", "0."), "arccos",
)  # fmt: skip
_function(
    "atan", loops.atan, np.arctan,
    lambda grad, self: grad / conj(self * self + 1), ("1.", "0.7854"), "arctan",
)  # fmt: skip
_function("sinh", loops.sinh, np.sinh, lambda grad, self: grad * conj(self.cosh()), ("0.", "0."))
_function("cosh", loops.cosh, np.cosh, lambda grad, self: grad * conj(self.sinh()), ("0.", "1."))
_function(
    "tanh", loops.tanh, np.tanh,
    lambda grad, result: ops._tanh_backward(grad, result), ("0.", "0."),
)  # fmt: skip
_function(
    "asinh", loops.asinh, np.arcsinh,
    lambda grad, self: grad * conj((self.square() + 1).rsqrt()), ("0.", "0."), "arcsinh",
)  # fmt: skip


def _acosh_slope(self):
    last = (self - 1).rsqrt()
    return (self + 1).rsqrt() * last


_function(
    "acosh", loops.acosh, np.arccosh,
    lambda grad, self: grad * (
        conj(_acosh_slope(self)) if self.is_complex()
        else (self * self - 1).rsqrt()
    ), ("1.", "0."),
    "arccosh",
)  # fmt: skip
_function(
    "atanh", loops.atanh, np.arctanh,
    lambda grad, self: grad * 1 / conj(ops.sub(1, self.square())), ("0.", "0."), "arctanh",
)  # fmt: skip
_function(
    "erf", loops.erf, None,
    lambda grad, self: (2 / math.sqrt(math.pi)) * ops.exp(-self.square()) * grad, ("0.", "0."),
)  # fmt: skip
_function(
    "sigmoid", loops.sigmoid, lambda x: 1 / (1 + np.exp(-x)),
    lambda grad, result: ops._sigmoid_backward(grad, result), ("0.", "0.5000"),
)  # fmt: skip
op(
    "reciprocal(Tensor self) -> Tensor",
    ufunc(loops.reciprocal, ints="float", fallback=by_numpy(lambda x: 1 / x)),
    derivative={"self": lambda grad, result: -grad * conj(result * result)},
    variants=_ALL,
    doc="""Return 1 divided by every element.

>>> imode.reciprocal(imode.tensor([2., 4.]))
tensor([0.5000, 0.2500])
""",
)

# ---- erfc, logit, sinc --------------------------------------------------------------------------


op(
    "erfc(Tensor self) -> Tensor",
    ufunc(loops.erfc, ints="float", fallback=refusing("erfc_vml_cpu")),
    derivative={
        "self": lambda grad, self: (-2 / math.sqrt(math.pi)) * ops.exp(-self.square()) * grad
    },
    variants=_ALL,
    doc="""Return ``1 - erf`` of every element, accurate where that is small.

>>> imode.erfc(imode.tensor([0.]))
tensor([1.])
""",
)


def _logit(self, eps):
    dtype = result_type(self.dtype, floating=True)
    self = cast(self, dtype)
    if dtype.kind == "c":
        raise errors.dtypes.not_implemented("logit_cpu", dtype)
    if eps is not None:
        low, high = cast(number_as(eps, dtype), dtype), cast(number_as(1 - eps, dtype), dtype)
        with np.errstate(invalid="ignore"):
            if low <= high:
                self = loops.clamp(self, low, high)
            else:
                self = np.where(self < low, low, np.where(self > high, high, self)).astype(dtype)
    with np.errstate(all="ignore"):
        return loops.logit(self)


def _logit_backward(grad, self, eps):
    if not is_grad_enabled():  # one loop, where nothing asks for its derivative
        return ops._logit_backward(grad, self, -1 if eps is None else eps)
    low, high, outside = (0, 1, math.nan) if eps is None else (eps, 1 - eps, 0.0)
    slope = grad / (self * ops.sub(1, self))
    return ops.where((self >= low) & (self <= high), slope, outside)


op(
    "_logit_backward(Tensor grad_output, Tensor self, Scalar eps) -> Tensor",
    ufunc(loops.logit_backward, fallback=loops.logit_backward),
    differentiable=False,
)
op(
    "logit(Tensor self, float? eps=None) -> Tensor",
    ufunc(loops.logit, ints="float", fallback=_logit),
    derivative={"self": _logit_backward},
    variants=_ALL,
    doc="""Return ``log(x / (1 - x))``, elements moved into [eps, 1 - eps] if given.

>>> imode.logit(imode.tensor([0.5]))
tensor([0.])
""",
)


def _sinc_complex(self):
    x = self * self.dtype.type(np.pi)
    result = np.asarray(np.sin(x) / x)
    np.copyto(result, 1, where=x == 0)
    return result


def _sinc_backward(grad, self):
    x = self * math.pi
    sine = x.sin()  # before the cosine: gradients of both are added in PyTorch's order
    slope = (x * x.cos() - sine) / (self * self * math.pi)
    return ops.where(self == 0, 0, grad * conj(slope))


op(
    "sinc(Tensor self) -> Tensor",
    ufunc(loops.sinc, ints="float", fallback=by_numpy(_sinc_complex)),
    derivative={"self": _sinc_backward},
    variants=_ALL,
    doc="""Return ``sin(pi x) / (pi x)``, and 1 at 0.

>>> imode.sinc(imode.tensor([0.]))
tensor([1.])
""",
)

# ---- degrees and radians ------------------------------------------------------------------------


def _scaled(name, factor, example):
    def refuse(self):
        if self.dtype.kind == "c":
            raise RuntimeError(f"{name} is not supported for complex tensors.")

    op(
        f"{name}(Tensor self) -> Tensor",
        ufunc(getattr(loops, name), ints="float", fallback=refuse, precheck=refuse, layout="like"),
        derivative={"self": lambda grad: grad * factor},
        variants=_ALL,
        doc=f"""Return the angles in the other unit ({name}).

>>> imode.{name}(imode.tensor([{example[0]}]))
tensor([{example[1]}])
""",
    )


_scaled("deg2rad", math.pi / 180, ("180.", "3.1416"))
_scaled("rad2deg", 180 / math.pi, ("0.", "0."))
