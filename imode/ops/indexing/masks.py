"""Elements by masks and by flat positions, and where these, and nonzero ones, lie."""

import math
from collections.abc import Sequence

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.dtype import from_numpy_dtype
from imode._core.parallel import skipping
from imode._core.type_names import scalar_name
from imode.kernels.indexing import index_fast, masks_fast
from imode.kernels.indexing.checks import check_index, check_written
from imode.kernels.indexing.gather import write
from imode.kernels.indexing.masks import masked_fill
from imode.kernels.shapes import rearrange, storage_views, views
from imode.kernels.sorting import sort_fast
from imode.ops.indexing import composites_fast
from imode.ops.indexing.inplace_first import written
from imode.ops.schema import Out, composite, functions, op

# ---- masked_fill, masked_select, masked_scatter --------------------------------------------------

_MASKED = {"self": lambda grad, mask: grad.masked_fill(mask, 0)}


def _common(self, mask, *rest):
    """The shape of a masked result: self and mask broadcast together."""
    return broadcast_shape(mask.shape, self.shape)


written(
    "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    masked_fill,
    fast=masks_fast.masked_fill,
    widen=_common,
    out=False,
    name="MaskedFillBackward1",
    derivative={
        **_MASKED,
        "value": lambda grad, mask: grad.masked_select(mask).sum(),
    },
    doc="""Return the tensor with `value` where a boolean mask is true.

    mask: broadcast with self. value: a number or a 0-dim tensor.

    >>> imode.tensor([1.0, 2.0]).masked_fill(imode.tensor([True, False]), 0)
    tensor([0., 2.])
    """,
)
written(
    "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    masked_fill,
    fast=masks_fast.masked_fill,
    widen=_common,
    out=False,
    derivative=_MASKED,
    doc="Return the tensor with a number where a boolean mask is true.",
)


def _refuse_mask(mask):
    if mask.dtype != np.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")


def _masked_select(self, mask):
    _refuse_mask(mask)
    if self.shape != mask.shape:
        common = _common(self, mask)
        self, mask = np.broadcast_to(self, common), np.broadcast_to(mask, common)
    return self[mask] if self.ndim else self.reshape(1)[mask.reshape(1)]


def _masked_select_backward(grad, self, mask):
    wide = self.expand(_common(self, mask))
    return ops.zeros_like(wide).masked_scatter_(mask, grad)


op(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    _masked_select,
    by_values=True,
    fast=sort_fast.masked_select,
    derivative={"self": _masked_select_backward},
    variants="function method out",
    out=Out(
        "self",
        "masked_select(): self and result must have the same scalar type",
        overlap="all",
        shape=lambda self, mask: _refuse_mask(mask),
    ),
    doc="""Return the elements where a boolean mask, broadcast with self, is true, in one row.

    >>> imode.tensor([1, 2, 3]).masked_select(imode.tensor([True, False, True]))
    tensor([1, 3])
    """,
)


def _masked_scatter(self, mask, source):
    check_written(self)
    if self.dtype != source.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{scalar_name(self.dtype)} and {scalar_name(source.dtype)}"
        )
    mask = views.apply(views.expand, mask, self.shape)
    if mask.dtype != np.bool_:
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            + scalar_name(mask.dtype)
        )
    if skipping():
        return
    count = int(np.count_nonzero(mask))
    if count > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    source = np.ascontiguousarray(source).reshape(-1)
    if np.may_share_memory(self, source) or np.may_share_memory(self, mask):
        at = 0
        for place in np.ndindex(self.shape):  # one after the other: it reads what it has written
            if mask[place] and at < source.size:
                self[place] = source[at]
                at += 1
    elif self.ndim:
        self[mask] = source[:count]
    elif count:
        self[...] = source[0]


@op(
    "_masked_scatter_backward(Tensor grad_output, Tensor mask, int[] source_shape) -> Tensor",
    derivative={
        "grad_output": lambda grad, grad_output_shape, mask: grad.new_zeros(
            grad_output_shape
        ).masked_scatter(mask, grad),
    },
)
def _masked_scatter_backward(grad_output, mask, source_shape):
    source = np.zeros(source_shape, grad_output.dtype)
    if skipping():
        return source
    picked = grad_output[np.broadcast_to(mask, grad_output.shape)]
    source.reshape(-1)[: picked.size] = picked[: source.size]
    return source


