"""Order: sorting, the largest, distinct values, search in sorted ones, counts by value."""

import numpy as np

from imode import ops
from imode.kernels import arrange, layers, select
from imode.kernels.gather import take_along
from imode.kernels.order import empty_like
from imode.kernels.strided import wrap_dim

from .._core.words import not_implemented, scalar_name
from .create import same_dtype_outs
from .refuse import no_derivative
from .schema import composite, op

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
    picked = take_along(self, order, dim)
    if self.flags.c_contiguous:
        return picked, order if order.flags.c_contiguous else order.copy()
    values, indices = empty_like(self), empty_like(self, np.int64)
    values[...], indices[...] = picked, order
    return values, indices


def _select_backward(grad, self_shape, indices, dim, keepdim=True):
    """A gradient to the elements that were picked along `dim`."""
    if not keepdim and self_shape:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(self_shape).scatter_(dim, indices, grad)


_SORTED = {
    "self": lambda grad, self_shape, indices, dim: _select_backward(grad, self_shape, indices, dim)
}

op(
    "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    arrange.compiled("sort", _sort),
    derivative=_SORTED,
    variants="function method out",
    apart="part",
    doc="""Return the elements in order along `dim`, and where each of them stood.

    Equal elements keep their order; NaN counts as the largest.

    >>> imode.sort(imode.tensor([3, 1, 2])).indices
    tensor([1, 2, 0])
    """,
)

op(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False)"
    " -> (Tensor values, Tensor indices)",
    arrange.compiled(
        "sort.stable", lambda self, stable, dim, descending: _sort(self, dim, descending)
    ),
    derivative=_SORTED,
    name="SortBackward1",
    variants="function method out",
    apart="part",
    doc="""Return the elements in order along `dim`; equal ones keep their order in any case.""",
)


@composite(
    "msort(Tensor self) -> Tensor", variants="function method out", through="sort", apart="part"
)
def msort(self):
    """Return the elements in order along the first dimension.

    >>> imode.msort(imode.tensor([2, 1]))
    tensor([1, 2])
    """
    return ops.sort(self, 0)[0]


def _argsort(self, dim, descending):
    """Return where the elements stand, in their order along `dim`.

    >>> imode.tensor([3, 1, 2]).argsort()
    tensor([1, 2, 0])
    """
    return ops.sort(self, dim, descending)[1]


composite(
    "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
    shortcut=layers.argsort,
    variants="function method",
)(_argsort)


@composite(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    variants="function method out",
    through="sort",
)
def argsort_stable(self, stable, dim, descending):
    """Return where the elements stand, in order; equal ones keep their order in any case."""
    return ops.sort(self, dim, descending)[1]


def _topk(self, k, dim, largest, sorted):
    dim = wrap_dim(dim, self.ndim)
    n = self.shape[dim] if self.ndim else 1
    if not 0 <= k <= n:
        raise RuntimeError("selected index k out of range")
    if self.dtype.kind == "c":
        raise RuntimeError(" topk does not support complex dtypes on CPU")
    if self.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    if k == 0:
        order = np.empty((*self.shape[:dim], 0, *self.shape[dim + 1 :]), np.int64)
    else:
        lines = select.places(np.moveaxis(self, dim, -1), k, largest, sorted)
        order = np.array(np.moveaxis(lines, -1, dim), order="C")
    return take_along(self, order, dim), order


op(
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True)"
    " -> (Tensor values, Tensor indices)",
    select.compiled_topk(_topk),
    derivative=_SORTED,
    variants="function method out",
    apart="all",
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
        raise not_implemented("kthvalue_cpu", self.dtype)
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    order = np.moveaxis(select.places(np.moveaxis(self, dim, -1), k, kth=True), -1, dim)
    values = take_along(self, order, dim)
    if not keepdim:
        values, order = values.squeeze(dim), order.squeeze(dim)
    return np.array(values, order="C"), np.array(order, order="C")


