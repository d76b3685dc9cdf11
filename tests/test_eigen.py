"""Eigenvalues, singular values, least squares and elimination of small matrices, for which there
are own loops: as accurate as LAPACK, for matrices of many kinds. Without PyTorch."""

import numpy as np
import pytest

import imode

linalg = imode.linalg
ORDERS = (*range(1, 10), 12, 16, 17, 32, 33, 65, 128, 130, 161)


def _companion(rng, n, g):
    a = np.eye(n, k=-1)
    a[0] = g[0]
    return a


def _scaled(rng, n, g):
    s = 10.0 ** rng.uniform(-4, 4, n)
    return g * s[:, None] / s


def _graded(rng, n, g):
    s = 10.0 ** (-5 * np.arange(n) / n)
    return g * s[:, None] * s


KINDS = {
    "random": lambda rng, n, g: g,
    "symmetric": lambda rng, n, g: g + g.T,
    "skew": lambda rng, n, g: g - g.T,
    "orthogonal": lambda rng, n, g: np.linalg.qr(g)[0],
    "graded": _graded,
    "scaled": _scaled,
    "companion": _companion,
    "Jordan": lambda rng, n, g: 2 * np.eye(n) + np.eye(n, k=1),
    "nilpotent": lambda rng, n, g: np.eye(n, k=1),
    "zero": lambda rng, n, g: 0 * g,
    "identity": lambda rng, n, g: np.eye(n),
    "ones": lambda rng, n, g: 0 * g + 1,
    "of rank two": lambda rng, n, g: g[:, :2] @ g[:2],
    "upper": lambda rng, n, g: np.triu(g),
    "lower": lambda rng, n, g: np.tril(g),
    "cyclic": lambda rng, n, g: np.roll(np.eye(n), 1, 0),
    "of integers": lambda rng, n, g: np.rint(g),
    "sparse": lambda rng, n, g: g * (rng.random((n, n)) < 0.15),
    "turned pairs": lambda rng, n, g: np.kron(np.eye(n), [[1.0, 2.0], [-2.0, 1.0]])[:n, :n],
    "tiny": lambda rng, n, g: g * 1e-35,
    "huge": lambda rng, n, g: g * 1e35,
}


def backward_error(a, values, vectors):
    """The largest |A v - w v| of a pair, in units of n eps |A|."""
    a, values, vectors = (np.asarray(x).astype("D") for x in (a, values, vectors))
    size = np.linalg.norm(a)
    if size == 0:
        return abs(values).max()
    apart = np.linalg.norm(a @ vectors - vectors * values, axis=0)
    return (apart / np.linalg.norm(vectors, axis=0)).max() / size / len(a)


def matrices(name, dtype):
    rng = np.random.default_rng(len(name))
    for n in ORDERS:
        yield n, KINDS[name](rng, n, rng.standard_normal((n, n))).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", KINDS)
def test_any(name, dtype):
    eps = np.finfo(dtype).eps
    for n, a in matrices(name, dtype):
        values, vectors = linalg.eig(imode.from_numpy(a))
        assert backward_error(a, values, vectors) <= 3 * eps, n
        lengths = np.linalg.norm(vectors.numpy().astype("D"), axis=0)
        assert abs(lengths - 1).max() <= (4 + n / 4) * eps  # a sum of n squares
        sizes = abs(vectors.numpy())
        largest = sizes >= sizes.max(0) * (1 - 32 * eps)  # one of these is real
        assert (np.where(largest, abs(vectors.numpy().imag), 1).min(0) <= 8 * eps).all()
        alone = linalg.eigvals(imode.from_numpy(a)).numpy()
        assert (alone.imag > 0).sum() == (alone.imag < 0).sum()
        trace = np.trace(a.astype("d"))
        assert abs(alone.astype("D").sum() - trace) <= 3 * n * n * eps * abs(a).max()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_symmetric(name, upper, dtype):
    eps = np.finfo(dtype).eps
    for n, a in matrices(name, dtype):
        whole = np.triu(a) + np.triu(a, 1).T if upper else np.tril(a) + np.tril(a, -1).T
        values, vectors = linalg.eigh(imode.from_numpy(a), "U" if upper else "L")
        assert backward_error(whole, values, vectors) <= 4 * eps, n
        assert (np.diff(values.numpy()) >= 0).all()
        V = vectors.numpy().astype("d")
        assert np.linalg.norm(V.T @ V - np.eye(n)) <= 4 * n * eps, n
        alone = linalg.eigvalsh(imode.from_numpy(a), "U" if upper else "L").numpy()
        assert abs(alone.astype("d") - values.numpy()).max() <= 4 * n * eps * abs(whole).max()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [255, 256, 384])
