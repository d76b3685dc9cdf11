"""Where values stand in sorted ones, which are among others, and how many there are of each."""

import numpy as np

from imode import errors
from imode._core.parallel import skipping
from imode._core.promotion import result_type
from imode._core.type_names import scalar_name
from imode.kernels.sorting import histogram_fast
from imode.kernels.sorting.search import places
from imode.ops.pointwise.common import no_derivative
from imode.ops.schema import Out, op

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
    """Refuse what cannot be searched; gives the result's shape."""
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
    if sorter is None:
        return values.shape
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
    return values.shape


def _wrong_places(wanted, found):
    return (
        "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
        "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype "
        f"{scalar_name(found)} and out_int32 flag is {wanted.name == 'int32'}"
    )


def _places(shape):
    """The out= of what gives places; `shape`: as in Out."""
    kind = lambda first, second, out_int32, *rest: np.int32 if out_int32 else np.int64
    return Out(kind, _wrong_places, shape=shape)


def _sought(sorted_sequence, self, out_int32, right, side, sorter):
    _side(right, side)
    return _check_search(sorted_sequence, np.asarray(self), sorter)


def _searchsorted(sorted_sequence, self, out_int32, right, side, sorter):
    values = np.asarray(self)
    right = _side(right, side) == "right"
    _check_search(sorted_sequence, values, sorter)
    for given in (sorted_sequence, values):
        if given.dtype.kind == "c":
            raise errors.dtypes.not_implemented("searchsorted_out_cpu", given.dtype)
    common = result_type(sorted_sequence, self)
    if common == np.bool_ and values.size:
        raise errors.dtypes.not_implemented("searchsorted_out_cpu", common)
    if skipping():
        return np.empty_like(values, dtype=np.int32 if out_int32 else np.int64)
    if sorter is not None:
        sorted_sequence = np.take_along_axis(sorted_sequence, sorter, -1)
    if common.kind == "f":
        searched = np.promote_types(common, np.float32)
    else:
        searched = np.int64
    both = (np.ascontiguousarray(given, searched) for given in (sorted_sequence, values))
    found = places(*both, right).reshape(values.shape)
    return found.astype(np.int32) if out_int32 else found


op(
    "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, "
    "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    _searchsorted,
    differentiable=False,
    variants="function out",
    out=_places(_sought),
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
    out=_places(_sought),
    doc="""Return where a number would have to stand in a sorted sequence.""",
)


def _check_buckets(self, boundaries, *rest):
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return np.shape(self)


def _bucketize(self, boundaries, out_int32, right):
    _check_buckets(self, boundaries)
    return _searchsorted(boundaries, self, out_int32, right, None, None)


op(
    "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False)"
    " -> Tensor",
    _bucketize,
    out=_places(_check_buckets),
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


def _check_isin(*both):
    for given in map(np.asarray, both[:2]):
        if given.dtype.kind in "bc":
            raise RuntimeError(
                f"Unsupported input type encountered for isin(): {scalar_name(given.dtype)}"
            )
    return np.shape(both[0])


def _isin(elements, test_elements, assume_unique, invert):
    _check_isin(elements, test_elements)
    return np.asarray(np.isin(elements, test_elements, assume_unique=False, invert=invert))


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
        out=Out("bool", shape=_check_isin),
        differentiable=False,
        variants="function out",
        doc="""Return which elements occur among others, as booleans.

        >>> imode.isin(imode.tensor([1, 2]), imode.tensor([2]))
        tensor([False,  True])
        """,
    )

# ---- counts --------------------------------------------------------------------------------------


@op(
    "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
    by_values=True,
    derivative={"weights": no_derivative("bincount")},
    name="NotImplemented",
)
def _bincount(self, weights, minlength):
    """Return how often each integer from 0 on occurs, or the sum of the weights of each.

    >>> imode.bincount(imode.tensor([1, 1, 2]))
    tensor([0, 2, 1])
    """
    if self.dtype.kind not in "iu":
        raise errors.dtypes.not_implemented("bincount_cpu", self.dtype)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim == 1 and self.size == 0:
        return np.zeros(minlength, np.int64)
    if self.size >= histogram_fast.MANY and weights is None and self.ndim == 1:
        found = histogram_fast.small_counts(self, minlength)
        if found is not None:
            return found
    least, most = histogram_fast.bounds(self)
    if self.ndim != 1 or least < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if most >= 2**63 - 1:  # NumPy's number of bins is one more
        raise RuntimeError(
            f"maximum value of input overflowed, it should be < {most} but got {most}"
        )
    if weights is None:
        return histogram_fast.counts(self, max(most + 1, minlength))
    if weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    kind = np.float32 if weights.dtype == np.float32 else np.float64
    result = np.zeros(max(most + 1, minlength), kind)
    np.add.at(result, self.astype(np.int64), weights.astype(kind, copy=False))
    return result
