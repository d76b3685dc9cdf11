"""QR by reflections in blocks: exactness, what is special in a column, threads, against NumPy."""

import numpy as np
import pytest

import imode

DTYPES = ["float32", "float64"]
# Panels, blocks and pieces of rows, each whole and with a rest; wide ones; those of one reflection.
SHAPES = [(1, 1), (2, 5), (5, 2), (9, 8), (8, 9), (16, 16), (33, 31), (40, 100), (64, 64), (65, 33)]
SHAPES += [(129, 17), (200, 72), (300, 65), (515, 64), (72, 200), (130, 130)]


def check(a):
    """All modes of A, whose parts fit together; signs are LAPACK's."""
    q, r = (t.numpy() for t in imode.linalg.qr(imode.from_numpy(a)))
    full = imode.linalg.qr(imode.from_numpy(a), mode="complete")
    alone = imode.linalg.qr(imode.from_numpy(a), mode="r")
    eps, least = np.finfo(a.dtype).eps, min(a.shape[-2:])
    exact, x = a.astype("float64"), q.astype("float64")
    size = np.abs(exact).max() or 1
    assert (np.abs(x @ (r.astype("float64") / size) - exact / size) < 40 * eps).all()
    assert (np.abs(x.swapaxes(-1, -2) @ x - np.eye(least)) < 40 * eps).all()
    every = full.Q.numpy().astype("float64")
    assert (np.abs(every.swapaxes(-1, -2) @ every - np.eye(a.shape[-2])) < 40 * eps).all()
    np.testing.assert_allclose(full.Q.numpy()[..., :least], q, 0, 40 * eps)
    np.testing.assert_array_equal(full.R.numpy()[..., :least, :], r)
    np.testing.assert_array_equal(alone.R.numpy(), r)
    assert not np.tril(r, -1).any()
    return q, r


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, dtype):
    a = np.random.default_rng(shape[0]).standard_normal(shape).astype(dtype)
    _, r = check(a)
    wanted = np.linalg.qr(a.astype("float64"), mode="r")
    tolerance = 1e-3 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(r, wanted, tolerance, tolerance)
    q, _ = check(np.ascontiguousarray(a.T).T)
    np.testing.assert_array_equal(q, check(a)[0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(20, 9), (300, 72), (40, 100)])
def test_geqrf(shape, dtype):
    a = imode.from_numpy(np.random.default_rng(4).standard_normal(shape).astype(dtype))
    made, tau = imode.geqrf(a)
    q, r = imode.linalg.qr(a)
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    k = min(shape)
    seen = imode.linalg.householder_product(made[:, :k], tau)
    np.testing.assert_allclose(seen.numpy(), q.numpy(), 0, tolerance)
    np.testing.assert_array_equal(made.triu()[:k].numpy(), r.numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(12, 10), (300, 72)])
def test_columns(shape, dtype):
    """Zeros, tiny numbers and dependent columns beside ordinary ones."""
    a = np.random.default_rng(5).standard_normal(shape).astype(dtype)
    tiny = 1e-30 if dtype == "float32" else 1e-300
    a[:, 2] = 0
    a[:, 3] = a[:, 1]
    a[:, 5] *= tiny
    a[:, 7] = 0
    a[7, 7] = tiny
    check(a)
    check(np.zeros_like(a))
    check(np.triu(a))
    scaled = np.random.default_rng(6).standard_normal(shape).astype(dtype)
    first = check(scaled)[1]
    for by in (tiny, 1 / tiny):
        seen = check((scaled * by).astype(dtype))[1]
        np.testing.assert_allclose(seen / by, first, 1e-3, 1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tiny_below_the_diagonal(dtype):
    """They turn the sign, as LAPACK has it; zeros do not."""
    a = np.eye(20, 10, dtype=dtype)
    a[15, 0] = 1e-42 if dtype == "float32" else 1e-320
    r = imode.linalg.qr(imode.from_numpy(a)).R.numpy()
    np.testing.assert_array_equal(np.diagonal(r), [-1] + [1] * 9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_not_finite(number, dtype):
    """What is before the first such number stays as it is."""
    a = np.random.default_rng(7).standard_normal((100, 40)).astype(dtype)
    plain = imode.linalg.qr(imode.from_numpy(a))
    a[50, 20] = number
    q, r = (t.numpy() for t in imode.linalg.qr(imode.from_numpy(a)))
    np.testing.assert_allclose(q[:, :20], plain.Q.numpy()[:, :20], 0, 1e-5)
    np.testing.assert_allclose(r[:, :20], plain.R.numpy()[:, :20], 0, 1e-5)
    assert np.isnan(q[:, 21:]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_stacks(dtype):
    """Each as if it were alone, beside one that is LAPACK's."""
    a = np.random.default_rng(8).standard_normal((5, 70, 40)).astype(dtype)
    a[3] *= 1e-25 if dtype == "float32" else 1e-200
    q, r = (t.numpy() for t in imode.linalg.qr(imode.from_numpy(a)))
    for i in range(5):
        one = imode.linalg.qr(imode.from_numpy(a[i]))
        np.testing.assert_array_equal(one.Q.numpy(), q[i])
        np.testing.assert_array_equal(one.R.numpy(), r[i])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 3, 0)])
def test_nothing(shape):
    q, r = imode.linalg.qr(imode.zeros(shape), mode="complete")
    np.testing.assert_array_equal(q.numpy(), np.broadcast_to(np.eye(shape[-2]), q.shape))
    assert r.shape == shape


@pytest.mark.parametrize("dtype", DTYPES)
def test_threads(dtype):
    a = imode.from_numpy(np.random.default_rng(9).standard_normal((1500, 200)).astype(dtype))
    before, found = imode.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            imode.set_num_threads(threads)
            found.append(imode.linalg.qr(a))
    finally:
        imode.set_num_threads(before)
    for q, r in found[1:]:
        np.testing.assert_array_equal(q.numpy(), found[0].Q.numpy())
        np.testing.assert_array_equal(r.numpy(), found[0].R.numpy())
