"""Kernels over ndarrays that read and write elements by index tensors.

There are two addressing schemes. *Advanced* (`get`, `put`): one index array per leading dimension,
None for "all of it"; a mask stands for the indices at which it is true. *Along a dimension*
(`gather`, `scatter`, ...): an index array of the result's shape, whose values replace one
coordinate.

All indices are checked before the first element is written. NumPy does that itself in `a[key]` and
`ufunc.at`, but accepts negative indices where PyTorch does not, so the second scheme checks here.
"""

import math
import warnings
from contextlib import contextmanager

import numpy as np

from imode import errors
from imode._core.broadcast import broadcast_shape
from imode._core.layout import common_order, empty_in, in_rows
from imode._core.numbers import number_as
from imode._core.overlap import refuse_partial, refuse_shared
from imode._core.type_names import c_name, scalar_name
from imode.kernels.shapes import views
from imode.kernels.shapes.views import wrap_dim

_ROW = 64  # rows of this length or more are added faster row by row than element by element


# ---- checks --------------------------------------------------------------------------------------


def check_index(index, size, dim, error=RuntimeError, prefix=""):
    """Raise for an index below 0, or `size` and above."""
    unsigned = index.view(np.uint64 if index.itemsize == 8 else np.uint32)
    if index.size and int(unsigned.max()) >= size:
        flat = index.ravel()
        bad = int(flat[(flat < 0) | (flat >= size)][0])
        raise error(f"{prefix}index {bad} is out of bounds for dimension {dim} with size {size}")


def check_written(target, *others, expanded=None):
    """Raise if a target is read-only, its elements share memory, or it overlaps with `others`.

    others: arrays that are read meanwhile. expanded: the name of an operator that still allows
    elements to share memory, with a warning.
    """
    if not target.flags.writeable:
        raise errors.views.read_only()
    if target.size > 1 and any(
        step == 0 and n > 1 for step, n in zip(target.strides, target.shape)
    ):
        if expanded is None:
            raise errors.views.overlap_inside(target)
        warnings.warn(
            f"Use of {expanded} on expanded tensors is deprecated. Please clone() the tensor "
            "before performing this operation.",
            UserWarning,
            stacklevel=2,
        )
    for other in others:
        if other is target:
            raise errors.views.overlap_between()
        refuse_shared(target, other)


# ---- advanced indices ----------------------------------------------------------------------------


def per_dim(indices, dims):
    """The indices as one list over all dimensions: None between `dims`; dims None: as they are."""
    if dims is None:
        return indices
    result, at = [], 0
    for index, dim in zip(indices, dims, strict=True):
        result += [None] * (dim - at)
        result.append(index)
        at = dim + (index.ndim if index.dtype in (np.bool_, np.uint8) else 1)
    return result


def _check_mask(a, mask, at):
    """Raise if a mask's shape differs from that of `a` from dimension `at` on."""
    for j, n in enumerate(mask.shape):
        if at + j >= a.ndim or a.shape[at + j] != n:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {j} does not match the shape "
                f"of the indexed tensor {list(a.shape)} at index {at + j}"
            )


def expand_indices(a, indices):
    """Replace masks by the coordinates at which they are true; check number and dtypes."""
    expanded = []
    for index in indices:
        if index is None:
            expanded.append(None)
            continue
        if index.dtype == np.uint8:
            warnings.warn(
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype "
                "torch.bool instead.",
                UserWarning,
                stacklevel=2,
            )
        elif index.dtype != np.bool_:
            if index.dtype != np.int64 and index.dtype != np.int32:
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            expanded.append(index)
            continue
        _check_mask(a, index, len(expanded))
        if index.ndim:
            expanded.extend(index.nonzero())
    if len(expanded) > a.ndim:
        raise errors.shapes.too_many_indices(a.ndim, len(expanded))
    return expanded


