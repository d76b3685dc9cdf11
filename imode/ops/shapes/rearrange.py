"""Copying, repeating and reordering: clone, repeat, flip, roll and their kin.

All of them copy. Views of a tensor's shape are in `views`, of its parts in `parts`.
"""

import numpy as np

from imode import errors, ops
from imode._core.formats import memory_order
from imode._core.hollow import hollow
from imode._core.internals import array_of
from imode._core.layout import empty_in, empty_like, is_channels_last
from imode._core.parallel import skipping
from imode.kernels.creation import fill_fast
from imode.kernels.creation.copy import move
from imode.kernels.shapes import rearrange
from imode.kernels.shapes.views import wrap_dim
from imode.ops.indexing.inplace_first import copied
from imode.ops.schema import Out, composite, op
from imode.ops.shapes import composites_fast

# ---- copies --------------------------------------------------------------------------------------


def _clone(self, memory_format):
    order = memory_order(memory_format, self.ndim, "clone")
    if order is None:
        return copied(self)
    made = empty_in(order, self.shape, self.dtype)
    if not skipping():
        made[...] = self
    return made


op(
    "clone(Tensor self, *, any memory_format=None) -> Tensor",
    _clone,
    fast=fill_fast.clone,
    derivative={"self": lambda grad: grad},
    doc="""Return a copy with its own memory, in the graph; strides are kept where they are dense.

    memory_format: contiguous_format for row order instead.

    >>> x = imode.tensor([1, 2])
    >>> y = x.clone()
    >>> y[0] = 5
    >>> x
    tensor([1, 2])
    """,
)


@composite(
    "contiguous(Tensor self, *, any memory_format=None) -> Tensor",
    variants="method",
    fast=composites_fast.contiguous,
)
def contiguous(self, memory_format):
    """Return the tensor itself where it lies in row order, else a copy that does.

    >>> imode.ones(2, 3).t().contiguous().stride()
    (2, 1)
    """
    order = memory_order(memory_format, self.ndim, "contiguous")
    if order is None or order == tuple(range(self.ndim)):
        if self.is_contiguous():
            return self
        if order is None and memory_format is not None:
            raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
        return self.clone(memory_format="contiguous_format")
    if self.is_contiguous(memory_format=memory_format):
        return self
    return self.clone(memory_format=memory_format)


def _repeat(self, repeats):
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    shape = (1,) * (len(repeats) - self.ndim) + self.shape
    wanted = [n * r for n, r in zip(shape, repeats)]
    if any(r < 0 for r in repeats):
        least = min(n * r if n else r for n, r in zip(shape, repeats))
        raise errors.shapes.negative_dimension(least, wanted)
    for length in wanted:
        if length >= 1 << 63:
            raise RuntimeError(
                "IntArrayRef contains an int that cannot be represented as a SymInt: "
                f"{(length + (1 << 63)) % (1 << 64) - (1 << 63)}"
            )
    try:
        result = np.empty(wanted, self.dtype, like=self)
    except ValueError:
        raise errors.shapes.storage_overflow(wanted) from None
    if result.size:
        pairs = [m for n, r in zip(shape, repeats) for m in (r, n)]
        result.reshape(pairs)[...] = self.reshape([m for n in shape for m in (1, n)])
    return result


def _repeat_backward(grad, self_shape, repeats):
    if 0 in repeats:
        return grad.new_zeros(self_shape)
    lead = len(repeats) - len(self_shape)
    for _ in range(lead):
        grad = grad.sum(0)
    pairs, summed = [], []
    for n, r in zip(self_shape, repeats[lead:]):
        if r != 1:
            summed.append(len(pairs))
            pairs.append(r)
        pairs.append(n)
    return grad.reshape(pairs).sum(summed) if summed else grad


op(
    "repeat(Tensor self, int[] repeats) -> Tensor",
    _repeat,
    fast=rearrange.repeat,
    derivative={"self": _repeat_backward},
    variants="method",
    doc="""Return the tensor repeated along each dimension; more counts than dimensions add some.

    >>> imode.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """,
)


@composite("tile(Tensor self, int[] dims) -> Tensor")
def tile(self, dims):
    """Return the tensor repeated along its last dimensions; fewer counts than those are fine.

    >>> imode.tensor([[1, 2]]).tile(2)
    tensor([[1, 2, 1, 2]])
    """
    return self.repeat((1,) * (self.dim() - len(dims)) + tuple(dims))