_KTHVALUE = op(
    "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False)"
    " -> (Tensor values, Tensor indices)",
    _kthvalue,
    derivative={
        "self": lambda grad, self_shape, indices, dim, keepdim: _select_backward(
            grad, self_shape, indices, dim, keepdim
        )
    },
    real_only="kthvalue",
    variants="function method out",
    apart="all",
    doc="""Return the k-th smallest element along `dim`, counted from 1, and its position.

    >>> imode.tensor([3, 1, 2]).kthvalue(2).values
    tensor(2)
    """,
)

# ---- distinct values -----------------------------------------------------------------------------


def _no_derivative(name):
    def formula(grad):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return {"self": formula}


def _refuse_complex(self):
    if self.dtype.kind == "c":
        raise not_implemented("unique", self.dtype)


def _unique(self, sorted, return_inverse, return_counts):
    _refuse_complex(self)
    if not return_inverse and not return_counts:
        ordered = np.sort(self, None)
        first = np.ones(ordered.size, bool)
        np.not_equal(ordered[1:], ordered[:-1], first[1:])
        none = np.empty(0, np.int64)
        return ordered[first], none, none.copy()
    values, inverse, counts = np.unique(
        self.reshape(-1), return_inverse=True, return_counts=True, equal_nan=False
    )
    return values, inverse.reshape(self.shape).astype(np.int64), counts.astype(np.int64)


def _check_unique_dim(self, dim):
    if self.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = wrap_dim(dim, self.ndim)
    if self.shape.count(0) > 1:
        raise RuntimeError(
            "Number of zero sized dimensions is more than one, so unique cannot be applied"
        )
    if any(n == 0 for d, n in enumerate(self.shape) if d != dim):
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return dim


def _unique_dim(self, dim, sorted, return_inverse, return_counts):
    _refuse_complex(self)
    dim = _check_unique_dim(self, dim)
    if self.shape[dim] == 0:
        none = np.empty(0, np.int64)
        return np.ascontiguousarray(self), none, none.copy()
    rows = np.moveaxis(self, dim, 0).reshape(self.shape[dim], -1)
    order = np.lexsort(rows.T[::-1])
    first = np.ones(len(order), bool)
    first[1:] = (rows[order[1:]] != rows[order[:-1]]).any(1)
    return _runs(self, dim, order, first)


def _runs(self, dim, order, first):
    """The first slice of each run of equal ones in `order`; which run each is in; run lengths."""
    starts = np.flatnonzero(first)
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.cumsum(first) - 1
    counts = np.diff(np.append(starts, len(order))).astype(np.int64)
    slices = np.moveaxis(self, dim, 0)[order[starts]]
    return np.moveaxis(np.ascontiguousarray(slices), 0, dim), inverse, counts


def _unique_consecutive(self, return_inverse, return_counts, dim):
    _refuse_complex(self)
    flat = self.reshape(-1) if dim is None else self
    at = 0 if dim is None else _check_unique_dim(self, dim)
    if flat.ndim == 0 or flat.shape[at] == 0:
        none = np.empty(0, np.int64)
        inverse = np.empty(self.shape, np.int64) if dim is None else none.copy()
        return np.ascontiguousarray(flat), inverse, none
    n = flat.shape[at]
    rows = np.moveaxis(flat, at, 0).reshape(n, -1)
    first = np.ones(n, bool)
    first[1:] = (rows[1:] != rows[:-1]).any(1)
    values, inverse, counts = _runs(flat, at, np.arange(n), first)
    return values, inverse.reshape(self.shape) if dim is None else inverse, counts


op(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False)"
    " -> (Tensor, Tensor, Tensor)",
    arrange.compiled("unique", _unique),
    derivative=_no_derivative("_unique2"),
    name="Unique2Backward0",
    variants="",
)
op(
    "_unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, "
    "bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    _unique_dim,
    derivative=_no_derivative("unique_dim"),
    name="UniqueDimBackward0",
    variants="",
)
op(
    "_unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> (Tensor, Tensor, Tensor)",
    _unique_consecutive,
    derivative=_no_derivative("unique_consecutive"),
    name="UniqueConsecutiveBackward0",
    variants="",
)


def _asked(results, return_inverse, return_counts):
    values, inverse, counts = results
    if not return_inverse and not return_counts:
        return values
    return (values,) + (inverse,) * return_inverse + (counts,) * return_counts