def test_any_of_more_rows(n, dtype):
    """LAPACK's, of columns that are kept apart where they are a multiple of 512 bytes."""
    rng = np.random.default_rng(n)
    a = (rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))).astype("D")
    a = (a if dtype[0] == "c" else a.real).astype(dtype)
    values, vectors = linalg.eig(imode.from_numpy(a))
    assert backward_error(a, values, vectors) <= 3 * np.finfo(dtype).eps
    order = lambda x: np.sort_complex(np.asarray(x).astype("D").round(1))
    assert (order(linalg.eigvals(imode.from_numpy(a))) == order(values)).mean() > 0.95


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 3, 4, 4), (5, 1, 1), (7, 32, 32), (2, 256, 256)])
def test_stacks_are_as_their_matrices(shape):
    a = imode.from_numpy(np.random.default_rng(0).standard_normal(shape))
    flat = a.reshape(-1, *shape[-2:])
    for function in (linalg.eig, linalg.eigh):
        values, vectors = function(a)
        assert values.shape == shape[:-1] and vectors.shape == shape
        for i, one in enumerate(flat):
            found = function(one)
            assert (found[0] == values.reshape(-1, shape[-1])[i]).all()
            assert (found[1] == vectors.reshape(-1, *shape[-2:])[i]).all()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite(bad):
    a = imode.eye(4)
    a[2, 1] = bad
    with pytest.raises(RuntimeError, match="input tensor should not contain infs or NaNs"):
        linalg.eig(a)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (8, 8), (20, 7), (32, 32), (33, 32), (40, 5)])
def test_least_squares(shape, dtype):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((3, *shape)), rng.standard_normal((3, shape[0], 4))
    eps = np.finfo(dtype).eps
    A, B = (imode.from_numpy(x.astype(dtype)) for x in (a, b))
    for driver in ("gelsy", "gels", "gelsd", "gelss"):
        found = linalg.lstsq(A, B, driver=driver)
        x = found.solution.numpy().astype("d")
        left = A.numpy().astype("d") @ x - B.numpy()
        size = np.linalg.norm(a) * np.linalg.norm(x) + np.linalg.norm(b)
        across = np.linalg.norm(A.numpy().astype("d").swapaxes(1, 2) @ left)
        assert across <= 20 * eps * np.linalg.norm(a) * size
        if driver != "gels":
            assert (found.rank == shape[1]).all()
        if driver != "gelsy" and shape[0] > shape[1]:
            assert np.allclose(found.residuals.numpy(), (left**2).sum(1), rtol=1e3 * eps)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rank_of_least_squares(dtype):
    a = np.diag([1.0, 2.0, 3.0, 1e-9 if dtype == "float32" else 1e-18])[:, [2, 0, 3, 1]]
    a = imode.from_numpy(np.stack([a, np.eye(4), 0 * a]).astype(dtype))
    found = linalg.lstsq(a, imode.ones_like(a))
    assert found.rank.tolist() == [3, 4, 0]
    assert (found.solution[1] == 1).all() and (found.solution[2] == 0).all()
    assert linalg.lstsq(a[:2], imode.ones_like(a[:2]), rcond=1e-30).rank.tolist() == [4, 4]


def test_least_squares_of_what_is_too_large_for_a_square():
    a = imode.eye(3) * 1e30
    assert imode.allclose(linalg.lstsq(a, a).solution, imode.eye(3))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 16, 31, 32, 33])
def test_elimination(n, dtype):
    rng = np.random.default_rng(n)
    eps = np.finfo(dtype).eps
    a = imode.from_numpy(rng.standard_normal((5, n, n)).astype(dtype))
    wide = a.numpy().astype("d")
    P, L, U = (x.numpy().astype("d") for x in linalg.lu(a))
    assert abs(P @ L @ U - wide).max() <= 4 * n * eps * abs(wide).max()
    assert abs(L).max() <= 1 and (P.sum(1) == 1).all()
    inverse = linalg.inv(a).numpy().astype("d")
    size = np.linalg.norm(inverse, axis=(1, 2)) * np.linalg.norm(wide, axis=(1, 2))
    rest = np.linalg.norm(inverse @ wide - np.eye(n), axis=(1, 2))
    assert (rest <= 4 * n * eps * size).all()
    for columns in (1, 5, 40):
        b = rng.standard_normal((5, n, columns)).astype(dtype)
        x = linalg.solve(a, imode.from_numpy(b)).numpy().astype("d")
        left = np.linalg.norm(wide @ x - b, axis=(1, 2))
        size = np.linalg.norm(wide, axis=(1, 2)) * np.linalg.norm(x, axis=(1, 2))
        assert (left <= 4 * n * eps * size).all()


