"""Functions: neg, abs, exp, log, sin, tanh, erf, floor, ... of one operand; atan2, ... of two."""

import math

import numpy as np

from imode import errors, ops
from imode._core.dispatch import is_grad_enabled
from imode._core.layout import empty_like
from imode._core.numbers import number_as
from imode._core.promotion import result_type
from imode._core.tensor import Tensor
from imode.kernels.pointwise import loops
from imode.ops.indexing.inplace_first import copied
from imode.ops.pointwise.common import (
    FLOATS,
    OF_ITS_DTYPE,
    by_numpy,
    cast,
    common,
    refusing,
    zeros,
    zeros_in_rows,
)
from imode.ops.schema import Out, alias, composite, conj, op, ufunc

_ALL = "function method inplace out"
_LN2, _LN10 = math.log(2.0), math.log(10.0)


# ---- sign and magnitude -------------------------------------------------------------------------


def _refuse_neg(self):
    raise errors.dtypes.bool_minus("Negation, the `-` operator, on")


def _as_it_is(self):
    """A copy laid out as a pointwise result: in row order where there are no elements."""
    return copied(self, keep_order=self.size > 0)


def _refuse_sign(self):
    if self.dtype.kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. "
            "Please use torch.sgn instead."
        )


def _sign(self):
    _refuse_sign(self)
    return _as_it_is(self)


def _sgn_backward(grad, self, result):
    if not self.is_complex():
        return zeros_in_rows(grad)
    size = self.abs()
    return ((grad - result * result * conj(grad)) / (2 * size)).masked_fill_(size == 0, 0)


alias(
    "negative",
    op(
        "neg(Tensor self) -> Tensor",
        ufunc(loops.negative, ints="nobool", fallback=_refuse_neg),
        out=OF_ITS_DTYPE,
        derivative={"self": lambda grad: -grad},
        variants=_ALL,
        doc="""Return the negative of every element; bool raises.

>>> imode.neg(imode.tensor([1, -2]))
tensor([-1,  2])
""",
    ),
)


@composite("positive(Tensor self) -> Tensor")
def positive(self):
    """Return the tensor itself; bool raises.

    >>> imode.positive(imode.tensor([1, -2]))
    tensor([ 1, -2])
    """
    if self.dtype.name == "bool":
        raise errors.dtypes.bool_plus()
    return self


_ABS = op(
    "abs(Tensor self) -> Tensor",
    ufunc(loops.select(np.absolute, "bBhilefdFD"), fallback=refusing("abs_cpu")),
    out=Out("same", errors.out.FOUND, layout="complex rows"),
    derivative={"self": lambda grad, self: grad * self.sgn()},
    variants=_ALL,
    doc="""Return the absolute value; of complex numbers a real tensor.

>>> imode.abs(imode.tensor([1, -2]))
tensor([1, 2])
""",
)
alias("absolute", _ABS)
op(
    "sign(Tensor self) -> Tensor",
    ufunc(loops.sign, fallback=_sign, precheck=_refuse_sign),
    out=OF_ITS_DTYPE,
    derivative={"self": zeros},
    variants=_ALL,
    doc="""Return -1, 0 or 1 by the sign of every element; complex numbers raise (see `sgn`).

>>> imode.sign(imode.tensor([-2., 0., 3.]))
tensor([-1.,  0.,  1.])
""",
)
op(
    "sgn(Tensor self) -> Tensor",
    ufunc(loops.joined(loops.sgn_complex, loops.sign), fallback=copied),
    out=OF_ITS_DTYPE,
    derivative={"self": _sgn_backward},
    variants=_ALL,
    doc="""Return the sign; of a complex number the one of absolute value 1 in its direction.

>>> imode.sgn(imode.tensor([3 + 4j]))
tensor([0.6000+0.8000j])
""",
)
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

# ---- rounding -----------------------------------------------------------------------------------


def _rounding(name, function, example):
    def refuse(self):
        if self.dtype.kind == "c":
            raise NotImplementedError(f"{name} is not supported for complex inputs")

    def fallback(self):
        refuse(self)
        if self.dtype == np.bool_:
            raise errors.dtypes.not_implemented(f"{name}_vml_cpu", self.dtype)
        return _as_it_is(self)

    return op(
        f"{name}(Tensor self) -> Tensor",
        ufunc(loops.select(function, FLOATS), fallback=fallback, precheck=refuse),
        out=OF_ITS_DTYPE,
        derivative={"self": zeros},
        variants=_ALL,
        doc=f"""Return every element rounded ({name}); integers as they are.

>>> imode.{name}(imode.tensor([-1.5, 2.7]))
{example}
""",
    )


_rounding("floor", np.floor, "tensor([-2.,  2.])")
_rounding("ceil", np.ceil, "tensor([-1.,  3.])")
alias("fix", _rounding("trunc", np.trunc, "tensor([-1.,  2.])"))


