"""Activation functions of straight pieces: relu, threshold, hardtanh, leaky_relu and kin.

As in `activation`, a gradient that one compiled loop computes is an operator of its own.
"""

import numpy as np

from imode import ops
from imode.kernels import loops, strided
from imode.kernels.order import empty_for

from .._core.internals import array_of
from .._core.numbers import largest, number_as
from .._core.overlap import refuse_overlaps
from .._core.words import not_implemented, scalar_name
from .create import same_dtype_out
from .expect import expect
from .refuse import refusing, zeros
from .schema import composite, op, out_form, ufunc

# ---- relu, threshold ----------------------------------------------------------------------------


def _refuse_relu(self):
    if self.dtype == np.bool_:
        raise RuntimeError("Boolean inputs not supported for relu")
    if self.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")


op(
    "_threshold_backward(Tensor self, Tensor grad_output, Scalar threshold) -> Tensor",
    ufunc(
        loops.threshold_backward,
        ints="tensors",
        otherwise=refusing("threshold_cpu", numbers=False),
        numbers="checked",
    ),
    derivative={
        "grad_output": lambda grad, self, threshold: ops._threshold_backward(self, grad, threshold),
        "self": zeros,
    },
    variants="",
)
op(
    "relu(Tensor self) -> Tensor",
    ufunc(loops.relu, otherwise=_refuse_relu, first=_refuse_relu),
    derivative={"self": lambda grad, result: ops._threshold_backward(result, grad, 0)},
    variants="function method inplace",
    doc="""Return the elements, negative ones replaced by 0.

>>> imode.relu(imode.tensor([-1., 2.]))
tensor([0., 2.])
""",
)
_THRESHOLD = op(
    "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    ufunc(
        loops.threshold,
        ints="alike",
        otherwise=refusing("threshold_cpu", numbers=False),
        numbers=("wrapped", "checked wide", "checked"),
    ),
    derivative={
        "self": lambda grad, self, threshold: ops._threshold_backward(self, grad, threshold)
    },
    inplace_derivative={
        "self": lambda grad, self, threshold: ops._threshold_backward(self, grad, threshold)
    },
    variants="function inplace out",
    doc="""Return the elements, those not above `threshold` replaced by `value`.

>>> imode.threshold(imode.tensor([0., 2.]), 1, -5)
tensor([-5.,  2.])
""",
)
_THRESHOLD_OUT = _THRESHOLD.out


def _threshold_into(_, arguments, out):
    """Write to a part of what is read, too, which is read first."""
    self, *rest = arguments
    try:
        refuse_overlaps(array_of(out), array_of(self))
    except RuntimeError:
        self = self.clone()
    return _THRESHOLD_OUT(self, *rest, out=out)


out_form(_THRESHOLD, _threshold_into)

# ---- hardtanh and kin ---------------------------------------------------------------------------

op(
    "_hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
    ufunc(
        loops.hardtanh_backward,
        ints="tensors",
        otherwise=refusing("hardtanh_backward_cpu", numbers=False),
        numbers="checked",
    ),
    derivative={
        "grad_output": lambda grad, self, min_val, max_val: ops._hardtanh_backward(
            grad, self, min_val, max_val
        ),
        "self": zeros,
    },
    variants="",
)


def _refuse_hardtanh(self, min_val, max_val):
    if self.dtype == np.bool_:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if self.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")


op(
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    ufunc(
        loops.clamp,
        otherwise=_refuse_hardtanh,
        first=_refuse_hardtanh,
        exact=True,
        numbers="checked",
        laid="like",
    ),
    derivative={
        "self": lambda grad, self, min_val, max_val: ops._hardtanh_backward(
            grad, self, min_val, max_val
        )
    },
    variants="nn inplace",
    doc="""Return the elements moved into [min_val, max_val].

>>> imode.ops.hardtanh(imode.tensor([-3., 0.5]))
tensor([-1.0000,  0.5000])
""",
)
op(
    "_hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.hardsigmoid_backward, otherwise=refusing("hardsigmoid_backward")),
    derivative={
        "grad_output": lambda grad, self: ops._hardsigmoid_backward(grad, self),
        "self": zeros,
    },
    variants="",
)
op(
    "hardsigmoid(Tensor self) -> Tensor",
    ufunc(loops.hardsigmoid, otherwise=refusing("hardsigmoid_cpu")),
    derivative={"self": lambda grad, self: ops._hardsigmoid_backward(grad, self)},
    variants="inplace",
    doc="""Return ``relu6(x + 3) / 6``.

>>> imode.ops.hardsigmoid(imode.tensor([0., 4.]))
tensor([0.5000, 1.0000])
""",
)


op(
    "_hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
    ufunc(loops.hardswish_backward, otherwise=refusing("hardswish_backward")),
    derivative={
        "grad_output": lambda grad, self: ops._hardswish_backward(grad, self),
        "self": lambda grad, grad_output, self: ops.where(
            (self > -3) & (self < 3), grad * grad_output / 3.0, 0
        ),
    },
    variants="",
)
op(
    "hardswish(Tensor self) -> Tensor",
    ufunc(loops.hardswish, otherwise=refusing("hardswish_cpu")),
    derivative={"self": lambda grad, self: ops._hardswish_backward(grad, self)},
    variants="inplace",
    doc="""Return ``x * relu6(x + 3) / 6``.

>>> imode.ops.hardswish(imode.tensor([0., 4.]))
tensor([0., 4.])
""",
)


