"""Pieces that share memory with their tensor and do not say so, at one's own risk.

Nothing records them as views, and each has a version counter of its own: a write to a piece is
unseen by what autograd saved of the tensor, and of the other pieces. In inference mode, where a
normal tensor's views are recorded with the mode, they are what `split` gives: a write is counted.
"""

from imode import ops
from imode._core.dispatch import excluded_keys
from imode._core.keyset import DispatchKey
from imode.kernels.shapes import split
from imode.ops.schema import composite, op, published
from imode.ops.shapes.slicing import chunked

op(
    "_unsafe_split(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
    split.unsafe_split,
    derivative=published()["split"].entry.formulas,
    tracked=False,
)
op(
    "_unsafe_split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    split.unsafe_split_with_sizes,
    derivative=published()["split_with_sizes"].entry.formulas,
    tracked=False,
)


def _below_autograd():
    return DispatchKey.Autograd in excluded_keys()


@composite("unsafe_split(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]")
def unsafe_split(self, split_size, dim):
    """Return what `split` gives, not recorded as views: write to the pieces or to the tensor alone.

    >>> [p.tolist() for p in imode.arange(5).unsafe_split(2)]
    [[0, 1], [2, 3], [4]]
    """
    return (ops.split if _below_autograd() else ops._unsafe_split)(self, split_size, dim)


@composite("unsafe_split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]")
def unsafe_split_with_sizes(self, split_sizes, dim):
    """Return what `split_with_sizes` gives, not recorded as views; see `unsafe_split`.

    >>> [p.tolist() for p in imode.arange(5).unsafe_split_with_sizes([2, 3])]
    [[0, 1], [2, 3, 4]]
    """
    split = ops.split_with_sizes if _below_autograd() else ops._unsafe_split_with_sizes
    return split(self, split_sizes, dim)


@composite("unsafe_chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]")
def unsafe_chunk(self, chunks, dim):
    """Return what `chunk` gives, not recorded as views; see `unsafe_split`.

    >>> [p.tolist() for p in imode.arange(5).unsafe_chunk(2)]
    [[0, 1, 2], [3, 4]]
    """
    return chunked(self, chunks, dim, ops.unsafe_split, ops.unsafe_split_with_sizes)
