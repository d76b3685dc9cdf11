"""Determinants, their signs and logarithms."""

import math

import numpy as np

from imode import ops
from imode._core.dispatch import is_grad_enabled
from imode.kernels.decompositions import factor
from imode.ops.composites_fast import passed_on
from imode.ops.decompositions import checks
from imode.ops.decompositions.composites_fast import leading
from imode.ops.decompositions.lu import mh
from imode.ops.schema import Out, composite, conj, op


def _det(A):
    checks.square(A, "linalg.det")
    checks.floating(A, "linalg.det")
    checks.served(A, "lu_cpu")
    return factor.det(A)


def _det_backward(grad, A, result, LU, pivots):
    """The cofactors: A^-H times the determinant. Where a zero is on the diagonal of U, those of a
    matrix very near to A."""
    if not A.numel():
        return ops.zeros_like(A)
    if is_grad_enabled():  # then by A itself, which is what is differentiated
        LU, pivots, _ = ops.linalg_lu_factor_ex(A)
    zero = LU.detach().diagonal(0, -2, -1) == 0
    little = (zero.to(LU.dtype) * float(np.finfo(LU.dtype.numpy).eps)).diag_embed()
    if is_grad_enabled() and not A.is_meta and zero.any():
        P, L, _ = ops.lu_unpack(LU.detach(), pivots)
        LU, pivots, _ = ops.linalg_lu_factor_ex(A + P @ L @ little)
    else:
        LU = LU + little
    exchanges = (pivots != ops.arange(1, A.shape[-1] + 1, device=A.device)).sum(-1)
    near = LU.diagonal(0, -2, -1).prod(-1) * (1 - 2 * (exchanges % 2))
    near = ops.where(zero.any(-1), near, result)
    values = (grad * conj(near)).unsqueeze(-1).expand(A.shape[:-1])
    return ops.linalg_lu_solve(LU, pivots, values.diag_embed(), adjoint=True)


op(
    "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
    _det,
    fast=factor.det_fast,
    derivative={"A": _det_backward},
)


def _determinant(A):
    """Return the determinants of square matrices (*, n, n).

    >>> imode.linalg.det(imode.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor(8.)
    """
    return ops._linalg_det(A)[0]


composite(
    "linalg_det(Tensor A) -> Tensor",
    fast=passed_on("_linalg_det"),
    variants="function out",
    out=Out("same", name="_linalg_det"),
)(_determinant)
composite("det(Tensor self) -> Tensor", fast=passed_on("_linalg_det"))(_determinant)


def _slogdet(A):
    checks.square(A, "linalg.slogdet")
    checks.floating(A, "linalg.slogdet", low=False)
    return factor.slogdet(A)


def _slogdet_backward(grads, A, sign, LU, pivots):
    of_sign, of_log = grads
    if not A.is_complex():
        if of_log is None:
            return None
        values = of_log
    elif of_sign is None:
        values = of_log
    else:
        turned = (conj(of_sign) * sign).imag * 1j
        values = -turned if of_log is None else of_log - turned
    values = values.unsqueeze(-1).expand(A.shape[:-1]).to(A.dtype)
    if is_grad_enabled():
        return ops.linalg_solve(mh(A), values.diag_embed())
    return ops.linalg_lu_solve(LU, pivots, values.diag_embed(), adjoint=True)


op(
    "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    _slogdet,
    fast=factor.slogdet_fast,
    derivative={"A": _slogdet_backward},
    constant="LU pivots",
)


def _sign_and_logarithm(A):
    """Return the signs of determinants, and the logarithms of their absolute values.

    Of a singular matrix the sign is 0 and the logarithm -inf. The sign of a complex determinant is
    a number of absolute value 1.

    >>> imode.linalg.slogdet(imode.tensor([[-1.0, 0.0], [0.0, 1.0]])).sign
    tensor(-1.)
    """
    return ops._linalg_slogdet(A)[:2]


for _schema, _variants in (
    ("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", "function out"),
    ("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", "function method out"),
):
    composite(
        _schema,
        fast=leading("_linalg_slogdet", 2),
        variants=_variants,
        named=True,
        out=Out("same", name="_linalg_slogdet"),
    )(_sign_and_logarithm)


@composite("logdet(Tensor self) -> Tensor")
def logdet(self):
    """Return the logarithm of determinants; NaN where one is negative, -inf where it is 0.

    >>> imode.logdet(imode.eye(2))
    tensor(0.)
    """
    given = checks.of(self)
    checks.square(given, "logdet")
    checks.floating(given, "logdet", low=False)
    sign, logabsdet, *_ = ops._linalg_slogdet(self)
    if self.is_complex():
        return sign.log() + logabsdet
    return ops.where(sign == -1.0, math.nan, logabsdet)
