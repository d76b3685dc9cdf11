"""Sequences of several lengths as one tensor: padded, or packed step by step."""

import numpy as np

from imode import errors, ops
from imode.ops.schema import composite, op


def _batch_sizes(lengths, steps, batch):
    if lengths.ndim != 1 or lengths.dtype != np.int64:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor")
    if len(lengths) != batch:
        raise RuntimeError(
            "Expected `len(lengths)` to be equal to batch_size, but got "
            f"{len(lengths)} (batch_size={batch})"
        )
    if (lengths <= 0).any():
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if (np.diff(lengths) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    if lengths[0] > steps:
        raise RuntimeError(
            f"Expected lengths of at most {steps}, the length of the padded sequences, but got "
            f"{lengths[0]}"
        )
    if not lengths[0]:  # lengths without elements
        raise errors.devices.by_values("_pack_padded_sequence")
    return (lengths[None, :] > np.arange(lengths[0])[:, None]).sum(1).astype(np.int64)


def _places(sizes, batch):
    """Where each packed row lies among the (steps * batch) rows of the padded tensor."""
    return np.concatenate([t * batch + np.arange(n) for t, n in enumerate(sizes)])


def _packed_slope(grad, input_shape, result1, batch_first):
    steps, batch = input_shape[:2][::-1] if batch_first else input_shape[:2]
    rows = ops.from_numpy(_places(result1.tolist(), batch))
    rest = tuple(input_shape[2:])
    spread = grad.new_zeros((steps * batch, *rest)).index_add(0, rows, grad)
    spread = spread.view((steps, batch, *rest))
    return spread.transpose(0, 1) if batch_first else spread


@op(
    "_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) "
    "-> (Tensor result, Tensor result1)",
    derivative={"input": _packed_slope},
    real_only="_pack_padded_sequence",
    variants="function",
)
def _pack_padded_sequence(input, lengths, batch_first):
    """Return the rows of all sequences step by step, and how many there are at each step.

    `input` is (steps, batch, ...), `lengths` descends. Raises RuntimeError for other lengths.

    >>> padded, lengths = imode.tensor([[1, 4], [2, 0]]), imode.tensor([2, 1])
    >>> imode._pack_padded_sequence(padded, lengths, False)[0].tolist()
    [1, 4, 2]
    """
    if input.size == 0 or input.ndim < 2:
        raise RuntimeError("Cannot pack empty tensors.")
    padded = input.swapaxes(0, 1) if batch_first else input
    steps, batch = padded.shape[:2]
    sizes = _batch_sizes(lengths, steps, batch)
    return np.concatenate([padded[t, :n] for t, n in enumerate(sizes)]), sizes


@composite(
    "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, "
    "Scalar padding_value, int total_length) -> (Tensor, Tensor)",
    variants="function",
)
def _pad_packed_sequence(data, batch_sizes, batch_first, padding_value, total_length):
    """Return (steps, batch, ...) of what `_pack_padded_sequence` packed, and the lengths.

    `total_length` is the number of steps, unless it is not positive. Raises RuntimeError where that
    is less than the longest sequence.

    >>> data, sizes = imode.tensor([1, 4, 2]), imode.tensor([2, 1])
    >>> imode._pad_packed_sequence(data, sizes, False, 0, -1)[0].tolist()
    [[1, 4], [2, 0]]
    """
    sizes = batch_sizes.tolist()
    steps = len(sizes)
    if total_length > 0:
        if total_length < steps:
            raise errors.shapes.total_length(total_length, steps, RuntimeError)
        steps = total_length
    rest = tuple(data.shape[1:])
    padded = data.new_empty((steps, sizes[0], *rest)).fill_(padding_value)
    start, row, lengths = 0, 0, []
    for t, size in enumerate(sizes):
        after = sizes[t + 1] if t + 1 < len(sizes) else 0
        if after == size:
            continue
        end = t + 1  # steps from `start` on have the same size
        rows = (end - start) * size
        part = data[row : row + rows].view((end - start, size, *rest))
        padded[start:end, :size].copy_(part)
        lengths = [end] * (size - after) + lengths
        start, row = end, row + rows
    return padded.transpose(0, 1) if batch_first else padded, ops.tensor(lengths)
