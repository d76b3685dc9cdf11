"""Powers: pow, square, float_power."""

import math

import numpy as np

from imode import errors, ops
from imode._core.dtype import from_numpy_dtype
from imode._core.numbers import number_as
from imode._core.promotion import result_type
from imode._core.tensor import Tensor
from imode._core.type_names import scalar_name
from imode.autograd.views import write_as
from imode.kernels.pointwise import loops
from imode.ops.pointwise.common import common, zeros_in_rows
from imode.ops.schema import Out, composite, conj, op, ufunc

_ALL = "function method inplace out"


def _refuse_pow(self, exponent):
    whole = isinstance(exponent, int) and self.dtype.kind in "biu"
    if whole and number_as(exponent, np.dtype(np.int64)) < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def _pow(self, exponent):
    exponent_given = exponent
    if not isinstance(exponent, np.ndarray):
        _refuse_pow(self, exponent)
        dtype = result_type(self, exponent)
        if dtype.kind in "iu" or dtype == np.float16:
            exponent = number_as(exponent, dtype)
    self, exponent = common(self, exponent)
    if self.dtype == np.bool_:
        if isinstance(exponent_given, bool):
            return self | (not exponent_given)
        raise errors.dtypes.not_implemented("pow", self.dtype)
    with np.errstate(all="ignore"):
        if self.dtype.kind == "c":
            return _complex_power(self, exponent, exponent_given)
        if self.dtype.kind == "f":
            return loops.pow(self, exponent)
        negative = exponent < 0
        if not negative.any():
            return np.power(self, exponent)
        result = np.asarray(np.power(self, np.abs(exponent)))
        inverse = np.where(self == 1, 1, np.where(self == -1, np.where(exponent % 2, -1, 1), 0))
        np.copyto(result, inverse, where=negative, casting="unsafe")
        return result


def _complex_power(self, exponent, given):
    """A complex power; a number as exponent may have a product or a root in its place."""
    if not isinstance(given, np.ndarray) and given in _SHORT:
        return np.asarray(_SHORT[given](self))
    return loops.pow_complex(self, exponent)


_SHORT = {
    0: np.ones_like,
    1: np.copy,
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    0.5: np.sqrt,
    -1: lambda x: 1 / x,
    -0.5: lambda x: 1 / np.sqrt(x),
    -2: lambda x: 1 / (x * x),
}


def _pow_of_scalar(self, exponent):
    base = np.asarray(self).astype(result_type(self, exponent))
    if self == 1 and base.dtype.kind == "c":
        return np.ones(exponent.shape, base.dtype)
    return np.ascontiguousarray(_pow(base, exponent)).reshape(exponent.shape)


def _pow_self(grad, self, exponent):
    if exponent == 0:
        return zeros_in_rows(grad)
    exponent = exponent if isinstance(exponent, complex) else float(exponent)
    return grad * conj(exponent * self.pow(exponent - 1))


def _pow_tensor_self(grad, self, exponent):
    return ops.where(exponent == 0, 0.0, grad * conj(exponent * self.pow(exponent - 1)))


def _pow_exponent(grad, self, exponent, result):
    slope = conj(result * self.to(result.dtype).log())
    return grad * ops.where((self == 0) & _counts(exponent), 0.0, slope)


def _counts(exponent):
    """Where an exponent is real and not negative: its power of 0 is then constant."""
    if exponent.is_complex():
        return (exponent.imag == 0) & (exponent.real >= 0)
    return exponent >= 0


def _pow_scalar_exponent(grad, self, exponent, result):
    if isinstance(self, complex) or (self < 0 and exponent.is_complex()):
        return grad * conj(result * np.log(complex(self)).item())
    if self == 0:
        return grad * ops.where(_counts(exponent), 0.0, result * -math.inf)
    return grad * conj(result * (math.log(self) if self > 0 else math.nan))


op(
    "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    ufunc(loops.pow, fallback=_pow),
    derivative={"self": _pow_tensor_self, "exponent": _pow_exponent},
    name="PowBackward1",
    variants=_ALL,
    doc="""Return `self` to the power `exponent`, element by element.

>>> imode.pow(imode.tensor([1., 2., 3.]), imode.tensor([3., 2., 1.]))
tensor([1., 4., 3.])
""",
)
op(
    "pow(Tensor self, Scalar exponent) -> Tensor",
    ufunc(loops.select(loops.pow, "efd"), fallback=_pow, precheck=_refuse_pow, numbers="exponent"),
    derivative={"self": _pow_self},
    variants=_ALL,
    doc="""Return `self` to the power of a number; integers to a negative one raise RuntimeError.

>>> imode.pow(imode.tensor([1., 2., 3.]), 2)
tensor([1., 4., 9.])
""",
)
op(
    "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    ufunc(loops.pow, fallback=_pow_of_scalar, layout="rows"),
    derivative={"exponent": _pow_scalar_exponent},
    name="PowBackward2",
    variants="function out",
    doc="""Return a number to the power of every element.

>>> imode.pow(2, imode.tensor([1., 3.]))
tensor([2., 8.])
""",
)
op(
    "square(Tensor self) -> Tensor",
    ufunc(loops.square, fallback=lambda self: _pow(self, 2)),
    derivative={"self": lambda grad, self: _pow_self(grad, self, 2)},
    name="PowBackward0",
    shows={"exponent": lambda: 2},
    out=Out(name="pow"),
    variants=_ALL,
    doc="""Return the square of every element.

>>> imode.square(imode.tensor([1, -2]))
tensor([1, 4])
""",
)


def _float_power_type(*operands):
    is_complex = any(
        x.is_complex() if isinstance(x, Tensor) else isinstance(x, complex) for x in operands
    )
    return from_numpy_dtype(np.complex128 if is_complex else np.float64)


def _in_float_power_type(*operands):
    dtype = _float_power_type(*operands)
    number = complex if dtype.is_complex else float
    return [x.to(dtype) if isinstance(x, Tensor) else number(x) for x in operands]


def _check_float_power(what, tensor, operands):
    needed = _float_power_type(*operands)
    if tensor.dtype != needed:
        raise RuntimeError(
            f"{what} has dtype {scalar_name(tensor.dtype)} but the operation's result requires "
            f"dtype {scalar_name(needed)}"
        )


@composite(
    "float_power(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor",
    variants="function method out",
    overloads="one",
)
def float_power(self, exponent, out=None):
    """Return the power, computed in float64 (complex128 for complex operands).

    >>> imode.float_power(imode.tensor([1, 2]), 2)
    tensor([1., 4.], dtype=imode.float64)
    """
    if not isinstance(self, Tensor) and not isinstance(exponent, Tensor):
        raise errors.arguments.no_overload(
            ops.float_power, "float_power", False, [self, exponent], ()
        )
    if out is not None:
        _check_float_power("the output given to float_power", out, (self, exponent))
    return ops.pow(*_in_float_power_type(self, exponent), out=out)


@composite(
    "float_power_(Tensor(a!) self, Tensor|Scalar exponent) -> Tensor(a!)",
    variants="method",
    overloads="one",
)
def float_power_(self, exponent):
    """Raise to a power in place; the tensor has float64, or complex128 where an operand is complex.

    >>> imode.tensor([1, 3], dtype=imode.float64).float_power_(2)
    tensor([1., 9.], dtype=imode.float64)
    """
    _check_float_power("the base given to float_power_", self, (self, exponent))
    return write_as("float_power_", ops.pow_, self, _in_float_power_type(self, exponent)[1])
