"""Picking and placing elements by index tensors: index, gather, scatter and their kin.

The kernels are `imode.kernels.indexing`'s; `tensor[...]` itself is in `subscript`. Every index is
checked before the first element is written.
"""

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.internals import array_of
from imode._core.type_names import scalar_name
from imode.kernels.indexing import gather_fast, index_fast
from imode.kernels.indexing import index as kernels
from imode.kernels.indexing.index import check_index, check_written
from imode.kernels.shapes.views import wrap_dim
from imode.ops.indexing import composites_fast
from imode.ops.indexing.inplace_first import written
from imode.ops.indexing.subscript import (  # noqa: F401 - what Tensor's brackets call
    getitem,
    setitem,
)
from imode.ops.reductions import dims as dimensions
from imode.ops.schema import Out, composite, op

# ---- advanced indices ----------------------------------------------------------------------------


def _index_backward(_, grad, shape, indices, dims):
    result = np.zeros(shape, grad.dtype)
    kernels.put(result, indices, grad, True, dims)
    return result


# `self` is None: in PyTorch, zeros that the gradient is put into, to which the node has an edge.
op(
    "_index_backward(Tensor? self, Tensor grad_output, int[] shape, Tensor[] indices, int[]? dims) "
    "-> Tensor",
    _index_backward,
    fast=index_fast.index_backward,
    derivative={
        "self": lambda grad: grad,
        "grad_output": lambda grad, indices, dims: ops._index(grad, indices, dims),
    },
    name="IndexPutImplBackward0",
    shows={"accumulate": lambda: True, "dims": None},
)


def _one_per_place(indices, dims):
    """The indices as PyTorch lists them: None for each dimension before the last without one."""
    if dims is None:
        return indices
    places, dim = [], 0
    for index, start in zip(indices, dims, strict=True):
        places += [None] * (start - dim) + [index]
        dim = start + (index.ndim if array_of(index).dtype in (np.bool_, np.uint8) else 1)
    return tuple(places)


op(
    "_index(Tensor self, Tensor[] indices, int[]? dims=None) -> Tensor",
    kernels.get,
    fast=index_fast.index,
    derivative={
        "self": lambda grad, self_shape, indices, dims: ops._index_backward(
            None, grad, self_shape, indices, dims
        )
    },
    shows={"dims": None, "indices": _one_per_place},
    doc="""Return the elements that index tensors name: integers, or masks of what to take.

    dims: the dimension that each index starts at; without it they stand for the first dimensions
    in a row. The index tensors are broadcast together. What `tensor[...]` calls.
    """,
)


def _put_self(grad, indices, values_shape, accumulate, dims):
    if accumulate:
        return grad
    return ops.index_put(grad, indices, grad.new_zeros(values_shape), dims=dims)


written(
    "index_put(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False, *, "
    "int[]? dims=None) -> Tensor",
    kernels.put,
    fast=index_fast.index_put,
    keep_order=True,
    out=False,
    derivative={
        "self": _put_self,
        "values": lambda grad, indices, dims: ops._index(grad, indices, dims),
    },
    shows={"dims": None, "values_sym_sizes": None, "indices": _one_per_place},
    doc="""Return the tensor with `values` at the places that index tensors name.

    values: broadcast to the shape of what the indices pick; its dtype must be self's. accumulate:
    add the values instead, an index that comes twice counting twice. dims: the dimension that each
    index starts at; without it they stand for the first dimensions in a row.

    >>> imode.zeros(3).index_put((imode.tensor([0, 2]),), imode.tensor(5.0))
    tensor([5., 0., 5.])
    """,
)

# ---- gather and scatter --------------------------------------------------------------------------


def _gather_backward(grad, self, dim, index):
    return grad.new_zeros(self.shape).scatter_add_(dim, index, grad)


def _gathered_shape(self, dim, index, *rest):
    wrap_dim(dim, self.ndim)
    return index.shape


