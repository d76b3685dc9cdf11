"""Reductions, scans and products as functions of the Array API standard."""

import math

from imode.backends.standard.tables import in_dtype, kind_of, other, shaped


def _axes(x, dim):
    """The axes of a dim argument: None, or (), for all."""
    if dim is None or not x.ndim or isinstance(dim, int):
        return dim if x.ndim else None
    return tuple(dim) or None


@other("sum", "sum.dim")
def _sum(xp, result, x, *rest):
    if result.dtype.name == "bool":
        return NotImplemented
    x = in_dtype(xp, x, result)
    return shaped(xp, xp.sum(x, axis=_axes(x, rest[0] if len(rest) > 1 else None)), result)


@other("prod", "prod.dim_int")
def _prod(xp, result, x, *rest):
    if result.dtype.name == "bool":
        return NotImplemented
    x = in_dtype(xp, x, result)
    return shaped(xp, xp.prod(x, axis=_axes(x, rest[0] if len(rest) > 1 else None)), result)


@other("mean", "mean.dim")
def _mean(xp, result, x, *rest):
    if not math.prod(x.shape) or kind_of(x) != "float":
        return NotImplemented
    x = in_dtype(xp, x, result)
    return shaped(xp, xp.mean(x, axis=_axes(x, rest[0] if len(rest) > 1 else None)), result)


def _truth(x):
    return x if kind_of(x) == "bool" else x != 0


@other("count_nonzero", "count_nonzero.dim_IntList")
def _count_nonzero(xp, result, x, dim=None):
    if dim is not None and not isinstance(dim, int) and not len(dim):
        return NotImplemented
    return shaped(xp, in_dtype(xp, xp.count_nonzero(x, axis=_axes(x, dim)), result), result)


@other("any", "any.dim")
def _any(xp, result, x, dim=None, keepdim=False):
    if dim is not None and not isinstance(dim, int) and not len(dim):
        return _truth(x)
    return shaped(xp, xp.any(_truth(x), axis=_axes(x, dim)), result)


@other("all", "all.dim")
def _all(xp, result, x, dim=None, keepdim=False):
    if dim is not None and not isinstance(dim, int) and not len(dim):
        return _truth(x)
    return shaped(xp, xp.all(_truth(x), axis=_axes(x, dim)), result)


@other("amax", "max")
def _amax(xp, result, x, dim=None, keepdim=False):
    if kind_of(x) in ("bool", "complex"):
        return NotImplemented
    return shaped(xp, xp.max(x, axis=_axes(x, dim)), result)


@other("amin", "min")
def _amin(xp, result, x, dim=None, keepdim=False):
    if kind_of(x) in ("bool", "complex"):
        return NotImplemented
    return shaped(xp, xp.min(x, axis=_axes(x, dim)), result)


@other("argmax")
def _argmax(xp, result, x, dim=None, keepdim=False):
    if kind_of(x) in ("bool", "complex"):
        return NotImplemented
    return shaped(xp, xp.argmax(x, axis=dim if x.ndim else None), result)


@other("argmin")
def _argmin(xp, result, x, dim=None, keepdim=False):
    if kind_of(x) in ("bool", "complex"):
        return NotImplemented
    return shaped(xp, xp.argmin(x, axis=dim if x.ndim else None), result)


@other("max.dim")
def _max_dim(xp, result, x, dim, keepdim):
    if kind_of(x) in ("bool", "complex") or not x.ndim:
        return NotImplemented
    return [
        shaped(xp, xp.max(x, axis=dim), result[0]),
        shaped(xp, xp.argmax(x, axis=dim), result[1]),
    ]


@other("min.dim")
def _min_dim(xp, result, x, dim, keepdim):
    if kind_of(x) in ("bool", "complex") or not x.ndim:
        return NotImplemented
    return [
        shaped(xp, xp.min(x, axis=dim), result[0]),
        shaped(xp, xp.argmin(x, axis=dim), result[1]),
    ]


def _spread(xp, x, dim, correction):
    """The number of elements less the correction, or None where that is not positive."""
    axes = _axes(x, dim)
    count = math.prod(x.shape if axes is None or not x.ndim else [x.shape[a] for a in axes])
    correction = 1 if correction is None else correction
    return correction if kind_of(x) == "float" and count > correction else None


@other("var.correction")
def _var(xp, result, x, dim, correction, keepdim):
    correction = _spread(xp, x, dim, correction)
    if correction is None or not x.ndim:
        return NotImplemented
    return shaped(xp, xp.var(x, axis=_axes(x, dim), correction=correction), result)


@other("std.correction")
def _std(xp, result, x, dim, correction, keepdim):
    correction = _spread(xp, x, dim, correction)
    if correction is None or not x.ndim:
        return NotImplemented
    return shaped(xp, xp.std(x, axis=_axes(x, dim), correction=correction), result)


@other("cumsum")
def _cumsum(xp, result, x, dim, dtype):
    return xp.cumulative_sum(in_dtype(xp, x, result), axis=dim) if x.ndim else NotImplemented


@other("cumprod")
def _cumprod(xp, result, x, dim, dtype):
    return xp.cumulative_prod(in_dtype(xp, x, result), axis=dim) if x.ndim else NotImplemented


@other("logsumexp")
def _logsumexp(xp, result, x, dim, keepdim):
    if not math.prod(x.shape) or kind_of(x) != "float":
        return NotImplemented
    axes = _axes(x, dim)
    most = xp.max(x, axis=axes, keepdims=True)
    most = xp.where(xp.isfinite(most), most, xp.zeros_like(most))
    total = xp.log(xp.sum(xp.exp(x - most), axis=axes, keepdims=True)) + most
    return shaped(xp, total, result)


@other("softmax")
def _softmax(xp, result, x, dim):
    if not math.prod(x.shape) or not x.ndim:
        return NotImplemented
    power = xp.exp(x - xp.max(x, axis=dim, keepdims=True))
    return power / xp.sum(power, axis=dim, keepdims=True)


@other("log_softmax")
def _log_softmax(xp, result, x, dim):
    if not math.prod(x.shape) or not x.ndim:
        return NotImplemented
    x = x - xp.max(x, axis=dim, keepdims=True)
    return x - xp.log(xp.sum(xp.exp(x), axis=dim, keepdims=True))


@other("_softmax_backward_data")
def _softmax_backward(xp, result, grad, output, dim):
    if not output.ndim:
        return NotImplemented
    return output * (grad - xp.sum(grad * output, axis=dim, keepdims=True))


@other("_log_softmax_backward_data")
def _log_softmax_backward(xp, result, grad, output, dim):
    if not output.ndim:
        return NotImplemented
    return grad - xp.exp(output) * xp.sum(grad, axis=dim, keepdims=True)


# ---- products -----------------------------------------------------------------------------------


def _numbers(*arrays):
    return all(kind_of(a) in ("float", "complex") for a in arrays)


@other("mm", "bmm", "mv", "dot")
def _mm(xp, result, a, b):
    return xp.matmul(a, b) if _numbers(a, b) else NotImplemented


@other("addmm", "baddbmm", "addmv")
def _addmm(xp, result, x, a, b, beta, alpha):
    if not _numbers(x, a, b):
        return NotImplemented
    product = xp.matmul(a, b)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (x if beta == 1 else x * beta)
