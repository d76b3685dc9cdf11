"""LDL with pivots, of symmetric and Hermitian matrices that need not be definite."""

import numpy as np

from imode import errors, ops
from imode._core.parallel import skipping
from imode.kernels.decompositions import symmetric
from imode.ops.decompositions import checks
from imode.ops.decompositions.cholesky import check_systems
from imode.ops.decompositions.composites_fast import leading
from imode.ops.pointwise.common import no_derivative
from imode.ops.schema import Out, composite, op

_FACTOR, _SOLVE = "imode.linalg.ldl_factor_ex", "imode.linalg.ldl_solve"


def _ldl_factor_ex(self, hermitian, check_errors):
    checks.square(self, _FACTOR)
    checks.floating(self, _FACTOR)
    checks.served(self, "ldl_factor_kernel_cpu")
    LD, pivots, info = symmetric.ldl(self, hermitian)
    if check_errors:
        checks.completed(info, _FACTOR, errors.linalg.zero_block)
    return LD, pivots, info


op(
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) "
    "-> (Tensor LD, Tensor pivots, Tensor info)",
    _ldl_factor_ex,
    fast=symmetric.ldl_fast,
    derivative={"self": no_derivative("linalg_ldl_factor_ex")},
    name="torch::autograd::NotImplemented",
    variants="function out",
    out=Out("same"),
    doc="""Return L, with D on and below its diagonal, the pivots, and where D is singular.

    Of symmetric matrices (*, n, n), of which the lower triangle is read; of Hermitian ones where
    `hermitian`.

    >>> imode.linalg_ldl_factor_ex(imode.tensor([[2.0, 0.0], [0.0, 0.0]])).info
    tensor(2, dtype=imode.int32)
    """,
)


@composite(
    "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
    fast=leading("linalg_ldl_factor_ex", 2, 2),
    variants="function out",
    out=Out("same", name="linalg_ldl_factor_ex"),
    named=True,
)
def linalg_ldl_factor(self, hermitian):
    """Return L, with D on and below its diagonal, and the pivots.

    Raises RuntimeError where D is singular.

    >>> imode.linalg_ldl_factor(imode.tensor([[2.0, 0.0], [0.0, 3.0]])).LD
    tensor([[2., 0.],
            [0., 3.]])
    """
    LD, pivots, info = ops.linalg_ldl_factor_ex(self, hermitian=hermitian)
    checks.completed(checks.array(info), "imode.linalg.ldl_factor", errors.linalg.zero_block)
    return LD, pivots


def _check_pivots(pivots):
    """LAPACK follows them without looking: rows from 1, negative ones two by two."""
    n = pivots.shape[-1]
    fit = skipping() or not pivots.size or (np.abs(pivots).max() <= n and pivots.all())
    for row in pivots.reshape(-1, n) if fit and n and not skipping() else ():
        i = 0
        while i < n and fit:
            paired = row[i] < 0
            fit = not paired or (i + 1 < n and row[i + 1] < 0)
            i += 1 + paired
    if not fit:
        raise RuntimeError(f"{_SOLVE}: Expected pivots as `ldl_factor` gives them.")


def _ldl_solve(LD, pivots, B, hermitian):
    checks.floating(LD, _SOLVE)
    checks.square(LD, _SOLVE)
    if B.ndim < 2:
        raise RuntimeError(
            f"{_SOLVE}: Expected B to have at least 2 dimensions, but it has {B.ndim} dimensions "
            "instead"
        )
    if LD.shape[:-1] != pivots.shape:
        raise RuntimeError(
            f"{_SOLVE}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots "
            f"with shape {list(pivots.shape)} instead"
        )
    if pivots.dtype.kind not in "iu":
        found = errors.linalg.scalar_name(pivots.dtype)
        raise RuntimeError(f"{_SOLVE}: Expected pivots to be integers. Got {found}")
    check_systems(B, LD, _SOLVE)
    checks.served(LD, "ldl_solve_kernel_cpu")
    LD, B = checks.spread(LD, B)
    pivots = np.ascontiguousarray(np.broadcast_to(pivots, LD.shape[:-1]), np.int32)
    _check_pivots(pivots)
    return symmetric.ldl_solve(LD, pivots, B, hermitian)


op(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    _ldl_solve,
    derivative=dict.fromkeys(("LD", "B"), no_derivative("linalg_ldl_solve")),
    name="torch::autograd::NotImplemented",
    variants="function out",
    out=Out("same"),
    doc="""Solve A X = B, given what `linalg.ldl_factor` gives of A.

    >>> factors = imode.linalg.ldl_factor(imode.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> imode.linalg_ldl_solve(*factors, imode.ones(2, 1))
    tensor([[0.5000],
            [0.2500]])
    """,
)
