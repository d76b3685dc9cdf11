"""A few eigenvalues of large matrices, without PyTorch: beside those of all."""

import pytest

import imode


def matrix(m):
    imode.manual_seed(0)
    A = imode.randn(m, m, dtype=imode.float64)
    return A + A.mT + imode.diag(imode.arange(float(m), dtype=imode.float64))


@pytest.mark.parametrize("method, largest", [("ortho", True), ("ortho", False), ("basic", False)])
def test_eigenpairs(method, largest):
    A = matrix(40)
    E, X = imode.lobpcg(A, 3, method=method, largest=largest, tol=1e-10)
    every = imode.linalg.eigvalsh(A)
    imode.testing.assert_close(E, every.flip(0)[:3] if largest else every[:3])
    imode.testing.assert_close(A @ X, X * E, atol=1e-6, rtol=0)


def test_gradient():
    A = matrix(12).requires_grad_()
    weights = matrix(12)

    def loss(E, X):
        return (E * E).sum() + (X.mT @ weights @ X).diagonal().sin().sum()

    (ours,) = imode.autograd.grad(loss(*imode.lobpcg(A, 3, tol=1e-13)), A)
    E, X = imode.linalg.eigh(A)
    (theirs,) = imode.autograd.grad(loss(E.flip(0)[:3], X.flip(1)[:, :3]), A)
    imode.testing.assert_close(ours, (theirs + theirs.mT) / 2, atol=1e-7, rtol=1e-6)


def test_too_small():
    with pytest.raises(ValueError, match="LOBPCG algorithm is not applicable"):
        imode.lobpcg(matrix(8), 3)
