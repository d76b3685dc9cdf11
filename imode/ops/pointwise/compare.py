"""Comparisons, logical and bitwise operators, tests of elements, the greater of two, choices."""

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.internals import install
from imode._core.layout import empty_for
from imode._core.numbers import number_as
from imode._core.promotion import result_type
from imode._core.type_names import scalar_name
from imode.kernels.pointwise import loops
from imode.ops.composites_fast import where_unrecorded
from imode.ops.indexing.inplace_first import copied
from imode.ops.pointwise.common import (
    OF_ITS_DTYPE,
    REAL,
    cast,
    no_derivative,
    refusing,
    zeros_in_rows,
)
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

# ---- logical and bitwise ------------------------------------------------------------------------


def _logical(name, function, example):
    op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        ufunc(function),
        differentiable=False,
        inplace_only=True,
        variants=_ALL,
        doc=f"""Combine the truth of elements (not zero); the result is bool.

>>> imode.{name}(imode.tensor([0, 1, 2]), imode.tensor([1, 1, 0]))
tensor([{example}])
""",
    )


_logical("logical_and", np.logical_and, "False,  True, False")
_logical("logical_or", np.logical_or, "True, True, True")
_logical("logical_xor", np.logical_xor, " True, False,  True")
op(
    "logical_not(Tensor self) -> Tensor",
    ufunc(np.logical_not),
    differentiable=False,
    inplace_only=True,
    variants=_ALL,
    doc="""Return whether every element is zero.

>>> imode.logical_not(imode.tensor([0, 2]))
tensor([ True, False])
""",
)


def _bitwise(name, function, kernel, kinds, example):
    op(
        f"{name}(Tensor self, Tensor|Scalar other) -> Tensor",
        ufunc(loops.select(function, kinds), fallback=refusing(kernel)),
        # Of floats, which are refused, the graph is looked at first.
        derivative=dict.fromkeys(("self", "other"), no_derivative(name)),
        inplace_derivative=dict.fromkeys(("self", "other"), no_derivative(f"{name}_")),
        name="torch::autograd::NotImplemented",
        variants=_ALL,
        overloads="number",
        doc=f"""Combine the bits of integers ({name}); floats raise NotImplementedError.

>>> imode.{name}(imode.tensor([6]), imode.tensor([3]))
tensor([{example}])
""",
    )
    op(
        f"{name}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
        ufunc(loops.select(function, kinds), fallback=refusing(kernel)),
        differentiable=False,
        variants="function",
        doc=f"""Combine the bits of a number with those of every element ({name}).

>>> imode.{name}(6, imode.tensor([3]))
tensor([{example}])
""",
    )


_bitwise("bitwise_and", np.bitwise_and, "bitwise_and_cpu", "?bBhil", 2)
_bitwise("bitwise_or", np.bitwise_or, "bitwise_or_cpu", "?bBhil", 7)
_bitwise("bitwise_xor", np.bitwise_xor, "bitwise_xor_cpu", "?bBhil", 5)
_bitwise("bitwise_left_shift", np.left_shift, "lshift_cpu", "bBhil", 48)
_bitwise("bitwise_right_shift", np.right_shift, "rshift_cpu", "bBhil", 0)
op(
    "bitwise_not(Tensor self) -> Tensor",
    ufunc(loops.select(np.invert, "?bBhil"), fallback=refusing("bitwise_not_cpu")),
    out=OF_ITS_DTYPE,
    # Of what is refused the graph is looked at first.
    derivative={"self": no_derivative("bitwise_not")},
    inplace_derivative={"self": no_derivative("bitwise_not_")},
    name="torch::autograd::NotImplemented",
    variants=_ALL,
    doc="""Flip every bit of an integer, or a bool; floats raise NotImplementedError.

>>> imode.bitwise_not(imode.tensor([0, 5]))
tensor([-1, -6])
""",
)

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


op(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    ufunc(loops.select(loops.nan_to_num, "fd"), fallback=_nan_to_num, layout="like"),
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
        close.bitwise_or_(self.isnan().bitwise_and_(other.isnan()))
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

# ---- the greater and the smaller ----------------------------------------------------------------


def _refuse_complex(name):
    def refuse(self, other):
        if "c" in (self.dtype.kind, other.dtype.kind):
            raise RuntimeError(f"{name} not implemented for complex tensors.")

    return refuse


def _greater_of(name, function, loses):
    def share(grad, equal, loses):
        """Nothing to what loses, half where both are equal; all to each where one is NaN."""
        return ops.where(equal, grad / 2, grad).masked_fill_(loses, 0)

    refuse = _refuse_complex(name)
    return op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        ufunc(loops.select(function, REAL), fallback=refuse, precheck=refuse),
        derivative={
            "self": lambda grad, self, other: share(grad, self == other, loses(self, other)),
            "other": lambda grad, self, other: share(grad, self == other, loses(other, self)),
        },
        variants="function method out",
        doc=f"""Return the {name} of each pair of elements; NaN where either is NaN.

>>> imode.{name}(imode.tensor([1, 5]), imode.tensor([3, 3])).shape
imode.Size([2])
""",
    )


