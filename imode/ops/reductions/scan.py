"""Operators along one dimension that look at all of it: running sums, softmax, logsumexp."""

from itertools import pairwise

import numpy as np

from imode import errors, ops
from imode._core.dtype import as_numpy
from imode._core.numbers import largest
from imode._core.user_frames import warn
from imode.kernels.creation.copy import cast
from imode.kernels.reductions import along, reduce
from imode.kernels.shapes.views import wrap_dim
from imode.ops.gradient_checks import expect
from imode.ops.reductions import dims
from imode.ops.reductions.dims import FLOATING, accumulate_type, reduced, restore
from imode.ops.schema import Out, composite, conj, functional, op

# ---- running sums and products ----


@dims.quiet
def _running(name, accumulate, self, dim, dtype):
    axis = wrap_dim(dim, self.ndim)
    if dtype is not None:
        to = as_numpy(dtype)
    else:
        to = self.dtype if self.dtype.kind in FLOATING else np.dtype(np.int64)
    if to.kind == "b" and self.size and self.ndim:
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
    if self.ndim == 0:
        return reduced(self.astype(to), to)
    wide = accumulate_type(to)
    return reduced(accumulate(self.astype(to, copy=False), axis=axis, dtype=wide), to)


def _cumsum(self, dim, dtype):
    return _running("cumsum", np.add.accumulate, self, dim, dtype)


def _cumprod(self, dim, dtype):
    if self.dtype.kind == "c" and self.size:
        self = np.array(self)
        lanes = np.moveaxis(self.reshape(self.shape or 1), wrap_dim(dim, self.ndim), 0)
        lanes[:1] *= 1  # beside infinity 0 becomes NaN
    return _running("cumprod", np.multiply.accumulate, self, dim, dtype)


def _reversed_cumsum(grad, dim):
    return grad.flip(dim).cumsum(dim).flip(dim)


def _cumsum_backward(grad, self_dtype, dim):
    grad = grad.to(self_dtype)
    return grad if grad.numel() <= 1 or grad.size(dim) == 1 else _reversed_cumsum(grad, dim)


def _cumprod_backward(grad, self, result, dim):
    grad = grad.to(self.dtype)
    if self.dim() == 0 or self.numel() == 0 or self.size(dim) == 1:
        return grad
    if self.is_meta or not (self.detach() == 0).any():  # which, nobody knows on meta
        return _reversed_cumsum(conj(result) * grad, dim) / conj(self)
    # A zero hides what the other factors would have given: leave out one factor at a time.
    size, factors, made = self.size(dim), conj(self), grad.new_zeros(self.shape)
    for k in range(size):
        if k == 0:
            others = factors.narrow(dim, 1, size - 1).cumprod(dim)
            others = ops.cat([ops.ones_like(factors.detach().narrow(dim, 0, 1)), others], dim)
        else:
            others = factors.narrow(dim, 0, k).prod(dim, keepdim=True)
        if 0 < k < size - 1:
            after = factors.narrow(dim, k + 1, size - k - 1).cumprod(dim)
            others = ops.cat([others, others.expand_as(after) * after], dim)
        made.select(dim, k).copy_((grad.narrow(dim, k, size - k) * others).sum(dim))
    return made


op(
    "cumsum(Tensor self, int dim, *, dtype? dtype=None) -> Tensor",
    _cumsum,
    fast=along.cumsum,
    derivative={"self": _cumsum_backward},
    variants="function method inplace out",
    out=Out("own", overlap="part"),
    doc="""Return the running sums along `dim`; of integers and booleans in int64.

    >>> imode.cumsum(imode.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """,
)
op(
    "cumprod(Tensor self, int dim, *, dtype? dtype=None) -> Tensor",
    _cumprod,
    fast=along.cumprod,
    derivative={"self": _cumprod_backward},
    variants="function method inplace out",
    out=Out("own", overlap="part"),
    doc="""Return the running products along `dim`; of integers and booleans in int64.

    >>> imode.cumprod(imode.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])
    """,
)

# ---- logsumexp ----


@dims.quiet
def _logsumexp(self, dim, keepdim):
    x = self if self.dtype.kind in FLOATING else self.astype(np.float32)
    axes = dims.wrap_all(dim, x.ndim)
    wide = cast(x, accumulate_type(x.dtype))
    if wide.size == 0:
        return reduced(np.log(np.add.reduce(np.exp(wide), axis=axes, keepdims=keepdim)), x.dtype)
    peak = np.maximum.reduce(wide.real, axis=axes, keepdims=True)
    peak = np.where(np.isinf(peak), wide.real.dtype.type(0), peak)
    total = np.add.reduce(np.exp(wide - peak), axis=axes, keepdims=keepdim)
    return reduced(np.log(total) + peak.reshape(np.shape(total)), x.dtype)


