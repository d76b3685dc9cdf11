"""Copies of a tensor in which the part that a view shows is replaced: slice_scatter and its kin.

The copy is of all memory behind the tensor, so that it has its strides and its offset.
"""

import numpy as np

from imode import ops
from imode._core.hollow import hollow
from imode._core.parallel import skipping
from imode._core.storage import offset_in, root_of
from imode.kernels.shapes import storage_views, views
from imode.ops.creation.copy import copy_elements
from imode.ops.indexing.inplace_first import copied
from imode.ops.schema import Out, op
from imode.ops.shapes.slicing import extent


def _repeats(shape, strides):
    return any(step == 0 and n > 1 for n, step in zip(shape, strides))


def _kept(self):
    """A copy of an array that lies in its memory as the array does in its own."""
    root = root_of(self)
    if _repeats(self.shape, self.strides) or not root.flags.c_contiguous or self.size == 0:
        return copied(self)
    memory = np.empty(root.nbytes, np.uint8)
    if not skipping():
        memory[:] = root.reshape(-1).view(np.uint8)
    made = np.ndarray(self.shape, self.dtype, memory, offset_in(root, self), self.strides)
    return hollow(made) if skipping() else made


def _replacing(view):
    def replaced(self, src, *where):
        result = _kept(self)
        part = views.apply(view, result, *where)
        if part.shape != src.shape:
            raise RuntimeError(
                "expected src to have a size equal to the slice of self. "
                f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
            )
        copy_elements(part, src, False)
        return result

    return replaced


op(
    "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, "
    "int step=1) -> Tensor",
    _replacing(views.slice_dim),
    derivative={
        "self": lambda grad, dim, start, end, step: ops.slice_scatter(
            grad, ops.zeros_like(ops.slice(grad, dim, start, end, step)), dim, start, end, step
        ),
        "src": lambda grad, dim, start, end, step: ops.slice(grad, dim, start, end, step),
    },
    real_only="slice_scatter",
    variants="function method out",
    out=Out("same", layout="rows", name="aten::slice_scatter"),
    doc="""Return a copy with the indices `start` to `end` of `dim`, by `step`, replaced by `src`.

    Raises RuntimeError where `src` has not the shape of that part.

    >>> imode.slice_scatter(imode.zeros(4), imode.ones(2), 0, 1, 3)
    tensor([0., 1., 1., 0.])
    """,
)

op(
    "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
    _replacing(views.select),
    derivative={
        "self": lambda grad, dim, index: ops.select_scatter(
            grad, ops.zeros_like(grad.select(dim, index)), dim, index
        ),
        "src": lambda grad, dim, index: grad.select(dim, index),
    },
    real_only="select_scatter",
    doc="""Return a copy with what is at `index` of `dim` replaced by `src`.

    Raises RuntimeError where `src` has not the shape of that part.

    >>> imode.select_scatter(imode.zeros(2, 2), imode.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """,
)

op(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    _replacing(views.diagonal),
    derivative={
        "self": lambda grad, offset, dim1, dim2: ops.diagonal_scatter(
            grad, ops.zeros_like(grad.diagonal(offset, dim1, dim2)), offset, dim1, dim2
        ),
        "src": lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
    },
    doc="""Return a copy with the diagonals over `dim1` and `dim2` replaced by `src`.

    Raises RuntimeError where `src` has not their shape.

    >>> imode.diagonal_scatter(imode.zeros(2, 2), imode.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """,
)


def _lay(grad, geometry, size, stride, storage_offset):
    """Lay a gradient into memory as the copy of a tensor lies in its own.

    Returns that memory with this geometry, and the part of it that was replaced.
    """
    shape, steps, start = geometry
    offset = start if storage_offset is None else storage_offset
    if _repeats(shape, steps):
        like = ops.empty((1,)).as_strided(shape, (0,) * len(shape), 0)
        steps, start = like.clone().stride(), 0
    least = min(start, offset)
    start, part = start - least, (size, stride, offset - least)
    memory = grad.new_zeros((max(extent(shape, steps, start), extent(*part)),))
    whole = memory.as_strided(shape, steps, start)
    whole.copy_(grad)
    return whole, memory.as_strided(*part)


def _without_part(grad, self_geometry, size, stride, storage_offset):
    whole, part = _lay(grad, self_geometry, size, stride, storage_offset)
    part.zero_()
    return whole


op(
    "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, "
    "int? storage_offset=None) -> Tensor",
    _replacing(storage_views.as_strided),
    derivative={
        "self": _without_part,
        "src": lambda grad, self_geometry, size, stride, storage_offset: _lay(
            grad, self_geometry, size, stride, storage_offset
        )[1],
    },
    doc="""Return a copy with what `as_strided` shows replaced by `src`.

    Raises RuntimeError where `src` has not that shape, and where the part is not in the memory.

    >>> imode.as_strided_scatter(imode.zeros(4), imode.ones(2), (2,), (2,), 1)
    tensor([0., 1., 0., 1.])
    """,
)
