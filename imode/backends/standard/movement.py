"""Elements that move, and where they stand, as functions of the Array API standard."""

import math

from imode.backends.standard.tables import in_dtype, kind_of, other, shaped


@other("clone", "expand_copy", "permute_copy", "t_copy", "transpose_copy", "_reshape_copy")
def _clone(xp, result, x, *rest):
    return x if x.shape == tuple(result.shape) else NotImplemented


@other("fill.Scalar", "fill_.Scalar")
def _fill(xp, result, x, value):
    if kind_of(x) in ("int", "uint", "bool") and type(value) is not int:
        return NotImplemented
    if type(value) is complex or (type(value) is int and abs(value) > 1 << 24):
        return NotImplemented
    value = int(value) if type(value) is bool else value
    return xp.astype(xp.zeros_like(x) + value, x.dtype) if kind_of(x) != "bool" else NotImplemented


@other("zero_", "zeros_like")
def _zero(xp, result, x, *rest):
    return xp.zeros(tuple(result.shape), dtype=getattr(xp, result.dtype.name))


@other("masked_fill.Scalar")
def _masked_fill(xp, result, x, mask, value):
    return xp.where(mask, xp.zeros_like(x) + value, x) if kind_of(x) == "float" else NotImplemented


@other("cat")
def _cat(xp, result, arrays, dim):
    arrays = [in_dtype(xp, a, result) for a in arrays if a.shape != (0,)]
    return xp.concat(arrays, axis=dim) if arrays else NotImplemented


@other("stack")
def _stack(xp, result, arrays, dim):
    return xp.stack([in_dtype(xp, a, result) for a in arrays], axis=dim)


@other("flip")
def _flip(xp, result, x, dims):
    return xp.flip(x, axis=tuple(dims)) if dims and x.ndim else x


@other("roll")
def _roll(xp, result, x, shifts, dims):
    if not math.prod(x.shape) or not x.ndim:
        return x
    if not dims:
        return xp.roll(x, shifts[0])
    return xp.roll(x, tuple(shifts), axis=tuple(dims))


@other("repeat")
def _repeat(xp, result, x, repeats):
    return xp.tile(x, tuple(repeats)) if repeats else x


@other("index_select")
def _index_select(xp, result, x, dim, index):
    if not x.ndim or index.ndim != 1 or not _inside(xp, index, x.shape[dim]):
        return NotImplemented
    return xp.take(x, index, axis=dim)


@other("_index")
def _index(xp, result, x, indices, dims):
    if dims is not None or len(indices) != 1 or kind_of(indices[0]) != "int":
        return NotImplemented
    size = x.shape[0]
    index = xp.where(indices[0] < 0, indices[0] + size, indices[0])
    if not _inside(xp, index, size):
        return NotImplemented
    return shaped(xp, xp.take(x, xp.reshape(index, (-1,)), axis=0), result)


@other("gather")
def _gather(xp, result, x, dim, index, sparse_grad):
    if not x.ndim or any(
        a != b for i, (a, b) in enumerate(zip(x.shape, index.shape)) if i != dim % x.ndim
    ):
        return NotImplemented
    if not _inside(xp, index, x.shape[dim]):
        return NotImplemented
    return xp.take_along_axis(x, index, axis=dim)


@other("embedding")
def _embedding(xp, result, weight, indices, *rest):
    if not _inside(xp, indices, weight.shape[0]):
        return NotImplemented
    return shaped(xp, xp.take(weight, xp.reshape(indices, (-1,)), axis=0), result)


def _inside(xp, index, size):
    """Whether all indices are from 0 to `size` - 1; the CPU raises for others."""
    if not math.prod(index.shape):
        return False
    return bool(xp.min(index) >= 0) and bool(xp.max(index) < size)


@other("sort", "sort.stable")
def _sort(xp, result, x, *rest):
    dim, descending = rest[-2:]
    if kind_of(x) in ("bool", "complex") or not x.ndim:
        return NotImplemented
    try:
        order = xp.argsort(x, axis=dim, stable=True, **{"descending": True} if descending else {})
    except TypeError:  # NumPy's has no `descending`
        return NotImplemented
    return [xp.take_along_axis(x, order, axis=dim), order]


@other("tril")
def _tril(xp, result, x, diagonal):
    return xp.tril(x, k=diagonal)


@other("triu")
def _triu(xp, result, x, diagonal):
    return xp.triu(x, k=diagonal)


@other("searchsorted.Tensor")
def _searchsorted(xp, result, boundaries, x, out_int32, right, side, sorter):
    if len(boundaries.shape) != 1 or sorter is not None or boundaries.dtype != x.dtype:
        return NotImplemented
    if kind_of(x) not in ("int", "float") or not math.prod(boundaries.shape):
        return NotImplemented
    side = side or ("right" if right else "left")
    found = xp.searchsorted(boundaries, xp.reshape(x, (-1,)), side=side)
    return shaped(xp, in_dtype(xp, found, result), result)


@other("isin.Tensor_Tensor")
def _isin(xp, result, x, tests, assume_unique, invert):
    if kind_of(x) not in ("int", "float") or x.dtype != tests.dtype:
        return NotImplemented
    return xp.isin(x, tests, invert=invert)
