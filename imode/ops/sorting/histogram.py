"""How many elements lie between edges: histc, histogram, and histograms of several dimensions."""

import math

import numpy as np

from imode import errors, ops
from imode._core.internals import array_of
from imode._core.parallel import skipping
from imode._core.type_names import c_name
from imode.kernels.creation.copy import as_half, cast
from imode.kernels.creation.ranges import linspace
from imode.kernels.sorting import histogram_fast
from imode.ops.creation.create import allocate
from imode.ops.pointwise.common import no_derivative
from imode.ops.schema import Out, composite, op

# ---- checks --------------------------------------------------------------------------------------


def _check_counts(counts):
    for dim, count in enumerate(counts):
        if count <= 0:
            raise RuntimeError(
                f"torch.histogram(): bins must be > 0, but got {count} for dimension {dim}"
            )


def _check_dtype(points):
    if points.dtype.kind != "f":
        raise errors.dtypes.not_implemented("histogram_cpu", points.dtype)


def _check_points(points, n_edges, weight, dtypes=()):
    """Refuse points, edges and weights that do not go together; points are rows."""
    dims = points.shape[-1]
    if n_edges != dims:
        raise RuntimeError(
            f"torch.histogramdd: expected {dims} sequences of bin edges for a {dims}-dimensional "
            f"histogram but got {n_edges}"
        )
    for dim, dtype in enumerate(dtypes):
        if dtype != points.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but "
                f"got input with dtype {c_name(points.dtype)} and bins for dimension {dim} with "
                f"dtype {c_name(dtype)}"
            )
    if weight is None:
        return
    if weight.dtype != points.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
            f"should have the same dtype, but got input({c_name(points.dtype)}), and "
            f"weight({c_name(weight.dtype)})"
        )
    if weight.shape != points.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            "input tensor excluding its innermost dimension, but got input with shape "
            f"{list(points.shape)} and weight with shape {list(weight.shape)}"
        )


def _check_edges(bins):
    for dim, edges in enumerate(bins):
        if edges.ndim != 1:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have one dimension, but got "
                f"{edges.ndim} dimensions in the bins tensor for dimension {dim}"
            )
        if edges.size == 0:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements "
                f"in the bins tensor for dimension {dim}"
            )
    _check_counts([edges.size - 1 for edges in bins])


def _given_range(name, position, range):
    """Of an argument `range`: its numbers, or None."""
    if range is None:
        return None
    plain = isinstance(range, (tuple, list))
    if not plain or not all(isinstance(x, (int, float)) for x in range):
        raise TypeError(
            f"{name}(): argument 'range'{position} must be tuple of floats, not "
            f"{type(range).__name__}"
        )
    return [float(x) for x in range]


# ---- counting ------------------------------------------------------------------------------------


def _outer_edges(points, range):
    """The lowest and the highest edge of each dimension: as given, or by the elements."""
    dims = points.shape[-1]
    if range is not None:
        if len(range) != 2 * dims:
            raise RuntimeError(
                f"torch.histogramdd: for a {dims}-dimensional histogram range should have "
                f"{2 * dims} elements, but got {len(range)}"
            )
        bounds = list(zip(range[::2], range[1::2]))
    elif points.size:
        if points.dtype.char not in "fd":
            raise errors.dtypes.not_implemented("histogramdd", points.dtype)
        rows = points.reshape(-1, dims)
        bounds = list(zip(rows.min(0).tolist(), rows.max(0).tolist()))
    else:
        bounds = [(0.0, 1.0)] * dims
    found = []
    for dim, (low, high) in enumerate(bounds):
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(
                f"torch.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite"
            )
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} "
                f"for dimension {dim}"
            )
        found.append((low - 0.5, high + 0.5) if low == high else (low, high))
    return found


def _edges_between(low, high, count, dtype):
    edges = allocate((count + 1,), dtype)
    linspace(edges, dtype.type(low), dtype.type(high))
    return edges


def _even_edges(points, counts, range):
    _check_counts(counts)
    bounds = _outer_edges(points, range)
    _check_dtype(points)
    return [_edges_between(*pair, n, points.dtype) for pair, n in zip(bounds, counts)]


