"""LU and triangular systems of more rows than are eliminated at once."""

import numpy as np
import pytest

import imode


@pytest.fixture
def threads():
    before = imode.get_num_threads()
    yield
    imode.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [33, 64, 100, 131])
def test_large_systems_by_halves(n, dtype):
    rng = np.random.default_rng(n)
    close = {"rtol": 0, "atol": 2e-3 if dtype == "float32" else 1e-11}
    matrix = rng.standard_normal((2, n, n)) + 4 * np.sqrt(n) * np.eye(n)
    right = rng.standard_normal((2, n, 11))
    a, b = (imode.from_numpy(x.astype(dtype)) for x in (matrix, right))
    solution = np.linalg.solve(matrix, right)
    factors, pivots = imode.linalg.lu_factor(a)
    assert np.allclose(imode.linalg.solve(a, b).numpy(), solution, **close)
    assert np.allclose(imode.linalg.solve(a, b[..., :3]).numpy(), solution[..., :3], **close)
    assert np.allclose(imode.linalg.lu_solve(factors, pivots, b).numpy(), solution, **close)
    adjoint = imode.linalg.lu_solve(factors, pivots, b, adjoint=True).numpy()
    assert np.allclose(matrix.swapaxes(1, 2) @ adjoint, right, atol=n * close["atol"])
    assert np.allclose(imode.linalg.inv(a).numpy(), np.linalg.inv(matrix), **close)
    for wide in (a[:, : n // 2], a[:, :, : n // 2]):  # of more columns, of more rows
        p, lower, upper = imode.linalg.lu(wide)
        assert np.allclose((p @ lower @ upper).numpy(), wide.numpy(), **close)
        assert lower.abs().max() <= 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_large_triangles_by_halves(upper, unit, turned, dtype):
    n, rng = 77, np.random.default_rng(0)
    given = rng.standard_normal((n, n)) / n + np.eye(n) * 2
    right = rng.standard_normal((n, 11))
    half = np.triu(given, unit) if upper else np.tril(given, -unit)
    given = given.T if turned else given
    a = imode.from_numpy(np.ascontiguousarray(given).astype(dtype))
    found = imode.linalg.solve_triangular(
        a.mT if turned else a,
        imode.from_numpy(right.astype(dtype)),
        upper=upper,
        unitriangular=unit,
    )
    few = imode.linalg.solve_triangular(
        a.mT if turned else a,
        imode.from_numpy(right[:, :3].astype(dtype)),
        upper=upper,
        unitriangular=unit,
    )
    wanted = np.linalg.solve(half + np.eye(n) * unit, right)
    assert np.allclose(few.numpy(), wanted[:, :3], atol=1e-5 if dtype == "float32" else 1e-13)
    assert np.allclose(found.numpy(), wanted, atol=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("n", [33, 80])
def test_pivots_of_large_matrices(n):
    a = imode.eye(n).double()[imode.arange(n - 1, -1, -1)] * 2
    factors, pivots = imode.linalg.lu_factor(a)
    assert pivots.tolist() == [max(n - i, i + 1) for i in range(n)]
    assert factors.tolist() == (imode.eye(n) * 2).tolist()
    assert imode.linalg.inv(a).tolist() == (a / 4).tolist()
    a[:, 20] = 0
    assert imode.linalg.lu_factor_ex(a).info == 21
    a[3, 20] = float("nan")  # is no pivot before it is the first
    assert imode.linalg.lu_factor_ex(a).LU.isnan().any()


def test_bits_of_large_systems_do_not_depend_on_the_threads(threads):
    a, b = imode.rand(300, 300) + imode.eye(300) * 9, imode.rand(300, 40)
    found = []
    for number in (1, 2):
        imode.set_num_threads(number)
        found.append((*imode.linalg.lu_factor(a), imode.linalg.inv(a), imode.linalg.solve(a, b)))
    assert all(imode.equal(x, y) for x, y in zip(*found, strict=True))