written(
    "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    _masked_scatter,
    fast=masks_fast.masked_scatter,
    widen=_common,
    out=False,
    derivative={
        **_MASKED,
        "source": _masked_scatter_backward,
    },
    doc="""Return the tensor with the elements of `source`, in order, where a boolean mask is true.

    >>> imode.zeros(3).masked_scatter(imode.tensor([True, False, True]), imode.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """,
)

# ---- flat positions ------------------------------------------------------------------------------


def _check_positions(name, index):
    if index.dtype != np.int64:
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {scalar_name(index.dtype)}"
        )


def _check_flat(name, self, index):
    """Refuse what cannot be flat positions in the array."""
    _check_positions(name, index)
    if self.size == 0 and index.size:
        verb = "tried to take from" if name == "take" else "Tried to put elements into"
        raise IndexError(f"{name}(): {verb} an empty tensor")


def _from_front(index, n):
    """Flat positions among `n` elements, counted from the front."""
    bad = (index < -n) | (index >= n)
    if bad.any():
        value = int(index[bad].ravel()[0])
        raise IndexError(
            f"out of range: tried to access index {value} on a tensor of {n} elements."
        )
    return np.where(index < 0, index + n, index)


def _take(self, index):
    _check_flat("take", self, index)
    index = _from_front(index, self.size)
    if not index.size:
        return np.empty(index.shape, self.dtype)
    return np.asarray(self.reshape(-1).take(index))


op(
    "take(Tensor self, Tensor index) -> Tensor",
    _take,
    fast=index_fast.take,
    derivative={"self": lambda grad, self, index: ops.zeros_like(self).put_(index, grad, True)},
    variants="function method out",
    out=Out(
        "self",
        "take(): self and out expected to have the same dtype, but got self.dtype = {Wanted} and "
        "out.dtype = {Found}",
        overlap="all",
        shape=lambda self, index: _check_positions("take", index),
    ),
    doc="""Return the elements at flat positions; the result has the shape of `index` (int64).

    >>> imode.tensor([[1, 2], [3, 4]]).take(imode.tensor([0, -1]))
    tensor([1, 4])
    """,
)


def _put(self, index, source, accumulate):
    if self.dtype != source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{scalar_name(self.dtype)} and source.dtype = {scalar_name(source.dtype)}"
        )
    if index.dtype == np.int64 and index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    _check_flat("put_", self, index)
    check_written(self, index, source)
    index = _from_front(index, self.size)
    if index.size:
        mode = "add" if accumulate else None
        write(self, index.ravel(), source.ravel(), mode)


written(
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    _put,
    fast=index_fast.put,
    keep_order=True,
    out=False,
    derivative={
        "self": lambda grad, index, source_shape, accumulate: (
            grad if accumulate else grad.put(index, grad.new_zeros(source_shape))
        ),
        "source": lambda grad, index, source: grad.take(index).reshape(source.shape),
    },
    shows={"source_sym_sizes": None},
    doc="""Return the tensor with the elements of `source` at flat positions, or added there.

    >>> imode.zeros(2, 2).put(imode.tensor([3]), imode.tensor([5.0]))
    tensor([[0., 0.],
            [0., 5.]])
    """,
)

# ---- where elements are not zero -----------------------------------------------------------------


def _nonzero(self):
    if self.ndim == 0:
        places = np.empty((int(bool(self)), 0), np.int64)
        return views.apply(storage_views.as_strided, places, places.shape, (1, len(places)), 0)
    places = np.array(self.nonzero(), np.int64)
    if not places.size:
        return views.apply(storage_views.as_strided, places, places.shape[::-1], (1, 0), 0)
    return places.T