def _counted(points, bins, weight, density):
    """The histogram of rows of points between the edges of each dimension."""
    _check_dtype(points)
    sizes = [edges.size - 1 for edges in bins]
    result = allocate(sizes, points.dtype, np.zeros)
    if skipping():
        return result
    rows = points.reshape(math.prod(points.shape[:-1]), len(bins))
    inside, place = np.ones(len(rows), bool), np.zeros(len(rows), np.int64)
    for dim, (edges, size) in enumerate(zip(bins, sizes)):
        column = rows[:, dim]
        inside &= (column >= edges[0]) & (column <= edges[-1])
        # The last bin has its upper edge, too.
        at = np.minimum(np.searchsorted(edges, column, "right") - 1, size - 1)
        place = place * size + at
    if not bins:
        inside[:] = False
    place = place[inside]
    flat = result.reshape(-1)
    if weight is None:
        flat += np.bincount(place, minlength=flat.size)
    else:
        np.add.at(flat, place, weight.reshape(-1)[inside])
    if density:
        with np.errstate(all="ignore"):
            result /= result.sum(dtype=result.dtype)
            for dim, edges in enumerate(bins):
                widths = np.diff(edges)
                result /= widths.reshape(-1, *[1] * (len(bins) - dim - 1))
    return result


# ---- one dimension -------------------------------------------------------------------------------


def _histc(self, bins, low, high):
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    flat, narrow = self.reshape(-1), self.dtype == np.float16
    flat = cast(flat, np.float32) if narrow else flat
    low, high = float(low), float(high)
    if low == high and flat.size:
        if self.dtype.kind == "c":
            raise errors.dtypes.not_implemented("aminmax_cpu", self.dtype)
        low, high = float(flat.min()), float(flat.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    if self.dtype.kind != "f":
        raise errors.dtypes.not_implemented(
            "linspace_cpu" if self.dtype.kind == "b" else "histogram_cpu", self.dtype
        )
    kind = self.dtype.type
    if skipping():
        return np.empty(bins, self.dtype)
    within = (flat >= low) & (flat <= high)
    inside = flat if within.all() else flat[within]
    if narrow:  # rounded after each step
        first, width = np.float32(kind(low)), np.float32(kind(high) - kind(low))
        steps = as_half(as_half(inside - first) * np.float32(kind(bins)))
        place = cast(as_half(steps / width), np.int64)
    else:
        place = ((inside - kind(low)) * kind(bins) / (kind(high) - kind(low))).astype(np.int64)
    return histogram_fast.counts(np.minimum(place, bins - 1), bins).astype(self.dtype)


op(
    "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    _histc,
    fast=histogram_fast.histc,
    differentiable=False,
    inplace_only=True,
    variants="function method out",
    out=Out(
        "same",
        "torch.histogram: input tensor and hist tensor should have the same dtype, but got input "
        "{wanted} and hist {found}",
    ),
    doc="""Return the number of elements in each of `bins` equal ranges between `min` and `max`.

    Both 0: between the smallest and the largest element. Elements outside, and NaN, are left out.

    >>> imode.histc(imode.tensor([1.0, 2.0, 1.0]), 4, 0, 3)
    tensor([0., 2., 1., 0.])
    """,
)


def _histogram(self, bins, weight, density):
    points = self.reshape(-1, 1)
    weight = None if weight is None else weight.reshape(-1)
    _check_edges([bins])
    _check_points(points, 1, weight, [bins.dtype])
    return _counted(points, [bins], weight, density), bins.copy()


def _histogram_of_count(self, bins, range, weight, density):
    points = self.reshape(-1, 1)
    weight = None if weight is None else weight.reshape(-1)
    edges = _even_edges(points, [bins], _given_range("histogram", "", range))
    _check_points(points, 1, weight)
    return _counted(points, edges, weight, density), edges[0]


def _refusing(name):
    """The formula of several results, none of which has a derivative."""

    def refuse(grads):
        no_derivative(name)(grads)

    refuse.refuses_all = True
    return refuse


_OUT = Out(
    "same",
    (
        "torch.histogram: input tensor and hist tensor should have the same dtype, but got input "
        "{wanted} and hist {found}",
        "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but got "
        "input {wanted} and bin_edges {found} for dimension 0",
    ),
)

op(
    "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False)"
    " -> (Tensor hist, Tensor bin_edges)",
    _histogram,
    derivative=dict.fromkeys(("self", "bins", "weight"), _refusing("histogram")),
    name="NotImplemented",
    variants="function method out",
    out=_OUT,
    doc="""Return how many elements lie between edges, and the edges.

    bins: the edges, in order, or the number of equal bins. range: with a number of bins, the lowest
    and the highest edge, (float, float); else those of the elements. weight: of each element, in
    the shape of the input. density: divide by the sum and by the width of each bin. Each bin but
    the last is without its upper edge; elements outside and NaN are left out.

    The input is of floats; of float16 with edges or a range. Raises RuntimeError where the shapes
    or dtypes of bins or weight do not fit, or a range is not finite. There is no derivative.

    >>> imode.histogram(imode.tensor([1.0, 2.0, 1.0]), 4, range=(0.0, 3.0)).hist
    tensor([0., 2., 1., 0.])
    """,
)
op(
    "histogram.bin_ct(Tensor self, int bins=100, *, any range=None, Tensor? weight=None, "
    "bool density=False) -> (Tensor hist, Tensor bin_edges)",
    _histogram_of_count,
    fast=histogram_fast.histogram,
    derivative=dict.fromkeys(("self", "weight"), _refusing("histogram")),
    name="NotImplemented",
    variants="function method out",
    out=_OUT,
    doc="""Return how many elements lie in each of some equal bins, and the edges.""",
)

# ---- several dimensions --------------------------------------------------------------------------


def _check_rows(points, counts=None):
    if points.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if counts is not None and len(counts) != points.shape[-1]:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )


def _edges(self, bins, range, weight):
    _check_rows(self, bins)
    edges = _even_edges(self, bins, range)
    _check_points(self, len(edges), weight)
    return edges


_COUNTS = "int[] bins, *, any range=None, Tensor? weight=None, bool density=False"

op(
    f"_histogramdd_bin_edges(Tensor self, {_COUNTS}) -> Tensor[]",
    lambda self, bins, range, weight, density: tuple(_edges(self, bins, range, weight)),
    derivative=dict.fromkeys(("self", "weight"), _refusing("_histogramdd_bin_edges")),
    name="NotImplemented",
)
op(
    f"_histogramdd_from_bin_cts(Tensor self, {_COUNTS}) -> Tensor",
    lambda self, bins, range, weight, density: _counted(
        self, _edges(self, bins, range, weight), weight, density
    ),
    derivative=dict.fromkeys(("self", "weight"), no_derivative("_histogramdd_from_bin_cts")),
    name="NotImplemented",
)


@op(
    "_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, "
    "bool density=False) -> Tensor",
    derivative=dict.fromkeys(
        ("self", "bins", "weight"), no_derivative("_histogramdd_from_bin_tensors")
    ),
    name="NotImplemented",
)
def _between(self, bins, weight, density):
    _check_rows(self)
    _check_edges(bins)
    _check_points(self, len(bins), weight, [edges.dtype for edges in bins])
    return _counted(self, bins, weight, density)


_HISTOGRAMDD = """Return how many points lie in each box between edges, and the edges.

    input: points along the last dimension, (..., dims), float32 or float64. bins: the edges of each
    dimension, a list of tensors; or the number of equal bins of each, or of all. range: with
    numbers of bins, the lowest and the highest edge of each dimension, one after another. weight:
    of each point. density: divide by the sum and by the size of each box. The result is `hist`,
    with a dimension for each of the points', and `bin_edges`, a tuple of tensors.

    Raises RuntimeError where shapes or dtypes do not fit or a range is not finite. There is no
    derivative.

    >>> points = imode.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> imode.histogramdd(points, [2, 2]).hist
    tensor([[0., 1.],
            [1., 1.]])
    """

_OPTIONS = "any range=None, Tensor? weight=None, bool density=False"


@composite(
    f"histogramdd(Tensor self, int[] bins, {_OPTIONS}) -> (Tensor hist, Tensor[] bin_edges)",
    variants="function",
    named=True,
    doc=_HISTOGRAMDD,
)
def _histogramdd(self, bins, range, weight, density):
    range = _given_range("histogramdd", " (position 3)", range)
    options = {"range": range, "weight": weight, "density": density}
    edges = ops._histogramdd_bin_edges(self, bins, **options)
    return ops._histogramdd_from_bin_cts(self, bins, **options), edges


@composite(
    f"histogramdd.int_bins(Tensor self, int bins, {_OPTIONS}) -> (Tensor hist, Tensor[] bin_edges)",
    variants="function",
    named=True,
    doc=_HISTOGRAMDD,
)
def _histogramdd_int(self, bins, range, weight, density):
    _check_rows(array_of(self))
    return _histogramdd(self, (bins,) * self.shape[-1], range, weight, density)


@composite(
    f"histogramdd.TensorList_bins(Tensor self, Tensor[] bins, {_OPTIONS})"
    " -> (Tensor hist, Tensor[] bin_edges)",
    variants="function",
    named=True,
    doc=_HISTOGRAMDD,
)
def _histogramdd_tensors(self, bins, range, weight, density):
    made = ops._histogramdd_from_bin_tensors(self, list(bins), weight=weight, density=density)
    return made, tuple(bins)