class Key:
    """Advanced indices resolved for one array: NumPy's key and the result's shape.

    With only 0-dim index arrays NumPy would drop the indexed dimensions, so the arrays get one
    dimension, `extra`, which is dropped from the result.
    """

    __slots__ = ("arrays", "extra", "first", "key", "shape", "sizes", "where")

    def __init__(self, a, indices):
        expanded = expand_indices(a, indices)
        self.arrays = [x for x in expanded if x is not None]
        common = self.arrays[0].shape if self.arrays else ()
        if any(x.shape != common for x in self.arrays):
            try:
                common = np.broadcast_shapes(*(x.shape for x in self.arrays))
            except ValueError:
                shapes = ", ".join(str(list(x.shape)) for x in self.arrays)
                raise IndexError(
                    "shape mismatch: indexing tensors could not be broadcast together with "
                    f"shapes {shapes}"
                ) from None
        where = [i for i, x in enumerate(expanded) if x is not None]
        self.where, self.sizes = where, [a.shape[i] for i in where]
        self.first = where[0] if where and where[-1] - where[0] == len(where) - 1 else 0
        rest = [n for i, n in enumerate(a.shape) if i not in where]
        self.shape = (*rest[: self.first], *common, *rest[self.first :])
        self.extra = bool(where) and common == ()
        if self.extra:
            expanded = [None if x is None else x.reshape(1) for x in expanded]
        self.key = tuple(slice(None) if x is None else x for x in expanded)

    def check_empty(self):
        """Raise for any index into a dimension of length 0."""
        if 0 in self.sizes and all(x.size for x in self.arrays):
            raise self.complain()

    def complain(self):
        """Raise for the first index out of bounds, in the order of the result's elements."""
        if 0 in self.sizes:
            return IndexError("index is out of bounds for dimension with size 0")
        worst = None
        common = np.broadcast_shapes(*(x.shape for x in self.arrays))
        for k, (x, n) in enumerate(zip(self.arrays, self.sizes)):
            bad = np.broadcast_to((x < -n) | (x >= n), common).ravel()
            if bad.any():
                at = int(bad.argmax())
                value = int(np.broadcast_to(x, common).ravel()[at])
                if worst is None or at < worst[0]:
                    worst = (at, value, k, n)
        return IndexError(
            "index {1} is out of bounds for dimension {2} with size {3}".format(*worst)
        )


def get(a, indices, dims=None):
    """Return a copy of ``a[indices]`` with the memory order of PyTorch's `index`."""
    if not indices:
        raise IndexError("at least one index must be provided")
    indices = per_dim(indices, dims)
    if len(indices) == 1 and indices[0].dtype == np.bool_ and indices[0].shape == a.shape:
        return a[indices[0]] if a.ndim else a.reshape(1)[indices[0].reshape(1)]
    k = Key(a, indices)
    k.check_empty()
    found = np.empty(k.shape, a.dtype) if 0 in k.shape else _picked(a, k)
    if not all(map(in_rows, (a, *k.arrays))):
        order = _index_order(a, k)
        if order != tuple(range(len(order))):
            result = empty_in(order, k.shape, a.dtype)
            result[...] = found
            return result
    return found if found.flags.c_contiguous else found.copy()


def _picked(a, k):
    """The elements for `get`, in any memory order. IndexError for an index out of bounds."""
    try:
        if len(k.arrays) == 1:
            return a.take(k.arrays[0], k.first)
        return a[k.key].reshape(k.shape) if k.extra else a[k.key]
    except IndexError:
        raise k.complain() from None


def _index_order(a, k):
    """The dimensions of an `index` result, outermost in memory first.

    The result is laid out like that of a pointwise operator on the source, with stride 0 along the
    indexed dimensions, and on the index arrays, with stride 0 along the others.
    """
    common = np.broadcast_shapes(*(x.shape for x in k.arrays))
    rest = [step for i, step in enumerate(a.strides) if i not in k.where]
    operands = [[*rest[: k.first], *[0] * len(common), *rest[k.first :]]]
    around = ((1,) * k.first, (1,) * (len(rest) - k.first))
    for x in k.arrays:
        x = x if x.shape == common else views.apply(views.expand, x, common)
        x = views.apply(views.view, x, around[0] + common + around[1])
        operands.append([s if m == n else 0 for s, m, n in zip(x.strides, x.shape, k.shape)])
    return common_order(k.shape, operands)


def put(a, indices, values, accumulate=False, dims=None):
    """Write `values` to ``a[indices]`` in place; `accumulate`: add them, index by index."""
    indices = per_dim(indices, dims)
    if len(indices) > a.ndim:
        raise errors.shapes.too_many_indices(a.ndim, len(indices))
    if not accumulate and values.size == 1 and _put_one(a, indices, values):
        return
    check_written(a, values, *(x for x in indices if x is not None), expanded="index_put_")
    k = Key(a, indices)
    k.check_empty()
    try:
        fits = np.broadcast_shapes(values.shape, k.shape) == k.shape
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(k.shape)}"
        )
    if values.dtype != a.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{scalar_name(a.dtype)} for the destination and {scalar_name(values.dtype)} for the "
            "source."
        )
    if 0 in k.shape:
        return
    if k.extra:
        values = np.expand_dims(np.broadcast_to(values, k.shape), k.first)
    try:
        if accumulate:
            _accumulate(a, k, values)
        else:
            a[k.key] = values
    except IndexError:
        raise k.complain() from None


