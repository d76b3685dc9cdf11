"""PyTorch's torch.sparse: products, sums and softmax of sparse COO tensors.

`imode.sparse_coo_tensor` and `Tensor.to_sparse` make them. Of the other layouts there are the
names alone.

>>> a = imode.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
>>> imode.sparse.mm(a, imode.ones(2, 1))
tensor([[2.],
        [3.]])
"""

from imode import errors as _errors
from imode import ops as _ops
from imode.errors import names_of as _names_of

from .invariants import check_sparse_tensor_invariants
from .legacy import (
    BFloat16Tensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)

__all__ = [
    "BFloat16Tensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "addmm",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "softmax",
    "sum",
]

__getattr__ = _names_of(__name__)


def mm(mat1, mat2, reduce="sum"):
    """Return the product of two matrices, of which one or both are sparse.

    The gradient of a sparse matrix is sparse: it has elements where the matrix has some. The
    product is strided, or sparse where both are. Raises NotImplementedError for another `reduce`.

    >>> a = imode.eye(2).to_sparse().requires_grad_()
    >>> imode.sparse.mm(a, imode.ones(2, 1)).sum().backward()
    >>> a.grad.layout
    imode.sparse_coo
    """
    if reduce != "sum":
        raise _errors.sparse.no_kernel("_sparse_mm_reduce_impl")
    if mat1.dim() != 2 or mat2.dim() != 2:
        return _ops.mm(mat1, mat2)  # which names the mistake
    if mat1.is_sparse and mat2.is_sparse:
        return _ops._sparse_sparse_matmul(mat1, mat2)
    if not mat1.is_sparse:
        product = mm if mat2.is_sparse else _ops.mm
        return product(mat2.t(), mat1.t()).t()
    return _ops._sparse_addmm(mat1.new_zeros(()).to_dense(), mat1, mat2, beta=0, alpha=1)


def addmm(mat, mat1, mat2, *, beta=1, alpha=1):
    """Return ``beta * mat + alpha * mat1 @ mat2`` of a sparse `mat1`, whose gradient is sparse.

    >>> imode.sparse.addmm(imode.ones(2, 1), imode.eye(2).to_sparse(), imode.ones(2, 1))
    tensor([[2.],
            [2.]])
    """
    return _ops._sparse_addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input, dim=None, dtype=None):
    """Return the sum of a sparse tensor over `dim`, or over all dimensions.

    It is sparse as long as a sparse dimension is left. The gradient is sparse, like the input.

    >>> imode.sparse.sum(imode.eye(2).to_sparse(), 0).to_dense()
    tensor([1., 1.])
    """
    if dim is None:
        return input.coalesce().values().sum(dtype=dtype)
    return _ops._sparse_sum(input, dim, dtype=dtype)


def softmax(input, dim, *, dtype=None):
    """Return softmax along `dim` of the elements that are there: others count as minus infinity.

    >>> imode.sparse.softmax(imode.eye(2).to_sparse(), 1).values()
    tensor([1., 1.])
    """
    return _ops._sparse_softmax(input if dtype is None else input.to(dtype), dim)


def log_softmax(input, dim, *, dtype=None):
    """Return the logarithm of `softmax`.

    >>> imode.sparse.log_softmax(imode.eye(2).to_sparse(), 1).values()
    tensor([0., 0.])
    """
    return _ops._sparse_log_softmax(input if dtype is None else input.to(dtype), dim)
