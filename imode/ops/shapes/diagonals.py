"""Diagonals as tensors of their own: copies of them, and matrices with nothing beside them."""

from imode import errors, ops
from imode.autograd.views import write_as
from imode.kernels.creation.fill_fast import zeros_in_rows
from imode.kernels.shapes import views
from imode.kernels.shapes.views import wrap_dim
from imode.ops.schema import Out, composite, op


@op(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    derivative={"self": lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2)},
)
def _diag_embed(self, offset, dim1, dim2):
    """Return square matrices over `dim1` and `dim2` with the last dimension as their diagonals.

    offset: how far above the middle these lie. Raises RuntimeError where both dimensions are one.

    >>> imode.diag_embed(imode.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    ndim = self.ndim + 1
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    length = self.shape[wrap_dim(-1, self.ndim)] + abs(offset)
    if first == second:
        raise errors.shapes.same_diagonal(dim1, dim2)
    shape = list(self.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, length)
    made = zeros_in_rows(tuple(shape), self)
    views.apply(views.diagonal, made, offset, first, second)[...] = self
    return made


@composite("diag(Tensor self, int diagonal=0) -> Tensor", variants="function method out")
def diag(self, diagonal, out=None):
    """Return a copy of the diagonal of a matrix, or the matrix that has a vector as its diagonal.

    Raises RuntimeError for any other number of dimensions.

    >>> imode.diag(imode.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    if self.dim() not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.dim()}D")
    if self.dim() == 2:
        return ops.diagonal_copy(self, diagonal, out=out)
    made = self.diag_embed(diagonal)
    if out is None:
        return made
    _OF_VECTOR.refuse(self.dtype, out.dtype)
    return ops.diagonal_copy.accepts.write(made, out, "diag")


_OF_VECTOR = Out(says="diag: result type {Wanted} can't be cast to the desired out= type {Found}")


@composite("diagflat(Tensor self, int offset=0) -> Tensor")
def diagflat(self, offset):
    """Return the matrix that has all elements as its diagonal.

    >>> imode.diagflat(imode.tensor([[1, 2]]))
    tensor([[1, 0],
            [0, 2]])
    """
    return self.contiguous().view(-1).diag_embed(offset)


@composite(
    "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
    variants="method",
)
def fill_diagonal_(self, fill_value, wrap):
    """Set the elements whose indices are all alike to a number, and return the tensor.

    wrap: go on in a tall matrix, below an empty row. Raises RuntimeError for fewer than two
    dimensions, and for more where they are not of one length.

    >>> imode.zeros(2, 2).fill_diagonal_(7)
    tensor([[7., 0.],
            [0., 7.]])
    """
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    height, width = self.shape[:2]
    if self.dim() > 2 and any(n != height for n in self.shape):
        raise RuntimeError("all dimensions of input must be of equal length")
    step, start, length = sum(self.stride()), self.storage_offset(), min(height, width)
    diagonal = self.as_strided((length,), (step,), start)
    write_as("fill_diagonal_", ops.fill_, diagonal, fill_value, whole=False)
    if wrap and self.dim() == 2 and height > width + 1:
        rest = -(-self.numel() // (width + 1)) - length
        start += self.stride(0) * (width + 1)
        diagonal = self.as_strided((rest,), (step,), start)
        write_as("fill_diagonal_", ops.fill_, diagonal, fill_value, whole=False)
    return self
