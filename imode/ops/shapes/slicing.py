"""Views of parts: one index, a range, pieces, diagonals, windows; of all with another history.

The kernels are those of `imode.kernels.shapes.views` and `pieces`; here are their schemas and
derivatives, the operators that are compositions of them, and those that their backward passes call.
"""

import numpy as np

from imode import errors, ops
from imode._core.type_names import scalar_name
from imode.autograd.kernels import FORGET_HISTORY
from imode.kernels.shapes import split, storage_views, views
from imode.kernels.shapes.rearrange import overlap_add
from imode.kernels.shapes.views import wrap_dim
from imode.ops.composites_fast import passed_on
from imode.ops.gradient_checks import expect, mismatch
from imode.ops.schema import composite, op
from imode.ops.shapes import composites_fast

# ---- gradients ----------------------------------------------------------------------------------


def _cat_grads(grads, self_shape, split_sizes, dim):
    """Join the gradients of pieces of the given sizes, zeros where there is none."""
    some = next(g for g in grads if g is not None)
    parts = []
    for grad, length in zip(grads, split_sizes, strict=True):
        if grad is None:
            piece = list(self_shape)
            piece[dim] = length
            grad = some.new_zeros(piece)
        parts.append(grad)
    return ops.cat(parts, dim)


def _split_backward(grads, self_shape, split_size, dim):
    length = self_shape[dim]
    sizes = [max(0, min(split_size, length - i * split_size)) for i in range(len(grads))]
    return _cat_grads(grads, self_shape, sizes, dim)


def _unbind_backward(grads, dim):
    some = next(g for g in grads if g is not None)
    return ops.stack([some.new_zeros(some.shape) if g is None else g for g in grads], dim)


# ---- what backward passes call ------------------------------------------------------------------


def _put(grad, shape, view, *where):
    """Zeros of a shape with `grad` at the part that a view of them shows."""
    result = np.zeros(shape, grad.dtype, like=grad)
    part = views.apply(view, result, *where)
    try:
        part[...] = grad
    except ValueError:
        raise mismatch(part.shape, grad.shape) from None
    return result


def _backward_of(name, view, where, again):
    """Declare the gradient of a view of a part; `again`: its own derivative."""
    return op(
        f"_{name}_backward(Tensor grad_output, int[] self_shape, {where}) -> Tensor",
        lambda grad, shape, *where: _put(grad, shape, view, *where),
        derivative={"grad_output": again},
    )


_SELECT_BACKWARD = _backward_of(
    "select",
    views.select,
    "int dim, int index",
    lambda grad, dim, index: grad.select(dim, index),
)
_SLICE_BACKWARD = _backward_of(
    "slice",
    views.slice_dim,
    "int dim, int? start, int? end, int step",
    lambda grad, dim, start, end, step: ops.slice(grad, dim, start, end, step),
)
_DIAGONAL_BACKWARD = _backward_of(
    "diagonal",
    views.diagonal,
    "int offset, int dim1, int dim2",
    lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)


@op(
    "_unfold_backward(Tensor grad_output, int[] self_shape, int dimension, int size, int step) "
    "-> Tensor",
    derivative={
        "grad_output": lambda grad, dimension, size, step: grad.unfold(dimension, size, step)
    },
    shows={"dimension": None, "dim": lambda dimension: dimension},
)
def _unfold_backward(grad, shape, dim, size, step):
    result = np.zeros(shape, grad.dtype)
    if not shape:
        result[...] = grad.sum()
        return result
    dim %= len(shape)
    windows = list(shape)
    windows[dim] = (windows[dim] - size) // step + 1
    expect("_unfold_backward", "grad_output", grad, [*windows, size])
    if dim == len(shape) - 1 and overlap_add(result, grad, step):
        return result
    span = (grad.shape[dim] - 1) * step + 1
    for k in reversed(range(size)):  # an element's windows from the first on, as in PyTorch
        views.apply(views.slice_dim, result, dim, k, k + span, step)[...] += grad[..., k]
    return result


# ---- parts --------------------------------------------------------------------------------------

op(
    "select(Tensor(a) self, int dim, int index) -> Tensor(a)",
    views.select,
    derivative={"self": _SELECT_BACKWARD},
    doc="""Return the tensor at `index` of `dim`, without that dimension.

    >>> imode.tensor([[1, 2], [3, 4]]).select(0, 1)
    tensor([3, 4])
    """,
)

op(
    "slice(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    views.slice_dim,
    derivative={"self": _SLICE_BACKWARD},
    variants="",
    doc="""Return every `step`-th index of `dim` from `start` up to `end`; `tensor[start:end:step]`.

    >>> imode.ops.slice(imode.tensor([1, 2, 3]), 0, 0, 2)
    tensor([1, 2])
    """,
)


