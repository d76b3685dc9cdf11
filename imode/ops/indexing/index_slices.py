"""Whole slices along a dimension, by a vector of indices: index_select, index_add, ...

Every index is checked before the first element is written.
"""

import numpy as np

from imode import errors, ops
from imode._core.parallel import skipping
from imode._core.type_names import scalar_name
from imode.kernels.creation.copy import cast
from imode.kernels.indexing import index_fast
from imode.kernels.indexing.checks import cast_number, check_index, check_written, only_number
from imode.kernels.indexing.gather import EMPTY, rounded_once
from imode.kernels.indexing.index_slices import add_slices
from imode.kernels.shapes.views import wrap_dim
from imode.ops.indexing.gather import Places, reduce_backward
from imode.ops.indexing.inplace_first import written
from imode.ops.reductions import dims as dimensions
from imode.ops.schema import Out, op


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
        bad = int(index[(index < 0) | (index >= size)][0])
        if self.ndim > 1 and (dim == 1 or self.size == 0 != size):
            raise RuntimeError(f"INDICES element is out of DATA bounds, id={bad} axis_dim={size}")
        raise errors.shapes.index_out_of_range("index_select", bad, dim, size)


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


def _check_combined(name, self, dim, index, source):
    """What slices are combined with, by a vector of indices; gives the wrapped dim."""
    dim = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with "
            f"type: {scalar_name(index.dtype)} and size: {list(index.shape)}"
        )
    if index.dtype != np.int64 and index.dtype != np.int32:
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {scalar_name(index.dtype)}"
        )
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"{name}(): self ({scalar_name(self.dtype)}) and source "
            f"({scalar_name(source.dtype)}) must have the same scalar type"
        )
    if dim and dim >= source.ndim:
        raise RuntimeError(
            f"{name}(): Indexing dim {dim} is out of bounds of the source tensor with dim "
            f"{source.ndim}"
        )
    if index.size != (source.shape[dim] if source.ndim else 1):
        raise RuntimeError(
            f"{name}(): Number of indices ({index.size}) should be equal to "
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
    return dim


def _check_places(op, index, dim, size):
    wrong = index[(index < 0) | (index >= size)]
    if wrong.size:
        raise errors.shapes.index_out_of_range(op, int(wrong[0]), dim, size)


def _index_add(self, dim, index, source, alpha):
    dim = _check_combined("index_add_", self, dim, index, source)
    index = index.reshape(-1)
    length = (self.shape or (1,))[dim]
    if self.ndim <= 1:
        _check_places("index_add_", index, dim, length)
    if self.size == 0:
        return  # whatever the indices are
    check_index(index, length, dim)
    if alpha != 1:
        source = source * cast_number(alpha, self.dtype)
    if alpha == 1 and self.ndim > 1 and dim in (0, self.ndim - 1):
        with rounded_once(self) as target:
            add_slices(target, dim, index, source)
    else:  # each sum is rounded
        add_slices(self, dim, index, source)


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


_OF_SLICES = {"prod": np.multiply, "mean": np.add, "amax": np.maximum, "amin": np.minimum}


def _index_reduce(self, dim, index, source, reduce, include_self):
    if reduce not in _OF_SLICES:
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    dim = _check_combined("index_reduce_", self, dim, index, source)
    index, length = index.reshape(-1), (self.shape or (1,))[dim]
    _check_places("index_reduce_", index, dim, length)
    if not include_self and self.dtype.kind in "bc":
        raise errors.dtypes.not_implemented("index_reduce_func_exclude_input_init", self.dtype)
    if self.ndim < 2 and self.dtype.kind in "bc":
        raise errors.dtypes.not_implemented("index_func_", self.dtype)
    if self.dtype.kind == "c" and reduce in ("amax", "amin"):
        kernel = "maximum_cpu" if reduce == "amax" else "minimum_cpu"
        raise errors.dtypes.not_implemented(kernel, self.dtype)
    if self.dtype.kind == "b" and reduce == "mean":
        raise errors.dtypes.not_implemented("div_floor_cpu", self.dtype)
    if self.size == 0 or skipping():
        return
    # Slices stand in the first dimension of an array that is written back at the end; float16 is
    # rounded once.
    own = np.moveaxis(self.reshape(self.shape or (1,)), dim, 0)
    terms = np.moveaxis(source.reshape(source.shape or (1,)), dim, 0)
    result = cast(own, np.float32) if self.dtype == np.float16 else own.copy()
    with np.errstate(all="ignore"):
        if not include_self:
            result[index] = EMPTY[reduce](self.dtype)
        _OF_SLICES[reduce].at(result, index, terms)
        if reduce == "mean":
            count = np.bincount(index, minlength=length) + bool(include_self)
            count = np.maximum(count, 1).reshape(-1, *[1] * (result.ndim - 1)).astype(result.dtype)
            divide = np.divide if self.dtype.kind in "fc" else np.floor_divide
            divide(result, count, out=result)
        own[...] = result


def _index_reduce_backward(grad, self, dim, index, source, reduce, include_self, result):
    places = Places(
        pick=lambda x: x.index_select(dim, index),
        add=lambda x, terms: x.index_add(dim, index, terms),
        again=lambda x, y: x.index_reduce(dim, index, y, reduce, include_self=include_self),
        clear=lambda x: x.index_fill(dim, index.long(), 0),
    )
    return reduce_backward(
        grad, self, source, reduce, include_self, result, places, "index_reduce", "source"
    )


written(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor",
    _index_reduce,
    fast=index_fast.index_reduce,
    derivative={("self", "source"): _index_reduce_backward},
    real_only="index_reduce",
    doc="""Return the tensor with slices of `source` combined with those that `index` names.

    reduce: "prod", "mean", "amax" or "amin". include_self: whether the tensor's own elements take
    part. Raises RuntimeError for another `reduce`, for shapes that do not fit, IndexError for an
    index out of range.

    >>> x, index = imode.ones(3), imode.tensor([2, 2])
    >>> x.index_reduce(0, index, imode.tensor([2.0, 3.0]), "prod")
    tensor([1., 1., 6.])
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
    fast=index_fast.index_copy,
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
    value = only_number("index_fill_", value)
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
    value = cast_number(value, self.dtype)
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
