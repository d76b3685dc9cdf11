"""Products of sparse matrices whose gradients are sparse where the matrix is: `imode.sparse`'s.

`mm` and `addmm` of sparse matrices are in `imode/backends/sparse/products.py`; the gradient that
they give a sparse matrix is strided, as in PyTorch.
"""

from imode import ops
from imode._core.sparse import ON_COORDINATES
from imode.ops.schema import conj, op


def _times(tensor, factor):
    return tensor if factor == 1 else tensor * factor


op(
    "_sparse_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor",
    ON_COORDINATES,
    derivative={
        "self": lambda grad, beta: _times(grad, beta),
        "mat1": lambda grad, mat1, mat2, alpha: _times(
            ops._sampled_product(mat1, grad, conj(mat2)), alpha
        ),
        "mat2": lambda grad, mat1, alpha: _times(conj(mat1.t()).mm(grad), alpha),
    },
    by_values=True,
    doc="beta * self + alpha * mat1 @ mat2 of a sparse matrix, whose gradient is sparse.",
)

op(
    "_sampled_product(Tensor mask, Tensor a, Tensor b) -> Tensor",
    ON_COORDINATES,
    derivative={
        "a": lambda grad, b: grad.mm(conj(b)),
        "b": lambda grad, a: grad.t().mm(conj(a)),
    },
    by_values=True,
    doc="The elements of a @ b.T where a sparse matrix has some.",
)

op(
    "_sparse_sparse_matmul(Tensor self, Tensor other) -> Tensor",
    ON_COORDINATES,
    derivative={
        "self": lambda grad, self, other: ops._sparse_sparse_matmul(
            grad, conj(other.t())
        ).sparse_mask(self.coalesce()),
        "other": lambda grad, self, other: ops._sparse_sparse_matmul(
            conj(self.t()), grad
        ).sparse_mask(other.coalesce()),
    },
    by_values=True,
    doc="The product of two sparse matrices, a sparse one.",
)