_greater_of("maximum", np.maximum, lambda self, other: self < other)
_greater_of("minimum", np.minimum, lambda self, other: self > other)


def _greater_number(name, function, self_wins):
    refuse = _refuse_complex(name)
    return op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        ufunc(loops.select(function, REAL), fallback=refuse, precheck=refuse),
        derivative={
            "self": lambda grad, self, other: grad.masked_fill(
                (self_wins(self, other) | other.isnan()).logical_not(), 0
            ),
            "other": lambda grad, self, other: grad.masked_fill(
                self_wins(self, other) | other.isnan(), 0
            ),
        },
        variants="function method out",
        doc=f"""Return the greater or smaller of each pair; where one is NaN, the other ({name}).

>>> imode.{name}(imode.tensor([1.]), imode.tensor([float("nan")]))
tensor([1.])
""",
    )


_greater_number("fmax", np.fmax, lambda self, other: self >= other)
_greater_number("fmin", np.fmin, lambda self, other: self <= other)

# ---- clamp --------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def _clamp(self, min, max):
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    bounds = [bound for bound in (min, max) if bound is not None]
    given = self.dtype
    if given.kind == "f":
        if any(isinstance(bound, complex) and bound.imag for bound in bounds):
            raise RuntimeError("value cannot be converted to type double without overflow")
        bounds = [bound.real if isinstance(bound, complex) else bound for bound in bounds]
    dtype = result_type(self, *bounds)
    self = cast(self, dtype)
    if dtype.kind == "c":
        if given.kind != "c" and isinstance(bounds[0], np.ndarray):
            one = "maximum_cpu" if max is None else "minimum_cpu"
            raise errors.dtypes.not_implemented(
                one if len(bounds) == 1 else "clamp_cpu", self.dtype
            )
        raise errors.dtypes.complex_clamp()
    if self.dtype == np.bool_:
        by_number = not isinstance(bounds[0], np.ndarray)
        if by_number or len(bounds) == 2:
            sides = "" if len(bounds) == 2 else "_max" if min is None else "_min"
            raise errors.dtypes.not_implemented(
                f"clamp{sides}{'_scalar' * by_number}_cpu", self.dtype
            )
        return (np.minimum if min is None else np.maximum)(self, bounds[0])
    bounds = [
        cast(bound if isinstance(bound, np.ndarray) else number_as(bound, dtype), dtype)
        for bound in bounds
    ]
    if len(bounds) == 2:
        return loops.clamp(self, *bounds)
    bounded = loops.clamp_max if min is None else loops.clamp_min
    shape = broadcast_shape(self.shape, bounds[0].shape)
    return bounded(self, *bounds, out=empty_for((self, *bounds), shape, self.dtype))


def _refuse_clamp(self, *bounds):
    """Complex numbers, but for bounds of floats without an imaginary part, which are served."""
    if self.dtype.kind == "c" or (
        self.dtype.kind == "f" and any(isinstance(bound, complex) for bound in bounds)
    ):
        return _clamp(self, *bounds)
    return None


def _clamp_self(grad, self, min, max):
    if min is None:
        inside = self <= max
    elif max is None:
        inside = self >= min
    else:
        inside = (self >= min) & (self <= max)
    return ops.where(inside, grad, 0)


def _clamp_bounds(grad, self, min, max, needs):
    below = above = None
    if min is not None and needs[0]:
        wins = self < min if max is None else (self < min) & (min < max)
        below = ops.where(wins, grad, 0)
    if max is not None and needs[1]:
        wins = self > max if min is None else (self > max) | (max < min)
        above = ops.where(wins, grad, 0)
    return below, above


op(
    "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    ufunc(loops.clamp, fallback=_clamp, bounds=True, precheck=_refuse_clamp),
    derivative={"self": _clamp_self, ("min", "max"): _clamp_bounds},
    variants=_ALL,
    doc="""Return the elements moved between those of two tensors, either of which may be None.

>>> imode.clamp(imode.tensor([1., 5.]), max=imode.tensor([2., 3.]))
tensor([1., 3.])
""",
)
alias(
    "clip",
    op(
        "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
        ufunc(
            loops.clamp,
            fallback=_clamp,
            bounds=True,
            precheck=_refuse_clamp,
            numbers="checked",
        ),
        out=OF_ITS_DTYPE,
        derivative={"self": _clamp_self},
        name="ClampBackward1",
        variants=_ALL,
        doc="""Return the elements moved into [min, max]; where min > max, max.

>>> imode.clamp(imode.tensor([-1., 0.5, 2.]), 0, 1)
tensor([0.0000, 0.5000, 1.0000])
""",
    ),
)


