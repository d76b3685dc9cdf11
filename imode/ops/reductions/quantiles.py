"""Quantiles, and the most frequent elements."""

import numpy as np

from imode import errors, ops
from imode._core.user_frames import warn
from imode.kernels.reductions import lines_fast
from imode.kernels.shapes.views import wrap_dim
from imode.ops.composites_fast import replayed, varies
from imode.ops.reductions import composites_fast
from imode.ops.reductions.dims import reduced
from imode.ops.reductions.extrema import index_backward
from imode.ops.schema import Out, composite, op

# ---- quantiles ----------------------------------------------------------------------------------

_BETWEEN = ("linear", "lower", "higher", "midpoint", "nearest")
_LONGEST = 1 << 24  # float32 tells no more ranks apart


def _check_quantile(self, q, interpolation, out):
    if interpolation not in _BETWEEN:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if self.numel() == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q.dim() > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if not self.is_floating_point() or self.element_size() < 4:
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q.dtype != self.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if out is not None and out.dtype != self.dtype:
        raise RuntimeError("quantile() out tensor must be same dtype as the input tensor")


def _sorted_lines(self, dim, keepdim):
    """The elements in order in the last dimension, in the shape of the result before it."""
    shape = list(self.shape)
    if dim is None:
        lines, shape = self.flatten(), [1] * len(shape) if keepdim else []
    else:
        lines = self if dim == self.dim() - 1 else self.unsqueeze(-1).transpose(dim, -1)
        shape[dim : dim + 1] = [1] if keepdim and shape else []
    if lines.size(-1) > _LONGEST:
        raise RuntimeError("quantile() input tensor is too large")
    return ops.sort(lines)[0].view((*shape, lines.size(-1)))


def _ranks(ordered, q, ignore_nan):
    """Where the quantiles stand among the sorted elements of each line, NaN being the last."""
    last = ordered.size(-1) - 1
    if ignore_nan:
        present = ordered.isnan().logical_not_().sum(-1, keepdim=True)
        ranks = q * (present - 1)
        return ranks.masked_fill(ranks < 0, 0)
    ranks = (q * last).expand((*ordered.shape[:-1], q.numel()))
    return ranks.masked_fill(ordered.detach().narrow(-1, last, 1).isnan(), last)


def _at_ranks(ordered, ranks, interpolation):
    """The elements at places that may lie between two of them."""
    if interpolation == "nearest":
        ranks = ranks.round()
    elif interpolation == "higher":
        ranks = ranks.ceil()
    places = ranks.long()
    below = ordered.gather(-1, places)
    if interpolation not in ("linear", "midpoint"):
        return below
    weights = ops.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - places
    above = ordered.gather(-1, ranks.detach().ceil().long())
    return below.lerp_(above, weights)


def _axis(self, dim):
    return None if dim is None else wrap_dim(dim, self.dim())


@replayed
def _quantile(self, q, dim, keepdim, interpolation, out, ignore_nan):
    _check_quantile(self, q, interpolation, out)
    axis = _axis(self, dim)
    ordered = _sorted_lines(self, axis, keepdim)
    values = _at_ranks(ordered, _ranks(ordered, q, ignore_nan), interpolation)
    if q.dim():
        values = values.unsqueeze_(0).transpose_(0, -1)
    values = values.squeeze_(-1)
    return values if out is None else _written(values, out)


def _written(values, out):
    """`out`, resized to fit and written to: a write that autograd records."""
    varies()
    if out.shape != values.shape:
        if out.numel():
            warn(errors.out.resized(out.shape, values.shape))
        resized = out.data
        out.data = resized.resize_(values.shape)  # which is not a write
    return out.copy_(values)


def _declare_quantile(name, ignore_nan, words, example):
    def at_tensor(self, q, dim, keepdim, interpolation, out=None):
        _check_quantile(self, q, interpolation, out)
        _axis(self, dim)
        on_cpu = self.device.type == "cpu"  # elsewhere it would be waited for
        if on_cpu and not (q.detach() >= 0).logical_and_(q.detach() <= 1).all():
            raise RuntimeError("quantile() q values must be in the range [0, 1]")
        return _quantile(self, q, dim, keepdim, interpolation, out, ignore_nan)

    @replayed
    def at_number(self, q, dim, keepdim, interpolation, out=None):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        at = self.detach().new_full((), q)
        return _quantile(self, at, dim, keepdim, interpolation, out, ignore_nan)

    rest = 'int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor'
    composite(
        f"{name}(Tensor self, Tensor q, {rest}",
        fast=composites_fast.quantile,
        variants="function method out",
        doc=f"""Return the quantiles `q` of all elements or along `dim`{words}.

    q: a number between 0 and 1, or a tensor of some, which are then the result's first dimension.
    interpolation: what lies between two elements: "linear", "lower", "higher", "midpoint" or
    "nearest". Raises RuntimeError for dtypes other than float32 and float64, and for no elements.

    >>> {example}
    """,
    )(at_tensor)
    composite(
        f"{name}.scalar(Tensor self, float q, {rest}",
        fast=composites_fast.quantile,
        variants="function method out",
        doc=f"""Return one quantile of all elements or along `dim`{words}.""",
    )(at_number)


_declare_quantile(
    "quantile",
    False,
    "; NaN where there is one",
    """imode.quantile(imode.tensor([1.0, 2.0, 4.0]), imode.tensor([0.5, 0.75]))
    tensor([2., 3.])""",
)
_declare_quantile(
    "nanquantile",
    True,
    ", without NaN",
    """imode.nanquantile(imode.tensor([1.0, float("nan"), 4.0]), 0.5)
    tensor(2.5000)""",
)

# ---- the most frequent ---------------------------------------------------------------------------


@op(
    "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    fast=lines_fast.mode,
    derivative={"self": index_backward},
    real_only="mode",
    variants="function method out",
    out=Out(
        "same",
        (
            "expected scalar type '{Wanted}' but got '{Found}' for values output",
            "expected scalar type '{Wanted}' but got '{Found}' for indices output",
        ),
    ),
)
def _mode(self, dim, keepdim):
    """Return the most frequent elements along `dim`, the least of equals, and their last indices.

    A NaN is like no other one. Raises IndexError where `dim` has no elements.

    >>> imode.mode(imode.tensor([3, 1, 2, 1])).indices
    tensor(3)
    """
    axis = wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    if self.shape[axis] == 0:
        raise IndexError(f"mode(): Expected reduction dim {axis} to have non-zero size.")
    if self.dtype.kind == "c" and self.size:
        raise errors.dtypes.not_implemented("mode_cpu", self.dtype)
    lines = np.moveaxis(self, axis, -1)
    places = np.expand_dims(_ends_of_longest(lines), axis)
    values = np.take_along_axis(self, places, axis)
    if not keepdim:
        values, places = values.squeeze(axis), places.squeeze(axis)
    return reduced(values, self.dtype), reduced(places, np.int64)


def _ends_of_longest(lines):
    """The last index of the most frequent element of each line, of the least of several."""
    order = np.argsort(lines, axis=-1, kind="stable")
    ordered = np.take_along_axis(lines, order, -1)
    places = np.arange(lines.shape[-1])
    starts = np.zeros(lines.shape, np.int64, like=lines)
    starts[..., 1:] = np.where(ordered[..., 1:] != ordered[..., :-1], places[1:], 0)
    before = places - np.maximum.accumulate(starts, axis=-1)  # of those that are equal
    return np.take_along_axis(order, before.argmax(-1, keepdims=True), -1)[..., 0]