@op(
    "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
    differentiable=False,
    variants="function",
)
def _interleave(repeats, output_size):
    """Return each index as often as its element says.

    With a tensor in front, and a count or one for each slice along `dim`: its slices (or, without
    dim, its elements) that often, each followed by its copies.

    >>> imode.repeat_interleave(imode.tensor([5, 6]), 2)
    tensor([5, 5, 6, 6])
    """
    if repeats.dtype not in (np.int64, np.int32):
        raise errors.dtypes.not_implemented("repeat_interleave_cpu", repeats.dtype)
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if skipping():
        if output_size is None:
            raise errors.devices.interleaved()
        return np.empty(output_size, np.int64)
    if repeats.size and int(repeats.min()) < 0:
        raise RuntimeError("repeats can not be negative")
    if repeats.sum(dtype=np.float64) >= 2.0**62:  # NumPy's own sum may come round to a small one
        raise MemoryError(f"repeat_interleave(): no memory for {sum(repeats.tolist())} elements")
    if output_size is not None and output_size != int(repeats.sum()):
        raise RuntimeError("allocated size does not match required size")
    return np.repeat(np.arange(repeats.size, dtype=repeats.dtype), repeats)


@composite(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, "
    "int? output_size=None) -> Tensor",
)
def repeat_interleave_tensor(self, repeats, dim, output_size):
    """Return each slice along `dim` (without it: each element) as often as its count says.

    >>> imode.tensor([5, 6]).repeat_interleave(2)
    tensor([5, 5, 6, 6])
    """
    at = 0 if dim is None else wrap_dim(dim, self.dim())
    source = self.flatten() if dim is None or self.dim() == 0 else self
    if source.dim() == 0 or (dim is not None and self.dim() == 0):
        raise errors.shapes.no_dimensions(dim)
    n = source.shape[at]
    if repeats.dim() > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.dim() == 0 or repeats.shape[0] == 1:
        repeats = repeats.reshape(1).expand(n)
    elif repeats.shape[0] != n:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.shape[0]} and input.size({dim or at}) = {n}"
        )
    return source.index_select(at, ops.repeat_interleave(repeats, output_size=output_size))


@composite(
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, "
    "int? output_size=None) -> Tensor",
)
def repeat_interleave_int(self, repeats, dim, output_size):
    """Return each slice along `dim` (without it: each element) `repeats` times in a row."""
    at = 0 if dim is None else wrap_dim(dim, self.dim())
    source = self.flatten() if dim is None else self
    if source.dim() == 0:
        raise errors.shapes.dim_out_of_range(1, 1)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    length = source.shape[at] * repeats
    if output_size is not None and output_size != length:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {length} but got {output_size}"
        )
    shape = list(source.shape)
    wide = [*shape[: at + 1], repeats, *shape[at + 1 :]]
    copies = source.unsqueeze(at + 1).expand(wide).clone(memory_format="contiguous_format")
    shape[at] = length
    return copies.view(shape)


# ---- order along dimensions ----------------------------------------------------------------------


def _backward(self, dims):
    """A view with the order of elements reversed along each of `dims`."""
    if not self.ndim:
        return self
    return self[tuple(slice(None, None, -1 if d in dims else 1) for d in range(self.ndim))]


def _flip(self, dims):
    wrapped = [wrap_dim(d, self.ndim) for d in dims]
    for i, d in enumerate(wrapped):
        if d in wrapped[:i]:
            raise errors.shapes.repeated_dim(d)
    made = empty_like(self)
    made[...] = _backward(self, wrapped)
    return made


op(
    "flip(Tensor self, int[] dims) -> Tensor",
    _flip,
    fast=rearrange.flip,
    derivative={"self": lambda grad, dims: grad.flip(dims)},
    doc="""Return the tensor with the order of elements reversed along each of `dims`.

    >>> imode.tensor([1, 2, 3]).flip(0)
    tensor([3, 2, 1])
    """,
)


@composite("fliplr(Tensor self) -> Tensor")
def fliplr(self):
    """Return the tensor with the order along dimension 1 reversed.

    >>> imode.tensor([[1, 2]]).fliplr()
    tensor([[2, 1]])
    """
    if self.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return self.flip((1,))


@composite("flipud(Tensor self) -> Tensor")
def flipud(self):
    """Return the tensor with the order along dimension 0 reversed.

    >>> imode.tensor([1, 2]).flipud()
    tensor([2, 1])
    """
    if self.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return self.flip((0,))


