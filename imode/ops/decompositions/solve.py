"""Systems of linear equations: by LU, and by triangular matrices."""

import math

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.dispatch import is_grad_enabled
from imode.kernels.decompositions import factor
from imode.ops.decompositions import checks
from imode.ops.decompositions.composites_fast import leading
from imode.ops.decompositions.lu import check_system, mh, solve_by_lu
from imode.ops.schema import Out, composite, conj, op

# ---- by LU ----


def _is_vector(A_shape, B_shape):
    """Whether right-hand sides are vectors: of one dimension, or as many as matrices."""
    return len(B_shape) == 1 or (
        len(A_shape) - 1 == len(B_shape) and tuple(A_shape[:-1]) == tuple(B_shape)
    )


def _solve_ex(A, B, left, check_errors):
    name = "linalg.solve"
    checks.floating(A, name)
    checks.square(A, name)
    checks.same_dtype(A, B, name)
    vector = _is_vector(A.shape, B.shape)
    columns = B[..., None] if vector else B
    check_system(A, columns, left, name)
    checks.served(A, "lu_cpu")
    batch = broadcast_shape(columns.shape[:-2], A.shape[:-2])
    if batch == A.shape[:-2]:
        B = np.broadcast_to(columns, (*batch, *columns.shape[-2:]))
        X, LU, pivots, info = factor.solve(A, B[..., 0] if vector else B, left, vector)
    else:  # each matrix is factored once
        LU, pivots, info = factor.lu(A)
        X = solve_by_lu(LU, pivots, columns, left, False)
        X = X[..., 0] if vector else X
    if check_errors:
        checks.completed(info, "imode.linalg.solve_ex", errors.linalg.unsolvable)
    return X, LU, pivots, info


def _solve_backward(grad, A, LU, pivots, result, left, needs):
    if grad is None:
        return None, None
    vector = _is_vector(LU.shape, result.shape)
    if vector:
        grad, result = grad.unsqueeze(-1), result.unsqueeze(-1)
    if is_grad_enabled():  # then by A itself, which is what is differentiated
        gB = ops.linalg_solve(mh(A), grad, left=left)
    else:
        gB = ops.linalg_lu_solve(LU, pivots, grad, left=left, adjoint=True)
    gA = None
    if needs[0]:
        gA = -(gB @ mh(result) if left else mh(result) @ gB)
    return gA, gB.squeeze(-1) if vector else gB


op(
    "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
    "-> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
    _solve_ex,
    fast=factor.solve_ex,
    derivative={("A", "B"): _solve_backward},
)


@composite(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
    "-> (Tensor result, Tensor info)",
    variants="function out",
    out=Out("same", name="_linalg_solve_ex"),
    named=True,
)
def linalg_solve_ex(A, B, left, check_errors):
    """Solve A X = B, or X A = B where not `left`; `info` tells which matrices are singular.

    >>> imode.linalg_solve_ex(imode.eye(2), imode.ones(2)).info
    tensor(0, dtype=imode.int32)
    """
    found = ops._linalg_solve_ex(A, B, left=left, check_errors=check_errors)
    return found[0], found[3]


@composite(
    "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    fast=leading("_linalg_solve_ex", 1, 3),
    variants="function out",
    out=Out("same", name="_linalg_solve_ex"),
)
def linalg_solve(A, B, left):
    """Solve A X = B, or X A = B where not `left`, of square matrices A.

    B is a matrix, a stack of such, or vectors: of one dimension, or of the shape of A without the
    last. Raises LinAlgError where a matrix is singular.

    >>> imode.linalg_solve(imode.tensor([[2.0, 0.0], [0.0, 4.0]]), imode.ones(2))
    tensor([0.5000, 0.2500])
    """
    result, _, _, info = ops._linalg_solve_ex(A, B, left=left)
    checks.completed(checks.array(info), "imode.linalg.solve", errors.linalg.unsolvable)
    return result


