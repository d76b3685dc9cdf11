"""Sequences of several lengths: padded to one tensor, or packed for recurrent networks."""

from typing import NamedTuple

from imode import errors, ops
from imode._core.tensor import Tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """Sequences step by step: `data`, all rows, and `batch_sizes`, how many there are at each step.

    Longer sequences come first; `sorted_indices` tells which they were, `unsorted_indices` where
    each has gone, both None where nothing was sorted. `pack_sequence` makes one.

    >>> rnn = imode.nn.utils.rnn
    >>> rnn.pack_sequence([imode.tensor([1, 2, 3]), imode.tensor([4])]).data
    tensor([1, 4, 2, 3])
    """

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:  # an older form: (data, batch_sizes) as one argument
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("expected data and batch_sizes")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The same of another dtype, with the arguments of `Tensor.to`."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._of(data)

    def _of(self, data):
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self):
        """Itself: there is one device."""
        return self

    def pin_memory(self):
        """The same in pinned memory, which there is not: raises as `Tensor.pin_memory`."""
        return self._of(self.data.pin_memory())

    def double(self):
        return self.to(dtype=ops.empty(0).double().dtype)

    def float(self):
        return self.to(dtype=ops.empty(0).float().dtype)

    def half(self):
        return self.to(dtype=ops.empty(0).half().dtype)

    def long(self):
        return self.to(dtype=ops.empty(0).long().dtype)

    def int(self):
        return self.to(dtype=ops.empty(0).int().dtype)

    @property
    def is_cuda(self):
        return False

    def is_pinned(self):
        """False: there is one device."""
        return False


def invert_permutation(permutation):
    """Where each index has gone: the permutation that undoes this one. None for None.

    >>> imode.nn.utils.rnn.invert_permutation(imode.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    inverse = ops.empty_like(permutation)
    return inverse.scatter_(0, permutation, ops.arange(permutation.numel(), dtype=inverse.dtype))


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Pack (steps, batch, ...) of sequences with these lengths; sorts them if they need not be.

    Raises RuntimeError for lengths that are not positive, or with `enforce_sorted` not descending.

    >>> rnn = imode.nn.utils.rnn
    >>> packed = rnn.pack_padded_sequence(imode.tensor([[1, 4], [2, 0]]), [2, 1])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2]), tensor([2, 1]))
    """
    lengths = lengths if isinstance(lengths, Tensor) else ops.tensor(list(lengths)).long()
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = ops._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, order)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """Return (steps, batch, ...) of a PackedSequence, filled up, and the sequences' lengths.

    Raises ValueError where `total_length` is less than the longest.

    >>> rnn = imode.nn.utils.rnn
    >>> packed = rnn.pack_sequence([imode.tensor([1, 2]), imode.tensor([4])])
    >>> rnn.pad_packed_sequence(packed, batch_first=True)[0].tolist()
    [[1, 2], [4, 0]]
    """
    longest = sequence.batch_sizes.size(0)
    if total_length is not None and total_length < longest:
        raise errors.shapes.total_length(total_length, longest, ValueError)
    padded, lengths = ops._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, total_length or -1
    )
    inverse = sequence.unsorted_indices
    if inverse is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, inverse), lengths.index_select(0, inverse)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stack sequences (length, ...) to (longest, sequences, ...), filled up at one side.

    >>> rnn = imode.nn.utils.rnn
    >>> rnn.pad_sequence([imode.tensor([1, 2]), imode.tensor([4])], batch_first=True).tolist()
    [[1, 2], [4, 0]]
    """
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, (list, tuple)):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    longest, rest = max(each.size(0) for each in sequences), tuple(sequences[0].shape[1:])
    along = 0 if batch_first else 1
    sizes = (len(sequences), longest) if batch_first else (longest, len(sequences))
    padded = ops.full((*sizes, *rest), padding_value, dtype=sequences[0].dtype)
    for i, sequence in enumerate(sequences):
        n = sequence.size(0)
        start = longest - n if padding_side == "left" else 0
        padded.select(along, i).narrow(0, start, n).copy_(sequence)
    return padded


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """Return the sequences, as a list, of (longest, sequences, ...) without what was filled up.

    >>> rnn = imode.nn.utils.rnn
    >>> rnn.unpad_sequence(imode.tensor([[1, 2], [4, 0]]), imode.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([4])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    seen = ops.arange(padded_sequences.shape[1])
    pairs = zip(padded_sequences, lengths, strict=True)
    return [sequence[seen < length] for sequence, length in pairs]


def pack_sequence(sequences, enforce_sorted=True):
    """Pack sequences (length, ...): see `pack_padded_sequence`.

    >>> imode.nn.utils.rnn.pack_sequence([imode.tensor([1, 2]), imode.tensor([4])]).data
    tensor([1, 4, 2])
    """
    lengths = ops.tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """Return the sequences of a PackedSequence, as a list.

    >>> rnn = imode.nn.utils.rnn
    >>> rnn.unpack_sequence(rnn.pack_sequence([imode.tensor([1, 2]), imode.tensor([4])]))
    [tensor([1, 2]), tensor([4])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
