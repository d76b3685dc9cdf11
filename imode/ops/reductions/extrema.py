"""Maxima, minima, medians, and where they are."""

import numpy as np

from imode import errors, ops
from imode._core.parallel import skipping
from imode._core.type_names import scalar_name
from imode.kernels.creation.copy import cast
from imode.kernels.reductions import along, lines_fast, whole
from imode.kernels.reductions import reduce as fast
from imode.kernels.shapes.views import wrap_dim
from imode.ops.reductions import dims
from imode.ops.reductions.dims import reduced
from imode.ops.schema import Out, composite, op

_INT64 = np.dtype(np.int64)

# ---- checks ----


def _need_elements(name, x, dim, error=RuntimeError):
    """A maximum of nothing does not exist: name the dimension, or the lack of one."""
    if dim is None or dim == ():
        if x.size == 0:
            raise errors.shapes.nothing_to_reduce(f"{name}()", error)
        return
    for each in (dim,) if isinstance(dim, int) else dim:
        axis = wrap_dim(each, x.ndim)
        if x.ndim and x.shape[axis] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {each} to have non-zero size.")


def _need_order(kernel, x):
    if x.dtype.kind == "c":
        raise errors.dtypes.not_implemented(kernel, x.dtype)


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


def index_backward(grad, self_shape, indices, dim, keepdim):
    """A gradient to the elements that were picked along `dim`."""
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


def _refuse_complex(name, x):
    if x.dtype.kind == "c":
        raise RuntimeError(f"{name}(): does not support complex input")


def _make_one(name, find):
    def one(self, dim, keepdim):
        axis = wrap_dim(dim, self.ndim)
        _need_elements(name, self, axis)
        _refuse_complex(name, self)
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
        _refuse_complex(name, self)
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
    def other(self, other, out=None):
        return getattr(ops, name)(self, other, out=out)

    return other


_CASTABLE = Out(
    says="Expected canCast( typeMetaToScalarType(self.dtype()), "
    "typeMetaToScalarType(out.dtype())) to be true, but got false.  The result is {Wanted}, out= "
    "{Found}"
)
_OF_INPUT = Out(
    "same",
    "Expected the dtype for input and out to match, but got {Wanted} for input's dtype and {Found} "
    "for out's dtype.",
)

for _name, _reduce, _find, _word, _shown, _at in (
    ("max", np.maximum.reduce, np.argmax, "largest", "3.", "1"),
    ("min", np.minimum.reduce, np.argmin, "smallest", "1.", "0"),
):
    op(
        f"{_name}(Tensor self) -> Tensor",
        _make_whole(_name, _reduce),
        fast=getattr(fast, _name),
        derivative={"self": _whole_backward},
        name=f"{_name.title()}Backward1",
        variants="function method out",
        out=_CASTABLE,
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
        doc=f"""Return the {_word} of each two elements: `{_name}imum`.

        >>> imode.{_name}(imode.tensor([1.0]), imode.tensor([3.0]))
        tensor([{_shown}])
        """,
    )(_make_other(f"{_name}imum"))
    op(
        f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        _make_one(_name, _find),
        fast=getattr(along, f"{_name}_dim"),
        derivative={"self": index_backward},
        variants="function method out",
        out=Out("same", overlap="part"),
        doc=f"""Return the {_word} elements along `dim` and their indices, the first of equals.

        The gradient goes to the element the index names.

        >>> imode.{_name}(imode.tensor([[1.0, 3.0, 2.0]]), 1).indices
        tensor([{_at}])
        """,
    )
    op(
        f"a{_name}(Tensor self, int[1]? dim=(), bool keepdim=False) -> Tensor",
        _make_several(f"a{_name}", _reduce, f"{_name}_values_cpu"),
        fast=getattr(fast, f"a{_name}"),
        derivative={"self": _amax_backward},
        real_only=f"a{_name}",
        variants="function method out",
        out=_OF_INPUT,
        doc=f"""Return the {_word} elements along `dim`, one dimension or several; () means all.

        Unlike `{_name}` it shares the gradient evenly among equal elements.

        >>> imode.a{_name}(imode.tensor([[1.0, 3.0], [3.0, 1.0]]), (0, 1))
        tensor({_shown})
        """,
    )
    op(
        f"arg{_name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
        _make_where(f"arg{_name}", _find),
        fast=getattr(along, f"arg{_name}"),
        differentiable=False,
        variants="function method out",
        out=Out("same"),
        doc=f"""Return the index of the {_word} element, the first of equals.

        Without `dim` it is the index into the flattened tensor. A NaN counts as the {_word}.

        >>> imode.arg{_name}(imode.tensor([1.0, 3.0, 2.0]))
        tensor({_at})
        """,
    )

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
    # NumPy's loops over float16 are slow
    compared = cast(self, np.float32) if self.dtype == np.float16 else self
    low = np.minimum.reduce(compared, axis=axes, keepdims=keepdim)
    high = np.maximum.reduce(compared, axis=axes, keepdims=keepdim)
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
    fast=whole.aminmax,
    derivative={"self": _aminmax_backward},
    variants="function method out",
    out=Out("same", overlap="part"),
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


