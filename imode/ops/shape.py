"""Joining, repeating and reordering: cat, stack, clone, repeat, flip, roll and their kin.

All of them copy. Views of a tensor's shape are in `views`, of its parts in `parts`.
"""

import math

import numpy as np

from imode import ops
from imode._core.tensor import array_of
from imode.formats import memory_order
from imode.kernels.indexing import broadcast_shape
from imode.kernels.order import empty_like
from imode.kernels.strided import scalar_name, wrap_dim

from .schema import alias, composite, functions, op
from .written import copied

# ---- join -----------------------------------------------------------------------------------------


def _skipped(shape):
    """Whether `cat` overlooks a tensor of this shape: an empty vector, for old programs' sake."""
    return len(shape) == 1 and shape[0] == 0


def _common_dtype(arrays):
    """The dtype that tensors of these dtypes and dimensions promote to."""
    from imode._core.dtype import result_type

    first = arrays[0].dtype
    if all(a.dtype == first for a in arrays):
        return first
    return result_type(*arrays)


def _cat(tensors, dim):
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, a in enumerate(tensors):
        if a.ndim == 0:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {i}) cannot be concatenated"
            )
    joined = [(i, a) for i, a in enumerate(tensors) if not _skipped(a.shape)]
    dtype = _common_dtype(tensors)
    if not joined:
        wrap_dim(dim, 1)
        return np.empty(0, dtype)
    first = joined[0][1]
    dim = wrap_dim(dim, first.ndim)
    for i, a in joined[1:]:
        if a.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {a.ndim}"
            )
        for d, (m, n) in enumerate(zip(first.shape, a.shape)):
            if m != n and d != dim:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {m} "
                    f"but got size {n} for tensor number {i} in the list."
                )
    arrays = [a for _, a in joined]
    shape = list(first.shape)
    shape[dim] = sum(a.shape[dim] for a in arrays)
    result = np.empty(shape, dtype)
    if result.size:
        np.concatenate(arrays, dim, out=result, casting="unsafe")
    return result


def _cat_backward(grad, tensors_shapes, dim, needs):
    shapes = [tuple(s) for s in tensors_shapes]
    wanted = needs[0] if isinstance(needs[0], (tuple, list)) else needs
    nd = next((len(s) for s in shapes if not _skipped(s)), 1)
    dim = wrap_dim(dim, nd)
    parts, at = [], 0
    for i, shape in enumerate(shapes):
        if _skipped(shape):
            parts.append(grad.new_zeros(shape))
            continue
        needed = wanted[i] if i < len(wanted) else True
        parts.append(grad.narrow(dim, at, shape[dim]) if needed else None)
        at += shape[dim]
    return parts


_cat_op = op(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    _cat,
    derivative={"tensors": lambda grad, tensors_shapes, dim: _cat_backward(
        grad, tensors_shapes, dim, [True] * len(tensors_shapes)
    )},
    variants="function out",
    doc="""Return the tensors joined along `dim`; in the other dimensions they must agree.

    dtype: what they promote to. Empty vectors are overlooked. Raises ValueError for an empty list.

    >>> imode.cat([imode.tensor([1, 2]), imode.tensor([3])])
    tensor([1, 2, 3])
    """,
)  # fmt: skip
for _name in ("concat", "concatenate"):
    alias(_name, _cat_op)


def _stack(tensors, dim):
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]
    dim = wrap_dim(dim, first.ndim + 1)
    for i, a in enumerate(tensors[1:], 1):
        if a.shape != first.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first.shape)} at "
                f"entry 0 and {list(a.shape)} at entry {i}"
            )
    shape = (*first.shape[:dim], len(tensors), *first.shape[dim:])
    result = np.empty(shape, _common_dtype(tensors))
    pieces = np.moveaxis(result, dim, 0) if dim else result
    for i, a in enumerate(tensors):
        pieces[i] = a
    return result


op(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    _stack,
    derivative={"tensors": lambda grad, dim: grad.unbind(dim)},
    variants="function out",
    doc="""Return tensors of one shape joined along a new dimension `dim`.

    >>> imode.stack([imode.tensor([1, 2]), imode.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """,
)