op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    lambda self, dim, index, _: kernels.gather(self, dim, index),
    fast=gather_fast.gather,
    derivative={"self": _gather_backward},
    shows={"sparse_grad": True},
    variants="function method out",
    out=Out("self", overlap="first", shape=_gathered_shape),
    doc="""Return, for each value of `index`, the element with that coordinate along `dim`.

    index: int64 or int32, as many dimensions as self, no longer than self except along `dim`; the
    result has its shape.

    >>> imode.tensor([[1, 2], [3, 4]]).gather(1, imode.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    """,
)


def _mode(reduce):
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return reduce


def _scatter_value(self, dim, index, value):
    kernels.scatter(self, dim, index, value)


def _scatter_reduce_mode(self, dim, index, source, reduce):
    kernels.scatter(self, dim, index, source, _mode(reduce))


def _check_scattered(self, dim, index, source, *rest):
    source = source if isinstance(source, np.ndarray) else None
    kernels.check_along("scatter", index, self, dim, source)


_SCATTERED = Out("same", overlap="rest", shape=_check_scattered)
_WITHOUT = {"self": lambda grad, dim, index: grad.scatter(dim, index, 0)}

written(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    kernels.scatter,
    fast=gather_fast.scatter,
    out=_SCATTERED,
    derivative={**_WITHOUT, "src": lambda grad, dim, index: grad.gather(dim, index)},
    doc="""Return the tensor with elements of `src` (or one number) put where `index` says.

    Element i of src goes to the place of i, its coordinate along `dim` replaced by index[i].
    reduce: "add" or "multiply" instead of replacing (such a result cannot be differentiated).

    >>> imode.zeros(1, 3).scatter(1, imode.tensor([[2, 0]]), imode.tensor([[5.0, 6.0]]))
    tensor([[6., 0., 5.]])
    """,
)
written(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    _scatter_value,
    fast=gather_fast.scatter,
    out=_SCATTERED,
    derivative=_WITHOUT,
    name="ScatterBackward1",
    doc="""Return the tensor with one number put where `index` says.""",
)
written(
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    _scatter_reduce_mode,
    out=_SCATTERED,
    derivative=("self", "src"),
    name="NotImplemented",
    doc="""Return the tensor with `src` added to, or multiplied into, the places of `index`.""",
)
written(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce)"
    " -> Tensor",
    _scatter_reduce_mode,
    out=_SCATTERED,
    derivative=("self",),
    name="NotImplemented",
    doc="""Return the tensor with a number added to, or multiplied into, the places of `index`.""",
)

written(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    lambda self, dim, index, src: kernels.scatter(self, dim, index, src, "add"),
    fast=gather_fast.scatter_add,
    out=_SCATTERED,
    derivative={
        "self": lambda grad: grad,
        "src": lambda grad, dim, index: grad.gather(dim, index),
    },
    doc="""Return the tensor with the elements of `src` added where `index` says (see `scatter`).

    >>> imode.zeros(2).scatter_add(0, imode.tensor([1, 1]), imode.tensor([2.0, 3.0]))
    tensor([0., 5.])
    """,
)


def _scatter_reduce_backward(grad, self, dim, index, src, reduce, include_self, result):
    if reduce == "sum":
        to_self, to_src = grad, grad.gather(dim, index)
    elif reduce == "mean":
        count = (ops.ones_like if include_self else ops.zeros_like)(grad)
        count = count.scatter_add(dim, index, ops.ones_like(src))
        count = count.masked_fill(count == 0, 1)
        to_self, to_src = grad / count, grad.gather(dim, index) / count.gather(dim, index)
    elif reduce == "prod":
        to_self, to_src = _scatter_prod_backward(grad, self, dim, index, src, include_self, result)
    else:
        own = (self == result).to(grad.dtype)
        other = (src == result.gather(dim, index)).to(grad.dtype)
        share = grad / own.scatter_add(dim, index, other)
        to_self, to_src = own * share, other * share.gather(dim, index)
    if not include_self:
        to_self = to_self.scatter(dim, index, 0)
    return to_self, to_src


