"""Cholesky's factorization of positive-definite matrices, and what is solved by it."""

from imode import errors, ops
from imode.kernels.decompositions import symmetric
from imode.ops.decompositions import checks
from imode.ops.decompositions.composites_fast import leading
from imode.ops.decompositions.lu import mh
from imode.ops.schema import Out, composite, op


def _cholesky_ex(self, upper, check_errors):
    checks.square(self, "linalg.cholesky")
    checks.floating(self, "linalg.cholesky")
    checks.served(self, "cholesky_cpu")
    L, info = symmetric.cholesky(self, upper)
    if check_errors:
        checks.completed(info, "imode.linalg.cholesky_ex", errors.linalg.indefinite)
    return L, info


def _cholesky(self, upper):
    if not self.size:
        return self.copy()
    checks.square(self, "cholesky")
    checks.served(self, "cholesky_cpu")
    L, info = symmetric.cholesky(self, upper)
    checks.completed(info, "cholesky", errors.linalg.indefinite)
    return L


def _cholesky_backward(grad, L, upper):
    """Half of L^-H (F + F^H) L^-1, F the lower triangle of L^H grad, its diagonal halved."""
    if upper:
        L, grad = mh(L), mh(grad)
    inner = (mh(L) @ grad).tril()
    halved = 0.5 * (inner + mh(inner.tril(-1)))
    left = ops.linalg_solve_triangular(mh(L), halved, upper=True)
    return ops.linalg_solve_triangular(L, left, upper=False, left=False)


op(
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) "
    "-> (Tensor L, Tensor info)",
    _cholesky_ex,
    fast=symmetric.cholesky_ex_fast,
    derivative={"self": lambda grad, L, upper: _cholesky_backward(grad, L, upper)},
    variants="function out",
    out=Out("same"),
    doc="""Return the lower triangular L with A = L L^H, or its adjoint if `upper`, and `info`.

    Of Hermitian matrices (*, n, n), of which one triangle is read. `info` is 0, or the order of the
    leading minor that is not positive-definite.

    >>> imode.linalg_cholesky_ex(imode.tensor([[4.0, 0.0], [0.0, -1.0]])).info
    tensor(2, dtype=imode.int32)
    """,
)


@composite(
    "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
    fast=leading("linalg_cholesky_ex", 1, 1),
    variants="function out",
    out=Out("same", name="linalg_cholesky_ex"),
)
def linalg_cholesky(self, upper):
    """Return the lower triangular L with A = L L^H, or its adjoint if `upper`.

    Raises LinAlgError where a matrix is not positive-definite.

    >>> imode.linalg_cholesky(imode.tensor([[4.0, 0.0], [0.0, 9.0]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    L, info = ops.linalg_cholesky_ex(self, upper=upper)
    checks.completed(checks.array(info), "linalg.cholesky", errors.linalg.indefinite)
    return L


op(
    "cholesky(Tensor self, bool upper=False) -> Tensor",
    _cholesky,
    fast=symmetric.cholesky_fast,
    derivative={"self": lambda grad, result, upper: _cholesky_backward(grad, result, upper)},
    variants="function method out",
    out=checks.castable("cholesky", layout="rows"),
    doc="""Return the lower triangular L with A = L L^H, or its adjoint if `upper`; an older name.

    >>> imode.cholesky(imode.tensor([[4.0, 0.0], [0.0, 9.0]]))
    tensor([[2., 0.],
            [0., 3.]])
    """,
)


def _cholesky_inverse(self, upper):
    checks.square(self, "cholesky_inverse")
    checks.served(self, "cholesky_inverse_out_cpu")
    inverse, info = symmetric.cholesky_inverse(self, upper)
    checks.completed(info, "cholesky_inverse", errors.linalg.singular)
    return inverse


def _cholesky_inverse_backward(grad, self, result, upper):
    both = result @ (grad + mh(grad)) @ result
    return -(self @ both) if upper else -(both @ self)


op(
    "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    _cholesky_inverse,
    fast=symmetric.cholesky_inverse_fast,
    derivative={"self": _cholesky_inverse_backward},
    variants="function method out",
    out=checks.castable("cholesky_inverse"),
    doc="""Return the inverse of A, given its factor L, or the adjoint of it where `upper`.

    >>> imode.cholesky_inverse(imode.tensor([[2.0]]))
    tensor([[0.2500]])
    """,
)


def check_systems(B, A, name):
    """Refuse matrices of systems that do not fit, as older operators do."""
    if A.dtype != B.dtype:
        raise errors.linalg.unlike(B.dtype, A.dtype)
    if A.shape[-1] != B.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {A.shape[-2]} by "
            f"{A.shape[-1]} but each b matrix is {B.shape[-2]} by {B.shape[-1]}"
        )
    if A.shape[-1] != A.shape[-2]:
        raise errors.linalg.not_square("", A.shape)


def _cholesky_solve(self, input2, upper):
    for name, x in (("b", self), ("u", input2)):
        if x.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {x.ndim} dimensions instead"
            )
    check_systems(self, input2, "cholesky_solve")
    checks.served(self, "cholesky_solve_cpu")
    return symmetric.cholesky_solve(*checks.spread(self, input2), upper)


def _cholesky_solve_backward(grad, self, input2, result, upper, needs):
    if grad is None:
        return None, None
    gB = ops.cholesky_solve(grad, input2, upper)
    if not needs[1]:
        return gB, None
    both = gB @ mh(result)
    both = both + mh(both)
    return gB, -(input2 @ both) if upper else -(both @ input2)


op(
    "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    _cholesky_solve,
    fast=symmetric.cholesky_solve_fast,
    derivative={("self", "input2"): _cholesky_solve_backward},
    variants="function method out",
    out=checks.castable("cholesky_solve", layout="rows"),
    doc="""Solve A X = self, given the factor L of A, or the adjoint of L where `upper`.

    >>> imode.cholesky_solve(imode.ones(2, 1), imode.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([[0.2500],
            [1.0000]])
    """,
)