def _at_least(tensor, nd):
    """The tensor as `hstack` and its kin take it: with `nd` dimensions or more."""
    have = tensor.dim()
    if have >= nd:
        return tensor
    if have == 0:
        return tensor.reshape((1,) * nd)
    if nd == 2:
        return tensor.unsqueeze(0)
    return tensor.unsqueeze(0).unsqueeze(-1) if have == 1 else tensor.unsqueeze(-1)


def _check_list(name, tensors):
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


@composite("hstack(Tensor[] tensors) -> Tensor", variants="function out")
def hstack(tensors):
    """Return the tensors side by side: joined along dimension 1, vectors along 0.

    >>> imode.hstack([imode.tensor([1, 2]), imode.tensor([3])])
    tensor([1, 2, 3])
    """
    _check_list("hstack", tensors)
    tensors = [_at_least(t, 1) for t in tensors]
    return ops.cat(tensors, 0 if tensors[0].dim() == 1 else 1)


@composite("vstack(Tensor[] tensors) -> Tensor", variants="function out")
def vstack(tensors):
    """Return the tensors below each other: joined along dimension 0, vectors being rows.

    >>> imode.vstack([imode.tensor([1, 2]), imode.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    _check_list("vstack", tensors)
    return ops.cat([_at_least(t, 2) for t in tensors], 0)


@composite("dstack(Tensor[] tensors) -> Tensor", variants="function out")
def dstack(tensors):
    """Return the tensors behind each other: joined along dimension 2.

    >>> imode.dstack([imode.tensor([1, 2]), imode.tensor([3, 4])]).shape
    imode.Size([1, 2, 2])
    """
    _check_list("dstack", tensors)
    return ops.cat([_at_least(t, 3) for t in tensors], 2)


@composite("column_stack(Tensor[] tensors) -> Tensor", variants="function out")
def column_stack(tensors):
    """Return the tensors side by side, vectors being columns.

    >>> imode.column_stack([imode.tensor([1, 2]), imode.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    _check_list("column_stack", tensors)
    return ops.hstack([t.reshape((t.numel(), 1)) if t.dim() <= 1 else t for t in tensors])


alias("row_stack", vstack)

# ---- copies ---------------------------------------------------------------------------------------


def _clone(self, memory_format):
    order = memory_order(memory_format, self.ndim, "clone")
    if order is None:
        return copied(self)
    made = np.empty([self.shape[d] for d in order], self.dtype).transpose(np.argsort(order))
    made[...] = self
    return made


op(
    "clone(Tensor self, *, any memory_format=None) -> Tensor",
    _clone,
    derivative={"self": lambda grad: grad},
    variants="function method",
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
    "contiguous(Tensor self, *, any memory_format=None) -> Tensor", variants="method"
)
def contiguous(self, memory_format):
    """Return the tensor itself where it lies in row order, else a copy that does.

    >>> imode.ones(2, 3).t().contiguous().stride()
    (2, 1)
    """
    order = memory_order(memory_format, self.ndim, "contiguous")
    if order is None or order == tuple(range(self.ndim)):
        return self if self.is_contiguous() else self.clone(memory_format="contiguous_format")
    if self.permute(order).is_contiguous():
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
        raise RuntimeError(f"Trying to create tensor with negative dimension {least}: {wanted}")
    result = np.empty(wanted, self.dtype)
    if result.size:
        pairs = [m for n, r in zip(shape, repeats) for m in (r, n)]
        result.reshape(pairs)[...] = self.reshape([m for n in shape for m in (1, n)])
    return result


def _repeat_backward(grad, self_shape, repeats):
    if 0 in repeats:
        return grad.new_zeros(self_shape)
    lead = len(repeats) - len(self_shape)
    pairs, summed = [], []
    for i, r in enumerate(repeats):
        n = 1 if i < lead else self_shape[i - lead]
        if r > 1 or i < lead:
            summed.append(len(pairs))
            pairs.append(r)
        if i >= lead:
            pairs.append(n)
    if not summed:
        return grad
    return grad.reshape(pairs).sum(summed).reshape(self_shape)


op(
    "repeat(Tensor self, int[] repeats) -> Tensor",
    _repeat,
    derivative={"self": _repeat_backward},
    variants="method",
    doc="""Return the tensor repeated along each dimension; more counts than dimensions add some.

    >>> imode.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """,
)


@composite("tile(Tensor self, int[] dims) -> Tensor", variants="function method")
def tile(self, dims):
    """Return the tensor repeated along its last dimensions; fewer counts than those are fine.

    >>> imode.tensor([[1, 2]]).tile(2)
    tensor([[1, 2, 1, 2]])
    """
    return self.repeat((1,) * (self.dim() - len(dims)) + tuple(dims))


def _interleave(repeats, output_size):
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.dtype not in (np.int64, np.int32):
        raise NotImplementedError(
            f"\"repeat_interleave_cpu\" not implemented for '{scalar_name(repeats.dtype)}'"
        )
    if repeats.size and int(repeats.min()) < 0:
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and output_size != int(repeats.sum()):
        raise RuntimeError("allocated size does not match required size")
    return np.repeat(np.arange(repeats.size, dtype=repeats.dtype), repeats)


op(
    "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
    _interleave,
    differentiable=False,
    variants="function",
    doc="""Return each index as often as its element says.

    With a tensor in front, and a count or one for each slice along `dim`: its slices (or, without
    dim, its elements) that often, each followed by its copies.

    >>> imode.repeat_interleave(imode.tensor([5, 6]), 2)
    tensor([5, 5, 6, 6])
    """,
)


@composite(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, "
    "int? output_size=None) -> Tensor",
    variants="function method",
)
def repeat_interleave_tensor(self, repeats, dim, output_size):
    """Return each slice along `dim` (without it: each element) as often as its count says."""
    at = 0 if dim is None else wrap_dim(dim, self.dim())
    source = self.flatten() if dim is None or self.dim() == 0 else self
    n = source.shape[at]
    if repeats.dim() > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.dim() == 0 or repeats.shape[0] == 1:
        repeats = repeats.reshape(1).expand(n)
    elif repeats.shape[0] != n:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.shape[0]} and input.size({at}) = {n}"
        )
    return source.index_select(at, ops.repeat_interleave(repeats, output_size=output_size))