op(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    views.diagonal,
    derivative={"self": _DIAGONAL_BACKWARD},
    doc="""Return the diagonals over `dim1` and `dim2` as a new last dimension.

    >>> imode.tensor([[1, 2], [3, 4]]).diagonal()
    tensor([1, 4])
    """,
)

op(
    "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    views.unfold,
    derivative={"self": _unfold_backward},
    variants="method",
    doc="""Return the windows of length `size`, `step` apart, as a new last dimension.

    >>> imode.arange(4).unfold(0, 2, 1).shape
    imode.Size([3, 2])
    """,
)


def first_of(shape, dim, start):
    """Where the `narrow` of a shape begins along `dim`, and that dimension's length."""
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    size = shape[wrap_dim(dim, len(shape))]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    return start + size if start < 0 else start, size


def check_end(start, length, size):
    """Refuse a `narrow` beyond a dimension's end."""
    if length < 0 or start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")


def _narrow(self, dim, start, length):
    """Return `length` indices of `dim`, from the int `start` on."""
    if self.dim() and length < 0:
        raise errors.shapes.negative_length()
    start, size = first_of(self.shape, dim, start)
    check_end(start, length, size)
    return ops.slice(self, dim, start, start + length)


@composite("narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)")
def narrow_tensor(self, dim, start, length):
    """Return `length` indices of `dim`, from `start` on.

    start: an int or a 0-dim integer tensor. Raises IndexError where it is out of range, and
    RuntimeError where the end is.

    >>> imode.arange(5).narrow(0, 1, 3)
    tensor([1, 2, 3])
    """
    if start.dim() != 0 or start.dtype.numpy.kind not in "iu":
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return _narrow(self, dim, int(start.item()), length)


composite(
    "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
    fast=composites_fast.narrow,
)(_narrow)

# ---- several views ------------------------------------------------------------------------------


def _part(node, i):
    start = i * node._saved_split_size
    length = min(node._saved_split_size, node._saved_self_sym_sizes[node._saved_dim] - start)
    return f"narrow({node._saved_dim}, {start}, {length})"


def _section(node, i):
    sizes = node._saved_split_sizes
    return f"narrow({node._saved_dim}, {sum(sizes[:i])}, {sizes[i]})"


op(
    "split(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
    split.split,
    derivative={"self": _split_backward},
    alone=_part,
    doc="""Return pieces of length `split_size` (the last may be shorter), or of the given lengths.

    >>> [p.tolist() for p in imode.arange(5).split(2)]
    [[0, 1], [2, 3], [4]]
    """,
)

op(
    "split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    split.split_with_sizes,
    derivative={"self": _cat_grads},
    alone=_section,
    doc="""Return pieces of the given lengths along `dim`; they must add up to its length.

    >>> [p.tolist() for p in imode.arange(5).split_with_sizes([2, 3])]
    [[0, 1], [2, 3, 4]]
    """,
)


@composite(
    "split.sizes(Tensor(a) self, int[] split_size, int dim=0) -> Tensor(a)[]",
    fast=passed_on("split_with_sizes"),
)
def split_sizes(self, split_size, dim):
    """Return pieces of the given lengths along `dim`."""
    return self.split_with_sizes(split_size, dim)


# The same under the keywords that the function, and not the method, has in PyTorch.
for _kind in ("int", "int[]"):

    @composite(
        f"split.{'parts' if _kind == 'int' else 'sections'}(Tensor(a) tensor, {_kind} "
        "split_size_or_sections, int dim=0) -> Tensor(a)[]",
        variants="function",
    )
    def split_tensor(tensor, split_size_or_sections, dim):
        """Return pieces of one length, or of the given lengths, along `dim`."""
        return tensor.split(split_size_or_sections, dim)


op(
    "unbind(Tensor(a) self, int dim=0) -> Tensor(a)[]",
    split.unbind,
    derivative={"self": _unbind_backward},
    alone=lambda node, i: f"select({node._saved_dim}, {i})",
    doc="""Return the tensor at each index of `dim`, without that dimension.

    >>> [p.tolist() for p in imode.tensor([[1, 2], [3, 4]]).unbind()]
    [[1, 2], [3, 4]]
    """,
)


