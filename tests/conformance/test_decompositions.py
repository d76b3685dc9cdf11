"""Singular vectors and eigenvectors, which are determined up to a sign or a phase: functions that
do not depend on it, and their gradients to second order, here and in PyTorch."""

import pytest

from tests.samples.decompositions.matrices import apart, definite

from .observe import Values

PLAIN = (1e-6, 1e-7)


def adjoint(x):
    return x.mT.conj()


def of_svd(lib, a):
    """The polar factor, a function of the singular values in the same frame, and sizes."""
    U, S, Vh = lib.linalg.svd(a, full_matrices=False)
    return U @ Vh, (U * (S * S).unsqueeze(-2)) @ Vh, S, U.abs(), Vh.abs()


def of_full_svd(lib, a):
    U, S, Vh = lib.linalg.svd(a)
    k = S.shape[-1]
    return S, U[..., :k] @ Vh[..., :k, :]


def of_older_svd(lib, a):
    U, S, V = lib.svd(a)
    return S, U @ adjoint(V)


def of_eigh(lib, a):
    L, V = lib.linalg.eigh(a)
    return L, (V * L.exp().unsqueeze(-2)) @ adjoint(V), V.abs()


def of_eigh_upper(lib, a):
    L, V = lib.linalg.eigh(a, "U")
    return L, (V * (L * L).unsqueeze(-2)) @ adjoint(V)


def of_eig(lib, a):
    """Sums, which do not depend on the order either, and A again."""
    L, V = lib.linalg.eig(a)
    return (L * L).sum(-1), V.abs().sum((-2, -1)), (V * L.unsqueeze(-2)) @ lib.linalg.inv(V)


def of_eigvals(lib, a):
    return (lib.linalg.eigvals(a) ** 3).sum(-1)


def of_norms(lib, a):
    matrix_norm = lib.linalg.matrix_norm
    return matrix_norm(a, "nuc"), matrix_norm(a, 2), matrix_norm(a, -2, keepdim=True)


SQUARE, SHAPES = [(3, 3), (2, 3, 3)], [(3, 3), (4, 3), (3, 4), (2, 3, 4)]
FUNCTIONS = [
    *((f, apart, shape) for f in (of_svd, of_full_svd, of_older_svd, of_norms) for shape in SHAPES),
    *((f, definite, shape) for f in (of_eigh, of_eigh_upper) for shape in SQUARE),
    *((f, apart, shape) for f in (of_eig, of_eigvals) for shape in SQUARE),
]
IDS = [f"{f.__name__}-{'x'.join(map(str, shape))}" for f, _, shape in FUNCTIONS]


def seen(lib, function, made):
    """Values, gradients and second gradients."""
    a = made.make(lib, requires_grad=True)
    results = function(lib, a)
    results = results if isinstance(results, tuple) else (results,)
    total = sum((i + 1) * (t.abs() * (2 + t.abs())).sum() for i, t in enumerate(results))
    (first,) = lib.autograd.grad(total, a, create_graph=True)
    (second,) = lib.autograd.grad((first.abs() * first.abs()).sum(), a)
    return [Values(t.detach().resolve_conj(), PLAIN) for t in (*results, first, second)]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("function", "kind", "shape"), FUNCTIONS, ids=IDS)
def test_what_is_determined(lib, torch, function, kind, shape, dtype):
    made = kind(*shape, dtype=dtype)
    assert seen(lib, function, made) == seen(torch, function, made)