@composite(
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, "
    "int? output_size=None) -> Tensor",
    variants="function method",
)
def repeat_interleave_int(self, repeats, dim, output_size):
    """Return each slice along `dim` (without it: each element) `repeats` times in a row."""
    at = 0 if dim is None else wrap_dim(dim, self.dim())
    source = self.flatten() if dim is None or self.dim() == 0 else self
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


# ---- order along dimensions -----------------------------------------------------------------------


def _flip(self, dims):
    wrapped = [wrap_dim(d, self.ndim) for d in dims]
    for i, d in enumerate(wrapped):
        if d in wrapped[:i]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    made = empty_like(self)
    made[...] = np.flip(self, wrapped) if self.ndim else self
    return made


op(
    "flip(Tensor self, int[] dims) -> Tensor",
    _flip,
    derivative={"self": lambda grad, dims: grad.flip(dims)},
    variants="function method",
    doc="""Return the tensor with the order of elements reversed along each of `dims`.

    >>> imode.tensor([1, 2, 3]).flip(0)
    tensor([3, 2, 1])
    """,
)


@composite("fliplr(Tensor self) -> Tensor", variants="function method")
def fliplr(self):
    """Return the tensor with the order along dimension 1 reversed.

    >>> imode.tensor([[1, 2]]).fliplr()
    tensor([[2, 1]])
    """
    if self.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return self.flip((1,))


@composite("flipud(Tensor self) -> Tensor", variants="function method")
def flipud(self):
    """Return the tensor with the order along dimension 0 reversed.

    >>> imode.tensor([1, 2]).flipud()
    tensor([2, 1])
    """
    if self.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return self.flip((0,))


def _roll(self, shifts, dims):
    if self.size == 0:
        return np.array(self, order="C")
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        return np.ascontiguousarray(np.roll(self, shifts[0])).reshape(self.shape)
    if len(shifts) != len(dims):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    if self.ndim == 0:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    wrapped = tuple(wrap_dim(d, self.ndim) for d in dims)
    return np.array(np.roll(self, shifts, wrapped), order="C")