def chunked(self, chunks, dim, split, split_with_sizes):
    """What `chunk` does, by two operators that split."""
    if self.dim() == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    length = self.shape[wrap_dim(dim, self.dim())]
    if length == 0:
        _check_count("chunk", chunks)
        return split_with_sizes(self, (0,) * chunks, dim)
    return split(self, -(-length // chunks), dim)


@composite(
    "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]",
    fast=composites_fast.chunk,
)
def chunk(self, chunks, dim):
    """Return at most `chunks` pieces of equal length along `dim` (the last may be shorter).

    >>> [p.tolist() for p in imode.arange(5).chunk(2)]
    [[0, 1, 2], [3, 4]]
    """
    return chunked(self, chunks, dim, ops.split, ops.split_with_sizes)


_MAX_PIECES = 1 << 26  # a tuple of so many views is beyond any machine's use, and fills its memory


def _check_count(name, count):
    if count > _MAX_PIECES:
        raise MemoryError(f"{name}(): {count} pieces are more than {_MAX_PIECES}")


def _cut(self, bounds, dim):
    """Return the pieces between the indices `bounds`, which may be in any order."""
    starts = (0, *bounds)
    ends = (*bounds, self.shape[dim])
    return tuple(ops.slice(self, dim, s, e) for s, e in zip(starts, ends, strict=True))


def _tensor_split_dim(self, dim):
    if self.dim() == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    return wrap_dim(dim, self.dim())


def _tensor_split_sections(self, sections, dim):
    """Return `sections` pieces along `dim` whose lengths differ by at most one."""
    dim = _tensor_split_dim(self, dim)
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    _check_count("tensor_split", sections)
    length, extra = divmod(self.shape[dim], sections)
    return _cut(self, [i * length + min(i, extra) for i in range(1, sections)], dim)


def _tensor_split_indices(self, indices, dim):
    """Return the pieces of `dim` between the given indices."""
    return _cut(self, indices, _tensor_split_dim(self, dim))


@composite(
    "tensor_split.tensor_indices_or_sections"
    "(Tensor(a) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
)
def tensor_split_tensor(self, tensor_indices_or_sections, dim):
    """Return so many pieces along `dim`, with lengths that differ by at most one, or those between
    the given indices.

    The number, or the indices, may be an int64 tensor.

    >>> [p.tolist() for p in imode.arange(5).tensor_split(3)]
    [[0, 1], [2, 3], [4]]
    >>> [p.tolist() for p in imode.arange(5).tensor_split((1, 2))]
    [[0], [1], [2, 3, 4]]
    """
    given = tensor_indices_or_sections
    values = given.detach().cpu().numpy()
    if values.dtype != np.int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{scalar_name(values.dtype)}"
        )
    if values.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {values.ndim} dims"
        )
    if values.ndim == 0:
        return _tensor_split_sections(self, int(values), dim)
    return _tensor_split_indices(self, tuple(values.tolist()), dim)


composite("tensor_split.sections(Tensor(a) self, int sections, int dim=0) -> Tensor(a)[]")(
    _tensor_split_sections
)
composite("tensor_split.indices(Tensor(a) self, int[] indices, int dim=0) -> Tensor(a)[]")(
    _tensor_split_indices
)


def _check_split(self, name, least, sections, dim):
    """Check what hsplit, vsplit and dsplit ask of the tensor and of a number of sections."""
    nd = self.dim()
    if nd < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
            f"with {nd} dimensions!"
        )
    size = self.shape[dim]
    if sections is not None and (sections == 0 or size % sections):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{size} is not divisible by the split_size {sections}!"
        )


def _register_split(name, least, dim_of, what):
    """Register `name` for a number of sections and for indices along ``dim_of(ndim)``: `what`."""

    def by_sections(self, sections):
        _check_split(self, name, least, None, 0)
        dim = dim_of(self.dim())
        _check_split(self, name, least, sections, dim)
        return _tensor_split_sections(self, sections, dim)

    def by_indices(self, indices):
        _check_split(self, name, least, None, 0)
        return _tensor_split_indices(self, indices, dim_of(self.dim()))

    by_sections.__doc__ = f"""Return views of as many equal parts along {what}.

    Raises RuntimeError for fewer than {least} dimensions, and where the parts cannot be equal.

    >>> len(imode.{name}(imode.ones(2, 4, 6), 2))
    2
    """
    by_indices.__doc__ = f"Return views of the parts along {what} between the indices."
    composite(
        f"{name}.int(Tensor(a) self, int sections) -> Tensor(a)[]", variants="function method"
    )(by_sections)
    composite(
        f"{name}.array(Tensor(a) self, int[] indices) -> Tensor(a)[]", variants="function method"
    )(by_indices)


