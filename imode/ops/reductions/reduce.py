"""Reductions: a tensor in, fewer elements out, along some or all dimensions.

Scans and the softmax family, which keep the shape, are in scan.py; maxima, minima and their
indices are in extrema.py.
"""

import math

import numpy as np

from imode import errors, ops
from imode._core.dispatch import is_grad_enabled
from imode._core.dtype import as_numpy, get_default_dtype
from imode._core.internals import array_of
from imode._core.promotion import can_cast
from imode._core.type_names import scalar_name
from imode.kernels.reductions import along
from imode.kernels.reductions import reduce as fast
from imode.ops.reductions import dims
from imode.ops.reductions.dims import FLOATING, accumulate_type, reduced, restore
from imode.ops.schema import Out, composite, conj, op

# ---- sums, products, means ----


def _result_type(x, dtype):
    """The dtype of a sum or product: as asked, else int64 for integers and booleans."""
    if dtype is not None:
        return as_numpy(dtype)
    return x.dtype if x.dtype.kind in FLOATING else np.dtype(np.int64)


@dims.quiet
def _add(x, axes, keepdim, to):
    total = np.add.reduce(x, axis=axes, dtype=accumulate_type(to), keepdims=keepdim)
    return reduced(total, to)


def _sum(self, dtype):
    to = _result_type(self, dtype)
    return _add(dims.convert(self, to), None, False, to)


def _sum_dim(self, dim, keepdim, dtype):
    to = _result_type(self, dtype)
    return _add(dims.convert(self, to), dims.wrap_all(dim, self.ndim), keepdim, to)


op(
    "sum(Tensor self, *, dtype? dtype=None) -> Tensor",
    _sum,
    fast=fast.sum,
    derivative={"self": lambda grad, self_shape: grad.expand(self_shape)},
    doc="""Return the sum of all elements.

    Integers and booleans add up to int64 unless `dtype` says otherwise; with `dtype` the input is
    converted before it is summed.

    >>> imode.sum(imode.tensor([1.0, 2.0, 3.5]))
    tensor(6.5000)
    """,
)
op(
    "sum.dim(Tensor self, int[1]? dim, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    _sum_dim,
    fast=fast.sum_dim,
    derivative={
        "self": lambda grad, self_shape, dim, keepdim: restore(
            grad, dim, keepdim, len(self_shape)
        ).expand(self_shape)
    },
    name="SumBackward1",
    out=Out("own"),
    variants="function method out",
    doc="""Return the sums along `dim`, one dimension or several; None or () means all.

    Raises IndexError for a dimension out of range, RuntimeError for one named twice.

    >>> imode.sum(imode.ones(2, 3), dim=1)
    tensor([3., 3.])
    """,
)


def _nansum_dim(self, dim, keepdim, dtype):
    dims.wrap_all(dim, self.ndim)
    if self.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if dtype is not None and dtype.is_complex and self.dtype.kind == "f" and self.size:
        raise errors.dtypes.not_implemented("nansum_cpu", dtype)
    if self.dtype.kind == "f":
        self = np.where(np.isnan(self), self.dtype.type(0), self)
    return _sum_dim(self, dim, keepdim, dtype)


def _check_nansum_out(out, self, dim, keepdim, dtype):
    if not self.is_floating_point():
        return
    if dtype is not None and dtype != out.dtype:
        raise RuntimeError(f"nansum: provided dtype must match dtype of result. Give {out.dtype}.")
    if self.numel() and not out.is_floating_point():
        raise errors.dtypes.not_implemented("nansum_cpu", out.dtype)


op(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    _nansum_dim,
    fast=fast.nansum,
    derivative={
        "self": lambda grad, self, dim, keepdim: (
            restore(grad.to(self.dtype), dim, keepdim, self.dim()).expand(self.shape)
            * self.isnan().logical_not()
        )
    },
    out=Out("own", arguments=_check_nansum_out),
    variants="function method out",
    doc="""Return the sum with NaN counted as zero, of all elements or along `dim`.

    >>> imode.nansum(imode.tensor([1.0, float("nan"), 2.0]))
    tensor(3.)
    """,
)


def _mean_type(x, dtype):
    to = x.dtype if dtype is None else as_numpy(dtype)
    if to.kind not in FLOATING:
        raise errors.dtypes.mean_of("mean", "Input" if dtype is None else "Optional", to)
    return to


@dims.quiet
def _average(x, axes, keepdim, to):
    wide = accumulate_type(to)
    total = np.add.reduce(dims.convert(x, to), axis=axes, dtype=wide, keepdims=keepdim)
    count = x.size if axes is None else dims.count(x.shape, axes)
    return reduced(np.true_divide(total, wide.type(count)), to)