op(
    "roll(Tensor self, int[1] shifts, int[1] dims=()) -> Tensor",
    _roll,
    derivative={
        "self": lambda grad, shifts, dims: grad.roll(
            tuple(-s for s in reversed(shifts)), tuple(reversed(dims))
        )
    },
    variants="function method",
    doc="""Return the tensor with elements moved on along `dims`, those at the end to the beginning.

    Without dims the tensor is taken as one row of elements.

    >>> imode.tensor([1, 2, 3]).roll(1)
    tensor([3, 1, 2])
    """,
)


def _rot90(self, k, dims):
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
    made = empty_like(self)
    made[...] = np.flip(self, flipped)
    return made.swapaxes(first, second) if turned % 2 else made


op(
    "rot90(Tensor self, int k=1, int[] dims=(0, 1)) -> Tensor",
    _rot90,
    derivative={"self": lambda grad, k, dims: grad.rot90(-k, dims)},
    variants="function method",
    doc="""Return the tensor turned `k` times by 90 degrees, from the first of `dims` to the second.

    >>> imode.tensor([[1, 2], [3, 4]]).rot90()
    tensor([[2, 4],
            [1, 3]])
    """,
)

# ---- several tensors ------------------------------------------------------------------------------


@composite("broadcast_tensors(Tensor[] tensors) -> any", variants="")
def broadcast_tensors(tensors):
    """Return views of the tensors, expanded to their common shape.

    >>> a, b = imode.broadcast_tensors(imode.ones(2, 1), imode.ones(3))
    >>> a.shape, b.shape
    (imode.Size([2, 3]), imode.Size([2, 3]))
    """
    if not tensors:
        return ()
    shape = broadcast_shape(*(tuple(t.shape) for t in tensors))
    return tuple(t if tuple(t.shape) == shape else t.expand(shape) for t in tensors)


@composite("meshgrid(Tensor[] tensors, *, str? indexing=None) -> any", variants="")
def meshgrid(tensors, indexing):
    """Return one grid per vector, which holds its values along its own dimension.

    indexing: "ij" (also when None), or "xy" with the first two dimensions exchanged.

    >>> imode.meshgrid(imode.tensor([1, 2]), imode.tensor([3, 4]), indexing="ij")[0]
    tensor([[1, 1],
            [2, 2]])
    """
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if any(t.dim() > 1 for t in tensors):
        raise RuntimeError(
            "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
            f"{next(t for t in tensors if t.dim() > 1)}"
        )
    if any(t.dtype != tensors[0].dtype for t in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(
            "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: "
            + str(indexing)
        )
    swapped = indexing == "xy" and len(tensors) > 1
    vectors = list(tensors)
    if swapped:
        vectors[:2] = reversed(vectors[:2])
    sizes = [math.prod(t.shape) for t in vectors]
    grids = []
    for i, t in enumerate(vectors):
        row = t.view((1,) * i + (-1,) + (1,) * (len(vectors) - i - 1))
        grids.append(row.expand(sizes))
    if swapped:
        grids[:2] = reversed(grids[:2])
    return tuple(grids)


def _of_many(operator):
    """The public form of an operator on a list: it also takes the tensors one by one."""

    def function(*tensors, **options):
        if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
            tensors = tensors[0]
        return operator(tensors, **options)

    function.__name__ = function.__qualname__ = operator.name
    function.__doc__, function.__module__ = operator.entry.doc, "imode"
    return function


for _operator in (broadcast_tensors, meshgrid):
    functions[_operator.name] = _of_many(_operator)


def _step(self, dim, start, end):
    return ops._slice(self, dim, start, end)


@composite(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    variants="function method out",
)
def diff(self, n, dim, prepend, append):
    """Return the differences between neighbours along `dim`, `n` times over.

    prepend, append: joined to the ends first.

    >>> imode.diff(imode.tensor([1, 3, 6]))
    tensor([2, 3])
    """
    if self.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = wrap_dim(dim, self.dim())
    parts = [t for t in (prepend, self, append) if t is not None]
    if any(t.dim() != self.dim() for t in parts):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    if n == 0:
        return ops.zeros_like(self).copy_(self)
    joined = ops.cat(parts, dim) if len(parts) > 1 else self
    for _ in range(min(n, joined.shape[dim])):
        length = joined.shape[dim]
        after, before = _step(joined, dim, 1, length), _step(joined, dim, 0, max(length - 1, 0))
        joined = after ^ before if array_of(joined).dtype == np.bool_ else after - before
    return joined
