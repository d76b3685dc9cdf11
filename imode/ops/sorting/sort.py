"""Order: sorting, and the largest."""

import numpy as np

from imode import errors, ops
from imode._core.layout import empty_like
from imode.kernels.indexing.gather_fast import take_along
from imode.kernels.shapes.views import wrap_dim
from imode.kernels.sorting import sort_fast, topk
from imode.ops.composites_fast import second_of
from imode.ops.schema import Out, composite, op

# ---- sort ----------------------------------------------------------------------------------------


def _order(self, dim, descending):
    """Positions along `dim` in order, equal elements as they stood; NaN counts as the largest."""
    if not descending:
        return self.argsort(dim, kind="stable")
    backward = (slice(None),) * dim + (slice(None, None, -1),)
    return self.shape[dim] - 1 - self[backward].argsort(dim, kind="stable")[backward]


def _sort(self, dim, descending):
    dim = wrap_dim(dim, self.ndim)
    if self.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    order = _order(self, dim, descending)
    values, indices = empty_like(self), empty_like(self, np.int64)
    values[...], indices[...] = take_along(self, order, dim), order
    return values, indices


def _select_backward(grad, self_shape, indices, dim, keepdim):
    """A gradient to the elements that were picked along `dim`."""
    if not keepdim and self_shape:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(self_shape).scatter_(dim, indices, grad)


_SORTED = {
    "self": lambda grad, self_shape, indices, dim: _select_backward(
        grad, self_shape, indices, dim, True
    )
}

op(
    "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    _sort,
    fast=sort_fast.sort,
    derivative=_SORTED,
    variants="function method out",
    out=Out("same", overlap="part"),
    doc="""Return the elements in order along `dim`, and where each of them stood.

    Equal elements keep their order; NaN counts as the largest.

    >>> imode.sort(imode.tensor([3, 1, 2])).indices
    tensor([1, 2, 0])
    """,
)

op(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False)"
    " -> (Tensor values, Tensor indices)",
    lambda self, stable, dim, descending: _sort(self, dim, descending),
    fast=sort_fast.sort_stable,
    derivative=_SORTED,
    name="SortBackward1",
    variants="function method out",
    out=Out("same", overlap="part"),
    doc="""Return the elements in order along `dim`; equal ones keep their order in any case.""",
)


@composite("msort(Tensor self) -> Tensor", variants="function method out")
def msort(self, out=None):
    """Return the elements in order along the first dimension.

    >>> imode.msort(imode.tensor([2, 1]))
    tensor([1, 2])
    """
    return ops.sort(self, 0, out=None if out is None else (out, ops.arange(0)))[0]


def _argsort(self, dim, descending):
    """Return where the elements stand, in their order along `dim`.

    >>> imode.tensor([3, 1, 2]).argsort()
    tensor([1, 2, 0])
    """
    return ops.sort(self, dim, descending)[1]


composite(
    "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
    fast=second_of("sort"),
)(_argsort)


@composite(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    variants="function method out",
    out=Out("same", name="sort"),
)
def argsort_stable(self, stable, dim, descending):
    """Return where the elements stand, in order; equal ones keep their order in any case."""
    return ops.sort(self, dim, descending)[1]


def _topk(self, k, dim, largest, sorted):
    dim = wrap_dim(dim, self.ndim)
    n = self.shape[dim] if self.ndim else 1
    if not 0 <= k <= n:
        raise errors.shapes.selected_k(k, dim, n)
    if self.dtype.kind == "c":
        raise RuntimeError(" topk does not support complex dtypes on CPU")
    if self.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    if k == 0:
        order = np.empty((*self.shape[:dim], 0, *self.shape[dim + 1 :]), np.int64)
    else:
        lines = topk.indices(np.moveaxis(self, dim, -1), k, largest, sorted)
        order = np.array(np.moveaxis(lines, -1, dim), order="C")
    return take_along(self, order, dim), order


op(
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True)"
    " -> (Tensor values, Tensor indices)",
    _topk,
    fast=topk.topk,
    derivative=_SORTED,
    variants="function method out",
    out=Out("same", overlap="all"),
    doc="""Return the `k` largest (or smallest) elements along `dim`, in order, and their positions.

    >>> imode.tensor([3, 1, 2]).topk(2).values
    tensor([3, 2])
    """,
)


def _kthvalue(self, k, dim, keepdim):
    dim = wrap_dim(dim, self.ndim)
    n = self.shape[dim] if self.ndim else 1
    if n == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {dim} to have non-zero size.")
    if not 1 <= k <= n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    if self.dtype.kind in "bc" and self.ndim:
        raise errors.dtypes.not_implemented("kthvalue_cpu", self.dtype)
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    order = np.moveaxis(topk.indices(np.moveaxis(self, dim, -1), k, kth=True), -1, dim)
    values = take_along(self, order, dim)
    if not keepdim:
        values, order = values.squeeze(dim), order.squeeze(dim)
    return np.array(values, order="C"), np.array(order, order="C")


op(
    "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False)"
    " -> (Tensor values, Tensor indices)",
    _kthvalue,
    derivative={"self": _select_backward},
    real_only="kthvalue",
    variants="function method out",
    out=Out(
        "same",
        (
            "output values must be of same type as input",
            "output indices must be of scalar type Long",
        ),
        overlap="all",
    ),
    doc="""Return the k-th smallest element along `dim`, counted from 1, and its position.

    >>> imode.tensor([3, 1, 2]).kthvalue(2).values
    tensor(2)
    """,
)
