"""Functions of two operands: atan2, hypot, logaddexp, xlogy, copysign."""

import numpy as np

from imode import errors, ops
from imode._core.tensor import Tensor
from imode.kernels.pointwise import loops
from imode.ops.pointwise.common import FLOATS, common, refusing, zeros_in_rows
from imode.ops.schema import alias, conj, op, ufunc

_ALL = "function method inplace out"


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
