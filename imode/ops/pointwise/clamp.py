"""The greater and the smaller of two: maximum, fmin, ...; elements clamped between bounds."""

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.layout import empty_for
from imode._core.numbers import number_as
from imode._core.promotion import result_type
from imode.kernels.pointwise import loops
from imode.ops.pointwise.common import OF_ITS_DTYPE, REAL, cast
from imode.ops.schema import alias, op, ufunc

_ALL = "function method inplace out"

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
