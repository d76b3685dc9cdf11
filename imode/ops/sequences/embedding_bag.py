"""Sums, means and maxima of embeddings, by bags."""

import numpy as np

from imode import ops
from imode._core.dispatch import is_grad_enabled
from imode._core.type_names import tensor_type
from imode._core.user_frames import warn
from imode.kernels.creation.copy import cast
from imode.kernels.sequences import embedding_bag as kernels
from imode.ops.networks import functional_fast
from imode.ops.networks.layers import renorm_rows, sparse_rows
from imode.ops.schema import composite, functional, op
from imode.ops.sequences import composites_fast
from imode.ops.sequences.again import gradients_again

_MODES = {"sum": 0, "mean": 1, "max": 2}
_SUM, _MEAN, _MAX = _MODES.values()

# ---- checks -------------------------------------------------------------------------------------


def _weights_of_no_sum(kind):
    return kind(
        "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
        "mode='sum'"
    )


def _check_types(weight, indices, offsets, per_sample_weights):
    end = "(while checking arguments for embedding_bag)"
    for name, array in (("indices", indices), ("offsets", offsets)):
        if array.dtype not in (np.int64, np.int32):
            raise RuntimeError(
                f"Expected tensor for argument #1 '{name}' to have one of the following scalar "
                f"types: Long, Int; but got {tensor_type(array.dtype)} instead {end}"
            )
    if weight.dtype.kind != "f":
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
            f"Half, BFloat16, Float, Double; but got {tensor_type(weight.dtype)} instead {end}"
        )
    if per_sample_weights is not None and per_sample_weights.dtype != weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type {tensor_type(weight.dtype)} does not equal "
            f"{tensor_type(per_sample_weights.dtype)} {end}"
        )


def _check_bags(weight, index, offsets, per_sample_weights, include_last_offset):
    n, rows = index.shape[0], weight.shape[0]
    if include_last_offset and not offsets.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {offsets[0]}"
        )
    if offsets.size and offsets[-1] > n:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {n} but got offsets[-1] of "
            f"{offsets[-1]}"
        )
    if (np.diff(offsets) < 0).any():
        raise RuntimeError("embedding_bag: expected offsets that do not decrease")
    outside = (index < 0) | (index >= rows)
    if outside.any():
        at = int(outside.argmax())
        raise RuntimeError(
            f"Index {at} of input takes value {index[at]} which is not in the valid range [0, "
            f"{rows})"
        )
    if per_sample_weights is not None and per_sample_weights.shape != index.shape:
        raise RuntimeError("embedding_bag: expected a weight for each of the indices")


def _bags(weight, indices, offsets, per_sample_weights, include_last_offset):
    """Checked: the indices, where each bag starts, and where the last ends."""
    _check_types(weight, indices, offsets, per_sample_weights)
    if weight.ndim != 2 or indices.ndim != 1 or offsets.ndim != 1:
        raise RuntimeError("embedding_bag: expected a table, and vectors of indices and offsets")
    index = np.ascontiguousarray(indices, np.int64)
    starts = offsets.astype(np.int64)
    _check_bags(weight, index, starts, per_sample_weights, include_last_offset)
    if not include_last_offset:
        starts = np.append(starts, index.shape[0])
    return index, starts


def _wide(array):
    return np.ascontiguousarray(cast(array, np.float32) if array.dtype == np.float16 else array)


def _divisors(index, rows):
    """What PyTorch divides the gradient of each row by: of the k-th distinct row the count of the
    k-th index, in sorted order, where the count of the row would be expected."""
    times = np.bincount(index, minlength=rows).astype(np.int64, copy=False)
    taken = np.flatnonzero(times)
    times[taken] = times[np.sort(index)[: len(taken)]]
    return times


# ---- the operator -------------------------------------------------------------------------------


