"""Variance and standard deviation, and both with the mean."""

import math

import numpy as np

from imode import errors, ops
from imode._core.type_names import scalar_name
from imode._core.user_frames import warn
from imode.kernels.creation.copy import cast
from imode.kernels.reductions import variance as fast
from imode.ops.composites_fast import spread as spread_by_correction
from imode.ops.reductions import dims
from imode.ops.reductions.dims import FLOATING, reduced, restore
from imode.ops.schema import Out, composite, op


@dims.quiet
def _moments(x, dim, correction, keepdim, name):
    """Variance and mean along `dim`; of complex numbers, those of their two parts together."""
    if x.dtype.kind not in FLOATING:
        which = name if "mean" in name else "std and var"
        raise RuntimeError(f"{which} only support floating point and complex dtypes")
    axes = dims.wrap_all(dim, x.ndim)
    count = dims.count(x.shape, axes)
    freedom = max(count - (1 if correction is None else correction), 0)
    if freedom == 0 or x.size == 0:
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
        )
    if x.dtype.kind != "c":
        return _real_moments(x, axes, keepdim, count, freedom)
    of_parts = (_real_moments(part, axes, keepdim, count, freedom) for part in (x.real, x.imag))
    (real_var, real), (imaginary_var, imaginary) = of_parts
    mean = np.empty(np.shape(real), x.dtype)
    mean.real, mean.imag = real, imaginary
    to = x.real.dtype
    return reduced(real_var, to) + reduced(imaginary_var, to), mean


def _real_moments(x, axes, keepdim, count, freedom):
    wide = cast(x, np.float32 if x.dtype == np.float16 else np.float64)
    mean = np.add.reduce(wide, axis=axes, keepdims=True) / wide.dtype.type(count)
    # Away from an element first: numbers that are all alike then have a variance of exactly 0.
    away = wide - wide[tuple(slice(1) if i in axes else slice(None) for i in range(x.ndim))]
    away -= np.add.reduce(away, axis=axes, keepdims=True) / wide.dtype.type(count)
    var = np.add.reduce(np.square(away), axis=axes, keepdims=keepdim) / wide.dtype.type(freedom)
    return var, mean if keepdim else mean.reshape(np.shape(var))


def _real_type(x):
    return np.dtype(x.dtype.char.lower()) if x.dtype.kind == "c" else x.dtype


def _var(self, dim, correction, keepdim):
    return reduced(_moments(self, dim, correction, keepdim, "var")[0], _real_type(self))


def _std(self, dim, correction, keepdim):
    var = _moments(self, dim, correction, keepdim, "std")[0]
    return reduced(np.sqrt(var), _real_type(self))


def _var_mean(self, dim, correction, keepdim):
    var, mean = _moments(self, dim, correction, keepdim, "var_mean")
    return reduced(var, _real_type(self)), reduced(mean, self.dtype)


def _std_mean(self, dim, correction, keepdim):
    var, mean = _moments(self, dim, correction, keepdim, "std_mean")
    return reduced(np.sqrt(var), _real_type(self)), reduced(mean, self.dtype)


def _var_backward(grad, self, dim, correction, keepdim):
    if correction is None:
        correction = 1
    if self.dim() == 0 or dim is None:
        freedom = self.numel() - correction
        away = self - self.mean()
        if freedom <= 0:  # 2 / 0 is infinite, and infinity times 0 is NaN
            return grad * (away.detach().abs() * math.inf)
    else:
        freedom = dims.count(self.shape, dim) - correction
        away = self - self.mean(dim, keepdim=True)
    grad = restore(grad, dim, keepdim, self.dim())
    return (2.0 / freedom if freedom else math.inf) * grad * away


def _std_backward(grad, self, result, dim, correction, keepdim):
    grad_var = (grad / (result * 2)).masked_fill_(result == 0, 0)
    return _var_backward(grad_var, self, dim, correction, keepdim)


