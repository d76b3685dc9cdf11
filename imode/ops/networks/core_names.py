"""Layers under the names that PyTorch's programs have for them once they are taken apart.

Each is another operator's kernel with other arguments: batch norm whose statistics must be there,
or must not; dropout that also gives what it kept; softmax without a dtype to convert to.
"""

import numpy as np

from imode import errors, ops
from imode._core import layout
from imode._core.promotion import result_type
from imode._core.type_names import class_name
from imode.kernels.networks import norm
from imode.ops.networks.norm import batch_norm_backward
from imode.ops.pointwise.common import cast, not_differentiable
from imode.ops.random.distributions import bernoulli_number
from imode.ops.schema import Out, composite, op

# ---- softmax ------------------------------------------------------------------------------------


def _declare_softmax(name):
    @composite(
        f"_{name}(Tensor self, int dim, bool half_to_float) -> Tensor",
        out=Out("same"),
        variants="function out",
        doc=f"""As `{name}`; `half_to_float` has to be False, as PyTorch refuses it on the CPU.

        >>> imode._{name}(imode.tensor([0.0]), 0, False).shape
        imode.Size([1])
        """,
    )
    def function(self, dim, half_to_float, out=None):
        if half_to_float:
            raise RuntimeError("softmax with half to float conversion is not supported on CPU")
        return getattr(ops, name)(self, dim, out=out)

    return function


for _name in ("softmax", "log_softmax"):
    _declare_softmax(_name)


# ---- batch norm ---------------------------------------------------------------------------------


def _backward_without_running(grad, input, weight, training, eps, result1, result2, needs):
    return ops.native_batch_norm_backward(
        grad, input, weight, None, None, result1, result2, training, eps, needs
    )


def _backward_by_running(
    grad, input, weight, running_mean, running_var, eps, result1, result2, needs
):
    return ops.native_batch_norm_backward(
        grad, input, weight, running_mean, running_var, result1, result2, False, eps, needs
    )


_AFFINE = "Tensor input, Tensor? weight, Tensor? bias, "
_RESULTS = "(Tensor result, Tensor result1, Tensor result2)"

op(
    f"_native_batch_norm_legit({_AFFINE}Tensor running_mean, Tensor running_var, bool training, "
    f"float momentum, float eps) -> {_RESULTS}",
    norm.native_batch_norm,
    writes=("running_mean", "running_var"),
    derivative={("input", "weight", "bias"): batch_norm_backward},
    others_constant=True,
    variants="function",
    doc="""As `native_batch_norm`, with running statistics.

    >>> x, mean, var = imode.tensor([[1.0], [3.0]]), imode.zeros(1), imode.ones(1)
    >>> imode._native_batch_norm_legit(x, None, None, mean, var, True, 0.5, 0.0)[0].tolist()
    [[-1.0], [1.0]]
    >>> mean
    tensor([1.])
    """,
)
op(
    f"_native_batch_norm_legit.no_stats({_AFFINE}bool training, float momentum, float eps) "
    f"-> {_RESULTS}",
    norm.batch_norm_without_running,
    derivative={("input", "weight", "bias"): _backward_without_running},
    name="NativeBatchNormLegitBackward1",
    variants="function",
    doc="""Likewise without them.""",
)
op(
    f"_native_batch_norm_legit_no_training({_AFFINE}Tensor running_mean, Tensor running_var, "
    f"float momentum, float eps) -> {_RESULTS}",
    norm.batch_norm_by_running,
    derivative={("input", "weight", "bias"): _backward_by_running},
    others_constant=True,
    variants="function",
    doc="""As `native_batch_norm` outside of training: by the running statistics.

    >>> x, mean, var = imode.tensor([[1.0], [3.0]]), imode.ones(1), imode.ones(1)
    >>> imode._native_batch_norm_legit_no_training(x, None, None, mean, var, 0.5, 0.0)[0].tolist()
    [[0.0], [2.0]]
    """,
)

# ---- dropout ------------------------------------------------------------------------------------


def _scale(p, train):
    """What is left is multiplied by this."""
    if train is False:
        return 1.0
    return 0.0 if p == 1 else 1.0 / (1.0 - p)


def _dropout_backward(grad, result1, p, train):
    return ops.native_dropout_backward(grad, result1, _scale(p, train))


@op(
    "native_dropout(Tensor input, float p, any train) -> (Tensor result, Tensor result1)",
    derivative={"input": _dropout_backward},
    constant="result1",
    variants="function",
)
def native_dropout(self, p, train):
    """Zero elements with probability `p`, scale the others by 1 / (1 - p); also give the mask.

    Where `train` is False nothing is zeroed. Raises RuntimeError unless `p` is within [0, 1].

    >>> imode.native_dropout(imode.ones(2), 0.5, False)
    (tensor([1., 1.]), tensor([True, True]))
    """
    if train is not None and type(train) is not bool:
        raise TypeError(
            f"native_dropout(): argument 'train' (position 3) must be bool, not {class_name(train)}"
        )
    if self.size == 0:
        return self.copy(), layout.empty_like(self)
    mask = layout.empty_like(self, np.bool_)
    if train is False:
        mask[...] = True
        return self.copy(order="K"), mask
    bernoulli_number(mask, 1.0 - p, None)
    if self.dtype.kind not in "fc":
        raise errors.dtypes.cannot_cast("Float", self.dtype)
    return scaled(self, mask, _scale(p, train)), mask


def scaled(x, mask, scale):
    """x * mask * scale in the dtype of x; integers give float32, and float16 is rounded from it."""
    floats = x.dtype.kind in "fc"
    wide = x.dtype if floats and x.dtype != np.float16 else np.dtype(np.float32)
    result = np.asarray(np.multiply(x, mask, dtype=wide))
    np.multiply(result, wide.type(scale), out=result)
    return result.astype(x.dtype, copy=False) if floats else result


@op(
    "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    derivative={
        "grad_output": lambda grad, mask, scale: ops.native_dropout_backward(grad, mask, scale),
        "mask": not_differentiable("native_dropout_backward"),
    },
    shows={"grad_output": True},
    variants="",
)
def native_dropout_backward(grad, mask, scale):
    """The gradient of `native_dropout`: where `mask` is set, times `scale`.

    >>> grad, mask = imode.ones(2), imode.tensor([True, False])
    >>> imode.ops.native_dropout_backward(grad, mask, 2.0)
    tensor([2., 0.])
    """
    if mask.dtype.kind != "b":  # PyTorch multiplies by what it is given
        grad = cast(grad, result_type(grad, mask))
        mask = mask.astype(grad.dtype, copy=False)
    return scaled(grad, mask, scale)
