"""Several tensors: joining them (cat, stack and their kin), broadcasting them together, grids."""

import math

import numpy as np

from imode import ops
from imode._core.broadcast import broadcast_shape
from imode._core.dtype import can_cast, from_numpy_dtype, result_type
from imode._core.internals import array_of
from imode._core.tensor import Tensor
from imode._core.words import scalar_name
from imode.errors import out_of_wrong_dtype
from imode.kernels import fresh
from imode.kernels.order import is_channels_last
from imode.kernels.strided import wrap_dim

from .schema import alias, composite, functions, op, out_form, recorded

# ---- join ----------------------------------------------------------------------------------------


def _skipped(shape):
    """Whether `cat` overlooks a tensor of this shape: an empty vector, for old programs' sake."""
    return len(shape) == 1 and shape[0] == 0


def _common_dtype(arrays):
    """The dtype that tensors of these dtypes and dimensions promote to."""
    first = arrays[0].dtype
    if all(a.dtype == first for a in arrays):
        return first
    return result_type(*arrays)


def _joined(tensors, dim):
    """The places and arrays that `cat` does not overlook, and the dimension that it joins along."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, a in enumerate(tensors):
        if a.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    joined = [(i, a) for i, a in enumerate(tensors) if not _skipped(a.shape)]
    return joined, wrap_dim(dim, joined[0][1].ndim if joined else 1)


def _cat(tensors, dim):
    joined, dim = _joined(tensors, dim)
    dtype = _common_dtype(tensors)
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
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {m} "
                    f"but got size {n} for tensor number {i} in the list."
                )
    arrays = [a for _, a in joined]
    shape = list(first.shape)
    shape[dim] = sum(a.shape[dim] for a in arrays)
    result = _empty(shape, dtype, tensors)
    if result.size:
        np.concatenate(arrays, dim, out=result, casting="unsafe")
    return result


def _empty(shape, dtype, tensors):
    """A new array for what is joined, with channels last where all tensors have them there."""
    if not all(map(is_channels_last, tensors)):
        return np.empty(shape, dtype)
    made = np.empty((shape[0], *shape[2:], shape[1]), dtype)
    return made.transpose(0, -1, *range(1, len(shape) - 1))


def _cat_backward(grad, tensors_shapes, tensors_dtype, dim):
    shapes = [tuple(s) for s in tensors_shapes]
    nd = next((len(s) for s in shapes if not _skipped(s)), 1)
    dim = wrap_dim(dim, nd)
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
    fresh.cat(_cat),
    derivative={"tensors": _cat_backward},
    variants="function out",
    apart="all",
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
    first, dtype = tensors[0].shape, _common_dtype(tensors)
    if dim == len(first):
        result = np.empty(shape, dtype)
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
    fresh.stack(_stack),
    derivative={"tensors": _stack_backward},
    variants="function out",
    apart="all",
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


@composite(
    "hstack(Tensor[] tensors) -> Tensor", variants="function out", through="cat", apart="all"
)
def hstack(tensors):
    """Return the tensors side by side: joined along dimension 1, vectors along 0.

    >>> imode.hstack([imode.tensor([1, 2]), imode.tensor([3])])
    tensor([1, 2, 3])
    """
    _check_list("hstack", tensors)
    tensors = [_at_least(t, 1) for t in tensors]
    return ops.cat(tensors, 0 if tensors[0].dim() == 1 else 1)


@composite(
    "vstack(Tensor[] tensors) -> Tensor", variants="function out", through="cat", apart="all"
)
def vstack(tensors):
    """Return the tensors below each other: joined along dimension 0, vectors being rows.

    >>> imode.vstack([imode.tensor([1, 2]), imode.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    _check_list("vstack", tensors)
    return ops.cat([_at_least(t, 2) for t in tensors], 0)


@composite(
    "dstack(Tensor[] tensors) -> Tensor", variants="function out", through="cat", apart="all"
)
def dstack(tensors):
    """Return the tensors behind each other: joined along dimension 2.

    >>> imode.dstack([imode.tensor([1, 2]), imode.tensor([3, 4])]).shape
    imode.Size([1, 2, 2])
    """
    _check_list("dstack", tensors)
    return ops.cat([_at_least(t, 3) for t in tensors], 2)


@composite(
    "column_stack(Tensor[] tensors) -> Tensor", variants="function out", through="cat", apart="all"
)
def column_stack(tensors):
    """Return the tensors side by side, vectors being columns.

    >>> imode.column_stack([imode.tensor([1, 2]), imode.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    _check_list("column_stack", tensors)
    return ops.hstack([t.reshape((t.numel(), 1)) if t.dim() <= 1 else t for t in tensors])


alias("row_stack", vstack)


def _refuse_dtypes_first(operator, check=None):
    """Let the out= form name a dtype that cannot take the result before memory, and before shapes
    but for those that `check` looks at."""
    into = operator.out

    def checked(functional, arguments, out):
        tensors, *dim = arguments
        if tensors and isinstance(out, Tensor) and not recorded((tensors, out)):
            arrays = [array_of(t) for t in tensors]
            if check is not None:
                check(arrays, *dim)
            found = _common_dtype(arrays)
            if not can_cast(from_numpy_dtype(found), out.dtype):
                names = scalar_name(found), scalar_name(out.dtype.numpy)
                raise out_of_wrong_dtype(functional.name, *names)
        return into(*arguments, out=out)

    out_form(operator, checked)


_refuse_dtypes_first(_cat_op, _joined)
_refuse_dtypes_first(_stack_op, _stacked)
_stack_op.entry.rows_out = lambda computed, out: True
for _operator in (hstack, vstack, dstack, column_stack):
    _refuse_dtypes_first(_operator)

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
