"""Kernels over ndarrays that read and write along a dimension: `gather`, `scatter` and their kin.

The index array has the result's shape; its values replace one coordinate. All indices are checked
before the first element is written: NumPy accepts negative ones, where PyTorch does not.
"""

from contextlib import contextmanager

import numpy as np

from imode import errors
from imode._core.parallel import skipping
from imode.kernels.creation.copy import cast
from imode.kernels.indexing.checks import cast_number, check_index, check_written
from imode.kernels.shapes.views import wrap_dim


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
    lifted, flat = index.reshape(index.shape or (1,)), np.ascontiguousarray(a, like=a)
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
    wide = cast(a, np.float32)
    yield wide
    a[...] = cast(wide, np.float16)


def write(a, at, source, reduce):
    """Write to flat positions; via a row-order copy if `a` has another order."""
    if skipping():
        return
    flat = np.ascontiguousarray(a).reshape(-1)
    if reduce is None:
        flat[at] = source
    else:
        _REDUCE[reduce].at(flat, at, source)
    if not a.flags.c_contiguous:
        a[...] = flat.reshape(a.shape)


# By reduction: the element that changes no other.
EMPTY = {
    "sum": lambda dtype: 0,
    "mean": lambda dtype: 0,
    "prod": lambda dtype: 1,
    "amax": lambda dtype: _bound(dtype, -1),
    "amin": lambda dtype: _bound(dtype, 1),
}
EMPTY |= {"max": EMPTY["amax"], "min": EMPTY["amin"]}  # PyTorch accepts these names, too


def _bound(dtype, sign):
    if dtype.kind == "f":
        return sign * np.inf
    if dtype.kind == "b":
        return sign > 0
    return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min


def scatter_reduce(a, dim, index, source, reduce, include_self=True):
    """Combine the elements of `source` with those of `a` that `index` selects, in place."""
    if reduce not in EMPTY:
        raise errors.shapes.unknown_reduction(reduce)
    if a.dtype.kind == {"amax": "c", "amin": "c", "mean": "b"}.get(reduce):
        check_along("scatter", index, a, dim, source)
        check_written(a, index, source)
        raise errors.dtypes.not_implemented(f"scatter_gather_tensor_cpu_reduce_{reduce}", a.dtype)
    if not include_self:
        check_along("scatter", index, a, dim, source)
        check_written(a, source)
        scatter(a, dim, index, np.full(index.shape, EMPTY[reduce](a.dtype), a.dtype))
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