def _mean(self, dtype):
    return _average(self, None, False, _mean_type(self, dtype))


def _mean_dim(self, dim, keepdim, dtype):
    to = _mean_type(self, dtype)
    return _average(self, dims.wrap_all(dim, self.ndim), keepdim, to)


def _check_mean_dim_out(out, self, dim, keepdim, dtype):
    _mean_type(array_of(self), dtype)
    if dtype is None and not (out.is_floating_point() or out.is_complex()):  # the sum is divided
        raise errors.dtypes.cannot_cast(get_default_dtype(), out.dtype)


def _check_mean_out(out, self, dtype):
    if not can_cast(self.dtype, out.dtype):
        raise RuntimeError(
            "mean.dtype_out(): input types can't be cast to the desired output type "
            f"{scalar_name(out.dtype)}"
        )
    _check_mean_dim_out(out, self, None, False, dtype)


op(
    "mean(Tensor self, *, dtype? dtype=None) -> Tensor",
    _mean,
    fast=fast.mean,
    derivative={"self": lambda grad, self_shape: grad.expand(self_shape) / math.prod(self_shape)},
    shows={"self_sym_numel": lambda self_shape: math.prod(self_shape)},
    out=Out("own", arguments=_check_mean_out),
    variants="function method out",
    doc="""Return the mean of all elements; NaN when there are none.

    Raises RuntimeError for integers and booleans, unless `dtype` names a floating point type.

    >>> imode.mean(imode.tensor([1.0, 2.0, 6.0]))
    tensor(3.)
    """,
)
op(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    _mean_dim,
    fast=fast.mean_dim,
    derivative={
        "self": lambda grad, self_shape, dim, keepdim: (
            restore(grad, dim, keepdim, len(self_shape)).expand(self_shape)
            / dims.count(self_shape, dim)
        )
    },
    name="MeanBackward1",
    shows={"self_sym_numel": lambda self_shape: math.prod(self_shape)},
    out=Out("own", arguments=_check_mean_dim_out),
    variants="function method out",
    doc="""Return the means along `dim`, one dimension or several; None or () means all.

    >>> imode.mean(imode.tensor([[1.0, 3.0], [5.0, 7.0]]), dim=0)
    tensor([3., 5.])
    """,
)


@composite(
    "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    variants="function method out",
)
def nanmean(self, dim, keepdim, dtype, out=None):
    """Return the mean of the elements that are not NaN, of all or along `dim`.

    >>> imode.nanmean(imode.tensor([1.0, float("nan"), 2.0]))
    tensor(1.5000)
    """
    if not (self.is_floating_point() or self.is_complex()):
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype "
            f"but got {scalar_name(self.dtype)}"
            if out is None
            else "nanmean(): integral types and 'Bool' are not supported for nanmean, even for "
            "empty tensors."
        )
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise errors.dtypes.mean_of("nanmean", "Optional", dtype)
    total = ops.nansum(self, dim, keepdim, dtype=dtype, out=out)
    count = ops.sum(self.detach().isnan().logical_not(), dim, keepdim)
    return total / count if out is None else total.div_(count)


@dims.quiet
def _multiply(x, axes, keepdim, to):
    product = np.multiply.reduce(x, axis=axes, dtype=accumulate_type(to), keepdims=keepdim)
    return reduced(product, to)


def _prod(self, dtype):
    to = _result_type(self, dtype)
    return _multiply(dims.convert(self, to), None, False, to)


def _prod_dim(self, dim, keepdim, dtype):
    to = _result_type(self, dtype)
    axes = dims.wrap_one(dim, self.ndim)
    return _multiply(dims.convert(self, to), axes, keepdim, to)


def _products_of_others(x, dim):
    """For each element, the product of the others along `dim`, without dividing."""
    size = x.size(dim)
    ones = ops.ones_like(x.narrow(dim, 0, 1))
    before = ops.cat([ones, x.narrow(dim, 0, size - 1)], dim).cumprod(dim)
    after = ops.cat([ones, x.narrow(dim, 1, size - 1).flip(dim)], dim).cumprod(dim).flip(dim)
    return before * after


def _has_zeros(x):
    return not x.is_meta and bool((x.detach() == 0).any())


def _prod_backward(grad, self, result):
    if self.dim() == 0:
        return grad
    self = self.to(grad.dtype)
    if not _has_zeros(self):
        return grad * conj(result / self)
    return (grad * conj(_products_of_others(self.reshape(-1), 0))).view(self.shape)