_register_split("hsplit", 1, lambda nd: min(nd, 2) - 1, "the second dimension, or the only one")
_register_split("vsplit", 2, lambda nd: 0, "the first dimension")
_register_split("dsplit", 3, lambda nd: 2, "the third dimension")

# ---- raw geometry -------------------------------------------------------------------------------


def _overlaps(size, stride):
    """Whether two elements of a geometry may lie in one place (never wrongly False)."""
    reach = 0
    for step, n in sorted((s, n) for n, s in zip(size, stride) if n > 1):
        if step <= reach:
            return True
        reach += step * (n - 1)
    return False


def extent(size, stride, offset):
    """The length of memory, in elements, that a geometry needs."""
    return 0 if 0 in size else 1 + offset + sum((n - 1) * s for n, s in zip(size, stride))


def _as_strided_backward(grad, self_geometry, size, stride, storage_offset):
    """Bring a gradient back through memory, for any geometries, overlapping ones too.

    Elements of the result that share a place add up there; where it is the input that overlaps,
    each of the elements in a place is given an equal part of its gradient.
    """
    self_size, self_stride, self_offset = self_geometry
    offset = self_offset if storage_offset is None else storage_offset
    if 0 in size:
        return grad.new_zeros(self_size)
    # Dimensions of length 1 say nothing, those of stride 0 repeat elements.
    kept = []
    for dim in reversed(range(len(size))):
        if size[dim] == 1:
            grad = grad.squeeze(dim)
        elif stride[dim] == 0:
            grad = grad.sum(dim)
        else:
            kept.insert(0, dim)
    size, stride = tuple(size[d] for d in kept), tuple(stride[d] for d in kept)
    least = min(offset, self_offset)
    here, there = (size, stride, offset - least), (self_size, self_stride, self_offset - least)
    if 0 in self_size:
        return grad.new_zeros(self_size)
    length = max(extent(*here), extent(*there))
    memory = grad.new_zeros((length,))
    if _overlaps(size, stride):
        places = ops.arange(length, device=grad.device).as_strided(*here)
        memory.index_add_(0, places.reshape(-1), grad.reshape(-1))
    else:
        memory.as_strided(*here).copy_(grad)
    if _overlaps(self_size, self_stride):
        read = ops.arange(length, device=grad.device).as_strided(*there).reshape(-1)
        ones = ops.ones(read.shape, device=grad.device)
        count = ops.zeros(length, device=grad.device).index_add_(0, read, ones)
        memory.div_(count.clamp_min(1).to(memory.dtype))
    return memory.as_strided(*there)


op(
    "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)",
    storage_views.as_strided,
    derivative={"self": _as_strided_backward},
    doc="""Return any geometry, in elements, over the memory that the tensor is part of.

    >>> imode.arange(4).as_strided((3, 2), (1, 1)).tolist()
    [[0, 1], [1, 2], [2, 3]]
    """,
)

op(
    "as_strided_(Tensor(a!) self, int[] size, int[] stride, int? storage_offset=None)"
    " -> Tensor(a!)",
    storage_views.as_strided,
    derivative={"self": _as_strided_backward},
    variants="function method metadata",
    name="AsStridedBackward1",
    doc="""Give the tensor itself another geometry over its memory; see `as_strided`.""",
)

# ---- the same elements --------------------------------------------------------------------------

op(
    "alias(Tensor(a) self) -> Tensor(a)",
    views.alias,
    derivative={"self": lambda grad: grad},
    variants="",
    doc="""Return the same elements as another tensor; `tensor[...]`.

    >>> imode.ops.alias(imode.tensor([1, 2]))
    tensor([1, 2])
    """,
)

op(
    "_undefined_grad(Tensor self) -> Tensor",
    np.copy,
    derivative={"self": lambda grad: None},
    doc="""A copy through which no gradient passes: what comes before it gets none, not zeros.""",
)

op(
    "detach(Tensor(a) self) -> Tensor(a)",
    views.alias,
    differentiable=False,
    tracked=False,
    doc="""Return the tensor without its history; it shares memory and version counter.

    >>> imode.ones(2, requires_grad=True).detach().requires_grad
    False
    """,
)

_detach_in_place = op(
    "detach_(Tensor(a!) self) -> Tensor(a!)",
    views.untouched,
    differentiable=False,
    doc="""Make the tensor a leaf that requires no gradient, and return it.

    Raises RuntimeError for a view.

    >>> x = imode.ones(2, requires_grad=True) * 2
    >>> x.detach_().is_leaf
    True
    """,
)
_detach_in_place.register("Autograd", FORGET_HISTORY)
_detach_in_place.register("ADInplaceOrView", None)  # nothing is written