def _and_mean(slope, mean, self, dim, keepdim):
    """The gradient of a variance or deviation and of the mean beside it; None for what has none."""
    if mean is None:
        return slope
    mean = restore(mean, dim, keepdim, self.dim()).expand(self.shape)
    of_mean = mean / dims.count(self.shape, dim)
    return of_mean if slope is None else slope + of_mean


def var_mean_backward(grads, self, dim, correction, keepdim):
    var, mean = grads
    slope = None if var is None else _var_backward(var, self, dim, correction, keepdim)
    return _and_mean(slope, mean, self, dim, keepdim)


def _std_mean_backward(grads, self, result0, dim, correction, keepdim):
    std, mean = grads
    slope = None if std is None else _std_backward(std, self, result0, dim, correction, keepdim)
    return _and_mean(slope, mean, self, dim, keepdim)


_ABOUT = """{what}, of all elements or along `dim`.

    The divisor is the number of elements less `correction` (1 when None); `unbiased=False` is the
    older spelling of `correction=0`. Raises RuntimeError for integers and booleans.

    >>> imode.{name}(imode.tensor([1.0, 2.0, 3.0]))
    {shown}
    """


def _in_dtype_of(out, self, dim, correction, keepdim):
    """Compute in out's dtype, but where it gives one number."""
    return _converted(self, dim, out.dtype), dim, correction, keepdim


def _converted(self, dim, to):
    dtype = self.dtype
    if dtype == to or not all(d.is_floating_point or d.is_complex for d in (dtype, to)):
        return self
    if dtype.is_complex:
        return self.to(to if to.is_complex else to.to_complex())
    if dims.count(self.shape, dim) != self.numel():
        if to.is_complex and self.numel():
            raise errors.dtypes.not_implemented("std_cpu", to.numpy)
        return self if to.is_complex else self.to(to)
    if dtype.itemsize == 2:
        raise RuntimeError(f"std_var_all: Unsupported dtype {scalar_name(dtype.numpy)}")
    return self


def _unbiased(name):
    def spread(self, unbiased):
        return getattr(ops, name)(self, None, correction=int(unbiased))

    return "(Tensor self, bool unbiased=True)", spread


def _unbiased_along(name):
    def spread(self, dim, unbiased, keepdim, out=None):
        chosen = {"correction": int(unbiased), "keepdim": keepdim}
        return getattr(ops, name)(self, dim, **chosen, **({} if out is None else {"out": out}))

    arguments = "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False)"
    return ".dim" + arguments, spread


for _name, _kernel, _backward, _returns, _what, _shown in (
    ("var", _var, _var_backward, "Tensor", "Return the variance", "tensor(1.)"),
    ("std", _std, _std_backward, "Tensor", "Return the standard deviation", "tensor(1.)"),
    (
        "var_mean",
        _var_mean,
        var_mean_backward,
        "(Tensor result0, Tensor result1)",
        "Return the variance and the mean",
        "(tensor(1.), tensor(2.))",
    ),
    (
        "std_mean",
        _std_mean,
        _std_mean_backward,
        "(Tensor result0, Tensor result1)",
        "Return the standard deviation and the mean",
        "(tensor(1.), tensor(2.))",
    ),
):
    _doc = _ABOUT.format(what=_what, name=_name, shown=_shown)
    _variants = "function" if "mean" in _name else "function method out"
    # A dimension by itself is of the older form, and so a correction of 1, which the node shows.
    _arguments, _function = _unbiased_along(_name)
    composite(
        f"{_name}{_arguments} -> {_returns}",
        variants=_variants,
        doc=_doc,
        fast=spread_by_correction,
    )(_function)
    op(
        f"{_name}.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
        f"bool keepdim=False) -> {_returns}",
        _kernel,
        fast=getattr(fast, _name),
        derivative={"self": _backward},
        out=Out(arguments=_in_dtype_of),
        variants=_variants,
        doc=_doc,
    )
    _arguments, _function = _unbiased(_name)
    composite(
        f"{_name}{_arguments} -> {_returns}", variants=_variants.removesuffix(" out"), doc=_doc
    )(_function)
