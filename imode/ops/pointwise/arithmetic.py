"""Arithmetic of two or more operands: add, mul, div, remainder, lerp, ..."""

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.loops import in_layout
from imode._core.numbers import number_as, scalar_as
from imode._core.parallel import skipping
from imode._core.promotion import result_type
from imode._core.type_names import c_name
from imode.kernels.creation.copy import as_half
from imode.kernels.pointwise import loops
from imode.ops.pointwise.common import (
    FLOATS,
    OF_ITS_DTYPE,
    REAL,
    cast,
    check_scale,
    check_sub,
    common,
    no_derivative,
    zeros,
)
from imode.ops.schema import Out, alias, conj, op, ufunc

_ALL = "function method inplace out"

# ---- add, sub, rsub, mul ------------------------------------------------------------------------


def _check_alpha(self, other, alpha):
    broadcast_shape(self.shape, other.shape)
    check_scale(self.dtype, "alpha", alpha)
    if isinstance(alpha, complex) and self.dtype.kind != "c":
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )


def _add(self, other, alpha):
    self, other = common(self, other)
    _check_alpha(self, other, alpha)
    with np.errstate(all="ignore"):
        return np.add(self, np.multiply(other, cast(number_as(alpha, self.dtype), self.dtype)))


def _sub(self, other, alpha):
    check_sub(self, other)
    self, other = common(self, other)
    _check_alpha(self, other, alpha)
    with np.errstate(all="ignore"):
        factor = cast(number_as(-alpha, self.dtype), self.dtype)  # PyTorch adds, times -alpha
        return np.add(self, np.multiply(other, factor))


def _negated(grad, alpha):
    return -grad if alpha == 1 else -grad * conj(alpha)


op(
    "add(Tensor|Scalar self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
    ufunc(
        loops.joined((loops.add_complex, "FD"), (np.add, REAL)),
        fallback=_add,
        scaled=loops.add_scaled,
    ),
    derivative={
        "self": lambda grad: grad,
        "other": lambda grad, alpha: grad if alpha == 1 else grad * conj(alpha),
    },
    number="AddBackward1",
    variants=_ALL,
    older="self alpha other",
    doc="""Return ``self + alpha * other``, broadcast and promoted.

>>> imode.add(imode.tensor([1, 2]), imode.tensor([10, 20]), alpha=2)
tensor([21, 42])
""",
)
alias(
    "subtract",
    op(
        "sub(Tensor|Scalar self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
        ufunc(
            loops.joined((loops.sub_complex, "FD"), (np.subtract, REAL)),
            ints="nobool",
            fallback=_sub,
            scaled=loops.sub_scaled,
        ),
        derivative={
            "self": lambda grad: grad,
            "other": _negated,
        },
        number="SubBackward1",
        variants=_ALL,
        older="self alpha other",
        doc="""Return ``self - alpha * other``, broadcast and promoted; bool operands raise.

>>> imode.sub(imode.tensor([1, 2]), 1)
tensor([0, 1])
""",
    ),
    overloads="number",
)


def _rsub(overload, other, kernel, formulas, example):
    op(
        f"rsub{overload}(Tensor self, {other} other, Scalar alpha=1) -> Tensor",
        kernel,
        derivative={
            "self": _negated,
            **formulas,
        },
        name=f"RsubBackward{1 - len(formulas)}",
        doc=f"""Return ``other - alpha * self``.

>>> imode.rsub(imode.tensor([1, 2]), {example})
tensor([9, 8])
""",
    )


_sub_in_layout = in_layout(_sub)


def _from(self, other, alpha):
    return _sub(other, self, alpha)


def _from_tensor(self, other, alpha):
    check_sub(other, self)
    broadcast_shape(other.shape, self.shape)  # the error names them in this order
    return _sub_in_layout(other, self, alpha)


_rsub(".Tensor", "Tensor", _from_tensor, {"other": lambda grad: grad}, "imode.tensor([10])")
_rsub(
    "",
    "Scalar",
    ufunc(
        loops.joined((loops.rsub_complex, "FD"), (loops.rsub, REAL)), ints="nobool", fallback=_from
    ),
    {},
    "10",
)
alias(
    "multiply",
    op(
        "mul(Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
        ufunc(np.multiply, numbers="wide"),
        derivative={
            "self": lambda grad, other: grad * conj(other),
            "other": lambda grad, self: grad * conj(self),
        },
        number="MulBackward1",
        variants=_ALL,
        doc="""Return the product, broadcast and promoted.

>>> imode.mul(imode.tensor([1, 2]), 0.5)
tensor([0.5000, 1.0000])
""",
    ),
    overloads="number without out",
)

