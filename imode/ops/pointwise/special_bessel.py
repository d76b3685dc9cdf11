"""Bessel functions. Those of the first kind, modified, are compiled; of others scipy has the loops.

scipy is imported when one of those is first called. It is no requirement of imode, but an extra of
its own; without it the call raises.
"""

import numpy as np

from imode import errors, ops
from imode._core.dtype import bfloat16
from imode._core.loops import in_layout
from imode._core.parallel import skipping
from imode._core.promotion import result_type
from imode.kernels.pointwise import loops, special
from imode.ops.pointwise.common import cast, refusing
from imode.ops.schema import op, ufunc

_ALL = "function method inplace out"

# ---- modified, of the first kind ----------------------------------------------------------------


def _away_from_zero(self):
    """Where an element is not tiny, and the elements, tiny ones replaced: quotients by those."""
    dtype = self.dtype.numpy
    least = 2.0**-7 if dtype == bfloat16 else float(np.finfo(dtype).eps)
    large = self.abs() > least
    return large, ops.where(large, self, least)


def _i1_backward(grad, self, result):
    large, safe = _away_from_zero(self)
    return grad * ops.where(large, ops.i0(safe) - result * safe.reciprocal(), 0.5)


def _i1e_backward(grad, self, result):
    large, safe = _away_from_zero(self)
    slope = ops.special_i0e(safe) - result * (safe.sgn() + safe.reciprocal())
    return grad * ops.where(large, slope, 0.5)


op(
    "i0(Tensor self) -> Tensor",
    ufunc(special.i0, ints="float", fallback=refusing("i0_vml_cpu")),
    derivative={"self": lambda grad, self: grad * ops.special_i1(self)},
    variants="function method inplace out",
    doc="""Return the modified Bessel function of the first kind, of order 0.

>>> imode.i0(imode.tensor([0., 1.]))
tensor([1.0000, 1.2661])
""",
)


def _first_kind(name, derivative, what, example):
    op(
        f"special_{name}(Tensor self) -> Tensor",
        ufunc(getattr(special, name), ints="float", fallback=refusing(f"{name}_cpu")),
        derivative={"self": derivative},
        variants="function out",
        doc=f"""Return the modified Bessel function of the first kind, {what}.

>>> imode.special.{name}(imode.tensor([0., 1.]))
tensor([{example}])
""",
    )


_first_kind(
    "i0e",
    lambda grad, self, result: grad * (ops.special_i1e(self) - self.sgn() * result),
    "of order 0, times ``exp(-abs(x))``",
    "1.0000, 0.4658",
)
_first_kind("i1", _i1_backward, "of order 1", "0.0000, 0.5652")
_first_kind("i1e", _i1e_backward, "of order 1, times ``exp(-abs(x))``", "0.0000, 0.2079")

# ---- those without a derivative -----------------------------------------------------------------


def _by_scipy(name, function):
    """A kernel that computes by a function of scipy.special."""

    def kernel(self):
        dtype = result_type(self.dtype, floating=True)
        if dtype.char not in "fd":
            raise errors.dtypes.not_implemented(f"{name}_cpu", dtype)
        if skipping():
            return np.empty_like(self, dtype)
        try:
            import scipy.special
        except ImportError as error:
            raise ImportError(
                f"imode.special.{name} computes by scipy, which is not installed.\n"
                "Install it, or imode with its extra: pip install 'imode[special]'"
            ) from error
        x = cast(self, dtype)
        with np.errstate(all="ignore"):
            result = getattr(scipy.special, function)(x)
        if function == "airy":  # its Ai: 0 from where it is below all floats, also far beyond
            result = np.where((x > 200) & (x < np.inf), dtype.type(0), result[0])
        return np.asarray(result)

    return in_layout(kernel)


def _compiled(name, function):
    """The kernel of one that this module has compiled for another name."""
    loop = loops.select(getattr(special, function), "fd")
    return ufunc(loop, ints="float", fallback=refusing(f"{name}_cpu"))


def _undifferentiable(make, name, function, what, example, argument="self"):
    """An operator that cannot be differentiated, by a kernel that `make` makes."""
    where = " It computes by scipy, and raises ImportError without." * (make is _by_scipy)
    op(
        f"special_{name}(Tensor {argument}) -> Tensor",
        make(name, function),
        differentiable=False,
        variants="function out",
        doc=f"""Return {what}, without a derivative.{where}

>>> imode.special.{name}(imode.tensor([1.]))
tensor([{example}])
""",
    )


_J, _Y = "the Bessel function of the first kind", "the Bessel function of the second kind"
_I, _K = f"the modified {_J[4:]}", f"the modified {_Y[4:]}"
_undifferentiable(_by_scipy, "airy_ai", "airy", "Airy's function Ai", "0.1353", "x")
_undifferentiable(_by_scipy, "bessel_j0", "j0", f"{_J}, of order 0", "0.7652")
_undifferentiable(_by_scipy, "bessel_j1", "j1", f"{_J}, of order 1", "0.4401")
_undifferentiable(_by_scipy, "bessel_y0", "y0", f"{_Y}, of order 0", "0.0883")
_undifferentiable(_by_scipy, "bessel_y1", "y1", f"{_Y}, of order 1", "-0.7812")
_undifferentiable(_compiled, "modified_bessel_i0", "i0", f"{_I}, of order 0", "1.2661")
_undifferentiable(_compiled, "modified_bessel_i1", "i1", f"{_I}, of order 1", "0.5652")
_undifferentiable(_by_scipy, "modified_bessel_k0", "k0", f"{_K}, of order 0", "0.4210")
_undifferentiable(_by_scipy, "modified_bessel_k1", "k1", f"{_K}, of order 1", "0.6019")
for _order, _example in ((0, "1.1445"), (1, "1.6362")):
    _undifferentiable(
        _by_scipy,
        f"scaled_modified_bessel_k{_order}",
        f"k{_order}e",
        f"{_K}, of order {_order}, times ``exp(x)``",
        _example,
        "x",
    )
_undifferentiable(
    _compiled,
    "spherical_bessel_j0",
    "spherical_bessel_j0",
    "the spherical Bessel function of the first kind, of order 0, ``sin(x) / x``",
    "0.8415",
    "x",
)
