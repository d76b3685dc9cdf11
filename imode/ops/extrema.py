"""Maxima, minima, medians, and where they are."""

import numpy as np

from imode import ops
from imode.kernels import along
from imode.kernels import reduce as fast
from imode.kernels.strided import wrap_dim

from .._core.dtype import can_cast
from .._core.words import not_implemented, scalar_name, tensor_type
from . import dims
from .create import expected_out, same_dtype_out, same_dtype_outs
from .dims import reduced
from .schema import composite, op

_INT64 = np.dtype(np.int64)

# ---- checks ----


def _need_elements(name, x, dim, error=RuntimeError):
    """A maximum of nothing does not exist: name the dimension, or the lack of one."""
    if dim is None or dim == ():
        if x.size == 0:
            raise error(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        return
    for each in (dim,) if isinstance(dim, int) else dim:
        axis = wrap_dim(each, x.ndim)
        if x.ndim and x.shape[axis] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {each} to have non-zero size.")


def _need_order(kernel, x):
    if x.dtype.kind == "c":
        raise not_implemented(kernel, x.dtype)


# ---- gradients ----


def _whole_backward(grad, self, result):
    """Share `grad` evenly among the elements that equal `result`, NaN among NaN."""
    mask = (self == result).logical_or(self.isnan().logical_and(result.isnan()))
    return self.new_zeros(self.shape).masked_fill(mask, grad / mask.sum())


def _amax_backward(grad, self, result, dim, keepdim):
    if dim == () and not keepdim:  # PyTorch puts no dimension back, in a view
        grad, keepdim = grad.view(grad.shape), True
    return _share(grad, self, result, dim, keepdim, (1,))


def _share(grad, self, result, dim, keepdim, shape):
    """Share `grad` evenly among the elements of each slice that equal `result`; `shape`: what a
    tensor without dimensions counts as."""
    if not keepdim:
        axes = dims.wrap_all(dim, self.dim())
        kept = [1 if axis in axes else size for axis, size in enumerate(self.shape)] or shape
        grad, result = grad.view(kept), result.view(kept)
    mask = result == self
    return grad / mask.sum(dim, keepdim=True) * mask


def _index_backward(grad, self_shape, indices, dim, keepdim):
    if not keepdim and self_shape:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(self_shape).scatter_(dim, indices, grad)


# ---- whole or several dimensions ----


def _make_whole(name, reduce):
    def whole(self):
        _need_elements(name, self, None)
        _need_order(f"{name}_all", self)
        return reduced(reduce(self, axis=None), self.dtype)

    return whole


def _make_several(name, reduce, kernel):
    def several(self, dim, keepdim):
        _need_elements(name, self, dim)
        axes = dims.wrap_all(dim, self.ndim)
        _need_order(kernel, self)
        return reduced(reduce(self, axis=axes, keepdims=keepdim), self.dtype)

    return several


def _make_one(name, find):
    def one(self, dim, keepdim):
        axis = wrap_dim(dim, self.ndim)
        _need_elements(name, self, axis)
        if self.dtype.kind == "c":
            raise RuntimeError(f"{name}(): does not support complex input")
        if self.ndim == 0:
            return reduced(self.copy(), self.dtype), np.zeros((), _INT64)
        indices = np.expand_dims(find(self, axis=axis), axis)
        values = np.take_along_axis(self, indices, axis)
        if not keepdim:
            indices, values = indices.squeeze(axis), values.squeeze(axis)
        return reduced(values, self.dtype), reduced(indices, _INT64)

    return one


def _make_where(name, find):
    def where(self, dim, keepdim):
        if self.dtype.kind == "c":
            raise RuntimeError(f"{name}(): does not support complex input")
        if self.dtype.kind == "b":
            raise RuntimeError(f"{name}(): does not support bool input")
        if dim is None:
            _need_elements(name, self, None, IndexError)
            found = find(self, axis=None)
            return reduced(np.reshape(found, (1,) * self.ndim if keepdim else ()), _INT64)
        axis = wrap_dim(dim, self.ndim)
        if self.ndim == 0:
            return np.zeros((), _INT64)
        _need_elements(name, self, axis)
        return reduced(find(self, axis=axis, keepdims=keepdim), _INT64)

    return where


def _make_other(name):
    def other(self, other):
        return getattr(ops, name)(self, other)

    return other


def _wrong_whole(wanted, found):
    if not can_cast(wanted, found):
        return (
            "Expected canCast( typeMetaToScalarType(self.dtype()), "
            "typeMetaToScalarType(out.dtype())) to be true, but got false.  The result is "
            f"{scalar_name(wanted)}, out= {scalar_name(found)}"
        )
    return None


for _name, _reduce, _find, _word, _shown, _at in (
    ("max", np.maximum.reduce, np.argmax, "largest", "3.", "1"),
    ("min", np.minimum.reduce, np.argmin, "smallest", "1.", "0"),
):
    _whole = op(
        f"{_name}(Tensor self) -> Tensor",
        fast.kernel(_name, _make_whole(_name, _reduce)),
        derivative={"self": _whole_backward},
        name=f"{_name.title()}Backward1",
        variants="function method out",
        doc=f"""Return the {_word} element; NaN if there is one.

        The gradient is shared evenly among equal elements. Raises RuntimeError for a tensor
        without elements.

        >>> imode.{_name}(imode.tensor([1.0, 3.0, 2.0]))
        tensor({_shown})
        """,
    )
    # Before the overload with a dimension, which would take a 0-dim integer tensor for one.
    composite(
        f"{_name}.other(Tensor self, Tensor other) -> Tensor",
        variants="function method out",
        through=f"{_name}imum",
        apart="part",
        doc=f"""Return the {_word} of each two elements: `{_name}imum`.

        >>> imode.{_name}(imode.tensor([1.0]), imode.tensor([3.0]))
        tensor([{_shown}])
        """,
    )(_make_other(f"{_name}imum"))
    _one = op(
        f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        along.extremum(f"{_name}.dim", _make_one(_name, _find)),
        derivative={"self": _index_backward},
        name=f"{_name.title()}Backward0",
        variants="function method out",
        apart="part",
        doc=f"""Return the {_word} elements along `dim` and their indices, the first of equals.

        The gradient goes to the element the index names.

        >>> imode.{_name}(imode.tensor([[1.0, 3.0, 2.0]]), 1).indices
        tensor([{_at}])
        """,
    )
    op(
        f"a{_name}(Tensor self, int[1]? dim=(), bool keepdim=False) -> Tensor",
        fast.kernel(f"a{_name}", _make_several(f"a{_name}", _reduce, f"{_name}_values_cpu"), dim=1),
        derivative={"self": _amax_backward},
        real_only=f"a{_name}",
        variants="function method out",
        doc=f"""Return the {_word} elements along `dim`, one dimension or several; () means all.

        Unlike `{_name}` it shares the gradient evenly among equal elements.

        >>> imode.a{_name}(imode.tensor([[1.0, 3.0], [3.0, 1.0]]), (0, 1))
        tensor({_shown})
        """,
    )
    op(
        f"arg{_name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
        along.extremum(f"arg{_name}", _make_where(f"arg{_name}", _find)),
        differentiable=False,
        variants="function method out",
        doc=f"""Return the index of the {_word} element, the first of equals.

        Without `dim` it is the index into the flattened tensor. A NaN counts as the {_word}.

        >>> imode.arg{_name}(imode.tensor([1.0, 3.0, 2.0]))
        tensor({_at})
        """,
    )
    same_dtype_out(_whole, None, _wrong_whole)
    same_dtype_out(_one, None, expected_out)


# ---- both ends ----


def _aminmax(self, dim, keepdim):
    if dim is None:
        if self.size == 0:
            raise RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has "
                "no identity."
            )
        axes = None
    else:
        axes = dims.wrap_one(dim, self.ndim)
        if axes and self.shape[axes[0]] == 0:
            raise IndexError(f"aminmax: Expected reduction dim {axes[0]} to have non-zero size.")
        if self.dtype.kind == "c" and self.ndim == 0:
            raise RuntimeError(f"aminmax not implemented for {scalar_name(self.dtype)}")
    _need_order("aminmax_cpu", self)
    low = np.minimum.reduce(self, axis=axes, keepdims=keepdim)
    high = np.maximum.reduce(self, axis=axes, keepdims=keepdim)
    return reduced(low, self.dtype), reduced(high, self.dtype)