def _rolled(self, shift, dim):
    """A copy moved on along one dimension: in row order, images with channels last as they lie."""
    before, n = (slice(None),) * dim, self.shape[dim]
    cut = shift % n
    axes = range(self.ndim)
    order = (0, *axes[2:], 1) if cut and is_channels_last(self) else tuple(axes)
    made = empty_in(order, self.shape, self.dtype)
    if skipping():
        return hollow(made)
    made[(*before, slice(cut, None))] = self[(*before, slice(n - cut))]
    made[(*before, slice(cut))] = self[(*before, slice(n - cut, None))]
    return made


def _roll(self, shifts, dims):
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        flat = self.reshape(-1)
        return (_rolled(flat, shifts[0], 0) if flat.size else flat.copy()).reshape(self.shape)
    if len(shifts) != len(dims or ()):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims or ())}"
        )
    if self.size == 0:
        return copied(self)
    if self.ndim == 0:
        raise errors.shapes.no_dimensions(dims[0])
    wrapped = tuple(wrap_dim(d, self.ndim) for d in dims)
    for shift, dim in zip(shifts, wrapped):
        self = _rolled(self, shift, dim)
    return self


op(
    "roll(Tensor self, int[1] shifts, int[1]? dims=()) -> Tensor",
    _roll,
    fast=rearrange.roll,
    derivative={
        "self": lambda grad, shifts, dims: grad.roll(
            tuple(-s for s in reversed(shifts)), tuple(reversed(dims or ()))
        )
    },
    doc="""Return the tensor with elements moved on along `dims`, those at the end to the beginning.

    Without dims the tensor is taken as one row of elements.

    >>> imode.tensor([1, 2, 3]).roll(1)
    tensor([3, 1, 2])
    """,
)


@op(
    "rot90(Tensor self, int k=1, int[] dims=(0, 1)) -> Tensor",
    fast=rearrange.rot90,
    derivative={"self": lambda grad, k, dims: grad.rot90(-k, dims)},
)
def _rot90(self, k, dims):
    """Return the tensor turned `k` times by 90 degrees, from the first of `dims` to the second.

    >>> imode.tensor([[1, 2], [3, 4]]).rot90()
    tensor([[2, 4],
            [1, 3]])
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    first, second = (wrap_dim(d, self.ndim) for d in dims)
    if first == second:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    turned = k % 4
    flipped = {0: (), 1: (second,), 2: (first, second), 3: (first,)}[turned]
    made = empty_like(self) if turned else np.empty(self.shape, self.dtype)
    move(made, _backward(self, flipped))
    return made.swapaxes(first, second) if turned % 2 else made


# ---- differences ---------------------------------------------------------------------------------


def _sides(joined, dim):
    """What lies after the first and before the last along `dim`."""
    length = joined.shape[dim]
    before = ops.slice(joined, dim, 0, max(length - 1, 0))  # made first: backward's sums show it
    return ops.slice(joined, dim, 1, length), before


def _minus(tensor):
    return ops.logical_xor if array_of(tensor).dtype == np.bool_ else ops.sub


@composite(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    fast=composites_fast.diff,
    variants="function method out",
)
def diff(self, n, dim, prepend, append, out=None):
    """Return the differences between neighbours along `dim`, `n` times over.

    prepend, append: joined to the ends first.

    >>> imode.diff(imode.tensor([1, 3, 6]))
    tensor([2, 3])
    """
    if self.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    along = wrap_dim(dim, self.dim())
    parts = [t for t in (prepend, self, append) if t is not None]
    for part in parts:
        if part.dim() != self.dim():
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        for i, (length, wanted) in enumerate(zip(part.shape, self.shape, strict=True)):
            if length != wanted and i != along:
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input "
                    f"except along the differencing dimension; input.size({i}) = {wanted}, but got "
                    f"tensor.size({i}) = {length}"
                )
    if n == 0:
        if out is None:
            return ops.zeros_like(self).copy_(self)
        if out.shape != self.shape:
            out.resize_(self.shape)
        _UNCHANGED.refuse(self.dtype, out.dtype)
        return out.copy_(self)
    joined = ops.cat(parts, dim) if len(parts) > 1 else self
    n = min(n, joined.shape[along])
    for _ in range(n - 1):
        joined = _minus(joined)(*_sides(joined, dim))
    if n == 0 and out is None:
        return joined
    return _minus(joined)(*_sides(joined, dim), out=out)


_UNCHANGED = Out("same", errors.out.SCALAR_TYPE)
