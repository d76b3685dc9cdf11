"""Comparisons, tests of elements, closeness and equality."""

import numpy as np

from imode import ops
from imode._core.dtype import bfloat16
from imode._core.loops import take_brains
from imode._core.numbers import largest
from imode._core.type_names import scalar_name
from imode.kernels.pointwise import loops
from imode.ops.composites_fast import where_unrecorded
from imode.ops.indexing.inplace_first import copied
from imode.ops.pointwise.common import refusing, zeros_in_rows
from imode.ops.schema import Out, alias, composite, op, recorded, ufunc

_ALL = "function method inplace out"

# ---- comparisons --------------------------------------------------------------------------------


def _comparison(name, function, also, example):
    """An operator from two operands to bool; only eq and ne compare complex numbers."""
    kinds = "?bBhilefd" + "FD" * (name in ("eq", "ne"))
    operator = op(
        f"{name}(Tensor self, Tensor|Scalar other) -> Tensor",
        ufunc(loops.select(function, kinds), fallback=refusing(f"{name}_cpu")),
        derivative={"self": zeros_in_rows, "other": zeros_in_rows},
        inplace_only=True,
        name=f"{name.capitalize()}Backward1",
        number=f"{name.capitalize()}Backward0",
        variants=_ALL,
        overloads="number",
        doc=f"""Compare element by element ({also.replace("_", " ")}); the result is bool.

>>> imode.{name}(imode.tensor([1, 2, 3]), 2)
tensor([{example}])
""",
    )
    if name != "eq":  # imode.equal compares whole tensors
        alias(also, operator)


_comparison("eq", np.equal, "equal", "False,  True, False")
_comparison("ne", np.not_equal, "not_equal", " True, False,  True")
_comparison("lt", np.less, "less", " True, False, False")
_comparison("le", np.less_equal, "less_equal", " True,  True, False")
_comparison("gt", np.greater, "greater", "False, False,  True")
_comparison("ge", np.greater_equal, "greater_equal", "False,  True,  True")

# ---- tests of elements --------------------------------------------------------------------------


def _test(name, kernel, example, variants="function method"):
    return op(
        f"{name}(Tensor self) -> Tensor",
        kernel,
        out=Out("bool", f"{name} does not support non-boolean outputs."),
        differentiable=False,
        variants=variants,
        doc=f"""Test every element ({name}); the result is bool.

>>> imode.{name}(imode.tensor([1., float("nan"), -float("inf")]))
tensor([{example}])
""",
    )


def _none(name):
    """The test of numbers that cannot be infinite."""

    def kernel(self):
        if self.dtype.kind == "c":
            raise RuntimeError(f"{name} does not support complex inputs.")
        return np.zeros_like(self, np.bool_)

    return kernel


def _signbit(self):
    if self.dtype.kind == "c":
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return self < 0 if self.dtype.kind != "b" else np.zeros_like(self)


_test("isnan", ufunc(np.isnan), "False,  True, False")
_test("isinf", ufunc(np.isinf), "False, False,  True")
_ISFINITE = _test("_isfinite", ufunc(np.isfinite), " True, False, False", "")
for _name, _example in (("isposinf", "False, False, False"), ("isneginf", "False, False,  True")):
    _kernel = ufunc(getattr(loops, _name), fallback=_none(_name))
    _test(_name, _kernel, _example, "function method out")
_kernel = ufunc(loops.select(np.signbit, "efd"), fallback=_signbit)
_test("signbit", _kernel, "False, False,  True", "function method out")


@composite("isfinite(Tensor self) -> Tensor", fast=where_unrecorded(_ISFINITE))
def isfinite(self):
    """Test every element (isfinite); the result is bool.

    >>> imode.isfinite(imode.tensor([1, float("nan"), -float("inf")]))
    tensor([ True, False, False])
    """
    if recorded((self,)):
        abs(self)  # is recorded, and refused, as the absolute values that PyTorch compares are
    return ops._isfinite(self)


def _nan_to_num(self, nan, posinf, neginf):
    if self.dtype.kind not in "fc":
        return copied(self)
    if self.dtype == bfloat16:
        return _nan_to_num_wide(self, nan, posinf, neginf)
    result = copied(self)
    parts = (result.real, result.imag) if self.dtype.kind == "c" else (result,)
    limits = np.finfo(parts[0].dtype)
    nan = 0.0 if nan is None else nan
    posinf = limits.max if posinf is None else posinf
    neginf = limits.min if neginf is None else neginf
    with np.errstate(all="ignore"):
        for part in parts:
            masks = np.isnan(part), part == np.inf, part == -np.inf
            for mask, value in zip(masks, (nan, posinf, neginf), strict=True):
                part[mask] = value
    return result


def _nan_to_num_wide(self, nan, posinf, neginf):
    most = largest(self.dtype)
    result = _nan_to_num(
        self.astype(np.float32),
        nan,
        most if posinf is None else posinf,
        -most if neginf is None else neginf,
    )
    return result.astype(self.dtype)


_NAN_TO_NUM = ufunc(loops.nan_to_num, fallback=_nan_to_num, layout="like")
take_brains(_NAN_TO_NUM)  # though it is not widened: the greatest float32 is no bfloat16
op(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    _NAN_TO_NUM,
    out=Out(
        "same",
        "nan_to_num: dtype of out: {Found} should be same as input: {Wanted}",
        layout="integer rows",
    ),
    derivative={
        "self": lambda grad, self: grad * self.isfinite(),
    },
    real_only="nan_to_num",
    variants=_ALL,
    doc="""Return the elements, NaN replaced by 0, infinities by the dtype's extremes.

>>> imode.nan_to_num(imode.tensor([float("nan"), 1.]))
tensor([0., 1.])
""",
)

# ---- closeness and equality ---------------------------------------------------------------------


def _isclose(self, other, rtol, atol, equal_nan):
    if self.dtype != other.dtype:
        names = scalar_name(self.dtype.numpy), scalar_name(other.dtype.numpy)
        raise RuntimeError(f"{names[0]} did not match {names[1]}")
    if not rtol >= 0:
        raise RuntimeError(f"rtol must be greater than or equal to zero, but got {rtol:g}")
    if not atol >= 0:
        raise RuntimeError(f"atol must be greater than or equal to zero, but got {atol:g}")
    close = self == other
    inexact = self.is_floating_point() or self.is_complex()
    if equal_nan and inexact:
        close.bitwise_or_(self.isnan() & other.isnan())
    if rtol == 0 and atol == 0:
        return close
    if not inexact:
        self, other = self * 1.0, other * 1.0
    allowed = atol + (rtol * other).abs()
    error = (self - other).abs()
    return close.bitwise_or_(error.isfinite().bitwise_and_(error <= allowed))


composite(
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False)"
    " -> Tensor",
    doc="""Return where ``abs(self - other) <= atol + rtol * abs(other)``.

>>> imode.isclose(imode.tensor([1., 2.]), imode.tensor([1., 2.1]))
tensor([ True, False])
""",
)(_isclose)


@composite(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False)"
    " -> bool"
)
def allclose(self, other, rtol, atol, equal_nan):
    """Return whether all pairs of elements are close, see `isclose`.

    >>> imode.allclose(imode.tensor([1.]), imode.tensor([1. + 1e-9]))
    True
    """
    return bool(_isclose(self.detach(), other.detach(), rtol, atol, equal_nan).all())


op(
    "equal(Tensor self, Tensor other) -> bool",
    loops.all_equal,
    differentiable=False,
    doc="""Return whether both have the same shape and elements.

>>> imode.equal(imode.tensor([1, 2]), imode.tensor([1, 2]))
True
""",
)