# ---- division -----------------------------------------------------------------------------------


def _division(name, overloads, doc):
    return op(
        f"{name}(Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
        ufunc(np.true_divide, ints="float", numbers="wide"),
        derivative={
            "self": lambda grad, other: grad / conj(other),
            "other": lambda grad, self, other: -grad * conj(ops.div(self, other) / other),
        },
        name="DivBackward0",
        number="DivBackward1",
        variants=_ALL,
        overloads=overloads,
        doc=doc,
        out=Out(name="div"),
    )


_DIV = _division(
    "div",
    3,
    """Return the quotient; integers divide as floats. `rounding_mode`: "trunc" or "floor".

>>> imode.div(imode.tensor([1, 7]), 2)
tensor([0.5000, 3.5000])
>>> imode.div(imode.tensor([1, -7]), 2, rounding_mode="floor")
tensor([ 0, -4])
""",
)
_division(  # which has no `rounding_mode`
    "true_divide",
    "number without out",
    """Return the quotient; integers divide as floats.

>>> imode.true_divide(imode.tensor([1, 7]), 2)
tensor([0.5000, 3.5000])
""",
)


def _whole(self, other, function, kernel):
    """Integer division: RuntimeError where an element is divided by 0, as PyTorch does."""
    self, other = common(self, other)
    if self.dtype.kind not in "iu":
        raise errors.dtypes.not_implemented(kernel, self.dtype)
    if self.size and other.size and not skipping() and not other.all():
        raise RuntimeError("ZeroDivisionError")
    with np.errstate(all="ignore"):
        return function(self, other)


_FLOOR_DIVIDE = loops.joined(
    (loops.whole_floor_divide, "l"), (np.floor_divide, "bBhi"), (loops.floor_divide, "fd")
)
_REMAINDER = loops.joined(
    (loops.whole_remainder, "l"), (np.remainder, "bBhi"), (loops.remainder, FLOATS)
)
_FMOD = loops.joined((np.fmod, "bBhil"), (loops.fmod, FLOATS))


def _trunc_divide(self, other):
    quotient = _FLOOR_DIVIDE(self, other)
    inexact = (quotient < 0) & (quotient * other != self)
    return (quotient + inexact).astype(quotient.dtype)


def _floor_divide(self, other):
    if result_type(self, other) != np.float16:
        return _whole(self, other, _FLOOR_DIVIDE, "div_floor_cpu")
    if skipping():
        return np.empty(broadcast_shape(np.shape(self), np.shape(other)), np.float16)
    with np.errstate(all="ignore"):
        if np.size(other) == 1:
            wide = cast(self, np.float32), cast(other, np.float32)
            return cast(loops.floor_divide(*wide), np.float16)
        self, other = cast(self, np.float16), cast(other, np.float16)
        if self.shape != other.shape or self.size <= _BLOCK:
            return _floor_divide_halves(self, other)
        flat, divisors = self.reshape(-1), other.reshape(-1)
        starts = range(0, self.size, _BLOCK)
        parts = (slice(start, start + _BLOCK) for start in starts)
        found = [_floor_divide_halves(flat[part], divisors[part]) for part in parts]
        return np.concatenate(found).reshape(self.shape)


_BLOCK = 16384  # elements whose steps stay in the cache


def _floor_divide_halves(self, other):
    """As PyTorch by many divisors: each step is rounded to float16."""
    where = loops.where
    self, other = cast(self, np.float32), cast(other, np.float32)
    left, exact = loops.fmod(self, other), self / other
    quotient = as_half(as_half(self - left) / other)
    below = (left != 0) & ((left < 0) != (other < 0))
    quotient = where(below, as_half(quotient - 1), quotient)
    whole = np.floor(quotient)
    whole = where(quotient - whole > 0.5, as_half(whole + 1), whole)
    whole = where(quotient == 0, np.copysign(0 * whole, exact), whole)
    return cast(where(other == 0, exact, whole), np.float16)


def _refuse_mode(self, other, rounding_mode):
    if rounding_mode not in ("trunc", "floor", None):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    # The quotient of integers is of floats, which is what a written-to tensor may not take.
    whole = rounding_mode is None and result_type(self, other).kind in "biu"
    return _quotient(self, other) if whole else None


def _quotient(self, other):
    dtype = result_type(self, other, floating=True)
    wide = np.float32 if dtype == np.float16 else dtype  # the number that halves are divided by
    with np.errstate(all="ignore"):
        return cast(np.true_divide(cast(cast(self, dtype), wide), cast(other, wide)), dtype)


