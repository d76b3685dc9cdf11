"""Several tensors: joining them (cat, stack and their kin), broadcasting them together, grids."""

import math
from itertools import pairwise

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.dtype import from_numpy_dtype, get_default_dtype
from imode._core.internals import array_of
from imode._core.layout import is_channels_last
from imode._core.parallel import skipping
from imode._core.promotion import can_cast, result_type
from imode._core.type_names import scalar_name
from imode.kernels.creation import fill_fast
from imode.kernels.shapes import block_diag_fast
from imode.kernels.shapes.views import wrap_dim
from imode.ops.schema import Out, alias, composite, functions, op
from imode.ops.shapes import composites_fast

# ---- join ----------------------------------------------------------------------------------------


def _skipped(shape):
    """Whether `cat` overlooks a tensor of this shape: an empty vector, for old programs' sake."""
    return len(shape) == 1 and shape[0] == 0


def _joined(tensors, dim):
    """The places and arrays that `cat` does not overlook, and the dimension that it joins along."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, a in enumerate(tensors):
        if a.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    joined = [(i, a) for i, a in enumerate(tensors) if not _skipped(a.shape)]
    return joined, wrap_dim(dim, joined[0][1].ndim) if joined else 0  # no tensor has a say in dim


def _cat(tensors, dim):
    joined, dim = _joined(tensors, dim)
    dtype = result_type(*tensors)
    if not joined:
        return np.empty(0, dtype)
    first = joined[0][1]
    for i, a in joined[1:]:
        if a.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {a.ndim}"
            )
        for d, (m, n) in enumerate(zip(first.shape, a.shape)):
            if m != n and d != dim:
                raise errors.shapes.sizes_of_join(dim, m, n, i, d)
    arrays = [a for _, a in joined]
    shape = list(first.shape)
    shape[dim] = sum(a.shape[dim] for a in arrays)
    result = _empty(shape, dtype, tensors)
    if result.size and not skipping():
        np.concatenate(arrays, dim, out=result, casting="unsafe")
    return result


def _empty(shape, dtype, tensors):
    """A new array for what is joined, with channels last where all tensors have them there."""
    if not all(map(is_channels_last, tensors)):
        return np.empty(shape, dtype, like=tensors[0])
    made = np.empty((shape[0], *shape[2:], shape[1]), dtype, like=tensors[0])
    return made.transpose(0, -1, *range(1, len(shape) - 1))


def _dtypes_first(name, check):
    """The `arguments` of an out= form that names a dtype that cannot take the result before memory,
    and before shapes but for those that `check` looks at."""

    def refuse(out, tensors, dim):
        check(tensors, dim)
        found = from_numpy_dtype(result_type(*[array_of(t) for t in tensors]))
        if not can_cast(found, out.dtype):
            raise errors.out.cannot_join(name, scalar_name(found), scalar_name(out.dtype))

    return refuse


def _cat_backward(grad, tensors_shapes, tensors_dtype, dim):
    shapes = [tuple(s) for s in tensors_shapes]
    nd = next((len(s) for s in shapes if not _skipped(s)), None)
    dim = 0 if nd is None else wrap_dim(dim, nd)
    parts, at = [], 0
    mixed = grad.is_complex() and not all(dtype.is_complex for dtype in tensors_dtype)
    real = grad.real if mixed else grad  # taken once, for all
    for shape, dtype in zip(shapes, tensors_dtype, strict=True):
        if _skipped(shape):
            parts.append(grad.new_zeros(shape))
            continue
        part = grad if dtype.is_complex else real
        parts.append(part.narrow(dim, at, shape[dim]))
        at += shape[dim]
    return parts


_cat_op = op(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    _cat,
    fast=fill_fast.cat,
    derivative={"tensors": _cat_backward},
    variants="function out",
    out=Out(overlap="all", arguments=_dtypes_first("cat", _joined)),
    doc="""Return the tensors joined along `dim`; in the other dimensions they must agree.

    dtype: what they promote to. Empty vectors are overlooked. Raises ValueError for an empty list.

    >>> imode.cat([imode.tensor([1, 2]), imode.tensor([3])])
    tensor([1, 2, 3])
    """,
)
for _name in ("concat", "concatenate"):
    alias(_name, _cat_op)


def _stacked(tensors, dim):
    """The shape and the dimension of a stack, checked."""
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
    return (*first.shape[:dim], len(tensors), *first.shape[dim:]), dim


def _stack(tensors, dim):
    shape, dim = _stacked(tensors, dim)
    first, dtype = tensors[0].shape, result_type(*tensors)
    if dim == len(first):
        result = np.empty(shape, dtype, like=tensors[0])
    else:  # the memory of what `cat` makes
        joined = (*first[:dim], first[dim] * len(tensors), *first[dim + 1 :])
        result = _empty(joined, dtype, tensors).reshape(shape)
    pieces = np.moveaxis(result, dim, 0) if dim else result
    for i, a in enumerate(tensors):
        pieces[i] = a
    return result


def _stack_backward(grad, tensors_dtype, dim):
    cut = grad.is_complex()
    return [
        (grad.real if cut and not dtype.is_complex else grad).select(dim, i)
        for i, dtype in enumerate(tensors_dtype)
    ]


_stack_op = op(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    _stack,
    fast=fill_fast.stack,
    derivative={"tensors": _stack_backward},
    variants="function out",
    out=Out(layout="rows", overlap="all", arguments=_dtypes_first("stack", _stacked)),
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
def hstack(tensors, out=None):
    """Return the tensors side by side: joined along dimension 1, vectors along 0.

    >>> imode.hstack([imode.tensor([1, 2]), imode.tensor([3])])
    tensor([1, 2, 3])
    """
    _check_list("hstack", tensors)
    tensors = [_at_least(t, 1) for t in tensors]
    return ops.cat(tensors, 0 if tensors[0].dim() == 1 else 1, out=out)


@composite("vstack(Tensor[] tensors) -> Tensor", variants="function out")
def vstack(tensors, out=None):
    """Return the tensors below each other: joined along dimension 0, vectors being rows.

    >>> imode.vstack([imode.tensor([1, 2]), imode.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    _check_list("vstack", tensors)
    return ops.cat([_at_least(t, 2) for t in tensors], 0, out=out)


@composite("dstack(Tensor[] tensors) -> Tensor", variants="function out")
def dstack(tensors, out=None):
    """Return the tensors behind each other: joined along dimension 2.

    >>> imode.dstack([imode.tensor([1, 2]), imode.tensor([3, 4])]).shape
    imode.Size([1, 2, 2])
    """
    _check_list("dstack", tensors)
    return ops.cat([_at_least(t, 3) for t in tensors], 2, out=out)


@composite("column_stack(Tensor[] tensors) -> Tensor", variants="function out")
def column_stack(tensors, out=None):
    """Return the tensors side by side, vectors being columns.

    >>> imode.column_stack([imode.tensor([1, 2]), imode.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    _check_list("column_stack", tensors)
    columns = [t.reshape((t.numel(), 1)) if t.dim() <= 1 else t for t in tensors]
    return ops.hstack(columns, out=out)


alias("row_stack", vstack)


# ---- several tensors -----------------------------------------------------------------------------


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


@composite(
    "meshgrid(Tensor[] tensors, *, str? indexing=None) -> any",
    fast=composites_fast.meshgrid,
    variants="",
)
def meshgrid(tensors, indexing):
    """Return one grid per vector, which holds its values along its own dimension.

    indexing: "ij" (also when None), or "xy" with the first two dimensions exchanged.

    >>> imode.meshgrid(imode.tensor([1, 2]), imode.tensor([3, 4]), indexing="ij")[0]
    tensor([[1, 1],
            [2, 2]])
    """
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if any(t.dtype != tensors[0].dtype for t in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if any(t.dim() > 1 for t in tensors):
        raise RuntimeError(
            "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
            f"{next(t for t in tensors if t.dim() > 1)}"
        )
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(
            'torch.meshgrid: indexing must be one of "xy" or "ij", but received: ' + str(indexing)
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


def _of_many(operator, lists=True):
    """The public form of an operator on a list: it takes the tensors one by one, and `lists`."""

    def function(*tensors, **options):
        if lists and len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
            tensors = tensors[0]
        return operator(tensors, **options)

    function.__name__ = function.__qualname__ = operator.name
    function.__doc__, function.__module__ = operator.entry.doc, "imode"
    return function


for _operator in (broadcast_tensors, meshgrid):
    functions[_operator.name] = _of_many(_operator)


# ---- more dimensions, blocks, combinations -------------------------------------------------------


def _of_one_or_many(operator):
    """The public form: of one tensor, of a list, or of tensors one by one."""

    def function(*tensors):
        return operator(tensors[0] if len(tensors) == 1 else tensors)

    function.__name__ = function.__qualname__ = operator.name
    function.__doc__, function.__module__ = operator.entry.doc, "imode"
    return function


def _declare_at_least(count, example):
    name = f"atleast_{count}d"
    doc = f"""Return the tensor with {count} dimensions at least: a view where one has to be put in.

    Of several tensors, or a list: a tuple.

    >>> imode.{name}(imode.ones(2)).shape
    imode.Size({example})
    """
    declare = composite(f"{name}(Tensor(a) self) -> Tensor(a)", variants="", doc=doc)
    operator = declare(lambda self: _at_least(self, count))
    composite(f"{name}.Sequence(Tensor[] tensors) -> any", variants="", doc=doc)(
        lambda tensors: tuple(_at_least(t, count) for t in tensors)
    )
    functions[name] = _of_one_or_many(operator)


_declare_at_least(1, "[2]")
_declare_at_least(2, "[1, 2]")
_declare_at_least(3, "[1, 2, 1]")


def _block(shape):
    """The rows and columns that a tensor has as a block."""
    return (1, 1, *shape)[-2:] if len(shape) < 2 else shape


def _block_diag(tensors):
    for i, a in enumerate(tensors):
        if a.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {i} has {a.ndim} dimensions"
            )
    if not tensors:
        return np.empty((1, 0), get_default_dtype().numpy)
    blocks = [_block(a.shape) for a in tensors]
    shape = [sum(sizes) for sizes in zip(*blocks)]
    made = np.zeros(shape, result_type(*tensors), like=tensors[0])
    row = column = 0
    for a, (rows, columns) in zip(tensors, blocks):
        made[row : row + rows, column : column + columns] = a
        row, column = row + rows, column + columns
    return made


def _block_diag_backward(grad, tensors_shapes, tensors_dtype):
    grads, row, column = [], 0, 0
    for shape, dtype in zip(tensors_shapes, tensors_dtype, strict=True):
        rows, columns = _block(shape)
        part = grad.real if grad.is_complex() and not dtype.is_complex else grad
        part = ops.slice(ops.slice(part, 0, row, row + rows), 1, column, column + columns)
        for _ in range(2 - len(shape)):
            part = part.squeeze(-1)
        grads.append(part)  # a vector's is a row yet: the engine makes it fit
        row, column = row + rows, column + columns
    return grads


functions["block_diag"] = _of_many(
    op(
        "block_diag(Tensor[] tensors) -> Tensor",
        _block_diag,
        fast=block_diag_fast.block_diag,
        derivative={"tensors": _block_diag_backward},
        variants="",
        doc="""Return the matrix with the given ones, and vectors as rows, along its diagonal.

    Raises RuntimeError for more than two dimensions.

    >>> imode.block_diag(imode.tensor([[1, 2]]), imode.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """,
    ),
    lists=False,
)


@composite(
    "cartesian_prod(Tensor[] tensors) -> Tensor", fast=composites_fast.cartesian_prod, variants=""
)
def cartesian_prod(tensors):
    """Return all combinations of an element of each vector, as rows; of one vector, itself.

    >>> imode.cartesian_prod(imode.tensor([1, 2]), imode.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    for t in tensors:
        _check_vector(t)
    if len(tensors) == 1:
        return tensors[0]
    return ops.stack([grid.flatten() for grid in ops.meshgrid(tensors, indexing="ij")], 1)


functions["cartesian_prod"] = _of_many(cartesian_prod, lists=False)


def _check_vector(tensor):
    if tensor.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")


@composite(
    "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    fast=composites_fast.combinations,
    variants="function",
)
def combinations(self, r, with_replacement):
    """Return all choices of `r` elements of a vector as rows, in order.

    with_replacement: also those that have an element several times.

    >>> imode.combinations(imode.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    _check_vector(self)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return self.new_empty((0,))
    if r > 64:
        raise MemoryError(f"combinations(): grids have 64 dimensions at most, got r={r}")
    choose = ops.le if with_replacement else ops.lt
    places = ops.meshgrid([ops.arange(self.numel(), device=self.device)] * r, indexing="ij")
    mask = ops.ones_like(places[0], dtype=bool)
    for left, right in pairwise(places):
        mask = mask.logical_and(choose(left, right))
    grids = ops.meshgrid([self] * r, indexing="ij")
    return ops.stack([grid.masked_select(mask) for grid in grids], 1)
