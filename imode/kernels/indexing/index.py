"""Kernels over ndarrays that read and write elements by advanced indices: `get` and `put`.

One index array per leading dimension, None for "all of it"; a mask stands for the indices at which
it is true. NumPy checks all indices itself, in `a[key]` and `ufunc.at`, before it writes the first
element.
"""

import numpy as np

from imode import errors
from imode._core.layout import common_order, empty_in, in_rows
from imode._core.type_names import scalar_name
from imode._core.user_frames import warn
from imode.kernels.indexing.checks import check_written
from imode.kernels.indexing.index_slices import add_rows
from imode.kernels.indexing.masks import masked_fill
from imode.kernels.shapes import views


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
            warn(
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype "
                "torch.bool instead.",
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
        raise errors.shapes.no_index()
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