def _div_mode(self, other, rounding_mode):
    _refuse_mode(self, other, rounding_mode)
    if rounding_mode is None:
        return _quotient(self, other)
    dtype = result_type(self, other)
    if rounding_mode == "floor" and (dtype.kind != "f" or dtype == np.float16):
        return _floor_divide(self, other)
    if dtype.kind != "f":
        return _whole(self, other, _trunc_divide, "div_trunc_cpu")
    wide = np.float32 if dtype == np.float16 else dtype
    self, other = cast(self, wide), cast(other, wide)
    with np.errstate(all="ignore"):
        if rounding_mode == "floor":
            result = loops.floor_divide(self, other)
        elif dtype == wide:
            result = loops.trunc_divide(self, other)
        else:  # of many halves PyTorch rounds the quotient before it cuts it off
            quotient = self / other
            result = np.trunc(quotient if other.size == 1 else cast(quotient, dtype))
        return cast(result, dtype)


def _rounded(grad, formula, rounding_mode):
    return zeros(grad) if rounding_mode is not None else formula()


op(
    "div.mode(Tensor|Scalar self, Tensor|Scalar other, *, str? rounding_mode) -> Tensor",
    ufunc(loops.select(np.true_divide, "fd"), fallback=_div_mode, precheck=_refuse_mode),
    derivative={
        "self": lambda grad, other, rounding_mode: _rounded(
            grad, lambda: grad / conj(other), rounding_mode
        ),
        "other": lambda grad, self, other, rounding_mode: _rounded(
            grad, lambda: -grad * conj((self / other) / other), rounding_mode
        ),
    },
    name="DivBackward2",
    variants=_ALL,
    doc="""Return the quotient, rounded toward zero ("trunc"), down ("floor") or not (None).

>>> imode.div(imode.tensor([7, -7]), 2, rounding_mode="trunc")
tensor([ 3, -3])
""",
)
alias("divide", _DIV, overloads="number")


op(
    "floor_divide(Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
    ufunc(_FLOOR_DIVIDE, ints="divided", fallback=_floor_divide),
    derivative=dict.fromkeys(("self", "other"), no_derivative("floor_divide")),
    inplace_derivative=dict.fromkeys(("self", "other"), no_derivative("floor_divide_")),
    name="torch::autograd::NotImplemented",
    variants=_ALL,
    overloads="number without out",
    doc="""Return the quotient rounded down; integers divided by zero raise RuntimeError.

>>> imode.floor_divide(imode.tensor([7, -7]), 2)
tensor([ 3, -4])
""",
)


def _remainder(self, other):
    return _whole(self, other, _REMAINDER, "remainder_cpu")


def _fmod(self, other):
    return _whole(self, other, np.fmod, "fmod_cpu")


def _division_rest(name, function, fallback, mode, example):
    """remainder or fmod: by a tensor, and by a number, which has no gradient."""
    kernel = ufunc(function, ints="divided", fallback=fallback)
    to_other = {"other": lambda grad, self, other: -grad * ops.div(self, other, rounding_mode=mode)}
    op(
        f"{name}.Tensor(Tensor self, Tensor other) -> Tensor",
        kernel,
        derivative={"self": lambda grad: grad, **to_other},
        name=f"{name.capitalize()}Backward1",
        variants=_ALL,
        doc=f"""Return what is left of a division whose quotient is rounded ({mode}).

>>> imode.{name}(imode.tensor([7, -7]), imode.tensor([3]))
{example}
""",
    )
    op(
        f"{name}(Tensor self, Scalar other) -> Tensor",
        kernel,
        derivative={"self": lambda grad: grad},
        variants=_ALL,
        doc=f"""Return what is left of a division by a number, whose quotient is rounded ({mode}).

>>> imode.{name}(imode.tensor([7, -7]), 3)
{example}
""",
    )


_division_rest("remainder", _REMAINDER, _remainder, "floor", "tensor([1, 2])")
op(
    "remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
    ufunc(_REMAINDER, ints="divided", fallback=_remainder),
    derivative={"other": no_derivative("remainder")},
    name="torch::autograd::NotImplemented",
    variants="function",
    doc="""Return what is left of a number divided by every element, rounded down.

>>> imode.remainder(7, imode.tensor([4, -4]))
tensor([ 3, -1])
""",
)
_division_rest("fmod", _FMOD, _fmod, "trunc", "tensor([ 1, -1])")

# ---- lerp, addcmul, addcdiv ---------------------------------------------------------------------


