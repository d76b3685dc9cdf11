"""Activation functions of straight pieces: relu, threshold, hardtanh, leaky_relu and kin.

As in `activation`, a gradient that one compiled loop computes is an operator of its own.
"""

import numpy as np

from imode import errors, ops
from imode._core.layout import empty_for
from imode._core.numbers import largest, number_as
from imode._core.type_names import scalar_name
from imode.kernels.pointwise import loops
from imode.kernels.shapes import views
from imode.ops.gradient_checks import expect
from imode.ops.pointwise.common import OF_ITS_DTYPE, refusing, with_numbers, zeros
from imode.ops.schema import LINEAR, Out, composite, op, ufunc
from imode.ops.shapes import composites_fast

# ---- relu, threshold ----------------------------------------------------------------------------


def _refuse_relu(self):
    if self.dtype == np.bool_:
        raise RuntimeError("Boolean inputs not supported for relu")
    if self.dtype.kind == "c":
        raise errors.dtypes.complex_clamp()


_THRESHOLD_BACKWARD = op(
    "_threshold_backward(Tensor self, Tensor grad_output, Scalar threshold) -> Tensor",
    with_numbers(loops.threshold_backward, "threshold_cpu", "tensors", "checked"),
    derivative={"grad_output": LINEAR, "self": zeros},
)
op(
    "relu(Tensor self) -> Tensor",
    ufunc(loops.relu, fallback=_refuse_relu, precheck=_refuse_relu),
    derivative={"self": lambda grad, result: ops._threshold_backward(result, grad, 0)},
    variants="function method inplace",
    doc="""Return the elements, negative ones replaced by 0.

>>> imode.relu(imode.tensor([-1., 2.]))
tensor([0., 2.])
""",
)
op(
    "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    with_numbers(loops.threshold, "threshold_cpu", "alike", ("wrapped", "checked wide", "checked")),
    out=Out(overlap="any"),
    derivative={"self": _THRESHOLD_BACKWARD},
    inplace_derivative={"self": _THRESHOLD_BACKWARD},
    variants="function inplace out",
    doc="""Return the elements, those not above `threshold` replaced by `value`.

>>> imode.threshold(imode.tensor([0., 2.]), 1, -5)
tensor([-5.,  2.])
""",
)
# ---- hardtanh and kin ---------------------------------------------------------------------------

_HARDTANH_BACKWARD = op(
    "_hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
    with_numbers(loops.hardtanh_backward, "hardtanh_backward_cpu", "tensors", "checked"),
    derivative={"grad_output": LINEAR, "self": zeros},
)


def _refuse_hardtanh(self, min_val, max_val):
    if self.dtype == np.bool_:
        raise errors.dtypes.bool_hardtanh()
    if self.dtype.kind == "c":
        raise errors.dtypes.complex_clamp()


op(
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    ufunc(
        loops.clamp,
        fallback=_refuse_hardtanh,
        precheck=_refuse_hardtanh,
        numbers="checked",
        layout="like",
    ),
    out=OF_ITS_DTYPE,
    derivative={"self": _HARDTANH_BACKWARD},
    variants="nn inplace",
    doc="""Return the elements moved into [min_val, max_val].

>>> imode.ops.hardtanh(imode.tensor([-3., 0.5]))
tensor([-1.0000,  0.5000])
""",
)
_HARDSIGMOID_BACKWARD = op(
    "_hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.hardsigmoid_backward, fallback=refusing("hardsigmoid_backward")),
    derivative={"grad_output": LINEAR, "self": zeros},
)
op(
    "hardsigmoid(Tensor self) -> Tensor",
    ufunc(loops.hardsigmoid, fallback=refusing("hardsigmoid_cpu")),
    derivative={"self": _HARDSIGMOID_BACKWARD},
    variants="inplace",
    doc="""Return ``relu6(x + 3) / 6``.

>>> imode.ops.hardsigmoid(imode.tensor([0., 4.]))
tensor([0.5000, 1.0000])
""",
)


_HARDSWISH_BACKWARD = op(
    "_hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.hardswish_backward, fallback=refusing("hardswish_backward")),
    derivative={
        "grad_output": LINEAR,
        "self": lambda grad, grad_output, self: ops.where(
            (self > -3) & (self < 3), grad * grad_output / 3.0, 0
        ),
    },
)
op(
    "hardswish(Tensor self) -> Tensor",
    ufunc(loops.hardswish, fallback=refusing("hardswish_cpu")),
    derivative={"self": _HARDSWISH_BACKWARD},
    variants="inplace",
    doc="""Return ``x * relu6(x + 3) / 6``.

>>> imode.ops.hardswish(imode.tensor([0., 4.]))
tensor([0., 4.])
""",
)


for _name in ("hardshrink", "softshrink"):
    op(
        f"_{_name}_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
        with_numbers(loops.shrink_backward, f"{_name}_backward_cpu", "tensors", "checked"),
        derivative={"grad_output": LINEAR, "self": zeros},
    )