@op(
    "_embedding_bag_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, "
    "Tensor bag_size, Tensor max_indices, bool scale_grad_by_freq, int mode, "
    "Tensor? per_sample_weights, bool include_last_offset, int padding_idx) -> Tensor",
    differentiable=False,
)
def _backward(
    grad,
    weight,
    indices,
    offsets,
    bag_size,
    max_indices,
    scale_grad_by_freq,
    mode,
    per_sample_weights,
    include_last_offset,
    padding_idx,
):
    index, starts = _bags(weight, indices, offsets, per_sample_weights, include_last_offset)
    bags = (len(starts) - 1, weight.shape[1])
    if grad.shape != bags or bag_size.shape != bags[:1]:
        raise RuntimeError("_embedding_bag_backward: expected what the forward pass returned")
    given = _wide(grad)
    if mode == _MAX:
        made = np.zeros(weight.shape, given.dtype)
        full = bag_size > 0
        columns = np.broadcast_to(np.arange(bags[1]), bags)[full]
        np.add.at(made, (max_indices[full], columns), given[full])
        return made.astype(weight.dtype, copy=False)
    times = _divisors(index, len(weight)) if scale_grad_by_freq else None
    made = kernels.bags_back(
        given,
        index,
        starts,
        None if per_sample_weights is None else _wide(per_sample_weights),
        mode,
        padding_idx,
        times,
        np.ascontiguousarray(bag_size, np.int64),
        len(weight),
    )
    return made.astype(weight.dtype, copy=False)


def _by_rows(weight, per_sample_weights, indices, bag_of, bag_size, max_indices, mode, padding_idx):
    """The results in operators, for derivatives of derivatives."""
    if mode == _MAX:
        return weight.gather(0, max_indices) * (bag_size > 0).unsqueeze(1)
    rows = weight.index_select(0, indices)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    rows = rows.masked_fill((indices == padding_idx).unsqueeze(1), 0)
    bags = weight.new_zeros((bag_size.shape[0], weight.shape[1]))
    within = bag_of < bag_size.shape[0]
    bags = bags.index_add(0, bag_of[within], rows[within])
    return bags / bag_size.clamp_min(1).unsqueeze(1) if mode == _MEAN else bags


def _sparse_rows(
    grad, weight_shape, indices, bag_of, sizes, mode, scale_grad_by_freq, per_sample_weights,
    padding_idx
):  # fmt: skip
    """The gradient of the table as a sparse tensor: the rows that were taken."""
    if mode == _MEAN:
        grad = grad / sizes.clamp_min(1).unsqueeze(1).to(grad.dtype)
    within = bag_of < grad.shape[0]
    rows = grad.index_select(0, bag_of[within])
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[within].unsqueeze(1)
    return sparse_rows(rows, indices[within], weight_shape, padding_idx, scale_grad_by_freq)


def _table_slope(
    grad,
    weight_shape,
    indices,
    offsets,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    include_last_offset,
    padding_idx,
    result1,
    result2,
    result3,
):
    table = grad.new_zeros(()).expand(weight_shape)  # whose numbers its gradient does not read
    if is_grad_enabled():
        if scale_grad_by_freq:
            raise RuntimeError("embedding_bag: no second derivative with scale_grad_by_freq=True")
        rest = per_sample_weights, indices, result1, result2, result3, mode, padding_idx
        table.requires_grad_()
        return gradients_again(lambda table: [_by_rows(table, *rest)], [table], [grad], [True])[0]
    if sparse and mode != _MAX:
        return _sparse_rows(
            grad, weight_shape, indices, result1, result2, mode, scale_grad_by_freq,
            per_sample_weights, padding_idx,
        )  # fmt: skip
    return ops._embedding_bag_backward(
        grad,
        table,
        indices,
        offsets,
        result2,
        result3,
        scale_grad_by_freq,
        mode,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )


def _weights_slope(grad, weight, indices, padding_idx, result1):
    bags = ops.cat([grad, grad.new_zeros((1, grad.shape[1]))])  # the last: beyond all bags
    rows = weight.index_select(0, indices) * bags.index_select(0, result1)
    return rows.sum(1).masked_fill(indices == padding_idx, 0)


@op(
    "_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, "
    "int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, "
    "int padding_idx) -> (Tensor result, Tensor result1, Tensor result2, Tensor result3)",
    fast=kernels.embedding_bag,
    derivative={"weight": _table_slope, "per_sample_weights": _weights_slope},
    shows={
        "include_last_offset": None,
        "weight_sym_sizes": None,
        "weight_sym_argsize_0": lambda weight_shape: weight_shape[0],
    },
)
def _embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    include_last_offset,
    padding_idx,
):
    index, starts = _bags(weight, indices, offsets, per_sample_weights, include_last_offset)
    by = None if per_sample_weights is None else _wide(per_sample_weights)
    made, sizes, most = kernels.bags(_wide(weight), index, starts, by, mode, padding_idx)
    bag_of = np.searchsorted(starts[1:], np.arange(len(index)), side="right").astype(np.int64)
    kinds = indices.dtype
    return made.astype(weight.dtype, copy=False), bag_of, sizes.astype(kinds, copy=False), most


