"""Least squares."""

import numpy as np

from imode import errors, ops
from imode._core.hollow import hollow
from imode._core.parallel import skipping
from imode.kernels.decompositions import orthogonal
from imode.ops.decompositions import checks
from imode.ops.decompositions.lu import mh
from imode.ops.decompositions.pseudoinverse import pinv_backward
from imode.ops.schema import op

_NAME = "imode.linalg.lstsq"
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _check(self, b, rcond, driver):
    if self.ndim < 2:
        raise errors.linalg.no_matrix(_NAME)
    if b.ndim < 1:
        raise RuntimeError(f"{_NAME}: other must have at least 1 dimension.")
    if self.dtype != b.dtype:
        raise RuntimeError(
            f"{_NAME}: Expected input and other to have the same dtype, but got input's dtype "
            f"{errors.linalg.scalar_name(self.dtype)} and other's dtype "
            f"{errors.linalg.scalar_name(b.dtype)}"
        )
    dims = self.ndim - b.ndim
    if not 0 <= dims <= 1:
        raise RuntimeError(
            f"{_NAME}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            "other.dim()) <= 1"
        )
    vector = dims == 1 and self.shape[:-1] == b.shape
    rows = b.shape[-1] if vector else b.shape[-2] if b.ndim > 1 else b.shape[-1]
    if self.shape[-2] != rows:
        side = "-1" if vector else "-2"
        raise RuntimeError(f"{_NAME}: input.size(-2) should match other.size({side})")
    if driver is not None and driver.lower() not in _DRIVERS:
        raise RuntimeError(
            f"{_NAME}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    if self.dtype.char not in checks.SERVED and rcond is not None:
        raise errors.dtypes.not_implemented("linalg_lstsq_cpu", self.dtype)
    if self.dtype.char not in checks.SERVED:
        raise errors.linalg.not_served(self.dtype)
    return vector


def _residuals(x, ranks, values, m, n, driver):
    """The sums of squares of what is left, where the matrices are tall and of full rank."""
    full = ranks is None or skipping() or (ranks == n).all()
    if m <= n or driver == "gelsy" or not full:
        return np.empty(0, x.real.dtype)
    rest = hollow(x)[..., n:, :] if skipping() else x[..., n:, :]
    return np.add.reduce((rest * rest.conj()).real, -2)


def _lstsq(self, b, rcond, driver):
    vector = _check(self, b, rcond, driver)
    driver = "gelsy" if driver is None else driver.lower()
    columns = b[..., None] if vector else b
    A, columns = checks.spread(self, columns)
    m, n = A.shape[-2:]
    if rcond is None:
        rcond = float(np.finfo(self.dtype).eps) * max(m, n)
    x, ranks, values, info = orthogonal.lstsq(A, columns, driver, rcond)
    checks.completed(info, _NAME, errors.linalg.not_full_rank)
    residuals = _residuals(x, ranks, values, m, n, driver)
    solution = x[..., :n, :]
    none = np.empty(0, residuals.dtype)
    return (
        solution[..., 0] if vector else solution,
        residuals[..., 0] if vector and residuals.ndim > 1 else residuals,
        np.empty(0, np.int64) if ranks is None else ranks,
        none if values is None else values,
    )


def _lstsq_backward(grads, self, b, solution, needs):
    gX, of_rest = grads
    vector = self.dim() - b.dim() == 1
    B, X = (b.unsqueeze(-1), solution.unsqueeze(-1)) if vector else (b, solution)
    gA = gB = None
    if gX is not None:
        gX = gX.unsqueeze(-1) if vector else gX
        inverse = ops.linalg_pinv(self)
        gA = pinv_backward(gX @ mh(B), self, inverse)
        gB = mh(inverse) @ gX
    if of_rest is not None and of_rest.numel():
        of_rest = of_rest.unsqueeze(-1) if vector and of_rest.dim() < X.dim() - 1 else of_rest
        rest = 2 * (self @ X - B) * of_rest.unsqueeze(-2)
        gA = rest @ mh(X) if gA is None else gA + rest @ mh(X)
        gB = -rest if gB is None else gB - rest
    if gB is not None and vector:
        gB = gB.squeeze(-1)
    return gA if needs[0] else None, gB if needs[1] else None


op(
    "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) "
    "-> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    _lstsq,
    fast=orthogonal.lstsq_fast,
    derivative={("self", "b"): _lstsq_backward},
    constant="rank singular_values",
    variants="function out",
    out=checks.castable(_NAME, "solution", "solution", "rank", "singular_values"),
    doc="""Return the X for which the norm of A X - b is least.

    For matrices A (*, m, n) and b (*, m, k) or (*, m), of float32, float64 and complex numbers.
    `driver`: "gelsy", by QR with pivots, the default; "gels", by QR, for matrices of full rank;
    "gelsd" and "gelss", by singular values. `rcond`: singular values below it times the largest one
    count as 0. Residuals, ranks and singular values are empty where the driver does not give them.

    >>> imode.linalg_lstsq(imode.tensor([[1.0], [1.0]]), imode.tensor([[1.0], [3.0]])).solution
    tensor([[2.0000]])
    """,
)
