"""Decompositions of matrices: derivatives where a triangle is read or vectors have a free sign,
errors that name a matrix, matrices that hold no numbers. Without PyTorch."""

import contextlib

import pytest

import imode
from imode.autograd import gradcheck, gradgradcheck

from .samples.decompositions.matrices import apart, definite, triangular

linalg = imode.linalg
NAN, INF = float("nan"), float("inf")


def hermitian(a):
    return a + a.mH


def lower(a):
    return a.tril(-1) + a.diagonal(0, -2, -1).abs().diag_embed()


def polar(a):
    U, _, Vh = linalg.svd(a)
    return U @ Vh


FUNCTIONS = {
    "cholesky": (definite, lambda a: linalg.cholesky(hermitian(a))),
    "cholesky, upper": (definite, lambda a: linalg.cholesky(hermitian(a), upper=True)),
    "older cholesky": (definite, lambda a: imode.cholesky(hermitian(a))),
    "cholesky_inverse": (triangular, lambda a: imode.cholesky_inverse(lower(a))),
    "cholesky_solve": (triangular, lambda a: imode.cholesky_solve(a[..., :2] * 2, lower(a))),
    "eigh": (definite, lambda a: linalg.eigh(hermitian(a)).eigenvectors.abs()),
    "eigvalsh": (definite, lambda a: linalg.eigvalsh(hermitian(a), "U")),
    "eigvals": (apart, lambda a: (linalg.eigvals(a) ** 2).sum(-1)),
    "svd": (apart, lambda a: linalg.svd(a).U.abs()),
    "svd, of both": (apart, polar),
    "pinv, hermitian": (definite, lambda a: linalg.pinv(hermitian(a), hermitian=True)),
    "qr": (apart, lambda a: linalg.qr(a).Q.abs()),
    "det": (apart, linalg.det),
    "norms": (apart, lambda a: linalg.matrix_norm(a, "nuc") + linalg.cond(a)),
}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name, dtype):
    kind, function = FUNCTIONS[name]
    a = kind(3, 3, dtype=dtype).make(imode, requires_grad=True)
    assert gradcheck(function, a) and gradgradcheck(function, a, atol=1e-4)


def test_gradient_of_the_determinant_of_a_singular_matrix():
    a = imode.ones(2, 2, dtype=imode.float64, requires_grad=True)
    cofactors = imode.tensor([[1.0, -1.0], [-1.0, 1.0]], dtype=imode.float64)
    (grad,) = imode.autograd.grad(a.det(), a, create_graph=True)
    assert imode.allclose(grad.detach(), cofactors)
    (again,) = imode.autograd.grad(grad[0, 0], a)
    assert imode.allclose(again, imode.tensor([[0.0, 0.0], [0.0, 1.0]], dtype=imode.float64))


SINGULAR = imode.stack((imode.eye(2), imode.zeros(2, 2)))
FAILING = {
    "inv": (linalg.inv, "linalg.inv: (Batch element 1): The diagonal element 1 is zero"),
    "cholesky": (
        linalg.cholesky,
        "linalg.cholesky: (Batch element 1): The factorization could not be completed",
    ),
    "solve": (
        lambda a: linalg.solve(a, imode.ones(2, 2, 1)),
        "imode.linalg.solve: (Batch element 1): The solver failed",
    ),
    "svd": (
        lambda a: linalg.svd(a * INF),
        "linalg.svd: (Batch element 0): The algorithm failed to converge",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_what_fails_names_the_matrix(name):
    function, words = FAILING[name]
    with pytest.raises(linalg.LinAlgError) as caught:
        function(SINGULAR)
    assert isinstance(caught.value, RuntimeError)
    assert str(caught.value).startswith(words)


def test_pivots_that_lead_out_of_the_matrix():
    factors = imode.eye(2)
    for wrong in ([1, 3], [0, 1], [1, -2], [-3, -3]):
        pivots = imode.tensor(wrong, dtype=imode.int32)
        with pytest.raises(RuntimeError, match="as `ldl_factor` gives them"):
            linalg.ldl_solve(factors, pivots, imode.ones(2, 1))
        with pytest.raises(RuntimeError, match=r"must all be .* the result of lu_factor"):
            linalg.lu_solve(factors, pivots, imode.ones(2, 1))


@pytest.mark.parametrize("value", [NAN, INF, -INF])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_numbers_that_are_not_finite(value, dtype):
    a = imode.full((5, 5), value, dtype=getattr(imode, dtype))
    b = imode.ones(5, 2, dtype=a.dtype)
    pivots = imode.arange(1, 6, dtype=imode.int32)
    for function in (
        *(linalg.det, linalg.inv, linalg.lu, linalg.qr, linalg.svd, linalg.eigh, linalg.eig),
        *(linalg.eigvals, linalg.eigvalsh, linalg.pinv, linalg.matrix_rank, linalg.cholesky),
        *(linalg.ldl_factor, linalg.matrix_exp, linalg.cond, imode.geqrf, imode.cholesky_inverse),
        lambda a: linalg.solve(a, b),
        *(lambda a, d=d: linalg.lstsq(a, b, driver=d) for d in ("gels", "gelsy", "gelsd", "gelss")),
        lambda a: linalg.ldl_solve(a, pivots, b),
    ):
        with contextlib.suppress(RuntimeError):
            function(a)


def test_what_lay_in_the_memory_of_a_result_does_not_matter():
    for _ in range(10):
        a, found = imode.randn(4, 3, dtype=imode.float64), []
        for rest in (0.0, NAN):
            left = [imode.full((4, 4), rest, dtype=imode.float64) for _ in range(6)]  # as Q is
            del left
            found.append(imode.linalg.qr(a, "complete").Q)
        assert imode.equal(*found)


@pytest.mark.parametrize("first, sign", [(0.0, -1.0), (-0.0, 1.0), (2.0, -1.0), (-2.0, 1.0)])
def test_the_sign_of_a_reflection_is_lapacks(first, sign):
    _, r = imode.linalg.qr(imode.tensor([[first, 1.0], [3.0, 1.0]]))
    assert r[0, 0].item() * sign > 0
