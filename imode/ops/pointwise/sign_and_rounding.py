"""Sign and magnitude: neg, abs, sign, ...; rounding: floor, ceil, trunc, round, frac."""

import numpy as np

from imode import errors
from imode.kernels.creation.copy import cast
from imode.kernels.pointwise import loops
from imode.ops.indexing.inplace_first import copied
from imode.ops.pointwise.common import FLOATS, OF_ITS_DTYPE, REAL, refusing, zeros, zeros_in_rows
from imode.ops.schema import Out, alias, composite, conj, op, ufunc

_ALL = "function method inplace out"


def _as_it_is(self):
    """A copy laid out as a pointwise result: in row order where there are no elements."""
    return copied(self, keep_order=self.size > 0)


# ---- sign and magnitude -------------------------------------------------------------------------


def _refuse_neg(self):
    raise errors.dtypes.bool_minus("Negation, the `-` operator, on")


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
    ufunc(loops.joined((loops.sgn_complex, "FD"), (loops.sign, REAL)), fallback=copied),
    out=OF_ITS_DTYPE,
    derivative={"self": _sgn_backward},
    variants=_ALL,
    doc="""Return the sign; of a complex number the one of absolute value 1 in its direction.

>>> imode.sgn(imode.tensor([3 + 4j]))
tensor([0.6000+0.8000j])
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
    wide = cast(self, np.float32) if self.dtype == np.float16 else self
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