@composite(
    "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    variants="function out",
    out=checks.castable("tensorsolve", layout="rows"),
)
def linalg_tensorsolve(self, other, dims):
    """Return the tensor X whose product with `self`, over the last dimensions of it, is `other`.

    `dims` are moved to the end of `self` first.

    >>> imode.linalg_tensorsolve(imode.eye(4).reshape(2, 2, 4), imode.ones(2, 2)).shape
    imode.Size([4])
    """
    if dims is not None:
        moved = [d % self.dim() for d in dims]
        self = self.movedim(moved, list(range(self.dim() - len(moved), self.dim())))
    rest = self.shape[other.dim() :]
    product = math.prod(rest)
    if product != math.prod(self.shape[: other.dim()]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {product} != {other.numel()}"
        )
    result = ops.linalg_solve(self.reshape(product, product), other.flatten())
    return result.reshape(rest)


# ---- triangular ----


def _check_triangular(self, B, left):
    name = "linalg.solve_triangular"
    checks.square(self, name)
    check_system(self, B, left, name)
    checks.same_dtype(self, B, name)


def _solve_triangular(self, B, upper, left, unitriangular):
    _check_triangular(self, B, left)
    checks.served(self, "triangular_solve_cpu")
    return factor.triangular(*checks.spread(self, B), upper, left, unitriangular, False)


def _triangle(grad, upper, unitriangular):
    offset = 1 if unitriangular else 0
    return grad.triu(offset) if upper else grad.tril(-offset)


def _solve_triangular_backward(grad, self, result, upper, left, unitriangular, needs):
    if grad is None:
        return None, None
    gB = ops.linalg_solve_triangular(
        mh(self), grad, upper=not upper, left=left, unitriangular=unitriangular
    )
    if not needs[0]:
        return None, gB
    gA = -(gB @ mh(result) if left else mh(result) @ gB)
    return _triangle(gA, upper, unitriangular), gB if needs[1] else None


op(
    "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
    "bool unitriangular=False) -> Tensor",
    _solve_triangular,
    fast=factor.solve_triangular,
    derivative={("self", "B"): _solve_triangular_backward},
    variants="function out",
    out=Out("same", "expected scalar type {Wanted} but found {Found}"),
    doc="""Solve A X = B, or X A = B where not `left`, of triangular matrices A.

    Only the upper or the lower triangle of A is read; where `unitriangular`, its diagonal is taken
    for ones. A zero on the diagonal gives infinities.

    >>> imode.linalg_solve_triangular(2 * imode.eye(2), imode.ones(2, 1), upper=True)
    tensor([[0.5000],
            [0.5000]])
    """,
)


def _older_triangular(self, A, upper, transpose, unitriangular):
    for name, x in (("b", self), ("A", A)):
        if x.ndim < 2:
            raise RuntimeError(
                f"imode.triangular_solve: Expected {name} to have at least 2 dimensions, but it "
                f"has {x.ndim} dimensions instead"
            )
    if self.dtype != A.dtype:
        raise errors.linalg.unlike(self.dtype, A.dtype)
    if A.shape[-1] != A.shape[-2]:
        raise errors.linalg.not_square("", A.shape)
    if A.shape[-1] != self.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for triangular_solve: each A matrix is {A.shape[-2]} by "
            f"{A.shape[-1]} but each b matrix is {self.shape[-2]} by {self.shape[-1]}"
        )
    checks.served(A, "triangular_solve_cpu")
    A, b = checks.spread(A, self)
    X = factor.triangular(A, b, upper, True, unitriangular, transpose)
    return X, factor.columns(A)


def _triangular_solve_backward(grads, self, A, solution, upper, transpose, unitriangular, needs):
    grad, of_copy = grads
    gB = gA = None
    if grad is not None:
        gB = ops.triangular_solve(grad, conj(A), upper, not transpose, unitriangular)[0]
        if needs[1]:
            gA = -(conj(solution) @ gB.mT if transpose else gB @ mh(solution))
            gA = _triangle(gA, upper, unitriangular)
    if of_copy is not None and needs[1]:
        gA = of_copy if gA is None else gA + of_copy
    return gB, gA


op(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    _older_triangular,
    derivative={("self", "A"): _triangular_solve_backward},
    variants="function method out",
    out=Out("same"),
    doc="""Solve A X = self, or A.T X = self, of triangular matrices; an older name.

    The second result is a copy of A.

    >>> imode.ones(2, 1).triangular_solve(2 * imode.eye(2)).solution
    tensor([[0.5000],
            [0.5000]])
    """,
)