def _shrunk(name):
    return lambda grad, self, lambd: getattr(ops, name)(grad, self, lambd)


for _name in ("hardshrink", "softshrink"):
    op(
        f"_{_name}_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
        ufunc(
            loops.shrink_backward,
            ints="tensors",
            otherwise=refusing(f"{_name}_backward_cpu", numbers=False),
            numbers="checked",
        ),
        derivative={
            "grad_output": _shrunk(f"_{_name}_backward"),
            "self": zeros,
        },
        variants="",
    )
_HARDSHRINK = op(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    ufunc(
        loops.hardshrink,
        ints="alike",
        otherwise=refusing("hardshrink_cpu", numbers=False),
        numbers="checked",
    ),
    derivative={"self": lambda grad, self, lambd: ops._hardshrink_backward(grad, self, lambd)},
    variants="function method nn out",
    doc="""Return the elements, those within `lambd` of 0 replaced by 0.

>>> imode.hardshrink(imode.tensor([0.2, 2.]))
tensor([0., 2.])
""",
)
same_dtype_out(
    _HARDSHRINK,
    None,
    lambda wanted, found: f"Found dtype {scalar_name(found)} but expected {scalar_name(wanted)}",
)
op(
    "_softshrink(Tensor self, Scalar lambd) -> Tensor",
    ufunc(
        loops.softshrink,
        ints="alike",
        otherwise=refusing("softshrink_cpu", numbers=False),
        numbers="checked wide",
    ),
    derivative={"self": lambda grad, self, lambd: ops._softshrink_backward(grad, self, lambd)},
    name="SoftshrinkBackward0",
    variants="",
)


@composite("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", variants="nn")
def softshrink(self, lambd):
    """Return the elements moved toward 0 by `lambd`, not past it.

    >>> imode.nn.functional.softshrink(imode.tensor([0.2, 2.]))
    tensor([0.0000, 1.5000])
    """
    lambd = number_as(lambd, np.dtype(np.float64))
    if not self.is_floating_point():
        raise not_implemented("softshrink_check", self.dtype.numpy)
    if not 0 <= lambd <= largest(self.dtype.numpy):
        raise RuntimeError(
            f"lambda must be in range [0, {largest(self.dtype.numpy):g}] for input dtype "
            f"{scalar_name(self.dtype.numpy)}, but found {lambd:g}"
        )
    return ops._softshrink(self, lambd)


# ---- leaky_relu, prelu --------------------------------------------------------------------------

op(
    "_leaky_relu_backward(Tensor self, Tensor grad_output, Scalar negative_slope) -> Tensor",
    ufunc(
        loops.leaky_relu_backward,
        ints="tensors",
        otherwise=refusing("leaky_relu_backward_cpu", numbers=False),
        numbers="checked wide",
    ),
    derivative={
        "grad_output": lambda grad, self, negative_slope: ops._leaky_relu_backward(
            self, grad, negative_slope
        ),
        "self": zeros,
    },
    variants="",
)


def _leaky_relu_result(grad, result, negative_slope):
    if negative_slope < 0:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is "
            "not supported. Call the function without inplace=True."
        )
    return ops._leaky_relu_backward(result, grad, negative_slope)


op(
    "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    ufunc(
        loops.leaky_relu,
        ints="alike",
        otherwise=refusing("leaky_relu_cpu", numbers=False),
        numbers="checked wide",
    ),
    derivative={
        "self": lambda grad, self, negative_slope: ops._leaky_relu_backward(
            self, grad, negative_slope
        )
    },
    inplace_derivative={"self": _leaky_relu_result},
    variants="nn inplace",
    doc="""Return the elements, negative ones times `negative_slope`.

>>> imode.ops.leaky_relu(imode.tensor([-1., 2.]), 0.1)
tensor([-0.1000,  2.0000])
""",
)


def _prelu_slopes(grad_output, self, weight):
    expect("_prelu_kernel_backward", "grad_output", grad_output, self.shape)
    wide = strided.apply(strided.expand, weight, self.shape)
    operands = self, wide, grad_output
    to_self, to_weight = (empty_for(operands, self.shape, self.dtype) for _ in range(2))
    loops.leaky_relu_backward(self, grad_output, wide, out=to_self)
    loops.prelu_weight(self, grad_output, out=to_weight)
    return to_self, to_weight


def _prelu_bend(grads, grad_output, self, weight):
    """At 0 the slope is the one below, its own derivatives those above: as in PyTorch."""
    to_self, to_weight = (ops.zeros_like(self) if grad is None else grad for grad in grads)
    above = self >= 0
    return (
        ops.where(above, to_self, to_self * weight + to_weight * self),
        ops.where(above, 0, grad_output * to_weight),
        ops.where(above, 0, grad_output * to_self),
    )


op(
    "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) "
    "-> (Tensor result0, Tensor result1)",
    _prelu_slopes,
    derivative={("grad_output", "self", "weight"): _prelu_bend},
    variants="",
)
op(
    "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    ufunc(
        loops.leaky_relu,
        ints="alike",
        otherwise=refusing("prelu_cpu", numbers=False),
        laid="like",
    ),
    derivative={
        ("self", "weight"): lambda grad, self, weight: ops._prelu_kernel_backward(
            grad, self, weight
        ),
    },
    variants="",
)


@composite("prelu(Tensor self, Tensor weight) -> Tensor", variants="function method nn")
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