_DOC = """Return the sum, the mean or the maximum (`mode` 0, 1, 2) of the rows in each bag.

    `indices` are rows of `weight`, int64 or int32; bag i holds those from offsets[i] up to
    offsets[i + 1], the last up to the end, or with `include_last_offset` there is one offset more.
    `per_sample_weights` multiply the rows of sums. `padding_idx` is left out. Returns the results,
    which bag each index is in, the bags' sizes and the rows of the maxima. Raises RuntimeError for
    an index that is no row, and where offsets do not fit.

    >>> table = imode.tensor([[1.0], [2.0]])
    >>> bags = imode.embedding_bag(table, imode.tensor([0, 1, 1]), imode.tensor([0, 2]))
    >>> bags[0].tolist()
    [[3.0], [2.0]]
    """


def _by_mode(
    weight,
    indices,
    offsets,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    include_last_offset,
    padding_idx=None,
):
    if mode not in (_SUM, _MEAN, _MAX):
        raise RuntimeError("`mode` must be sum, mean, or max")
    rows = weight.shape[0] if weight.dim() else 0
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but "
            f"got {padding_idx}"
        )
    elif padding_idx < 0:
        padding_idx += rows
    if per_sample_weights is not None and mode != _SUM:
        raise _weights_of_no_sum(RuntimeError)
    result, bag_of, sizes, most = ops._embedding_bag(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )
    if mode == _SUM:  # needs none of them, and PyTorch leaves them out
        if padding_idx < 0 and weight.dtype.itemsize < 8:
            bag_of = bag_of.new_empty(0)
        sizes = ops.zeros_like(sizes)
    return result, bag_of, sizes, most if mode == _MAX else sizes.clone()


composite(
    "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, "
    "int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
    "bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)",
    fast=composites_fast.embedding_bag,
    variants="function",
    doc=_DOC,
)(_by_mode)
composite(
    "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, "
    "bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, "
    "bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
    fast=composites_fast.embedding_bag,
    variants="function",
    doc=_DOC,
)(_by_mode)


# ---- imode.nn.functional ------------------------------------------------------------------------


def _check_functional(input, weight, offsets, per_sample_weights):
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then "
            f"it must have the same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}"
        )
    if input.dim() == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
            f"fixed length sequences. However, found offsets of type {type(offsets)}"
        )
    if input.dim() not in (1, 2):
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    if input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")


def _check_mode(mode, scale_grad_by_freq, sparse, per_sample_weights):
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise _weights_of_no_sum(NotImplementedError)


@functional("embedding_bag")
def embedding_bag_functional(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Return the sum, mean or maximum of the rows of `weight` in each bag of indices.

    `input` is (bags, size), or a vector with `offsets`, where each bag begins. As
    `imode.embedding_bag`; `max_norm` scales the rows that are taken down to that norm, in place.
    Raises ValueError where dimensions do not fit.

    >>> table = imode.tensor([[1.0], [2.0]])
    >>> imode.nn.functional.embedding_bag(imode.tensor([[0, 1], [1, 1]]), table).tolist()
    [[1.5], [2.0]]
    """
    made = functional_fast.embedding_bag(
        input, weight, offsets, max_norm, scale_grad_by_freq, mode, sparse, per_sample_weights,
        include_last_offset, padding_idx,
    )  # fmt: skip
    if made is not NotImplemented:
        return made
    if not weight.is_floating_point() and input.is_floating_point():
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
            "`embedding_bag(input, weight, ...)`.",
        )
        weight, input = input, weight
    _check_functional(input, weight, offsets, per_sample_weights)
    if input.dim() == 2:
        size = input.shape[1]
        offsets = ops.arange(input.shape[0], dtype=input.dtype, device=input.device) * size
        include_last_offset = False
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    _check_mode(mode, scale_grad_by_freq, sparse, per_sample_weights)
    if max_norm is not None:
        renorm_rows(weight, input, max_norm, norm_type)
    return ops.embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        _MODES[mode],
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )[0]