def _refuse_lerp(self, end, weight):
    """Operands that differ in dtype, but for a weight without dimensions."""
    free = isinstance(weight, np.ndarray) and weight.ndim == 0 and end.dtype == self.dtype
    for name, operand in (("end", end), ("weight", weight)):
        if isinstance(operand, np.ndarray) and operand.dtype != self.dtype and not free:
            raise RuntimeError(
                f"expected dtype {c_name(self.dtype)} for `{name}` but got dtype "
                f"{c_name(operand.dtype)}"
            )


def _lerp(self, end, weight):
    _refuse_lerp(self, end, weight)
    if not isinstance(weight, np.ndarray):
        raise errors.dtypes.not_implemented("lerp_kernel_scalar", self.dtype)
    operands = common(self, end, weight)
    if operands[0].dtype.kind not in "fc":
        raise errors.dtypes.not_implemented("lerp_kernel_tensor", operands[0].dtype)
    with np.errstate(all="ignore"):
        return loops.lerp(*operands)


op(
    "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    ufunc(loops.lerp, ints="alike", fallback=_lerp, precheck=_refuse_lerp),
    out=OF_ITS_DTYPE,
    derivative={
        "self": lambda grad, weight: grad * conj(ops.sub(1, weight)),
        "end": lambda grad, weight: grad * conj(weight),
        "weight": lambda grad, self, end: grad * conj(end - self),
    },
    name="LerpBackward1",
    variants=_ALL,
    doc="""Return ``self + weight * (end - self)``, with a weight for every element.

>>> imode.lerp(imode.tensor([0., 0.]), imode.tensor([1., 2.]), imode.tensor([1., 0.5]))
tensor([1., 1.])
""",
)
op(
    "lerp(Tensor self, Tensor end, Scalar weight) -> Tensor",
    ufunc(
        loops.lerp,
        ints="alike",
        fallback=_lerp,
        precheck=_refuse_lerp,
        numbers="checked wide",
    ),
    derivative={
        "self": lambda grad, weight: grad * (1 - conj(weight)),
        "end": lambda grad, weight: grad * conj(weight),
    },
    variants=_ALL,
    doc="""Return ``self + weight * (end - self)``.

>>> imode.lerp(imode.tensor([0., 0.]), imode.tensor([1., 2.]), 0.5)
tensor([0.5000, 1.0000])
""",
)


@np.errstate(all="ignore")
def _addcmul(self, tensor1, tensor2, value):
    """Of operands that differ in dtype; the number has no say in the result's."""
    self, tensor1, tensor2 = common(self, tensor1, tensor2)
    if self.dtype == np.bool_:
        raise errors.dtypes.not_implemented("addcmul_cpu_out", self.dtype)
    return loops.addcmul(self, tensor1, tensor2, scalar_as(value, self.dtype))


op(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    ufunc(loops.addcmul, ints="alike", fallback=_addcmul, numbers="checked wide"),
    derivative={
        "self": lambda grad: grad,
        "tensor1": lambda grad, tensor2, value: grad * conj(tensor2 * value),
        "tensor2": lambda grad, tensor1, value: grad * conj(tensor1 * value),
    },
    variants=_ALL,
    older="self value tensor1 tensor2",
    doc="""Return ``self + value * tensor1 * tensor2``.

>>> imode.addcmul(imode.tensor([1., 1.]), imode.tensor([2., 3.]), imode.tensor([4., 5.]))
tensor([ 9., 16.])
""",
)


def _refuse_addcdiv(self, tensor1, tensor2, value):
    if tensor1.dtype.kind in "biu" and tensor2.dtype.kind in "biu":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. Divide with div() "
            "and add."
        )


@np.errstate(all="ignore")
def _addcdiv(self, tensor1, tensor2, value):
    """Of operands that differ in dtype, or are integers."""
    _refuse_addcdiv(self, tensor1, tensor2, value)
    self, tensor1, tensor2 = common(self, tensor1, tensor2)
    return loops.addcdiv(self, tensor1, tensor2, scalar_as(value, self.dtype))


op(
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    ufunc(
        loops.addcdiv,
        ints="alike",
        fallback=_addcdiv,
        precheck=_refuse_addcdiv,
        numbers="checked wide",
    ),
    derivative={
        "self": lambda grad: grad,
        "tensor1": lambda grad, tensor2, value: grad * conj(ops.div(value, tensor2)),
        "tensor2": lambda grad, tensor1, tensor2, value: (
            -grad * conj((value * tensor1) / (tensor2 * tensor2))
        ),
    },
    variants=_ALL,
    older="self value tensor1 tensor2",
    doc="""Return ``self + value * tensor1 / tensor2``; integers to divide raise RuntimeError.

>>> imode.addcdiv(imode.tensor([1.]), imode.tensor([1.]), imode.tensor([4.]))
tensor([1.2500])
""",
)
