"""Eigenvalues and eigenvectors: of Hermitian matrices, and of any square ones."""

import numpy as np

from imode import errors, ops
from imode._core.out import recorded
from imode.kernels.decompositions import spectral
from imode.ops.composites_fast import where_unrecorded
from imode.ops.decompositions import checks
from imode.ops.decompositions.lu import mh
from imode.ops.decompositions.svd import refuse_phase
from imode.ops.schema import Out, composite, conj, op

# ---- Hermitian matrices ----


def _check_eigh(self, UPLO):
    checks.square(self, "linalg.eigh")
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    checks.served(self, "linalg_eigh_cpu")


def _eigh(self, UPLO):
    _check_eigh(self, UPLO)
    values, vectors, info = spectral.eigh(self, UPLO.upper() == "U", True)
    checks.completed(info, "linalg.eigh", errors.linalg.no_eigenvalues)
    return values, vectors


def _eigvalsh(self, UPLO):
    _check_eigh(self, UPLO)
    values, _, info = spectral.eigh(self, UPLO.upper() == "U", False)
    checks.completed(info, "linalg.eigh", errors.linalg.no_eigenvalues)
    return values


def _differences(values):
    """The eigenvalue of a column less that of a row; ones on the diagonal."""
    apart = values.unsqueeze(-2) - values.unsqueeze(-1)
    return apart + ops.ones_like(values).diag_embed()


def _without_diagonal(x):
    return x - x.diagonal(0, -2, -1).diag_embed()


def _eigh_backward(grads, eigenvalues, eigenvectors):
    gL, gV = grads
    V = eigenvectors
    if gV is None:
        return None if gL is None else V @ (gL.unsqueeze(-1) * mh(V))
    turned = mh(V) @ gV
    if V.is_complex():
        refuse_phase(turned.diagonal(0, -2, -1), "eigenvectors", "linalg_eigh_backward")
    inner = _without_diagonal(0.5 * (turned - mh(turned))) / _differences(eigenvalues)
    if gL is not None:
        inner = inner + gL.diag_embed()
    return V @ (inner @ mh(V))


op(
    "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    _eigh,
    fast=spectral.eigh_fast,
    derivative={"self": _eigh_backward},
    variants="function out",
    out=Out("same", name="_linalg_eigh"),
    doc="""Return the eigenvalues, the least first, and the eigenvectors of Hermitian matrices.

    Of matrices (*, n, n), of which the lower triangle is read, or where `UPLO` is "U" the upper.
    Raises LinAlgError where the algorithm does not converge.

    >>> imode.linalg_eigh(imode.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    tensor([1., 2.])
    """,
)
_values_of_hermitian = op(
    "_linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor",
    _eigvalsh,
    fast=spectral.eigvalsh_fast,
    differentiable=False,
)


@composite(
    "linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor",
    fast=where_unrecorded(_values_of_hermitian),
    variants="function out",
    out=Out("same", name="_linalg_eigh"),
)
def linalg_eigvalsh(self, UPLO):
    """Return the eigenvalues of Hermitian matrices, the least first.

    >>> imode.linalg_eigvalsh(imode.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([1., 2.])
    """
    if recorded((self,)):
        return ops.linalg_eigh(self, UPLO)[0]
    return ops._linalg_eigvalsh(self, UPLO)


# ---- any matrices ----


def _check_eig(self, name):
    checks.square(self, name)
    if self.dtype.kind not in "fc":
        raise RuntimeError(
            f"Unknown Complex ScalarType for {errors.linalg.scalar_name(self.dtype)}"
        )
    checks.served(self, "linalg_eig_out_cpu")
    if not np.isfinite(self).all():
        raise RuntimeError("imode.linalg.eig: input tensor should not contain infs or NaNs.")


def _eig(self):
    _check_eig(self, "linalg.eig")
    values, vectors, info = spectral.eig(self, True)
    checks.completed(info, "imode.linalg.eig", errors.linalg.no_eigenvalues)
    return values, vectors


def _eigvals(self):
    _check_eig(self, "linalg.eigvals")
    values, _, info = spectral.eig(self, False)
    checks.completed(info, "imode.linalg.eigvals", errors.linalg.no_eigenvalues)
    return values


def _eig_backward(grads, self_dtype, eigenvalues, eigenvectors):
    gL, gV = grads
    V = eigenvectors
    if gL is None and gV is None:
        return None
    if gV is None:
        result = ops.linalg_solve(mh(V), gL.unsqueeze(-1) * mh(V))
    else:
        turned = mh(V) @ gV
        diagonal = turned.diagonal(0, -2, -1)
        refuse_phase(diagonal, "eigenvectors", "linalg_eig_backward")
        inner = turned - (mh(V) @ V) * diagonal.real.unsqueeze(-2)
        inner = _without_diagonal(inner) / conj(_differences(eigenvalues))
        if gL is not None:
            inner = inner + gL.diag_embed()
        result = ops.linalg_solve(mh(V), inner @ mh(V))
    return result if self_dtype.is_complex else result.real


op(
    "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
    _eig,
    fast=spectral.eig_fast,
    derivative={"self": _eig_backward},
    variants="function out",
    out=checks.castable("imode.linalg.eig", "eigenvalues", "eigenvectors"),
    doc="""Return the eigenvalues and the eigenvectors of square matrices, complex numbers.

    In no order; each vector has the length 1. Raises RuntimeError where a matrix holds infinities
    or NaN, LinAlgError where the algorithm does not converge.

    >>> imode.linalg_eig(imode.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    tensor([2.+0.j, 1.+0.j])
    """,
)
_OF_EIGVALS = Out(
    says="imode.linalg.eigvals: Expected eigenvalues to be safely castable from {Wanted} dtype, "
    "but got eigenvalues with dtype {Found}"
)
_values_of_any = op(
    "_linalg_eigvals(Tensor self) -> Tensor",
    _eigvals,
    fast=spectral.eigvals_fast,
    differentiable=False,
)


@composite(
    "linalg_eigvals(Tensor self) -> Tensor",
    fast=where_unrecorded(_values_of_any),
    variants="function out",
    out=_OF_EIGVALS,
)
def linalg_eigvals(self):
    """Return the eigenvalues of square matrices, complex numbers in no order.

    >>> imode.linalg_eigvals(imode.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([2.+0.j, 1.+0.j])
    """
    return ops.linalg_eig(self)[0] if recorded((self,)) else ops._linalg_eigvals(self)
