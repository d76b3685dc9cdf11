"""Reductions of runs of a tensor, and the hash of its elements."""

import numpy as np

from imode import errors, ops
from imode._core.parallel import skipping
from imode.ops.pointwise.common import no_derivative
from imode.ops.schema import Out, op

from . import dims

# Per reduction: what joins two elements, what a run without elements gives.
_REDUCTIONS = {
    "sum": (np.add, 0.0),
    "mean": (np.add, np.nan),
    "max": (np.maximum, -np.inf),
    "min": (np.minimum, np.inf),
    "prod": (np.multiply, 1.0),
}
_NAMES = _REDUCTIONS.keys() | {"amax", "amin"}


class _Runs:
    """Where the runs lie, of data seen as rows: those of all leading indices after each other.

    ids: the run of each row that is in one; rows: which row that is; lengths: per run.
    """

    def __init__(self, shape, lengths, offsets, axis):
        given = lengths if offsets is None else offsets
        n = shape[axis]
        table = given.reshape(int(np.prod(shape[:axis])), given.shape[axis])
        sizes = table if offsets is None else np.diff(table, axis=1)
        starts = np.cumsum(sizes, axis=1) - sizes if offsets is None else table[:, :-1]
        starts = starts + n * np.arange(len(table))[:, None]
        self.lengths = sizes.reshape(-1)
        self.ids = np.repeat(np.arange(sizes.size), self.lengths)
        within = np.arange(len(self.ids)) - np.repeat(
            np.cumsum(self.lengths) - self.lengths, self.lengths
        )
        self.rows = np.repeat(starts.reshape(-1), self.lengths) + within
        self.shape = (*shape[:axis], sizes.shape[1], *shape[axis + 1 :])


def _check(shape, reduce, lengths, indices, offsets, axis, unsafe):
    if reduce not in _NAMES:
        raise errors.shapes.unknown_reduction(reduce)
    if axis < 0:
        axis += len(shape)
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    name, given = ("lengths", lengths) if offsets is None else ("offsets", offsets)
    if given.ndim > len(shape):
        raise RuntimeError(f"Expected data.dim() >= {name}_value.dim() to be true, but got false.")
    if axis != given.ndim - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}."
        )
    if given.shape[:axis] != shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): the leading sizes of {name}, {list(given.shape[:axis])}, are not "
            f"those of data, {list(shape[:axis])}"
        )
    if not skipping():
        _check_numbers(shape[axis], lengths, offsets, unsafe)
    if given.dtype.kind != "i" or given.dtype.itemsize < 4:
        kernel = f"_segment_reduce_{name}_cpu_kernel1"
        raise errors.dtypes.not_implemented(kernel, given.dtype)
    return axis


def _check_numbers(n, lengths, offsets, unsafe):
    """The lengths must fit; `unsafe` leaves rows over, and never reads what is not there."""
    if offsets is not None:
        if np.any(np.diff(offsets, axis=-1) < 0) or np.any((offsets < 0) | (offsets > n)):
            raise RuntimeError("Expected segment_length >= 0 to be true, but got false.")
        return
    if not lengths.size and not unsafe:
        raise errors.shapes.nothing_to_reduce("min()")
    if np.any(lengths < 0):
        raise RuntimeError("lengths contains negative value!")
    sums = lengths.sum(axis=-1)
    if np.any(sums > n) or (not unsafe and np.any(sums != n)):
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to "
            "data.size(lengths.dim()-1) when !unsafe."
        )


@dims.quiet
def _segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe, initial):
    axis = _check(data.shape, reduce, lengths, indices, offsets, axis, unsafe)
    if data.dtype.kind != "f":
        raise errors.dtypes.not_implemented("_segment_reduce_cpu", data.dtype)
    if skipping():
        given = lengths.shape[axis] if offsets is None else offsets.shape[axis] - 1
        return np.empty((*data.shape[:axis], given, *data.shape[axis + 1 :]), data.dtype)
    runs = _Runs(data.shape, lengths, offsets, axis)
    join, nothing = _REDUCTIONS[reduce.removeprefix("a")]
    start = initial if initial is not None else 0.0 if reduce == "mean" else nothing
    width = int(np.prod(data.shape[axis + 1 :]))
    made = np.full((runs.lengths.size, width), start, data.dtype)
    rows = data.reshape(int(np.prod(data.shape[: axis + 1])), width)[runs.rows]
    join.at(made, runs.ids, rows)
    if reduce == "mean":
        filled = runs.lengths > 0
        made[filled] /= runs.lengths[filled, None].astype(data.dtype)
        if initial is None:
            made[~filled] = nothing
    return made.reshape(runs.shape)