def test_elimination_of_singular_matrices():
    a = imode.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 7.0], [0.0, 0.0, 1.0]])
    found = imode.linalg.lu_factor_ex(a)
    assert found.info == 2 and found.pivots.tolist() == [2, 2, 3]
    with pytest.raises(linalg.LinAlgError, match="singular"):
        linalg.inv(a)
    assert linalg.det(a) == 0
    tiny = imode.tensor([[0.0, 1e-40], [1e-40, 1e-40]])
    assert linalg.lu(tiny).L.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_elimination_of_rectangles():
    for m, n in ((2, 5), (5, 2), (32, 9), (9, 32), (1, 4)):
        a = imode.from_numpy(np.random.default_rng(m).standard_normal((m, n)))
        P, L, U = linalg.lu(a)
        assert L.shape == (m, min(m, n)) and U.shape == (min(m, n), n)
        assert imode.allclose(P @ L @ U, a)


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 20])
def test_elimination_in_a_stack_and_alone(n, dtype):
    """Of very few rows, several matrices are factored at once: the bits are the same."""
    rng = np.random.default_rng(n)
    a = rng.standard_normal((37, n, n)).astype(dtype)
    a[5:15] = rng.integers(-1, 2, (10, n, n))  # some are singular; with zeros of both signs
    a[10:15] *= -1
    a[20, 0, -1], a[21, -1, 0], a[22, 0, 0] = np.inf, np.nan, 1e-310
    b = rng.standard_normal((37, n, 3)).astype(dtype)
    for name, given in (("lu_factor_ex", (a,)), ("inv_ex", (a,)), ("solve_ex", (a, b))):
        function = getattr(linalg, name)
        together = function(*map(imode.from_numpy, given))
        for i in range(len(a)):
            alone = function(*(imode.from_numpy(x[i]) for x in given))
            for one, of_all in zip(alone, together, strict=True):
                one, of_all = one.numpy(), of_all[i].numpy()
                # Which NaN it is, nobody asks.
                one, of_all = (np.where(x != x, np.nan, x) for x in (one, of_all))
                assert one.tobytes() == of_all.tobytes(), (name, i)


def test_elimination_with_pivots_of_no_factorization():
    factors = imode.eye(3).expand(20, 3, 3).contiguous()
    b = imode.arange(9.0).reshape(3, 3).expand(20, 3, 3)
    pivots = imode.tensor([3, 1, 3], dtype=imode.int32).expand(20, 3)
    assert (linalg.lu_solve(factors, pivots, b) == b[:, [1, 2, 0]]).all()
    assert (linalg.lu_solve(factors[0], pivots[0], b[0]) == b[0, [1, 2, 0]]).all()


@pytest.mark.parametrize("kind", ["any", "whole", "low rank", "graded", "huge", "tiny", "zero"])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_singular_values_of_very_few_rows(dtype, kind):
    rng, limits = np.random.default_rng(5), np.finfo(dtype)
    for m, n in ((1, 1), (2, 2), (3, 5), (4, 4), (8, 3), (7, 8), (8, 8)):
        a = rng.standard_normal((13, m, n))
        if kind == "whole":
            a = rng.integers(-2, 3, a.shape)
        elif kind == "low rank":
            a = a[:, :, :1] @ a[:, :1]
        elif kind == "graded":
            a = a * 10.0 ** -rng.integers(0, 25, a.shape)
        else:
            a = a * {"any": 1, "huge": limits.max / 99, "tiny": limits.tiny, "zero": 0}[kind]
        a = a.astype(dtype)
        size = float(abs(a).max()) or 1.0
        expected = np.linalg.svd(a.astype("d") / size, compute_uv=False) * size
        found = linalg.svdvals(imode.from_numpy(a)).numpy()
        most = 16 * limits.eps * expected[:, :1] + limits.smallest_subnormal
        assert (abs(found - expected) <= most).all()
        assert (np.diff(found) <= 0).all()
        for i in range(13):  # several are worked on at once: the bits do not tell
            assert (linalg.svdvals(imode.from_numpy(a[i])).numpy() == found[i]).all()
    assert linalg.svdvals(imode.tensor([[3.0, 0.0], [0.0, 1e-30]])).tolist()[1] == pytest.approx(
        1e-30
    )


def test_singular_values_of_what_is_not_finite():
    a = imode.ones(9, 3, 3)
    a[7, 1, 1] = float("inf")
    assert linalg.svdvals(a)[7].isnan().all() and linalg.svdvals(a)[:7].isfinite().all()
    a[7, 1, 1] = float("nan")
    with pytest.raises(linalg.LinAlgError, match=r"Batch element 7.*non-finite"):
        linalg.svdvals(a)