def _logsumexp_backward(grad, self, result, dim, keepdim):
    grad = restore(grad, dim, keepdim, self.dim())
    result = restore(result, dim, keepdim, self.dim())
    return grad * conj((self - result).exp())


op(
    "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    _logsumexp,
    fast=reduce.logsumexp,
    derivative={"self": _logsumexp_backward},
    out=Out(
        "floating",
        "logsumexp(): Expected floating point type for result tensor, but got: {Found}",
    ),
    variants="function method out",
    doc="""Return the logarithm of the sum of exponentials along `dim`, without overflow.

    >>> imode.logsumexp(imode.tensor([0.0, 0.0]), 0)
    tensor(0.6931)
    """,
)


@dims.quiet
def _logcumsumexp(self, dim):
    axis = wrap_dim(dim, self.ndim)
    if self.dtype.kind not in FLOATING:
        raise errors.dtypes.not_implemented("logcumsumexp_out_cpu", self.dtype)
    if self.ndim == 0:
        return self.copy()
    wide = cast(self, accumulate_type(self.dtype))
    if self.dtype.kind == "f":
        return reduced(np.logaddexp.accumulate(wide, axis=axis), self.dtype)
    result = np.array(wide, order="C")
    lanes = np.moveaxis(result[..., None], axis, 0)  # which are arrays in any case
    for before, here in pairwise(lanes):
        swap = before.real > here.real
        low, high = np.where(swap, here, before), np.where(swap, before, here)
        here[...] = np.where(np.isneginf(low.real), high, high + np.log1p(np.exp(low - high)))
    return result


def _from_the_end(x, dim):
    return x.flip(dim).logcumsumexp(dim).flip(dim)


def _logcumsumexp_backward(grad, self, result, dim):
    if grad.dim() == 0 or grad.numel() == 0:
        return grad
    if grad.is_complex():
        return conj((_from_the_end(conj(grad).log() - result, dim) + self).exp())
    lowest = -largest(grad.dtype.numpy)  # whose exponential is 0, as that of -inf

    def part(sign):
        here = sign * grad > 0
        log = ops.where(here, sign * grad, 1.0).log().masked_fill(here.logical_not(), lowest)
        return (_from_the_end(log - result, dim) + self).exp()

    return part(1) - part(-1)


op(
    "logcumsumexp(Tensor self, int dim) -> Tensor",
    _logcumsumexp,
    fast=along.logcumsumexp,
    derivative={"self": _logcumsumexp_backward},
    variants="function method out",
    out=Out("self", errors.out.SCALAR_TYPE),
    doc="""Return the logarithms of the running sums of exponentials along `dim`, without overflow.

    Raises NotImplementedError for integers and booleans.

    >>> imode.logcumsumexp(imode.tensor([0.0, 0.0]), 0)
    tensor([0.0000, 0.6931])
    """,
)

# ---- softmax and its logarithm ----


def _check_softmax(name, self, dim):
    axis = wrap_dim(dim, self.ndim)
    if self.dtype.kind != "f" and self.size:
        last = "_lastdim" if self.ndim == 0 or axis == self.ndim - 1 else ""
        raise errors.dtypes.not_implemented(f"{name}{last}_kernel_impl", self.dtype)
    return (axis,) if self.ndim else ()


@dims.quiet
def _softmax(self, dim):
    axes = _check_softmax("softmax", self, dim)
    if self.size == 0:
        return np.empty(self.shape, self.dtype)
    wide = cast(self, accumulate_type(self.dtype))
    powers = np.exp(wide - np.maximum.reduce(wide, axis=axes, keepdims=True))
    return reduced(powers / np.add.reduce(powers, axis=axes, keepdims=True), self.dtype)


@dims.quiet
def _log_softmax(self, dim):
    axes = _check_softmax("log_softmax", self, dim)
    if self.size == 0:
        return np.empty(self.shape, self.dtype)
    wide = cast(self, accumulate_type(self.dtype))
    away = wide - np.maximum.reduce(wide, axis=axes, keepdims=True)
    total = np.add.reduce(np.exp(away), axis=axes, keepdims=True)
    return reduced(away - np.log(total), self.dtype)


@dims.quiet
def _softmax_backward_data(grad_output, output, dim):
    expect("_softmax_backward_data", "grad_output", grad_output, output.shape)
    axes = dims.wrap_one(dim, output.ndim)
    weighted = grad_output * output
    total = np.add.reduce(weighted, axis=axes, keepdims=True)
    return reduced(weighted - output * total, output.dtype)


