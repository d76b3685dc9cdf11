"""Functions of two operands: atan2, hypot, logaddexp, xlogy, copysign, heaviside, gcd, ldexp."""

import math
from functools import partial

import numpy as np

from imode import errors, ops
from imode._core.dtype import bfloat16, from_numpy_dtype
from imode._core.layout import empty_like
from imode._core.promotion import result_type
from imode._core.tensor import Tensor
from imode._core.type_names import scalar_name
from imode.kernels.pointwise import loops
from imode.kernels.pointwise.frexp_fast import frexp
from imode.ops.pointwise.common import (
    by_numpy,
    common,
    no_derivative,
    refusing,
    zeros_in_rows,
)
from imode.ops.schema import Out, alias, conj, op, ufunc

_ALL = "function method inplace out"
_BOOL = from_numpy_dtype(np.dtype(np.bool_))


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
        ufunc(loops.atan2, ints="float", fallback=refusing("atan2_cpu")),
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
op(
    "logaddexp2(Tensor self, Tensor other) -> Tensor",
    ufunc(loops.logaddexp2, fallback=refusing("logaddexp2_cpu")),
    derivative={
        "self": lambda grad, self, other: grad / (1 + ops.pow(2, other - self)),
        "other": lambda grad, self, other: grad / (1 + ops.pow(2, self - other)),
    },
    variants="function method out",
    doc="""Return ``log2(2 ** self + 2 ** other)`` without overflow.

>>> imode.logaddexp2(imode.tensor([0.]), imode.tensor([0.]))
tensor([1.])
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
        ufunc(loops.copysign, ints="float", fallback=refusing("copysign_cpu")),
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


# ---- a step, the next number --------------------------------------------------------------------


def _refuse_heaviside(self, values):
    if self.dtype.kind == "c" or values.dtype.kind == "c":
        raise RuntimeError(_COMPLEX)
    if self.dtype != values.dtype:
        raise RuntimeError(_DIFFERENT)


def _heaviside(self, values):
    _refuse_heaviside(self, values)
    return self | values  # bools: whatever the step is at 0, it is 1 above


_COMPLEX = "heaviside is not yet implemented for complex tensors."
_DIFFERENT = "heaviside is not yet implemented for tensors with different dtypes."
op(
    "heaviside(Tensor self, Tensor values) -> Tensor",
    ufunc(loops.heaviside, ints="alike", fallback=_heaviside, precheck=_refuse_heaviside),
    out=Out("same", lambda wanted, found: _COMPLEX if found.is_complex else _DIFFERENT),
    derivative=dict.fromkeys(("self", "values"), no_derivative("heaviside")),
    inplace_derivative=dict.fromkeys(("self", "values"), no_derivative("heaviside_")),
    name="torch::autograd::NotImplemented",
    variants=_ALL,
    doc="""Return 0 where `self` is negative, 1 where it is positive, and `values` where it is 0.

>>> imode.heaviside(imode.tensor([-1., 0., 1.]), imode.tensor([0.5]))
tensor([0.0000, 0.5000, 1.0000])
""",
)


def _nextafter(self, other):
    if self.dtype != bfloat16 and other.dtype != bfloat16:
        raise errors.dtypes.not_implemented("nextafter_cpu", result_type(self, other))
    x, y = np.broadcast_arrays(self.astype(bfloat16), other.astype(bfloat16))
    bits, goal = x.view(np.int16), y.view(np.int16)
    x, y = x.astype(np.float32), y.astype(np.float32)
    away = (y > x) == (x > 0)
    moved = np.where(away, bits + np.int16(1), bits - np.int16(1))
    moved = np.where(x == 0, goal & np.int16(-0x8000) | np.int16(1), moved)
    moved = np.where(np.isnan(x) | np.isnan(y), np.int16(0x7FC0), moved)
    return np.where(x == y, goal, moved).view(bfloat16)


op(
    "nextafter(Tensor self, Tensor other) -> Tensor",
    ufunc(loops.nextafter, fallback=_nextafter),
    derivative={
        "self": lambda grad, self, other: ops.where(self == other, 0, grad),
        "other": zeros_in_rows,
    },
    variants=_ALL,
    doc="""Return the next number after `self` in the direction of `other`.

>>> imode.nextafter(imode.tensor([1.]), imode.tensor([2.])) > 1
tensor([True])
""",
)

# ---- divisors and powers of two -----------------------------------------------------------------


def _of_integers(name, function, example, what):
    op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        ufunc(loops.select(function, "bBhil"), fallback=refusing(f"{name}_cpu")),
        differentiable=False,
        variants=_ALL,
        doc=f"""Return the {what} of integers; other dtypes raise NotImplementedError.

>>> imode.{name}(imode.tensor([12]), imode.tensor([18]))
tensor([{example}])
""",
    )


_of_integers("gcd", np.gcd, "6", "greatest common divisor")
_of_integers("lcm", np.lcm, "36", "least common multiple")


def _refuse_bool(self, other):
    if other.dtype is _BOOL and self.dtype.is_floating_point:
        raise NotImplementedError("\"ldexp_cpu_exp\" not implemented for 'Bool'")


def _refuse_ldexp(self, other):
    if self.dtype.kind in "biu":  # in place
        kind = scalar_name(self.dtype)
        raise RuntimeError(f"ldexp can't be cast to the desired output type {kind}")


@by_numpy
def _ldexp_complex(self, other):
    return np.asarray(self * np.power(self.dtype.type(2), other))


_LDEXP = partial(ufunc, loops.ldexp, ints="float", fallback=_ldexp_complex, guard=_refuse_bool)
op(
    "ldexp(Tensor self, Tensor other) -> Tensor",
    _LDEXP(),
    out=Out(says="ldexp can't be cast to the desired output type {Found}"),
    inplace_kernel=_LDEXP(precheck=_refuse_ldexp),
    derivative={
        "self": lambda grad, other: grad * conj(ops.pow(2.0, other)),
        "other": lambda grad, result: grad * conj(result) * math.log(2),
    },
    variants=_ALL,
    doc="""Return ``self * 2 ** other``, of integers in the default float dtype.

>>> imode.ldexp(imode.tensor([1., 3.]), imode.tensor([2, -1]))
tensor([4.0000, 1.5000])
""",
)


_FREXP = (
    "torch.frexp() expects mantissa to have dtype {wanted} but got {found}",
    "torch.frexp() expects exponent to have int dtype but got {found}",
)


@op(
    "frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    fast=frexp,
    out=Out("same", _FREXP),
    derivative={"self": lambda grad, exponent: grad / ops.exp2(exponent).to(grad.dtype)},
    variants="function method out",
    floats_only=True,
)
def _frexp(self):
    """Return mantissas in [0.5, 1) and exponents, int32: ``mantissa * 2 ** exponent``.

    Raises RuntimeError for other numbers than floats.

    >>> imode.frexp(imode.tensor([6.0]))
    imode.return_types.frexp(
    mantissa=tensor([0.7500]),
    exponent=tensor([3], dtype=imode.int32))
    """
    if self.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = empty_like(self), empty_like(self, np.dtype(np.int32))
    np.frexp(self, mantissa, exponent)
    return mantissa, exponent
