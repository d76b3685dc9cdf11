"""Products of groups of matrices, which may lie one after another in one matrix."""

import numpy as np

from imode import errors, ops
from imode._core.dtype import as_numpy
from imode._core.parallel import skipping
from imode._core.type_names import c_name, scalar_name
from imode.ops.products import linalg
from imode.ops.schema import composite, op

_TAKEN = ("float16", "bfloat16", "float32")
_ALIGNED = 16  # bytes: where rows begin

# ---- checks ----


def _check_lies_in_rows(matrices):
    """That rows or columns lie whole and aligned in memory."""
    rows, columns = matrices.shape[-2:]
    row, column = (step // matrices.itemsize for step in matrices.strides[-2:])
    if row == 1 and column >= max(1, rows):
        step = column
    elif column == 1 and row >= max(1, columns):
        step = row
    else:
        strides = [step // matrices.itemsize for step in matrices.strides]
        raise RuntimeError(
            f"Invalid strides/sizes, got {strides} for strides and {list(matrices.shape)} for sizes"
        )
    if step * matrices.itemsize % _ALIGNED:
        raise RuntimeError("strides should be multiple of 16 bytes")


def _check(first, second, offs, bias):
    both = (("mat_a", first), ("mat_b", second))
    for name, matrices in both:
        if matrices.dtype.name not in _TAKEN:
            raise RuntimeError(
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got "
                f"{scalar_name(matrices.dtype)}"
            )
    for name, matrices in both:
        if matrices.ndim not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    if 3 in (first.ndim, second.ndim) and first.shape[-1] != second.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    for _, matrices in both:
        _check_lies_in_rows(matrices)
    if (offs is None) != (first.ndim == second.ndim == 3):
        raise RuntimeError(
            "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"
        )
    if offs is not None and offs.ndim != 1:
        raise RuntimeError("offs has to be 1D")
    if offs is not None and offs.dtype != np.int32:
        raise RuntimeError("Offsets have to be int32")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")


def _check_same(first, second, offs):
    if first.dtype == second.dtype or not (len(first) if offs is None else len(offs)):
        return
    names = [c_name(matrices.dtype) for matrices in (first, second)]
    if offs is None:
        raise RuntimeError(
            f"Expected out tensor to have dtype {names[1]}, but got {names[0]} instead"
        )
    raise errors.dtypes.products(*names)


# ---- the products ----


def _place(first, second, offs):
    """Zeros in the shape of the result; each row begins at an aligned place."""
    shape = (*first.shape[first.ndim - 2 : -1], second.shape[-1])
    if first.ndim == second.ndim == 3:
        if len(first) != len(second):
            raise RuntimeError("batched dimension has to match")
        shape = (len(first), *shape)
    elif first.ndim == second.ndim:
        shape = (len(offs), *shape)
    elif len(offs) != len(first if first.ndim == 3 else second):
        raise RuntimeError("matrix batch sizes have to match")
    whole = _ALIGNED // first.itemsize
    row = -(-shape[-1] // whole) * whole
    return np.zeros((*shape[:-1], row), first.dtype)[..., : shape[-1]]


def _groups(first, second, offs, into):
    """Each group's two matrices, and where their product goes."""
    start = 0
    for i, end in enumerate(offs.tolist()):
        along = slice(start, end)
        if first.ndim == second.ndim:
            yield first[:, along], second[along], into[i]
        elif first.ndim == 2:
            yield first[along], second[i], into[along]
        else:
            yield first[i], second[:, along], into[:, along]
        start = end


def _by_first(grad, mat2, offs, self_geometry):
    (*_, rows, _), (*_, row, column), _ = self_geometry
    if row == 1 and column == rows:  # it lay in columns, and so does its gradient
        return ops._grouped_mm(mat2, grad.transpose(-2, -1), offs).transpose(-2, -1)
    return ops._grouped_mm(grad, mat2.transpose(-2, -1), offs)


def _by_second(grad, self, offs, mat2_geometry):
    (*_, rows, _), (*_, row, column), _ = mat2_geometry
    if row == 1 and column == rows:
        return ops._grouped_mm(grad.transpose(-2, -1), self, offs).transpose(-2, -1)
    return ops._grouped_mm(self.transpose(-2, -1), grad, offs)


@op(
    "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
    "dtype? out_dtype=None) -> Tensor",
    derivative={"self": _by_first, "mat2": _by_second},
)
def _grouped_mm(self, mat2, offs, bias, out_dtype):
    """The products of groups of matrices; see `imode.nn.functional.grouped_mm`."""
    _check(self, mat2, offs, bias)
    if as_numpy(out_dtype, self.dtype) != self.dtype:
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")
    result = _place(self, mat2, offs)
    _check_same(self, mat2, offs)
    if skipping():
        return result
    if self.dtype.name == "bfloat16":
        self, mat2 = self.astype(np.float32), mat2.astype(np.float32)
    if offs is None:
        result[...] = linalg.bmm(self, mat2)
        return result
    for first, second, into in _groups(self, mat2, offs, result):
        into[...] = linalg.mm(first, second)
    return result


composite(
    "grouped_mm(any mat_a, any mat_b, *, any offs=None, any bias=None, any out_dtype=None) "
    "-> Tensor",
    variants="nn",
    doc="""Multiply groups of matrices, as of experts that have not equally many rows.

    mat_a, mat_b: float32, bfloat16 or float16; 3D, a matrix for each group, or 2D, all groups
    one after another: along the rows of mat_a, the columns of mat_b, or, where both are 2D, the
    dimension that is summed. offs: int32, where each group ends in what is 2D. Elements of the
    result that are in no group are 0.

    Rows (or columns, of transposed matrices) begin at multiples of 16 bytes. Raises RuntimeError
    where they do not, for other dtypes, for a bias, and for an out_dtype that is not mat_a's.

    >>> a, b = imode.ones(3, 4), imode.ones(2, 4, 4)
    >>> ends = imode.tensor([1, 3], dtype=imode.int32)
    >>> imode.nn.functional.grouped_mm(a, b, offs=ends).shape
    imode.Size([3, 4])
    """,
)(
    lambda mat_a, mat_b, offs, bias, out_dtype: ops._grouped_mm(
        mat_a, mat_b, offs=offs, bias=bias, out_dtype=out_dtype
    )
)