def _put_one(a, indices, values):
    """Write one value where a mask is true, the only case that casts; False: another case."""
    masks = [(i, x) for i, x in enumerate(indices) if x is not None]
    if len(masks) != 1 or masks[0][1].dtype not in (np.bool_, np.uint8):
        return False
    at, mask = masks[0]
    _check_mask(a, mask, at)
    after = a.ndim - at - mask.ndim
    masked_fill(a, mask.reshape(mask.shape + (1,) * after), values.reshape(()))
    return True


def _accumulate(a, k, values):
    """``a[key] += values``, where repeated indices count repeatedly."""
    if not k.arrays:
        a[k.key] += values
        return
    if len(k.arrays) == 1 and k.first == 0 and not k.extra and a.flags.c_contiguous:
        n, index = a.shape[0], k.arrays[0]
        if ((index < -n) | (index >= n)).any():
            raise IndexError
        values = np.broadcast_to(values, k.shape)
        add_rows(a, np.where(index < 0, index + n, index).ravel(), values)
        return
    np.add.at(a, k.key, values)


def add_rows(target, index, values):
    """Add each slice of `values` to slice `index` of a contiguous array, in its first dimension."""
    width = math.prod(target.shape[1:])
    target = target.reshape(target.shape[0], width)
    values = np.ascontiguousarray(values).reshape(index.size, width)
    if width == 0:
        return
    if width >= _ROW:
        for i, row in zip(index.tolist(), values):
            target[i] += row
        return
    flat = (index.astype(np.int64)[:, None] * width + np.arange(width)).ravel()
    np.add.at(target.reshape(-1), flat, values.reshape(-1))


def slices(self, dim, index):
    """Flat positions of the slices `index` along `dim`, in the shape of all these slices."""
    shape = self.shape or (1,)
    wide = (*shape[:dim], index.size, *shape[dim + 1 :])
    column = index.reshape((-1,) + (1,) * (len(shape) - dim - 1))
    return flat_positions(np.broadcast_to(column, wide), shape, dim)


def add_slices(a, dim, index, source):
    """Add each slice of `source` to slice `index` of an array along `dim`."""
    if dim == 0 and a.ndim > 1 and a.flags.c_contiguous:
        add_rows(a, index, source)
    else:
        write(a, slices(a, dim, index).ravel(), source.ravel(), "add")


# ---- masks ---------------------------------------------------------------------------------------


def cast_number(value, dtype):
    """A Python number as a 0-dim array of `dtype`; raises if it does not fit."""
    if not 0 <= value.real <= 127 or type(value) is complex:  # else it fits into every dtype
        value = number_as(value, dtype)
    return np.array(value, dtype)


def only_number(name, value):
    """The number that an operator fills with, which may be given as a 0-dim array."""
    if not isinstance(value, np.ndarray):
        return value
    if value.ndim:
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return value.item()


def masked_fill(a, mask, value):
    """Write a number or 0-dim array where `mask` is true, in place."""
    value = only_number("masked_fill_", value)
    if mask.dtype != np.bool_:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{c_name(mask.dtype)}"
        )
    value = cast_number(value, a.dtype)
    check_written(a, expanded="masked_fill_")
    refuse_partial(a, mask)
    shape = broadcast_shape(a.shape, mask.shape)
    if shape != a.shape:
        raise errors.out.wrong_shape(a.shape, shape)
    np.copyto(a, value, where=mask)


# ---- along a dimension ---------------------------------------------------------------------------


def flat_positions(index, shape, dim):
    """Flat positions of the elements that `index` selects in a row-order array of `shape`."""
    step, result = 1, None
    nd = len(shape)
    for d in range(nd - 1, -1, -1):
        if d == dim:
            part = index.astype(np.int64) * step if step > 1 else index.astype(np.int64)
        elif index.shape[d] > 1:
            part = (np.arange(index.shape[d]) * step).reshape((-1,) + (1,) * (nd - d - 1))
        else:
            part = None
        if part is not None:
            result = part if result is None else result + part
        step *= shape[d]
    return result