def _round(self, decimals=None):
    if self.dtype.kind in "iu" and decimals is None:
        return _as_it_is(self)
    if self.dtype.kind in "iubc":
        raise errors.dtypes.not_implemented(
            "round_cpu" if decimals else "round_vml_cpu", self.dtype
        )
    decimals = decimals or 0
    wide = self.astype(np.float32) if self.dtype == np.float16 else self
    with np.errstate(all="ignore"):
        scale = wide.dtype.type(np.float64(10) ** abs(decimals))  # may be infinite
        if decimals < 0:
            return (np.rint(wide / scale) * scale).astype(self.dtype)
        return (np.rint(wide * scale) / scale).astype(self.dtype)


for _overload, _decimals, _number in (("", "", 0), (".decimals", ", *, int decimals", 1)):
    op(
        f"round{_overload}(Tensor self{_decimals}) -> Tensor",
        ufunc(loops.select(np.rint, FLOATS), fallback=_round),
        out=OF_ITS_DTYPE,
        derivative={"self": zeros},
        name=f"RoundBackward{_number}",
        variants=_ALL,
        doc="""Return every element rounded, to `decimals` places; halves to the even neighbour.

>>> imode.round(imode.tensor([0.5, 1.5, 2.25]))
tensor([0., 2., 2.])
""",
    )


def _frac(self):
    if self.dtype.kind != "f":
        raise errors.dtypes.not_implemented("frac_cpu", self.dtype)
    with np.errstate(all="ignore"):
        return self - np.trunc(self)


op(
    "frac(Tensor self) -> Tensor",
    ufunc(loops.frac, fallback=_frac),
    out=OF_ITS_DTYPE,
    derivative={"self": lambda grad: grad},
    variants=_ALL,
    doc="""Return the part behind the point, with the sign of the element.

>>> imode.frac(imode.tensor([1.5, -2.5]))
tensor([ 0.5000, -0.5000])
""",
)

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
    "exp2", loops.select(np.exp2, FLOATS), _exp2_complex,
    lambda grad, result: grad * conj(result) * _LN2, ("3.", "8."),
)  # fmt: skip
_function(
    "expm1", loops.expm1, np.expm1, lambda grad, result: grad * (conj(result) + 1), ("0.", "0.")
)
_function("log", loops.log, np.log, lambda grad, self: grad / conj(self), ("1.", "0."))
_function(
    "log2", loops.select(np.log2, FLOATS), _log_base(2.0),
    lambda grad, self: grad / (conj(self) * _LN2), ("8.", "3."),
)  # fmt: skip
_function(
    "log10", loops.log10, _log_base(10.0),
    lambda grad, self: grad / (conj(self) * _LN10), ("100.", "2."),
)  # fmt: skip
_function(
    "log1p", loops.log1p, _log1p_complex, lambda grad, self: grad / conj(self + 1), ("0.", "0.")
)
_function("sqrt", np.sqrt, np.sqrt, lambda grad, result: grad / (2 * conj(result)), ("9.", "3."))
_function(
    "rsqrt", loops.rsqrt, lambda x: 1 / np.sqrt(x),
    lambda grad, result: -0.5 * grad * conj(result.pow(3)), ("4.", "0.5000"),
)  # fmt: skip
_function("sin", np.sin, np.sin, lambda grad, self: grad * conj(self.cos()), ("0.", "0."))
_function("cos", np.cos, np.cos, lambda grad, self: grad * -conj(self.sin()), ("0.", "1."))
_function(
    "tan", np.tan, np.tan, lambda grad, result: grad * conj(1 + result.square()), ("0.", "0.")
)
_function(
    "asin", np.arcsin, np.arcsin,
    lambda grad, self: grad * conj((-self * self + 1).rsqrt()), ("1.", "1.5708"), "arcsin",
)  # fmt: skip
_function(
    "acos", np.arccos, np.arccos,
    lambda grad, self: grad * -conj((-self * self + 1).rsqrt()), ("1.", "0."), "arccos",
)  # fmt: skip
_function(
    "atan", np.arctan, np.arctan,
    lambda grad, self: grad / conj(self * self + 1), ("1.", "0.7854"), "arctan",
)  # fmt: skip
_function("sinh", np.sinh, np.sinh, lambda grad, self: grad * conj(self.cosh()), ("0.", "0."))
_function("cosh", np.cosh, np.cosh, lambda grad, self: grad * conj(self.sinh()), ("0.", "1."))
_function(
    "tanh", loops.tanh, np.tanh,
    lambda grad, result: ops._tanh_backward(grad, result), ("0.", "0."),
)  # fmt: skip
_function(
    "asinh", np.arcsinh, np.arcsinh,
    lambda grad, self: grad * conj((self.square() + 1).rsqrt()), ("0.", "0."), "arcsinh",
)  # fmt: skip


def _acosh_slope(self):
    last = (self - 1).rsqrt()
    return (self + 1).rsqrt() * last