@composite(
    "unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> any",
    variants="function method",
)
def unique(self, sorted, return_inverse, return_counts, dim):
    """Return the distinct elements in order, or the distinct slices along `dim`.

    return_inverse: also which of them each element is. return_counts: also how often each occurs.

    >>> imode.unique(imode.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is None:
        results = ops._unique2(self, sorted, return_inverse, return_counts)
    else:
        results = ops._unique_dim(self, dim, sorted, return_inverse, return_counts)
    return _asked(results, return_inverse, return_counts)


@composite(
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> any",
    variants="function method",
)
def unique_consecutive(self, return_inverse, return_counts, dim):
    """Return the first of each run of equal elements, or of equal slices along `dim`.

    >>> imode.unique_consecutive(imode.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    results = ops._unique_consecutive(self, return_inverse, return_counts, dim)
    return _asked(results, return_inverse, return_counts)


# ---- search --------------------------------------------------------------------------------------


def _side(right, side):
    if side is None:
        return "right" if right else "left"
    if side not in ("left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if right and side == "left":
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )
    return side


def _check_search(boundaries, values, sorter):
    if boundaries.ndim == 0 and values.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if values.ndim == 0 and boundaries.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({boundaries.ndim}) and input "
            "value's dim(0) numel(1)"
        )
    if boundaries.ndim != 1 and boundaries.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(boundaries.shape)} and input value tensor "
            f"{list(values.shape)}"
        )
    for given in (boundaries, values):
        if given.dtype.kind == "c":
            raise not_implemented("searchsorted_out_cpu", given.dtype)
    if boundaries.dtype == values.dtype == np.bool_ and boundaries.size and values.size:
        raise not_implemented("searchsorted_out_cpu", values.dtype)
    if sorter is None:
        return
    if sorter.shape != boundaries.shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {list(boundaries.shape)}and got sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype != np.int64:
        raise RuntimeError(
            "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
            + scalar_name(sorter.dtype)
        )
    if sorter.size and not 0 <= sorter.min() <= sorter.max() < boundaries.shape[-1]:
        raise RuntimeError("torch.searchsorted(): sorter index out of range")


def _searchsorted(sorted_sequence, self, out_int32, right, side, sorter):
    values = np.asarray(self)
    if not isinstance(self, np.ndarray) and values.dtype == np.float64:
        values = values.astype(np.result_type(sorted_sequence.dtype, np.float32))
    side = _side(right, side)
    _check_search(sorted_sequence, values, sorter)
    if sorter is not None:
        sorted_sequence = np.take_along_axis(sorted_sequence, sorter, -1)
    kind = np.int32 if out_int32 else np.int64
    if sorted_sequence.ndim == 1:
        return np.asarray(np.searchsorted(sorted_sequence, values, side)).astype(kind)
    result = np.empty(values.shape, kind)
    for at in np.ndindex(values.shape[:-1]):
        result[at] = np.searchsorted(sorted_sequence[at], values[at], side)
    return result


op(
    "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, "
    "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    _searchsorted,
    differentiable=False,
    variants="function out",
    doc="""Return where each value would have to stand in a sequence sorted along its last dim.

    side (or right=True): "left" before equal elements, "right" behind them. sorter: the order in
    which the sequence is sorted, as `argsort` gives it. The result is int64, or int32.

    >>> imode.searchsorted(imode.tensor([1, 3, 5]), imode.tensor([3, 6]))
    tensor([1, 3])
    """,
)
op(
    "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, "
    "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    _searchsorted,
    differentiable=False,
    variants="function out",
    doc="""Return where a number would have to stand in a sorted sequence.""",
)


def _bucketize(self, boundaries, out_int32, right):
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return _searchsorted(boundaries, self, out_int32, right, None, None)


op(
    "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False)"
    " -> Tensor",
    _bucketize,
    differentiable=False,
    variants="function out",
    doc="""Return the number of the bucket between sorted `boundaries` that each value falls into.

    right: a value equal to a boundary belongs to the bucket above it.

    >>> imode.bucketize(imode.tensor([3, 6]), imode.tensor([1, 3, 5]))
    tensor([1, 3])
    """,
)
op(
    "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False)"
    " -> Tensor",
    _bucketize,
    differentiable=False,
    variants="function",
    doc="""Return the number of the bucket between sorted `boundaries` that a number falls into.""",
)


