"""The gamma function's logarithm, its derivatives, the incomplete ones, Hurwitz's zeta function."""

from functools import partial, reduce

from imode import errors, ops
from imode._core.callables import make_method
from imode._core.internals import install
from imode._core.out import recorded
from imode._core.promotion import result_type
from imode._core.type_names import scalar_name
from imode.kernels.pointwise import loops, special
from imode.ops.parse import parse, signature
from imode.ops.pointwise.common import not_differentiable, refusing
from imode.ops.schema import Out, composite, methods, op, ufunc

_ALL = "function method inplace out"

op(
    "lgamma(Tensor self) -> Tensor",
    ufunc(special.lgamma, ints="float", fallback=refusing("lgamma_vml_cpu")),
    derivative={"self": lambda grad, self: grad * ops.digamma(self)},
    variants=_ALL,
    doc="""Return the logarithm of the absolute value of the gamma function.

>>> imode.lgamma(imode.tensor([1., 4.]))
tensor([0.0000, 1.7918])
""",
)
op(
    "digamma(Tensor self) -> Tensor",
    ufunc(special.digamma, ints="float", fallback=refusing("digamma")),
    derivative={"self": lambda grad, self: grad * ops.polygamma(1, self)},
    variants=_ALL,
    doc="""Return the derivative of `lgamma`: NaN at the negative integers, infinite at 0.

>>> imode.digamma(imode.tensor([1., 0.5]))
tensor([-0.5772, -1.9635])
""",
)

# ---- polygamma ----------------------------------------------------------------------------------


def _refuse_order(n, self):
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")


def _refuse_polygamma(n, self):
    refusing({0: "digamma", 1: "trigamma"}.get(n, "polygamma"))(self)


op(
    "polygamma(int n, Tensor self) -> Tensor",
    ufunc(
        special.polygamma,
        ints="float",
        fallback=_refuse_polygamma,
        numbers=("parameter", "wrapped"),
        guard=_refuse_order,
    ),
    derivative={"self": lambda grad, n, self: grad * ops.polygamma(n + 1, self)},
    variants="function out",
    doc="""Return the n-th derivative of `digamma`; a negative n raises RuntimeError.

>>> imode.polygamma(1, imode.tensor([1.]))
tensor([1.6449])
""",
)


def _written(self, n):
    """In place, which integers refuse."""
    result = ops.polygamma(n, self.clone() if recorded((self,)) else self)
    if result.dtype != self.dtype:
        raise errors.dtypes.cannot_cast(result.dtype, self.dtype)
    return self.copy_(result)


@composite("_polygamma(Tensor self, int n) -> Tensor", variants="inplace", written=_written)
def _polygamma(self, n):
    """Return the n-th derivative of `digamma` of every element."""
    return ops.polygamma(n, self)


for _name, _form in (("polygamma", _polygamma), ("polygamma_", _polygamma.inplace)):
    methods[_name] = _form
    _text = signature(parse(_form.schema), _name, _polygamma.entry.doc, True)
    install(_name, make_method(_form, _name, _text))

# ---- several dimensions -------------------------------------------------------------------------


def _refuse_dimension(self, p):
    if str(self.dtype).endswith(".bool"):
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if p * max(self.numel(), 1) >= 1 << 30:  # which PyTorch lays out in memory
        raise errors.shapes.no_memory(p * self.numel() * 4)


def _refuse_result(self, p):
    """Of integers in place, in PyTorch's words, which name both dtypes the wrong way round."""
    if self.dtype.kind in "iu":
        kinds = [
            scalar_name(dtype) for dtype in (self.dtype, result_type(self.dtype, floating=True))
        ]
        raise RuntimeError(
            "mvlgamma: result type {} can't be cast to the desired output type {}".format(*kinds)
        )


def _mvlgamma_backward(grad, self, p):
    return grad * reduce(ops.add, [ops.digamma(self - 0.5 * k) for k in range(p)])


_MVLGAMMA = partial(
    ufunc,
    special.mvlgamma,
    ints="float",
    fallback=refusing("arange_cpu"),
    numbers=("wrapped", "parameter"),
    layout="rows",
    guard=_refuse_dimension,
)
op(
    "mvlgamma(Tensor self, int p) -> Tensor",
    _MVLGAMMA(),
    inplace_kernel=_MVLGAMMA(precheck=_refuse_result),
    out=Out(
        says="mvlgamma: result type {Wanted} can't be cast to the desired output type {Wanted}"
    ),
    derivative={"self": _mvlgamma_backward},
    variants=_ALL,
    doc="""Return the logarithm of the gamma function of dimension p, which is at least 1.

>>> imode.mvlgamma(imode.tensor([2., 3.]), 2)
tensor([0.4516, 1.5502])
""",
)

# ---- incomplete ---------------------------------------------------------------------------------


def _gamma_density(grad, self, other):
    return grad * ops.exp((self - 1) * ops.log(other) - other - ops.lgamma(self))


def _incomplete(name, sign, doc):
    op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        ufunc(getattr(special, name), fallback=refusing(f"{name}_cpu")),
        derivative={
            "self": not_differentiable(f"{name}: input"),
            "other": lambda grad, self, other: sign * _gamma_density(grad, self, other),
        },
        variants=_ALL,
        doc=doc,
    )


_incomplete("igamma", 1, """Return the regularised lower incomplete gamma function.

`self` is its order, `other` where it ends; neither may be negative. It has no derivative by `self`.

>>> imode.igamma(imode.tensor([1.]), imode.tensor([2.]))
tensor([0.8647])
""")  # fmt: skip
_incomplete("igammac", -1, """Return the upper one, which is 1 less `igamma`.

>>> imode.igammac(imode.tensor([1.]), imode.tensor([2.]))
tensor([0.1353])
""")  # fmt: skip

# ---- zeta ---------------------------------------------------------------------------------------

_ZETA = loops.select(special.zeta, "fd")


def _zeta(overload, schema, number, inputs):
    formulas = {
        "self": not_differentiable("zeta"),
        "other": lambda grad, self, other: -grad * self * ops.special_zeta(self + 1.0, other),
    }
    op(
        f"special_zeta{overload}({schema}) -> Tensor",
        ufunc(_ZETA, ints="float", fallback=refusing("zeta_cpu")),
        derivative={name: formulas[name] for name in inputs},
        name=f"SpecialZetaBackward{number}",
        variants="function out",
        doc="""Return Hurwitz's zeta function, the sum over k of ``(other + k) ** -self``.

It has no derivative by `self`.

>>> imode.special.zeta(imode.tensor([2.]), imode.tensor([1.]))
tensor([1.6449])
""",
    )


_zeta("", "Tensor self, Tensor other", 0, ("self", "other"))
_zeta(".self_scalar", "Scalar self, Tensor other", 1, ("other",))
_zeta(".other_scalar", "Tensor self, Scalar other", 2, ("self",))