def check_along(name, index, a, dim, source=None):
    """Check dtype and shape of an index for gather and scatter; return the wrapped dim."""
    dim = wrap_dim(dim, a.ndim)
    if index.size and index.dtype != np.int64 and index.dtype != np.int32:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if source is not None and source.dtype != a.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if index.size == 0:
        return dim
    other = "input" if name == "gather" else "self"
    if max(index.ndim, 1) != max(a.ndim, 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {other} tensor"
        )
    shape, limit = index.shape or (1,), a.shape or (1,)
    if source is not None and max(source.ndim, 1) != len(shape):
        if 0 < source.ndim < len(shape) and all(m <= n for m, n in zip(shape, source.shape)):
            wrap_dim(source.ndim, source.ndim)  # raises, as PyTorch does where it compares sizes
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    too_large = any(m > n for d, (m, n) in enumerate(zip(shape, limit)) if d != dim)
    if name == "gather":
        if too_large:
            d = next(i for i, (m, n) in enumerate(zip(shape, limit)) if i != dim and m > n)
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be "
                f"no larger than self {list(a.shape)} apart from dimension {dim}"
            )
    elif source is None:
        if too_large:
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self {list(a.shape)} "
                f"apart from dimension {dim}"
            )
    elif too_large or any(m > n for m, n in zip(shape, source.shape or (1,))):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(a.shape)} apart "
            f"from dimension {dim} and to be no larger size than src {list(source.shape)}"
        )
    return dim


def gather(a, dim, index):
    """Return the elements of `a` whose coordinate along `dim` is the value of `index`."""
    dim = check_along("gather", index, a, dim)
    if index.size == 0:
        return np.empty(index.shape, a.dtype)
    lifted, flat = index.reshape(index.shape or (1,)), np.ascontiguousarray(a)
    shape = a.shape or (1,)
    check_index(lifted, shape[dim], dim)
    return flat.reshape(-1).take(flat_positions(lifted, shape, dim)).reshape(index.shape)


_REDUCE = {
    "sum": np.add,
    "add": np.add,
    "prod": np.multiply,
    "multiply": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
    "max": np.maximum,
    "min": np.minimum,
    "mean": np.add,
}


def scatter(a, dim, index, source, reduce=None):
    """Write `source`, an array or a number, into `a` in place, at `index` along `dim`."""
    number = not isinstance(source, np.ndarray)
    dim = check_along("scatter", index, a, dim, None if number else source)
    check_written(a, index, *[] if number else [source])  # also if there is nothing to write
    if number:
        source = cast_number(source, a.dtype)
    if index.size == 0:
        return
    lifted, shape = index.reshape(index.shape or (1,)), a.shape or (1,)
    check_index(lifted, shape[dim], dim)
    if not number:
        source = source.reshape(source.shape or (1,))[tuple(slice(n) for n in lifted.shape)]
        source = source.ravel()
    at = flat_positions(lifted, shape, dim).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        if reduce is None:
            write(a, at, source, None)
        else:
            with rounded_once(a) as target:
                write(target, at, source, reduce)


@contextmanager
def rounded_once(a):
    """The array to accumulate in: `a`, or for float16 a float32 copy, written back at the end."""
    if a.dtype != np.float16:
        yield a
        return
    wide = a.astype(np.float32)
    yield wide
    a[...] = wide


def write(a, at, source, reduce):
    """Write to flat positions; via a row-order copy if `a` has another order."""
    flat = np.ascontiguousarray(a).reshape(-1)
    if reduce is None:
        flat[at] = source
    else:
        _REDUCE[reduce].at(flat, at, source)
    if not a.flags.c_contiguous:
        a[...] = flat.reshape(a.shape)


_EMPTY = {
    "sum": lambda dtype: 0,
    "mean": lambda dtype: 0,
    "prod": lambda dtype: 1,
    "amax": lambda dtype: _bound(dtype, -1),
    "amin": lambda dtype: _bound(dtype, 1),
}
_EMPTY |= {"max": _EMPTY["amax"], "min": _EMPTY["amin"]}  # PyTorch accepts these names, too


def _bound(dtype, sign):
    if dtype.kind == "f":
        return sign * np.inf
    if dtype.kind == "b":
        return sign > 0
    return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min


def scatter_reduce(a, dim, index, source, reduce, include_self=True):
    """Combine the elements of `source` with those of `a` that `index` selects, in place."""
    if reduce not in _EMPTY:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if a.dtype.kind == {"amax": "c", "amin": "c", "mean": "b"}.get(reduce):
        check_along("scatter", index, a, dim, source)
        check_written(a, index, source)
        raise errors.dtypes.not_implemented(f"scatter_gather_tensor_cpu_reduce_{reduce}", a.dtype)
    if not include_self:
        check_along("scatter", index, a, dim, source)
        check_written(a, source)
        scatter(a, dim, index, np.full(index.shape, _EMPTY[reduce](a.dtype), a.dtype))
    scatter(a, dim, index, source, reduce)
    if reduce != "mean" or not index.size:
        return
    count = np.full(a.shape, 1 if include_self else 0, np.int64)
    scatter(count, dim, index, np.ones(index.shape, np.int64), "sum")
    np.maximum(count, 1, out=count)
    if a.dtype.kind in "fc":
        np.divide(a, count.astype(a.dtype), out=a)
    else:
        np.floor_divide(a, count.astype(a.dtype), out=a)