def _isin(elements, test_elements, assume_unique, invert):
    elements, tests = np.asarray(elements), np.asarray(test_elements)
    for given in (elements, tests):
        if given.dtype.kind in "bc":
            raise RuntimeError(
                f"Unsupported input type encountered for isin(): {scalar_name(given.dtype)}"
            )
    return np.asarray(np.isin(elements, tests, assume_unique=False, invert=invert))


for _schema in (
    "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, "
    "bool invert=False) -> Tensor",
    "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, "
    "bool invert=False) -> Tensor",
    "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, "
    "bool invert=False) -> Tensor",
):
    op(
        _schema,
        _isin,
        differentiable=False,
        variants="function out",
        doc="""Return which elements occur among others, as booleans.

        >>> imode.isin(imode.tensor([1, 2]), imode.tensor([2]))
        tensor([False,  True])
        """,
    )

# ---- counts --------------------------------------------------------------------------------------


def _bincount(self, weights, minlength):
    if self.dtype.kind not in "iu":
        raise not_implemented("bincount_cpu", self.dtype)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim == 1 and self.size == 0:
        return np.zeros(minlength, np.int64)
    if self.ndim != 1 or int(self.min()) < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return np.bincount(self, minlength=minlength).astype(np.int64, copy=False)
    if weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    kind = np.float32 if weights.dtype == np.float32 else np.float64
    result = np.zeros(max(int(self.max()) + 1, minlength), kind)
    np.add.at(result, self.astype(np.int64), weights.astype(kind, copy=False))
    return result


op(
    "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
    _bincount,
    derivative={"weights": no_derivative("bincount")},
    name="NotImplemented",
    doc="""Return how often each integer from 0 on occurs, or the sum of the weights of each.

    >>> imode.bincount(imode.tensor([1, 1, 2]))
    tensor([0, 2, 1])
    """,
)


def _histc(self, bins, low, high):
    if self.dtype.kind != "f":
        step = {"b": "linspace_cpu", "c": "aminmax_cpu"}.get(self.dtype.kind, "histogram_cpu")
        raise not_implemented(step, self.dtype)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    flat = self.reshape(-1)
    low, high = float(low), float(high)
    if low == high and flat.size:
        low, high = float(flat.min()), float(flat.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    kind = self.dtype.type
    inside = flat[(flat >= low) & (flat <= high)]
    place = ((inside - kind(low)) * kind(bins) / (kind(high) - kind(low))).astype(np.int64)
    counts = np.bincount(np.minimum(place, bins - 1), minlength=bins)
    return counts.astype(self.dtype)


op(
    "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    _histc,
    differentiable=False,
    inplace_only=True,
    variants="function method out",
    doc="""Return the number of elements in each of `bins` equal ranges between `min` and `max`.

    Both 0: between the smallest and the largest element. Elements outside, and NaN, are left out.

    >>> imode.histc(imode.tensor([1.0, 2.0, 1.0]), 4, 0, 3)
    tensor([0., 2., 1., 0.])
    """,
)

# ---- out= of another dtype ----


def _places_dtype(first, second, out_int32, *rest):
    return np.dtype(np.int32 if out_int32 else np.int64)


def _wrong_places(wanted, found):
    return (
        "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
        "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype "
        f"{scalar_name(found)} and out_int32 flag is {wanted == np.int32}"
    )


same_dtype_outs(("searchsorted", "bucketize"), _places_dtype, _wrong_places)
same_dtype_outs(("isin",), lambda *arguments: np.dtype(bool))
same_dtype_outs(("argsort",), lambda *arguments: np.dtype(np.int64))
same_dtype_outs(("msort",), lambda self: self.dtype)
same_dtype_outs(("sort", "topk"))


_KTHVALUE.entry.out_refusal = lambda wanted, found, place: (
    "output indices must be of scalar type Long"
    if place
    else "output values must be of same type as input"
)
