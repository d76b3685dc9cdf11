"""Functions of the error function and the normal distribution; entropy; x times log1p(y)."""

import math

from imode import ops
from imode._core.tensor import Tensor
from imode.kernels.pointwise import loops, special
from imode.ops.pointwise.common import refusing
from imode.ops.schema import Out, composite, op, ufunc

_ALL = "function method inplace out"


def _special(name, function, derivative, doc):
    """An operator of floats, integers as floats, which is a function of imode.special alone."""
    op(
        f"special_{name}(Tensor self) -> Tensor",
        ufunc(function, ints="float", fallback=refusing(f"{name}_cpu")),
        derivative={"self": derivative},
        variants="function out",
        doc=doc,
    )


op(
    "erfinv(Tensor self) -> Tensor",
    ufunc(special.erfinv, ints="float", fallback=refusing("erfinv_vml_cpu")),
    derivative={
        "self": lambda grad, self: 0.5 * math.sqrt(math.pi) * ops.exp(self.erfinv().pow(2)) * grad
    },
    variants=_ALL,
    doc="""Return the inverse of `erf`: infinite at -1 and 1, NaN beyond.

>>> imode.erfinv(imode.tensor([0., 0.5]))
tensor([0.0000, 0.4769])
""",
)
_special(
    "erfcx",
    loops.select(special.erfcx, "fd"),
    lambda grad, self, result: (2.0 * self * result - 2.0 / math.sqrt(math.pi)) * grad,
    """Return ``exp(x * x) * erfc(x)`` of every element, without overflow of the factors.

>>> imode.special.erfcx(imode.tensor([0., 30.]))
tensor([1.0000, 0.0188])
""",
)


@composite("special_ndtr(Tensor self) -> Tensor", variants="function out", out=Out(layout="rows"))
def special_ndtr(self):
    """Return the area under the normal distribution's density, up to each element.

    >>> imode.special.ndtr(imode.tensor([0.0, 1.0]))
    tensor([0.5000, 0.8413])
    """
    return (1 + ops.erf(self * math.sqrt(0.5))) * 0.5


_special(
    "ndtri",
    loops.select(special.ndtri, "fd"),
    lambda grad, result: grad * math.sqrt(2 * math.pi) * ops.exp(result.square() / 2),
    """Return the inverse of `ndtr`: infinite at 0 and 1, NaN beyond.

>>> imode.special.ndtri(imode.tensor([0.5, 0.8413]))
tensor([0.0000, 0.9998])
""",
)
_special(
    "log_ndtr",
    loops.select(special.log_ndtr, "fd"),
    lambda grad, self, result: (  # the result is saved, as in PyTorch
        grad / ops.special_erfcx(self * -math.sqrt(0.5)) * math.sqrt(2 / math.pi)
    ),
    """Return the logarithm of `ndtr`, accurate where that is very small.

>>> imode.special.log_ndtr(imode.tensor([0., -30.]))
tensor([  -0.6931, -454.3212])
""",
)
_special(
    "entr",
    special.entr,
    lambda grad, self: grad * (-(1 + self.log())),
    """Return ``-x * log(x)`` of every element, 0 at 0, and -inf of what is negative.

>>> imode.special.entr(imode.tensor([0., 0.5]))
tensor([0.0000, 0.3466])
""",
)


def _xlog1py_self(grad, self, other):
    slope = ops.special_xlog1py(grad, other)
    if not isinstance(other, Tensor) and other > -1:
        return slope
    return slope.masked_fill((self == 0.0) & (other <= -1.0), 0.0)


def _xlog1py(overload, schema, number, inputs):
    formulas = {
        "self": _xlog1py_self,
        "other": lambda grad, self, other: grad * self / (other + 1),
    }
    op(
        f"special_xlog1py{overload}({schema}) -> Tensor",
        ufunc(loops.xlog1py, ints="float", fallback=refusing("xlog1py_cpu")),
        derivative={name: formulas[name] for name in inputs},
        name=f"SpecialXlog1PyBackward{number}",
        variants="function out",
        doc="""Return ``self * log1p(other)``, and 0 where `self` is 0 (NaN where `other` is).

>>> imode.special.xlog1py(imode.tensor([0., 1.]), imode.tensor([-1., 1.]))
tensor([0.0000, 0.6931])
""",
    )


_xlog1py("", "Tensor self, Tensor other", 0, ("self", "other"))
_xlog1py(".self_scalar", "Scalar self, Tensor other", 1, ("other",))
_xlog1py(".other_scalar", "Tensor self, Scalar other", 2, ("self",))