def _clamp_by_number(function, clamp):
    """The kernel of clamping by one number, which refuses complex ones in the first place."""

    def refuse(self, bound):
        if self.dtype.kind == "c" or isinstance(bound, complex):
            raise errors.dtypes.complex_clamp()

    def fallback(self, bound):
        refuse(self, bound)
        return clamp(self, bound)

    return ufunc(function, fallback=fallback, precheck=refuse, numbers="checked")


def _clamp_by(kernel, clamp):
    """The `fallback` of clamping by a tensor, which names another kernel to complex numbers."""

    def fallback(self, bound):
        if "c" in (self.dtype.kind, bound.dtype.kind):
            raise errors.dtypes.not_implemented(kernel, result_type(self, bound))
        return clamp(self, bound)

    return fallback


op(
    "clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
    ufunc(loops.clamp_min, fallback=_clamp_by("maximum_cpu", lambda x, y: _clamp(x, y, None))),
    derivative={
        "self": lambda grad, self, min: ops.where(self >= min, grad, 0),
        "min": lambda grad, self, min: ops.where(self < min, grad, 0),
    },
    name="ClampMinBackward1",
    variants=_ALL,
    doc="""Return the greater of each pair of elements; NaN where either is NaN.

>>> imode.clamp_min(imode.tensor([-1., 2.]), imode.tensor([0., 5.]))
tensor([0., 5.])
""",
)
op(
    "clamp_min(Tensor self, Scalar min) -> Tensor",
    _clamp_by_number(loops.clamp_min, lambda self, min: _clamp(self, min, None)),
    derivative={"self": lambda grad, self, min: ops.where(self >= min, grad, 0)},
    out=OF_ITS_DTYPE,
    variants=_ALL,
    doc="""Return the elements, those below `min` moved to it.

>>> imode.clamp_min(imode.tensor([-1., 2.]), 0)
tensor([0., 2.])
""",
)
op(
    "clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
    ufunc(loops.clamp_max, fallback=_clamp_by("minimum_cpu", lambda x, y: _clamp(x, None, y))),
    derivative={
        "self": lambda grad, self, max: ops.where(self <= max, grad, 0),
        "max": lambda grad, self, max: ops.where(self > max, grad, 0),
    },
    name="ClampMaxBackward1",
    variants=_ALL,
    doc="""Return the smaller of each pair of elements; NaN where either is NaN.

>>> imode.clamp_max(imode.tensor([-1., 2.]), imode.tensor([0., 5.]))
tensor([-1.,  2.])
""",
)
op(
    "clamp_max(Tensor self, Scalar max) -> Tensor",
    _clamp_by_number(loops.clamp_max, lambda self, max: _clamp(self, None, max)),
    derivative={"self": lambda grad, self, max: ops.where(self <= max, grad, 0)},
    out=OF_ITS_DTYPE,
    variants=_ALL,
    doc="""Return the elements, those above `max` moved to it.

>>> imode.clamp_max(imode.tensor([-1., 2.]), 0)
tensor([-1.,  0.])
""",
)

# ---- where --------------------------------------------------------------------------------------


def _refuse_where(condition, self, other):
    raise RuntimeError(
        "where expected condition to be a boolean tensor, but got a tensor with dtype "
        f"{scalar_name(condition.dtype)}"
    )


op(
    "where(Tensor condition, Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
    ufunc(loops.where, ints="mask", fallback=_refuse_where, numbers="filled"),
    out=Out(
        lambda condition, self, other: result_type(self, other),
        "Expected out type to be {Wanted} but got {Found}",
    ),
    derivative={
        "self": lambda grad, condition: ops.where(condition, grad, 0),
        "other": lambda grad, condition: ops.where(condition, 0, grad),
    },
    variants="function out",
    overloads=3,
    doc="""Return elements of `self` where `condition` holds, else of `other`.

>>> imode.where(imode.tensor([True, False]), 1, imode.tensor([10, 20]))
tensor([ 1, 20])
""",
)


@composite("where.condition(Tensor condition) -> any", variants="function")
def where_condition(condition):
    """Return the coordinates of the elements that are not 0, one tensor per dimension.

    >>> imode.where(imode.tensor([False, True]))
    (tensor([1]),)
    """
    return ops.nonzero(condition, as_tuple=True)


def _where_method(self, /, *given, **named):
    """Return the elements where `condition` holds, else those of `other`.

    >>> imode.tensor([1, 2]).where(imode.tensor([True, False]), 0)
    tensor([1, 0])
    """
    arguments = dict(zip(("condition", "other"), given)) | named
    if len(given) + len(named) == len(arguments) == 2:
        try:
            return ops.where(self=self, **arguments)
        except TypeError:
            pass
    kinds = "(Tensor condition, Tensor other)", "(Tensor condition, Number other)"
    raise errors.arguments.invalid_combination("where", given, named, kinds)


_where_method.__name__ = _where_method.__qualname__ = "where"
install("where", _where_method)