op(
    "nonzero(Tensor self) -> Tensor",
    _nonzero,
    by_values=True,
    fast=sort_fast.nonzero,
    differentiable=False,
    variants="function method out",
    out=Out(
        "int64",
        "nonzero: Expected out tensor to have scalar type Long but got scalar type{Found}",
        overlap="all",
        shape=lambda self: None,
    ),
    doc="""Return the coordinates of the elements that are not 0, one row each (int64).

    as_tuple: return one tensor of coordinates per dimension instead, to index with.

    >>> imode.tensor([0, 3, 5]).nonzero()
    tensor([[1],
            [2]])
    """,
)


def _check_static(self, size, fill_value):
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    return size, self.ndim


@op(
    "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
    differentiable=False,
    variants="function method out",
    out=Out(
        "int64",
        "nonzero_static: Expected out tensor to have scalar type Long but got scalar type{Found}",
        overlap="all",
        shape=_check_static,
    ),
)
def _nonzero_static(self, size, fill_value):
    """Return the coordinates of the first `size` elements that are not 0, one row each (int64).

    Where there are fewer, the last rows hold `fill_value`. Raises RuntimeError for a size below 0.

    >>> imode.tensor([0, 3, 5]).nonzero_static(size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    """
    places = np.full(_check_static(self, size, fill_value), fill_value, np.int64)
    if self.ndim and not skipping():
        for column, found in zip(places.T, self.nonzero(), strict=True):
            column[: found.size] = found[:size]
    return places


def _columns(self):
    if self.dim() == 0:
        self = self.unsqueeze(0)
    return tuple(column.contiguous() for column in ops.nonzero(self).unbind(1))


@composite("nonzero.tuple(Tensor self, *, bool as_tuple, Tensor? out=None) -> any")
def nonzero_tuple(self, as_tuple, out):
    """Return the coordinates of the elements that are not 0, one tensor per dimension."""
    if not as_tuple:
        return ops.nonzero(self) if out is None else functions["nonzero"](self, out=out)
    if out is not None:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return _columns(self)


@composite("argwhere(Tensor self) -> Tensor")
def argwhere(self):
    """Return the coordinates of the elements that are not 0, one row each.

    >>> imode.argwhere(imode.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    return ops.nonzero(self)


def _one_hot(self, num_classes):
    if self.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if self.size == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return np.zeros((*self.shape, num_classes), np.int64)
    if int(self.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        if skipping():
            raise errors.devices.item()
        num_classes = int(self.max()) + 1
    elif num_classes <= int(self.max()):
        raise errors.shapes.class_of_one_hot(int(self.max()), num_classes)
    result = np.zeros((*self.shape, num_classes), np.int64)
    flat = result.reshape(-1, num_classes)
    check_index(self.reshape(-1), num_classes, 0)
    flat[np.arange(self.size), self.reshape(-1)] = 1
    return result


op(
    "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    _one_hot,
    fast=rearrange.one_hot,
    differentiable=False,
    variants="nn",
    compiled=True,
    doc="""Return int64 rows with a 1 at the position of each class and 0 elsewhere.

    num_classes: the length of a row; -1 for the largest class plus one.

    >>> imode.nn.functional.one_hot(imode.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """,
)


# ---- where a flat position lies ------------------------------------------------------------------


@composite(
    "unravel_index(Tensor indices, any shape) -> any",
    fast=composites_fast.unravel_index,
    variants="function",
)
def unravel_index(indices, shape):
    """Return the coordinates of flat positions in a tensor of `shape`, one tensor per dimension.

    indices: integers. shape: an int or ints, none below 0. Positions beyond the last are counted
    on. Raises TypeError for other indices or shapes, ValueError for a negative size.

    >>> imode.unravel_index(imode.tensor([4, 1]), (3, 2))
    (tensor([2, 0]), tensor([0, 1]))
    """
    if indices.is_complex() or indices.is_floating_point() or indices.dtype.name == "bool":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if isinstance(shape, int):
        shape = (shape,)
    elif not isinstance(shape, Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    steps = [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]
    kind = {"dtype": from_numpy_dtype(np.int64), "device": indices.device}
    places = indices.unsqueeze(-1).floor_divide(ops.tensor(steps, **kind))
    return (places % ops.tensor(list(shape), **kind)).unbind(-1)