op(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    with_numbers(loops.hardshrink, "hardshrink_cpu", "alike", "checked"),
    out=OF_ITS_DTYPE,
    derivative={"self": lambda grad, self, lambd: ops._hardshrink_backward(grad, self, lambd)},
    variants="function method nn out",
    doc="""Return the elements, those within `lambd` of 0 replaced by 0.

>>> imode.hardshrink(imode.tensor([0.2, 2.]))
tensor([0., 2.])
""",
)
op(
    "_softshrink(Tensor self, Scalar lambd) -> Tensor",
    with_numbers(loops.softshrink, "softshrink_cpu", "alike", "checked wide"),
    derivative={"self": lambda grad, self, lambd: ops._softshrink_backward(grad, self, lambd)},
    variants="out",
    out=Out("same", errors.out.FOUND, name="softshrink"),
)


@composite("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", variants="nn out", compiled=True)
def softshrink(self, lambd, out=None):
    """Return the elements moved toward 0 by `lambd`, not past it.

    >>> imode.nn.functional.softshrink(imode.tensor([0.2, 2.]))
    tensor([0.0000, 1.5000])
    """
    lambd = number_as(lambd, np.dtype(np.float64))
    if not self.is_floating_point():
        raise errors.dtypes.not_implemented("softshrink_check", self.dtype.numpy)
    if not 0 <= lambd <= largest(self.dtype.numpy):
        raise RuntimeError(
            f"lambda must be in range [0, {largest(self.dtype.numpy):g}] for input dtype "
            f"{scalar_name(self.dtype.numpy)}, but found {lambd:g}"
        )
    return ops._softshrink(self, lambd) if out is None else ops._softshrink(self, lambd, out=out)


# ---- leaky_relu, prelu --------------------------------------------------------------------------

_LEAKY_RELU_BACKWARD = op(
    "_leaky_relu_backward(Tensor self, Tensor grad_output, Scalar negative_slope) -> Tensor",
    with_numbers(loops.leaky_relu_backward, "leaky_relu_backward_cpu", "tensors", "checked wide"),
    derivative={"grad_output": LINEAR, "self": zeros},
)


def _leaky_relu_result(grad, result, negative_slope):
    if negative_slope < 0:
        raise errors.graph.negative_slope("leakyReLu")
    return ops._leaky_relu_backward(result, grad, negative_slope)


op(
    "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    with_numbers(loops.leaky_relu, "leaky_relu_cpu", "alike", "checked wide"),
    derivative={"self": _LEAKY_RELU_BACKWARD},
    inplace_derivative={"self": _leaky_relu_result},
    variants="nn inplace",
    doc="""Return the elements, negative ones times `negative_slope`.

>>> imode.ops.leaky_relu(imode.tensor([-1., 2.]), 0.1)
tensor([-0.1000,  2.0000])
""",
)


def _prelu_bend(grads, grad_output, self, weight):
    """At 0 the slope is the one below, its own derivatives those above: as in PyTorch."""
    to_self, to_weight = (ops.zeros_like(self) if grad is None else grad for grad in grads)
    above = self >= 0
    return (
        ops.where(above, to_self, to_self * weight + to_weight * self),
        ops.where(above, 0, grad_output * to_weight),
        ops.where(above, 0, grad_output * to_self),
    )


@op(
    "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) "
    "-> (Tensor result0, Tensor result1)",
    derivative={("grad_output", "self", "weight"): _prelu_bend},
)
def _prelu_slopes(grad_output, self, weight):
    expect("_prelu_kernel_backward", "grad_output", grad_output, self.shape)
    wide = views.apply(views.expand, weight, self.shape)
    operands = self, wide, grad_output
    to_self, to_weight = (empty_for(operands, self.shape, self.dtype) for _ in range(2))
    loops.leaky_relu_backward(self, grad_output, wide, out=to_self)
    loops.prelu_weight(self, grad_output, out=to_weight)
    return to_self, to_weight


op(
    "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    ufunc(
        loops.leaky_relu,
        ints="alike",
        fallback=refusing("prelu_cpu", numbers=False),
        layout="like",
    ),
    derivative={("self", "weight"): _prelu_slopes},
)


@composite(
    "prelu(Tensor self, Tensor weight) -> Tensor",
    fast=composites_fast.prelu,
    variants="function method nn",
)
def prelu(self, weight):
    """Return the elements, negative ones times `weight`: one number, or one per channel (dim 1).

    >>> imode.prelu(imode.tensor([-1., 2.]), imode.tensor([0.5]))
    tensor([-0.5000,  2.0000])
    """
    if self.dtype != weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {self.dtype} and {weight.dtype}"
        )
    if weight.numel() != 1:
        if self.dim() == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = self.shape[1] if self.dim() > 1 else 1
        if channels != weight.numel():
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
    if weight.dim() > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}"
        )
    if self.dim() != weight.dim():
        channels = [-1 if dim == min(self.dim() - 1, 1) else 1 for dim in range(self.dim())]
        weight = weight.reshape(channels)
    return ops._prelu_kernel(self, weight)