def _nanmedian_places(x, axis):
    """Index along `axis` of the lower median of those that are not NaN, which are sorted last."""
    order = np.argsort(x, axis=axis, kind="stable")
    present = np.sum(~np.isnan(x), axis=axis, keepdims=True)
    return np.take_along_axis(order, np.maximum(present - 1, 0) // 2, axis)


def _need_median(x, kernel):
    if x.dtype.kind in "bc":
        raise errors.dtypes.not_implemented(kernel, x.dtype)


def _median_of_nothing(dtype):
    """NaN cast to the dtype, as x86 does: the lowest of a wide integer, 0 for a narrow one."""
    if dtype.kind in "fc":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).min if dtype.itemsize >= 4 else 0


def _median_dim(places):
    def median(self, dim, keepdim):
        axis = wrap_dim(dim, self.ndim)
        if self.ndim and self.shape[axis] == 0:
            raise IndexError(f"median(): Expected reduction dim {axis} to have non-zero size.")
        _need_median(self, "median_out")
        if self.ndim == 0:
            return reduced(self.copy(), self.dtype), np.zeros((), _INT64)
        indices = places(self, axis)
        values = np.take_along_axis(self, indices, axis)
        if not keepdim:
            indices, values = indices.squeeze(axis), values.squeeze(axis)
        return reduced(values, self.dtype), reduced(indices, _INT64)

    return median


def _median_whole(places):
    def median(self):
        flat = self.reshape(-1)
        if flat.size == 0:
            return reduced(_median_of_nothing(self.dtype), self.dtype)
        _need_median(self, "median_cpu")
        return reduced(flat[places(flat, 0)[0]], self.dtype)

    return median


def _declare_median(name, places, words, example):
    op(
        f"{name}(Tensor self) -> Tensor",
        _median_whole(places),
        fast=getattr(lines_fast, name),
        derivative={"self": _whole_backward},
        real_only=name,
        doc=f"""Return the median, the lower of two{words}.

        >>> {example}
        tensor(2.)
        """,
    )
    op(
        f"{name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        _median_dim(places),
        fast=getattr(lines_fast, f"{name}_dim"),
        derivative={"self": index_backward},
        name=f"{name.title()}Backward1",
        variants="function method out",
        out=Out("same", _MEDIAN_OUT, overlap="part"),
        doc=f"""Return the medians along `dim`, the lower of two, and their indices{words}.

        >>> imode.{name}(imode.tensor([[1.0, 4.0, 2.0]]), 1).values
        tensor([2.])
        """,
    )


_MEDIAN_OUT = (
    "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
    "{found_tensor} does not equal {wanted_tensor} (while checking arguments for median)",
    "Expected tensor for argument #1 'indices' to have scalar type Long; but got {found_tensor} "
    "instead (while checking arguments for median)",
)
_declare_median(
    "median",
    _median_places,
    "; NaN if there is one",
    "imode.median(imode.tensor([1.0, 4.0, 2.0, 3.0]))",
)
_declare_median(
    "nanmedian",
    _nanmedian_places,
    "; NaN is left out",
    'imode.nanmedian(imode.tensor([1.0, float("nan"), 2.0, 3.0]))',
)

# ---- running extrema ----


def _running(name, better):
    def run(self, dim):
        axis = wrap_dim(dim, self.ndim)
        if self.ndim == 0:
            return reduced(self.copy(), self.dtype), np.zeros((), _INT64)
        if self.dtype.kind == "c" and self.size:
            raise errors.dtypes.not_implemented(f"{name}_cpu", self.dtype)
        results = np.empty(self.shape, self.dtype), np.zeros(self.shape, _INT64)
        if skipping():
            return results
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
    return grad.new_zeros(self.shape).scatter_add(dim, indices, grad)


for _name, _better, _word in (
    ("cummax", np.greater_equal, "largest"),
    ("cummin", np.less_equal, "smallest"),
):
    op(
        f"{_name}(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        _running(_name, _better),
        fast=getattr(lines_fast, _name),
        derivative={"self": _running_backward},
        real_only=_name,
        variants="function method out",
        out=Out("same", errors.out.SCALAR_TYPE),
        doc=f"""Return the {_word} element so far along `dim`, and its index, the last of equals.

        >>> imode.{_name}(imode.tensor([2.0, 3.0, 1.0]), 0).indices
        tensor({"[0, 1, 1]" if _name == "cummax" else "[0, 0, 2]"})
        """,
    )