def _prod_dim_backward(grad, self, result, dim, keepdim):
    if self.dim() == 0:
        return grad
    if not keepdim:
        grad, result = grad.unsqueeze(dim), result.unsqueeze(dim)
    self = self.to(grad.dtype)
    if not _has_zeros(self):
        return grad * conj(result / self)
    return grad * conj(_products_of_others(self, dim))


op(
    "prod(Tensor self, *, dtype? dtype=None) -> Tensor",
    _prod,
    fast=fast.prod,
    derivative={"self": _prod_backward},
    doc="""Return the product of all elements; 1 when there are none.

    >>> imode.prod(imode.tensor([2.0, 3.0, 4.0]))
    tensor(24.)
    """,
)
op(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    _prod_dim,
    fast=fast.prod_dim,
    derivative={"self": _prod_dim_backward},
    name="ProdBackward1",
    out=Out("own"),
    variants="function method out",
    doc="""Return the products along one dimension.

    >>> imode.prod(imode.tensor([[1.0, 2.0], [3.0, 4.0]]), 1)
    tensor([ 2., 12.])
    """,
)


@dims.quiet
def _trace(self):
    if self.dtype.kind == "b":
        raise errors.dtypes.not_implemented("trace", self.dtype)
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    to = _result_type(self, None)
    wide = np.complex128 if to.kind == "c" else accumulate_type(to)
    return reduced(np.trace(self, dtype=wide), to)


def _trace_backward(grad, self_shape):
    rows, columns = self_shape
    if not is_grad_enabled():  # no index of the diagonal, where nothing is recorded
        made = grad.new_zeros(self_shape)
        made.diagonal().fill_(grad)
        return made
    last = min(rows, columns) * (columns + 1)
    places = ops.arange(0, last, columns + 1, device=grad.device)
    return grad.new_zeros((rows * columns,)).index_fill(0, places, grad).view(self_shape)


op(
    "trace(Tensor self) -> Tensor",
    _trace,
    fast=along.trace,
    derivative={"self": _trace_backward},
    doc="""Return the sum of the diagonal of a matrix.

    >>> imode.trace(imode.ones(3, 3))
    tensor(3.)
    """,
)


# ---- truth, counts ----


def _truth(reduce, self, dim, keepdim):
    # () means no dimension here, where other reductions take it for all of them.
    axes = dim if dim is None or dim == () else dims.wrap_all(dim, self.ndim)
    to = self.dtype if self.dtype == np.uint8 else np.dtype(bool)
    return reduced(reduce(self, axis=axes, keepdims=keepdim, dtype=bool), to)


def _any(self, dim=None, keepdim=False):
    return _truth(np.logical_or.reduce, self, dim, keepdim)


def _all(self, dim=None, keepdim=False):
    return _truth(np.logical_and.reduce, self, dim, keepdim)


def _count_nonzero(self, dim):
    axes = dims.wrap_all(dim, self.ndim)
    return reduced(np.add.reduce(self != 0, axis=axes, dtype=np.int64), np.dtype(np.int64))


def _only_bool(name):
    return Out("bool uint8", f"{name} only supports bool tensor for result, got: {{Found}}")


for _name, _kernel, _doc, _example in (
    ("any", _any, "Tell whether any element is true (not zero)", "True"),
    ("all", _all, "Tell whether all elements are true (not zero)", "False"),
):
    _doc = f"""{_doc}, of all or along `dim`.

    The result is bool, or uint8 for a uint8 tensor.

    >>> imode.{_name}(imode.tensor([True, False]))
    tensor({_example})
    """
    op(
        f"{_name}(Tensor self) -> Tensor",
        _kernel,
        fast=getattr(fast, _name),
        out=_only_bool(_name),
        differentiable=False,
        variants="function method out",
        overloads="one",
        doc=_doc,
    )
    op(
        f"{_name}.dim(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
        _kernel,
        fast=getattr(fast, f"{_name}_dim"),
        out=_only_bool(_name),
        differentiable=False,
        variants="function method out",
        doc=_doc,
    )


for _schema in (
    "count_nonzero(Tensor self, int[1]? dim=None) -> Tensor",
    "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
):
    op(
        _schema,
        _count_nonzero,
        fast=fast.count_nonzero,
        differentiable=False,
        variants="function method",
        doc="""Count the elements that are not zero, of all or along `dim`; the result is int64.

        >>> imode.count_nonzero(imode.tensor([0, 3, 0, 1]))
        tensor(2)
        """,
    )
