"""Singular values of large matrices by few: with random projections."""

from imode import ops
from imode.ops.decompositions.lu import mh
from imode.ops.schema import composite


def _range(A, q, niter, M):
    """A matrix Q of q orthonormal columns, Q Q^H A being near to A (Halko and others, 2009)."""
    R = ops.randn(A.shape[-1], q, dtype=A.dtype, device=A.device)
    X = A @ R
    if M is not None:
        X = X - M @ R
    Q = ops.linalg_qr(X)[0]
    for _ in range(niter):
        X = mh(A) @ Q
        if M is not None:
            X = X - mh(M) @ Q
        Q = ops.linalg_qr(X)[0]
        X = A @ Q
        if M is not None:
            X = X - M @ Q
        Q = ops.linalg_qr(X)[0]
    return Q


def _low_rank(A, q, niter, M):
    if M is not None:
        M = M.expand(A.shape)
    tall = A.shape[-2] >= A.shape[-1]
    if not tall:
        A, M = mh(A), None if M is None else mh(M)
    Q = _range(A, q, niter, M)
    B = mh(Q) @ A
    if M is not None:
        B = B - mh(Q) @ M
    U, S, Vh = ops.linalg_svd(B, False)
    U, V = Q @ U, mh(Vh)
    return (U, S, V) if tall else (V, S, U)


@composite(
    "svd_lowrank(Tensor A, int? q=6, int? niter=2, Tensor? M=None) -> (Tensor, Tensor, Tensor)",
    variants="function",
)
def svd_lowrank(A, q, niter, M):
    """Return U, S and V of a matrix of low rank, or of A - M, by random projections.

    `q`: a little more than the rank; `niter`: how often the range is improved.

    >>> [t.shape for t in imode.svd_lowrank(imode.ones(5, 3), 2)]
    [imode.Size([5, 2]), imode.Size([2]), imode.Size([3, 2])]
    """
    return _low_rank(A, 6 if q is None else q, niter, M)


@composite(
    "pca_lowrank(Tensor A, int? q=None, bool center=True, int niter=2) -> (Tensor, Tensor, Tensor)",
    variants="function",
)
def pca_lowrank(A, q, center, niter):
    """Return U, S and V of a matrix of low rank, its columns centred: principal components.

    >>> [t.shape for t in imode.pca_lowrank(imode.ones(5, 3), 2)]
    [imode.Size([5, 2]), imode.Size([2]), imode.Size([3, 2])]
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return _low_rank(A - A.mean((-2,), True) if center else A, q, niter, None)