_function(
    "acosh", np.arccosh, np.arccosh,
    lambda grad, self: grad * (
        conj(_acosh_slope(self)) if self.is_complex()
        else (self * self - 1).rsqrt()
    ), ("1.", "0."),
    "arccosh",
)  # fmt: skip
_function(
    "atanh", np.arctanh, np.arctanh,
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

# ---- complex numbers ----------------------------------------------------------------------------


def _angle_backward(grad, self):
    if not self.is_complex():
        return zeros(self)
    square = self.abs().square()
    return ops.where(self == 0, 0, grad * self / square * 1j)


op(
    "angle(Tensor self) -> Tensor",
    ufunc(loops.angle, ints="float", layout="parts"),
    derivative={"self": _angle_backward},
    variants="function method out",
    doc="""Return the angle of every complex number; 0 or pi for real ones.

>>> imode.angle(imode.tensor([1j]))
tensor([1.5708])
""",
)

# ---- functions of two operands -------------------------------------------------------------------


def _atan2_backward(grad, self, other, needs):
    scale = (self * self + other * other).reciprocal()
    scale = scale.masked_fill(scale.isinf(), 0.0)
    return (
        grad * other * scale if needs[0] else None,
        grad * -self * scale if needs[1] else None,
    )


alias(
    "arctan2",
    op(
        "atan2(Tensor self, Tensor other) -> Tensor",
        ufunc(loops.select(np.arctan2, FLOATS), ints="float", fallback=refusing("atan2_cpu")),
        derivative={("self", "other"): _atan2_backward},
        variants=_ALL,
        doc="""Return the angle of the point (other, self), in (-pi, pi].

>>> imode.atan2(imode.tensor([1.]), imode.tensor([1.]))
tensor([0.7854])
""",
    ),
)
op(
    "hypot(Tensor self, Tensor other) -> Tensor",
    ufunc(loops.hypot, fallback=refusing("hypot_cpu")),
    derivative={
        "self": lambda grad, self, result: grad * self / result,
        "other": lambda grad, other, result: grad * other / result,
    },
    variants=_ALL,
    doc="""Return the length of the hypotenuse, ``sqrt(self**2 + other**2)``.

>>> imode.hypot(imode.tensor([3.]), imode.tensor([4.]))
tensor([5.])
""",
)


@np.errstate(all="ignore")
def _logaddexp(self, other):
    self, other = common(self, other)
    if self.dtype.kind != "c":
        raise errors.dtypes.not_implemented("logaddexp_cpu", self.dtype)
    less = self.real < other.real
    low, high = np.where(less, self, other), np.where(less, other, self)
    result = np.log1p(np.exp(low - high)) + high
    both = (low.real == high.real) & ~np.isfinite(low.real)  # their difference is NaN
    result = np.where(both, np.where(low.real < 0, low, np.log(np.exp(low) + np.exp(high))), result)
    return np.where(np.isnan(self) | np.isnan(other), complex(np.nan, np.nan), result).astype(
        self.dtype
    )


op(
    "logaddexp(Tensor self, Tensor other) -> Tensor",
    ufunc(loops.logaddexp, fallback=_logaddexp),
    derivative={
        "self": lambda grad, self, other: grad / conj(1 + ops.exp(other - self)),
        "other": lambda grad, self, other: grad / conj(1 + ops.exp(self - other)),
    },
    variants="function method out",
    doc="""Return ``log(exp(self) + exp(other))`` without overflow.

>>> imode.logaddexp(imode.tensor([0.]), imode.tensor([0.]))
tensor([0.6931])
""",
)


def _xlogy_self(grad, self, other):
    slope = ops.xlogy(grad, other)
    if not isinstance(other, Tensor) and other > 0:
        return slope
    return slope.masked_fill((self == 0) & (other <= 0), 0)


def _xlogy(overload, schema, number, inputs, variants):
    formulas = {
        "self": _xlogy_self,
        "other": lambda grad, self, other: grad * self / other,
    }
    op(
        f"xlogy{overload}({schema}) -> Tensor",
        ufunc(loops.xlogy, ints="float", fallback=refusing("xlogy_cpu")),
        derivative={name: formulas[name] for name in inputs},
        name=f"XlogyBackward{number}",
        variants=variants,
        doc="""Return ``self * log(other)``, and 0 where `self` is 0 (NaN where `other` is).

>>> imode.xlogy(imode.tensor([0., 1.]), imode.tensor([0., 1.]))
tensor([0., 0.])
""",
    )


_xlogy(".Tensor", "Tensor self, Tensor other", 0, ("self", "other"), _ALL)
_xlogy(".Scalar_Self", "Scalar self, Tensor other", 1, ("other",), "function out")
_xlogy(".Scalar_Other", "Tensor self, Scalar other", 2, ("self",), _ALL)
for _overload, _other, _number in ((".Tensor", "Tensor", 0), ("", "Scalar", 1)):
    op(
        f"copysign{_overload}(Tensor self, {_other} other) -> Tensor",
        ufunc(loops.select(np.copysign, FLOATS), ints="float", fallback=refusing("copysign_cpu")),
        derivative={
            "self": lambda grad, self, result: grad * (result / self).masked_fill_(self == 0, 0),
            **({} if _number else {"other": zeros_in_rows}),
        },
        name=f"CopysignBackward{_number}",
        variants=_ALL,
        doc="""Return the magnitude of `self` with the sign of `other`.

>>> imode.copysign(imode.tensor([1., -2.]), -0.0)
tensor([-1., -2.])
""",
    )