@dims.quiet
def _log_softmax_backward_data(grad_output, output, dim):
    expect("_log_softmax_backward_data", "grad_output", grad_output, output.shape)
    axes = dims.wrap_one(dim, output.ndim)
    total = np.add.reduce(grad_output, axis=axes, keepdims=True)
    return reduced(grad_output - np.exp(output) * total, output.dtype)


def _sum(x, dim):
    return x.sum(dim, keepdim=True)


def _softmax_twice(grad, grad_output, output, dim):
    return (
        grad_output * grad
        - _sum(output * grad_output, dim) * grad
        - grad_output * _sum(output * grad, dim)
    )


op(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim) -> Tensor",
    _softmax_backward_data,
    fast=along.softmax_backward,
    derivative={
        "grad_output": lambda grad, output, dim: ops._softmax_backward_data(grad, output, dim),
        "output": _softmax_twice,
    },
    doc="""The gradient of softmax, from the gradient of its result and the result.""",
)
op(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim) -> Tensor",
    _log_softmax_backward_data,
    fast=along.log_softmax_backward,
    derivative={
        "grad_output": lambda grad, output, dim: grad - _sum(grad * output.exp(), dim),
        "output": lambda grad, grad_output, output, dim: (
            -_sum(grad_output, dim) * output.exp() * grad
        ),
    },
    doc="""The gradient of log_softmax, from the gradient of its result and the result.""",
)
op(
    "softmax(Tensor self, int dim) -> Tensor",
    _softmax,
    fast=along.softmax,
    derivative={"self": lambda grad, result, dim: ops._softmax_backward_data(grad, result, dim)},
    real_only="_softmax",
    out=Out("same"),
    variants="function method out",
    doc="""Return exponentials divided by their sum along `dim`: positive, adding up to 1.

    Raises NotImplementedError for types other than floating point ones.

    >>> imode.softmax(imode.tensor([0.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """,
)
op(
    "log_softmax(Tensor self, int dim) -> Tensor",
    _log_softmax,
    fast=along.log_softmax,
    derivative={
        "self": lambda grad, result, dim: ops._log_softmax_backward_data(grad, result, dim)
    },
    real_only="_log_softmax",
    out=Out("same"),
    variants="function method out",
    doc="""Return the logarithm of softmax along `dim`.

    >>> imode.log_softmax(imode.tensor([0.0, 0.0]), 0)
    tensor([-0.6931, -0.6931])
    """,
)


def _with_dtype(name):
    def typed(self, dim, dtype):
        return getattr(ops, name)(self if dtype is None else self.to(dtype), dim)

    return typed


for _name in ("softmax", "log_softmax"):
    composite(
        f"{_name}.dtype(Tensor self, int dim, dtype? dtype=None) -> Tensor",
        variants="function method out",
        out=Out("same"),
        doc=f"""Convert to `dtype`, then take the {_name} along `dim`.

        >>> imode.{_name}(imode.tensor([0]), 0, dtype=imode.float64).dtype
        imode.float64
        """,
    )(_with_dtype(_name))


# ---- nn.functional: without a dimension, one is chosen ----


def _chosen_dim(name, ndim):
    """The dimension that was meant before `dim` had to be named."""
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
    )
    return 0 if ndim in (0, 1, 3) else 1


@functional("softmax")
def _softmax_function(input, dim=None, _stacklevel=3, dtype=None):
    """Return exponentials divided by their sum along `dim`, after converting to `dtype`.

    >>> imode.nn.functional.softmax(imode.tensor([0.0]), dim=0, dtype=imode.float64).dtype
    imode.float64
    """
    if dim is None:
        dim = _chosen_dim("softmax", input.dim())
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


@functional("log_softmax")
def _log_softmax_function(input, dim=None, _stacklevel=3, dtype=None):
    """Return the logarithm of softmax along `dim`, after converting to `dtype`.

    >>> imode.nn.functional.log_softmax(imode.tensor([0.0]), dim=0, dtype=imode.float64).dtype
    imode.float64
    """
    if dim is None:
        dim = _chosen_dim("log_softmax", input.dim())
    if dtype is None:
        return input.log_softmax(dim)
    return input.log_softmax(dim, dtype=dtype)


@functional("softmin")
def _softmin_function(input, dim=None, _stacklevel=3, dtype=None):
    """Return softmax of the negated tensor along `dim`, after converting to `dtype`.

    >>> imode.nn.functional.softmin(imode.tensor([0.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """
    if dim is None:
        dim = _chosen_dim("softmin", input.dim())
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)
