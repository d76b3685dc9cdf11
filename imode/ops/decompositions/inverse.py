"""Inverses of square matrices."""

import math

from imode import errors, ops
from imode.kernels.decompositions import factor
from imode.ops.decompositions import checks
from imode.ops.decompositions.composites_fast import leading
from imode.ops.decompositions.lu import mh
from imode.ops.schema import Out, composite, op


def _inv_ex(A, check_errors):
    checks.square(A, "linalg.inv")
    checks.floating(A, "linalg.inv", low=False)
    inverse, info = factor.inverse(A)
    if check_errors:
        checks.completed(info, "linalg.inv_ex", errors.linalg.singular)
    return inverse, info


op(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    _inv_ex,
    fast=factor.inv_ex,
    derivative={"A": lambda grad, inverse: -(mh(inverse) @ (grad @ mh(inverse)))},
    variants="function out",
    out=Out("same"),
    doc="""Return the inverses of square matrices, and which have none.

    `info` is 0, or the place of the first zero on the diagonal of the factor U.

    >>> imode.linalg_inv_ex(imode.zeros(2, 2)).info
    tensor(1, dtype=imode.int32)
    """,
)


def _inverse(A):
    """Return the inverses of square matrices (*, n, n).

    Raises LinAlgError where a matrix is singular.

    >>> imode.linalg.inv(imode.tensor([[2.0]]))
    tensor([[0.5000]])
    """
    inverse, info = ops.linalg_inv_ex(A)
    checks.completed(checks.array(info), "linalg.inv", errors.linalg.singular)
    return inverse


for _schema, _variants in (
    ("linalg_inv(Tensor A) -> Tensor", "function out"),
    ("inverse(Tensor self) -> Tensor", "function method out"),
):
    composite(
        _schema,
        fast=leading("linalg_inv_ex", 1, 1),
        variants=_variants,
        out=Out("same", name="linalg_inv_ex"),
    )(_inverse)


@composite(
    "linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
    variants="function out",
    out=checks.castable("tensorinv", layout="rows"),
)
def linalg_tensorinv(self, ind):
    """Return the inverse of the map from the last dimensions, from `ind` on, to the first ones.

    >>> imode.linalg_tensorinv(imode.eye(4).reshape(2, 2, 4)).shape
    imode.Size([4, 2, 2])
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > self.dim():
        raise RuntimeError(
            f"ArrayRef: invalid slice, N = {ind}; size = {self.dim()}\nA tensor of {self.dim()} "
            "dimensions has no such half."
        )
    first, last = self.shape[:ind], self.shape[ind:]
    rows, columns = (math.prod(shape) for shape in (first, last))
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {columns} != {rows}"
        )
    inverse, info = ops.linalg_inv_ex(self.reshape(columns, rows))
    checks.completed(checks.array(info), "inv", errors.linalg.singular)
    return inverse.reshape((*last, *first))