def _scatter_prod_backward(grad, self, dim, index, src, include_self, result):
    """Products without one factor: a quotient, or, where that factor is 0, computed anew."""
    nonzero_self = self.masked_fill(self == 0, 1)
    without = nonzero_self.scatter_reduce(dim, index, src, "prod", include_self=include_self)
    to_self = grad * without / nonzero_self
    zero = src == 0
    zeros = ops.zeros_like(self).scatter_add(dim, index, zero.to(self.dtype)).gather(dim, index)
    single = zero & (zeros == 1)
    others = self.scatter_reduce(
        dim, index, src.masked_fill(single, 1), "prod", include_self=include_self
    )
    quotient = (grad * result).gather(dim, index) / src.masked_fill(zero, 1)
    to_src = ops.where(single, (grad * others).gather(dim, index), quotient)
    several = (zeros != 0) & (zeros != 1)  # complex numbers have no order
    return to_self, ops._zeros_met(to_src) if several.any() else to_src


def _refuse_zeros(grad):
    raise RuntimeError(
        "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are "
        "scattered to the same position in self. Their product has a second derivative that its "
        "first, which is 0, does not show"
    )


op(
    "_zeros_met(Tensor self) -> Tensor",
    np.copy,
    derivative={"self": _refuse_zeros},
    name="torch::autograd::Error",
)


written(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor",
    kernels.scatter_reduce,
    out=_SCATTERED,
    derivative={("self", "src"): _scatter_reduce_backward},
    real_only="scatter_reduce",
    doc="""Return the tensor with `src` combined into the places of `index` (see `scatter`).

    reduce: "sum", "prod", "mean", "amax" or "amin". include_self: whether the tensor's own element
    takes part.

    >>> imode.zeros(2).scatter_reduce(0, imode.tensor([1, 1]), imode.tensor([2.0, 3.0]), "amax")
    tensor([0., 3.])
    """,
)

# ---- whole slices along a dimension --------------------------------------------------------------


def _check_selection(self, dim, index):
    wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype != np.int64 and index.dtype != np.int32:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if self.ndim == 0 and index.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
        )


def _index_select(self, dim, index):
    _check_selection(self, dim, index)
    if self.ndim == 0:
        _check_select(self.reshape(1), index, 0)
        return self.copy()
    dim, index = wrap_dim(dim, self.ndim), index.reshape(-1)
    shape = (*self.shape[:dim], index.size, *self.shape[dim + 1 :])
    if self.ndim > 1 and self.shape[dim] == 0 and index.size:
        raise errors.shapes.selected_from_nothing()
    _check_select(self, index, dim)
    return np.empty(shape, self.dtype) if 0 in shape else self.take(index, dim)


def _check_select(self, index, dim):
    size = self.shape[dim]
    if index.size and not 0 <= int(index.min()) <= int(index.max()) < size:
        if self.ndim > 1 and (dim == 1 or self.size == 0 != size):
            bad = int(index[(index < 0) | (index >= size)][0])
            raise RuntimeError(f"INDICES element is out of DATA bounds, id={bad} axis_dim={size}")
        raise errors.shapes.index_out_of_range()


op(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    _index_select,
    fast=index_fast.index_select,
    derivative={
        "self": lambda grad, self_shape, dim, index: grad.new_zeros(self_shape).index_add_(
            dim, index, grad
        )
    },
    variants="function method out",
    out=Out(
        "self",
        "index_select(): self and result must have the same scalar type",
        overlap="all",
        shape=_check_selection,
    ),
    doc="""Return the slices along `dim` that a vector of indices names.

    index: int64 or int32, each at least 0 and below the size of `dim`.

    >>> imode.tensor([[1, 2], [3, 4]]).index_select(1, imode.tensor([1, 1]))
    tensor([[2, 2],
            [4, 4]])
    """,
)