@dims.quiet
def _segment_reduce_backward(grad, output, data, reduce, lengths, offsets, axis, initial):
    axis = _check(data.shape, reduce, lengths, None, offsets, axis, True)
    if skipping():
        return np.empty(data.shape, data.dtype)
    runs = _Runs(data.shape, lengths, offsets, axis)
    width = int(np.prod(data.shape[axis + 1 :]))
    made = np.zeros((int(np.prod(data.shape[: axis + 1])), width), data.dtype)
    n, ids = runs.lengths.size, runs.ids
    for given in (grad, output):
        if given.shape != runs.shape:
            raise errors.shapes.not_of_runs(list(given.shape), list(runs.shape))
    grad, result = (x.reshape(n, width) for x in (grad, output))
    rows = data.reshape(made.shape)[runs.rows]
    if reduce == "sum":
        found = grad[ids]
    elif reduce == "mean":
        found = grad[ids] / runs.lengths[ids, None].astype(data.dtype)
    elif reduce == "prod":
        found = grad[ids] * _product_of_others(rows, result, ids, initial)
    else:
        mask = np.isnan(rows) | (rows == result[ids])
        counts = _of_runs(np.add, mask.astype(data.dtype), ids, result.shape)
        # As PyTorch: only positive gradients are shared among equal elements.
        found = np.where(mask, grad[ids], 0) / np.where(mask & (grad[ids] > 0), counts[ids], 1)
    made[runs.rows] = found
    return made.reshape(data.shape)


def _of_runs(join, rows, ids, shape, start=0):
    made = np.full(shape, start, rows.dtype)
    join.at(made, ids, rows)
    return made


def _product_of_others(rows, result, ids, initial):
    """Per element, the product of the others in its run: no quotient where it is 0 or NaN."""
    special = np.isnan(rows) | (rows == 0)
    start = 1 if initial is None else initial
    plain = _of_runs(np.multiply, np.where(special, 1, rows), ids, result.shape, start)[ids]
    zeros, nans = (
        _of_runs(np.add, mask.astype(int), ids, result.shape)[ids] - mask
        for mask in (rows == 0, np.isnan(rows))
    )
    others = np.where(nans > 0, np.nan, np.where(zeros > 0, plain * 0, plain))
    return np.where(special, others, result[ids] / rows).astype(rows.dtype)


_NUMBERS = "Tensor? lengths=None, {}Tensor? offsets=None, int axis=0, {}Scalar? initial=None"
op(
    "_segment_reduce_backward(Tensor grad_output, Tensor output, Tensor data, str reduce, *, "
    f"{_NUMBERS.format('', '')}) -> Tensor",
    _segment_reduce_backward,
    derivative={("grad_output", "output", "data"): no_derivative("_segment_reduce_backward")},
    name="NotImplemented",
    variants="function",
    doc="""The gradient of `segment_reduce`.

    >>> one, x = imode.ones(1), imode.tensor([1.0, 2])
    >>> imode.ops.aten._segment_reduce_backward(one, one, x, "sum", lengths=imode.tensor([2]))
    tensor([1., 1.])
    """,
)

op(
    "segment_reduce(Tensor data, str reduce, *, "
    f"{_NUMBERS.format('Tensor? indices=None, ', 'bool unsafe=False, ')}) -> Tensor",
    _segment_reduce,
    derivative={
        "data": lambda grad, result, data, reduce, lengths, offsets, axis, initial: (
            ops._segment_reduce_backward(
                grad,
                result,
                data,
                reduce,
                lengths=lengths,
                offsets=offsets,
                axis=axis,
                initial=initial,
            )
        )
    },
    variants="function",
    doc="""Reduce runs of a tensor along a dimension: "sum", "mean", "max", "min" or "prod".

    `lengths` says how long each run is, or `offsets` where they begin and the last one ends; both
    may have the dimensions before `axis`, too. `initial` joins each run. Runs without elements give
    0, NaN, -inf, inf and 1. Raises RuntimeError for lengths that do not fit; `unsafe` allows fewer.

    >>> imode.segment_reduce(imode.tensor([1.0, 2, 3]), "sum", lengths=imode.tensor([2, 1]))
    tensor([3., 3.])
    """,
)


# ---- the hash of elements ----

_WIDE = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.int64}


def _hash_tensor(self, dim, keepdim, mode):
    if mode:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    axes = dims.wrap_all(dim, self.ndim)
    if self.size == 0:
        if not dim:
            raise errors.shapes.nothing_to_reduce("hash_tensor")
        for axis in axes:
            if not self.shape[axis]:
                raise IndexError(
                    f"hash_tensor: Expected reduction dim {axis} to have non-zero size."
                )
    if not self.size:
        kept = [1 if i in axes else n for i, n in enumerate(self.shape) if keepdim or i not in axes]
        return np.zeros(kept, np.uint64)
    kind, size = self.dtype.kind, self.dtype.itemsize
    if kind not in _WIDE or (kind == "u" and size > 1) or (kind == "f" and size == 1):
        raise errors.dtypes.not_implemented("xor_sum_cpu", self.dtype)
    bits = self.astype(_WIDE[kind]).view(np.uint64)
    return np.bitwise_xor.reduce(bits, axis=axes, keepdims=keepdim)


op(
    "hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
    _hash_tensor,
    differentiable=False,
    variants="function method out",
    out=Out("uint64", "Expected result to be of dtype uint64, but got {Found}"),
    doc="""A hash along `dim`, or of all elements: the exclusive or of their 64 bits, as uint64.

    Elements are taken as float64, or as int64. Raises RuntimeError where there are none, and
    NotImplementedError for complex numbers and unsigned integers of more than 8 bits.

    >>> imode.hash_tensor(imode.tensor([1, 2, 4]))
    tensor(7, dtype=imode.uint64)
    """,
)