def _aminmax_backward(grads, self, min, max, dim, keepdim):
    axes = () if dim is None else (dim,)
    parts = [
        _share(grad, self, result, axes, keepdim, ())
        for grad, result in zip(grads, (min, max), strict=True)
        if grad is not None
    ]
    return sum(parts[1:], parts[0]) if parts else None


op(
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    _aminmax,
    derivative={"self": _aminmax_backward},
    variants="function method out",
    apart="part",
    doc="""Return the smallest and the largest elements, of all or along `dim`.

    >>> imode.aminmax(imode.tensor([1.0, 3.0, 2.0])).max
    tensor(3.)
    """,
)

# ---- medians ----


def _median_places(x, axis):
    """Index along `axis` of the lower median; of the first NaN where there is one."""
    order = np.argsort(x, axis=axis, kind="stable")
    places = np.take(order, [(x.shape[axis] - 1) // 2], axis=axis)
    if x.dtype.kind == "f":
        nans = np.isnan(x)
        first = np.argmax(nans, axis=axis, keepdims=True)
        places = np.where(nans.any(axis=axis, keepdims=True), first, places)
    return places


def _need_median(x, kernel):
    if x.dtype.kind in "bc":
        raise not_implemented(kernel, x.dtype)


def _median_of_nothing(dtype):
    """NaN cast to the dtype, as x86 does: the lowest of a wide integer, 0 for a narrow one."""
    if dtype.kind in "fc":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).min if dtype.itemsize >= 4 else 0


def _median(self):
    flat = self.reshape(-1)
    if flat.size == 0:
        return reduced(_median_of_nothing(self.dtype), self.dtype)
    _need_median(self, "median_cpu")
    return reduced(flat[_median_places(flat, 0)[0]], self.dtype)


def _median_dim(self, dim, keepdim):
    axis = wrap_dim(dim, self.ndim)
    if self.ndim and self.shape[axis] == 0:
        raise IndexError(f"median(): Expected reduction dim {axis} to have non-zero size.")
    _need_median(self, "median_out")
    if self.ndim == 0:
        return reduced(self.copy(), self.dtype), np.zeros((), _INT64)
    indices = _median_places(self, axis)
    values = np.take_along_axis(self, indices, axis)
    if not keepdim:
        indices, values = indices.squeeze(axis), values.squeeze(axis)
    return reduced(values, self.dtype), reduced(indices, _INT64)


op(
    "median(Tensor self) -> Tensor",
    _median,
    derivative={"self": _whole_backward},
    real_only="median",
    variants="function method",
    doc="""Return the median, the lower of two; NaN if there is one.

    >>> imode.median(imode.tensor([1.0, 4.0, 2.0, 3.0]))
    tensor(2.)
    """,
)
_MEDIAN_DIM = op(
    "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    _median_dim,
    derivative={"self": _index_backward},
    name="MedianBackward1",
    variants="function method out",
    apart="part",
    doc="""Return the medians along `dim`, the lower of two, and their indices.

    >>> imode.median(imode.tensor([[1.0, 4.0, 2.0]]), 1).values
    tensor([2.])
    """,
)

# ---- running extrema ----


def _running(name, better):
    def run(self, dim):
        axis = wrap_dim(dim, self.ndim)
        if self.ndim == 0:
            return reduced(self.copy(), self.dtype), np.zeros((), _INT64)
        if self.dtype.kind == "c" and self.size:
            raise not_implemented(f"{name}_cpu", self.dtype)
        results = np.empty(self.shape, self.dtype), np.zeros(self.shape, _INT64)
        x, values, indices = (np.moveaxis(array, axis, 0) for array in (self, *results))
        for i in range(x.shape[0]):
            if i == 0:
                values[0] = x[0]
                continue
            take = better(x[i], values[i - 1])
            if x.dtype.kind == "f":
                take |= np.isnan(x[i])
            values[i] = np.where(take, x[i], values[i - 1])
            indices[i] = np.where(take, i, indices[i - 1])
        return results

    return run


def _running_backward(grad, self, indices, dim):
    if grad.numel() == 0:
        return self  # as PyTorch has it: as good as any gradient of nothing
    return ops.zeros(self.shape, dtype=grad.dtype).scatter_add(dim, indices, grad)


for _name, _better, _word in (
    ("cummax", np.greater_equal, "largest"),
    ("cummin", np.less_equal, "smallest"),
):
    op(
        f"{_name}(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        _running(_name, _better),
        derivative={"self": _running_backward},
        real_only=_name,
        variants="function method out",
        doc=f"""Return the {_word} element so far along `dim`, and its index, the last of equals.

        >>> imode.{_name}(imode.tensor([2.0, 3.0, 1.0]), 0).indices
        tensor({"[0, 1, 1]" if _name == "cummax" else "[0, 0, 2]"})
        """,
    )

# ---- out= of another dtype ----


def _wrong_median(wanted, found, place):
    if place:
        return (
            "Expected tensor for argument #1 'indices' to have scalar type Long; but got "
            f"{tensor_type(found)} instead (while checking arguments for median)"
        )
    return (
        "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but "
        f"type {tensor_type(found)} does not equal {tensor_type(wanted)} "
        "(while checking arguments for median)"
    )


_MEDIAN_DIM.entry.out_refusal = _wrong_median
same_dtype_outs(("aminmax", "argmax", "argmin"))
same_dtype_outs(
    ("amax", "amin"),
    message=lambda wanted, found: (
        "Expected the dtype for input and out to match, but got "
        f"{scalar_name(wanted)} for input's dtype and {scalar_name(found)} for out's dtype."
    ),
)
same_dtype_outs(
    ("cummax", "cummin"),
    message=lambda wanted, found: (
        f"expected scalar_type {scalar_name(wanted)} but found {scalar_name(found)}"
    ),
)