def _index_add(self, dim, index, source, alpha):
    dim = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {index.ndim} with "
            f"type: {scalar_name(index.dtype)} and size: {list(index.shape)}"
        )
    if index.dtype != np.int64 and index.dtype != np.int32:
        raise RuntimeError(
            "index_add_(): Expected dtype int32/int64 for index but got: "
            f"{scalar_name(index.dtype)}"
        )
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"index_add_(): self ({scalar_name(self.dtype)}) and source "
            f"({scalar_name(source.dtype)}) must have the same scalar type"
        )
    if dim and dim >= source.ndim:
        raise RuntimeError(
            f"index_add_(): Indexing dim {dim} is out of bounds of the source tensor with dim "
            f"{source.ndim}"
        )
    if index.size != (source.shape[dim] if source.ndim else 1):
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.size}) should be equal to "
            f"source.size(dim): ({dimensions.size(source, dim)}), for dim: {dim}"
        )
    if source.ndim != self.ndim or any(
        m != n for d, (m, n) in enumerate(zip(self.shape, source.shape)) if d != dim
    ):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(self.shape)} source.shape = {list(source.shape)}"
        )
    check_written(self, index, source)
    index = index.reshape(-1)
    length = (self.shape or (1,))[dim]
    if self.ndim <= 1 and ((index < 0) | (index >= length)).any():
        raise errors.shapes.index_out_of_range()
    if self.size == 0:
        return  # whatever the indices are
    check_index(index, length, dim)
    if alpha != 1:
        source = source * kernels.cast_number(alpha, self.dtype)
    if alpha == 1 and self.ndim > 1 and dim in (0, self.ndim - 1):
        with kernels.rounded_once(self) as target:
            kernels.add_slices(target, dim, index, source)
    else:  # each sum is rounded
        kernels.add_slices(self, dim, index, source)


def _picked(grad, source, dim, index):
    if source.dim() > 0:
        return grad.index_select(dim, index).expand_as(source)
    return grad.index_select(dim, index.squeeze(0))


def _index_add_source(grad, source, dim, index, alpha):
    picked = _picked(grad, source, dim, index)
    return picked if alpha == 1 else picked * alpha


written(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    _index_add,
    fast=index_fast.index_add,
    derivative={"self": lambda grad: grad, "source": _index_add_source},
    shows={
        "source_sym_sizes": None,
        "source_dim": lambda source_shape: len(source_shape),
    },
    doc="""Return the tensor with slices of `source`, times `alpha`, added to those `index` names.

    >>> imode.zeros(3).index_add(0, imode.tensor([2, 2]), imode.tensor([1.0, 2.0]))
    tensor([0., 0., 3.])
    """,
)


def _slices_are_empty(self, dim):
    """Whether what lies along `dim` has no elements: then no index is read."""
    return 0 in (*self.shape[:dim], *self.shape[dim + 1 :])


def _index_copy(self, dim, index, source):
    dim = wrap_dim(dim, self.ndim)
    check_written(self, index, source)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if source.ndim == 0 and index.size != 1:
        raise IndexError(
            "index_copy_(): When source is scalar, index should have one element "
            f"(got {index.size})"
        )
    if source.ndim != self.ndim and source.ndim and self.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({source.ndim}), destination dimensionality "
            f"({self.ndim})"
        )
    if index.dtype != np.int64:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {scalar_name(index.dtype)}"
        )
    if self.dtype != source.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{scalar_name(self.dtype)} and (source) {scalar_name(source.dtype)}"
        )
    own, other = list(self.shape), list(source.shape)
    if own:
        del own[dim]
    if other:
        del other[dim]
    if own != other:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, own))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, other))} at dimension 0."
        )
    length = source.shape[dim] if source.ndim else 1
    if index.size != length:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to "
            f"source.size(dim) ({length})"
        )
    index, n = index.reshape(-1), (self.shape or (1,))[dim]
    if _slices_are_empty(self, dim):
        return
    check_index(index, n, dim, IndexError, "index_copy_(): ")
    if self.ndim:
        self[(slice(None),) * dim + (index,)] = source
    elif index.size:
        self[...] = source.reshape(-1)[-1]


