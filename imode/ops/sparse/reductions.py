"""Sums and softmax of sparse tensors: `imode.sparse`'s."""

from imode import ops
from imode._core.sparse import ON_COORDINATES
from imode.ops.schema import op

op(
    "_sparse_sum.dim(Tensor self, int[1] dim, *, dtype? dtype=None) -> Tensor",
    ON_COORDINATES,
    derivative={"self": lambda grad, self, dim: ops._sparse_sum_backward(grad, self, dim)},
    name="SparseSumBackward0",
    real_only="_sparse_sum",
    by_values=True,
    doc="The sum over some dimensions of a sparse tensor.",
)

op(
    "_sparse_sum_backward(Tensor grad_output, Tensor self, int[] dim) -> Tensor",
    ON_COORDINATES,
    derivative={
        "grad_output": lambda grad, grad_output, dim: (
            ops._sparse_sum(grad, dim) if grad_output.is_sparse else grad.to_dense().sum(dim)
        )
    },
    by_values=True,
    doc="The gradient of a sum over some dimensions, at the elements of a sparse tensor.",
)

for _name, _backward in (
    (
        "softmax",
        lambda grad, result, dim: ops._sparse_softmax_backward_data(grad, result, dim),
    ),
    (
        "log_softmax",
        lambda grad, result, dim: ops._sparse_log_softmax_backward_data(grad, result, dim),
    ),
):
    op(
        f"_sparse_{_name}(Tensor self, int dim, bool half_to_float=False) -> Tensor",
        ON_COORDINATES,
        derivative={"self": _backward},
        by_values=True,
        doc="Of the elements that are there, along a dimension of a sparse tensor.",
    )
    op(
        f"_sparse_{_name}_backward_data(Tensor grad_output, Tensor output, int dim) -> Tensor",
        ON_COORDINATES,
        differentiable=False,
        by_values=True,
        doc="The gradient of a softmax of a sparse tensor.",
    )