def _copied_shape(self, dim, *rest):
    wrap_dim(dim, self.ndim)
    return self.shape


written(
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    _index_copy,
    out=Out("self", overlap="rest", shape=_copied_shape),
    derivative={
        "self": lambda grad, dim, index: grad.index_fill(dim, index, 0),
        "source": _picked,
    },
    shows={
        "source_sym_sizes": None,
        "source_dim": lambda source_shape: len(source_shape),
    },
    doc="""Return the tensor with slices of `source` in place of those that `index` names.

    >>> imode.zeros(3).index_copy(0, imode.tensor([2, 0]), imode.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
    """,
)


def _index_fill(self, dim, index, value):
    dim = wrap_dim(dim, self.ndim)
    value = kernels.only_number("index_fill_", value)
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    check_written(self, index, expanded="index_fill_")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if isinstance(value, complex) and self.dtype.kind != "c":
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    index, n = index.reshape(-1), (self.shape or (1,))[dim]
    if _slices_are_empty(self, dim):
        return
    bad = (index < -n) | (index >= n)
    if bad.any():
        raise errors.shapes.index_out_of_bounds(int(index[bad][0]), dim, n)
    value = kernels.cast_number(value, self.dtype)
    if self.ndim:
        self[(slice(None),) * dim + (index,)] = value
    elif index.size:
        self[...] = value


written(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    _index_fill,
    fast=index_fast.index_fill,
    keep_order=True,
    out=False,
    name="IndexFillBackward1",
    derivative={
        "self": lambda grad, dim, index: grad.index_fill(dim, index, 0),
        "value": lambda grad, dim, index: grad.index_select(dim, ops.unique(index)).sum(),
    },
    doc="""Return the tensor with one value in the slices along `dim` that `index` names.

    value: a number or a 0-dim tensor.

    >>> imode.zeros(3).index_fill(0, imode.tensor([0, -1]), 7)
    tensor([7., 0., 7.])
    """,
)
written(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    _index_fill,
    fast=index_fast.index_fill,
    keep_order=True,
    out=False,
    derivative={"self": lambda grad, dim, index: grad.index_fill(dim, index, 0)},
    doc="Return the tensor with a number in the slices along `dim` that `index` names.",
)


@composite(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    fast=composites_fast.take_along_dim,
    variants="function method out",
)
def take_along_dim(self, indices, dim, out=None):
    """Return the elements at `indices` along `dim`, both broadcast together in the others.

    indices: int64, as `argsort` and `argmax(keepdim=True)` give them; counted modulo the length of
    `dim`. dim: None for flat indices into all of the tensor, which must be within it.

    >>> x = imode.tensor([[3, 1, 2]])
    >>> x.take_along_dim(x.argsort(1), 1)
    tensor([[1, 2, 3]])
    """
    if dim is not None and self.dim() != indices.dim():
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.dim()} dimensions for input, and {indices.dim()} dimensions for indices"
        )
    if dim is None:
        return ops.gather(self.view(-1), 0, indices.view(-1), out=out)
    kind = array_of(indices).dtype
    if kind != np.int64:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got " + scalar_name(kind)
        )
    dim = wrap_dim(dim, self.dim())
    length = self.size(dim)  # which refuses a tensor without dimensions
    own, wanted = list(self.shape), list(indices.shape)
    same = own[:dim] == wanted[:dim] and own[dim + 1 :] == wanted[dim + 1 :]
    if same and not self.requires_grad:  # recorded, the expansion shows in the graph
        return ops.gather(self, dim, indices % length, out=out)
    count = wanted[dim]
    own[dim] = wanted[dim] = 1
    common = list(broadcast_shape(own, wanted))
    common[dim] = length
    source = self.expand(common)
    common[dim] = count
    return ops.gather(source, dim, indices.expand(common) % length, out=out)
