"""Loops over arrays that threads share and vectors go through: values, and the same bits by any
number of threads."""

import numpy as np
import pytest

import imode
from imode._core.parallel import get_num_threads, set_num_threads

F = imode.nn.functional
MANY = 150_000  # more than one thread's share of any loop here


@pytest.fixture(autouse=True)
def restore_threads():
    before = get_num_threads()
    yield
    set_num_threads(before)


def numbers(seed, *shape, dtype="float32", scale=1.0):
    """Normal numbers as an array."""
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)


def tensor(array):
    """A tensor over an array."""
    return imode.from_numpy(np.ascontiguousarray(array))


def bits(result):
    """The bytes of a tensor, or of several."""
    several = result if isinstance(result, tuple) else (result,)
    return [t.contiguous().numpy().tobytes() for t in several]


# ---- threads -------------------------------------------------------------------------------------

PLACES = np.random.default_rng(1).integers(-MANY, MANY, MANY)  # many of them twice
COLUMNS = np.random.default_rng(2).integers(0, 500, (300, 500))
X, A, H = numbers(3, MANY), numbers(4, 300, 500), numbers(5, MANY, dtype="int64", scale=99)
HOLES = np.where(X < -1, np.float32("nan"), X)
SHARED = {
    "logaddexp of float64": lambda: tensor(X[3:].astype(float)).logaddexp(
        tensor(A.ravel()[3:].astype(float))
    ),
    "put": lambda: tensor(X).put(tensor(PLACES), tensor(X[::-1])),
    "index_put": lambda: tensor(X).index_put((tensor(PLACES),), tensor(X[::-1])),
    "scatter": lambda: tensor(A).scatter(1, tensor(COLUMNS), tensor(A + 1)),
    "scatter_add": lambda: tensor(A).scatter_add(1, tensor(COLUMNS), tensor(A)),
    "scatter_add of rows": lambda: tensor(A).scatter_add(0, tensor(COLUMNS % 7), tensor(A)),
    "gather of rows": lambda: tensor(A).gather(0, tensor(COLUMNS % 300)),
    "cummax": lambda: tuple(tensor(A).cummax(1)) + tuple(tensor(A).cummin(0)),
    "windows": lambda: F.unfold(tensor(A.reshape(3, 10, 100, 50)), 3, padding=1),
    "added windows": lambda: F.fold(tensor(A.reshape(10, 60, 250)), (12, 31), (3, 4), (1, 2)),
    "batch norm of float16": lambda: imode.native_batch_norm(
        tensor(A.reshape(5, 12, 50, 50)).half(), *[None] * 4, True, 0.1, 1e-5
    ),
    "index_add": lambda: tensor(A).index_add(0, tensor(COLUMNS[:, 0] % 300), tensor(A)),
    "index_add along the last dimension": lambda: tensor(A).index_add(
        1, tensor(COLUMNS[0]), tensor(A)
    ),
    "nansum": lambda: (tensor(HOLES).nansum(), tensor(HOLES).nansum(keepdim=True)),
    "count_nonzero": lambda: imode.count_nonzero(tensor(X * (X > 0))),
    "triangular systems": lambda: imode.linalg.solve_triangular(
        tensor(A[:, :300] + 300 * np.eye(300, dtype="float32")), tensor(A), upper=True
    ),
    "take": lambda: tensor(X).take(tensor(PLACES)),
    "topk": lambda: tuple(tensor(A).topk(10, 1)),
    "kthvalue": lambda: tuple(tensor(A).kthvalue(7, 1)),
    "arange": lambda: imode.arange(0.3, MANY / 10, 0.1),
    "arange of integers": lambda: imode.arange(3, 7 * MANY, 7),
    "searchsorted": lambda: imode.searchsorted(tensor(np.sort(X[:777])), tensor(X)),
    "embedding_bag": lambda: F.embedding_bag(tensor(COLUMNS[:, :20] % 300), tensor(A)),
    "masked_fill": lambda: tensor(X).masked_fill(tensor(X > 0), -0.0),
    "masked_fill of columns": lambda: tensor(A).masked_fill(tensor(A[0] > 0), -0.0),
    "masked_fill of rows": lambda: tensor(A).masked_fill(tensor(A[:, :1] > 0), -0.0),
    "resampled": lambda: F.interpolate(tensor(A)[None], scale_factor=1.7, mode="linear"),
    "repeated": lambda: F.interpolate(tensor(A)[None, None].expand(1, 2, -1, -1), scale_factor=2),
    "glu": lambda: F.glu(tensor(A)),
    "rot90": lambda: tensor(A).rot90(),
    "floor_divide": lambda: tensor(H) // tensor(np.abs(H) + 1),
    "embedding": lambda: F.embedding(tensor(COLUMNS % 300), tensor(A)),
    "embedding's gradient": lambda: imode.ops.aten.embedding_dense_backward(
        tensor(numbers(6, 500, 900)), tensor(COLUMNS[0] % 40), 40, -1, False
    ),
    "mirrored": lambda: F.pad(tensor(A)[None], (3, 7), "reflect"),
    "replicated": lambda: F.pad(tensor(A)[None], (3, 7, 1, 2), "replicate"),
    "distances": lambda: imode.cdist(tensor(A), tensor(A[:50])),
    "distances of order 1": lambda: imode.cdist(tensor(A), tensor(A[:50]), 1),
    "dot product": lambda: tensor(X) @ tensor(X[::-1]),
    "squared error": lambda: F.mse_loss(tensor(X), tensor(X[::-1])),
    "Huber": lambda: F.huber_loss(tensor(X), tensor(X[::-1]), reduction="none"),
    "variance": lambda: imode.var_mean(tensor(A), 0),
    "determinants": lambda: imode.linalg.det(tensor(X[:149_984].reshape(-1, 4, 4))),
    "inverses": lambda: imode.linalg.inv(tensor(X[:149_760].reshape(-1, 12, 12))),
    "product": lambda: tensor(A) @ tensor(A).T,
    "product of one row": lambda: tensor(X[:800]) @ tensor(numbers(8, 800, 1000)),
    "product of a few rows": lambda: tensor(numbers(7, 16, 900)) @ tensor(numbers(8, 700, 900)).T,
    "max_pool2d": lambda: F.max_pool2d(tensor(A)[None], 3, 2, 1, return_indices=True),
    "avg_pool2d": lambda: F.avg_pool2d(tensor(A)[None], 3, 2, 1),
    "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(tensor(A)[None], 7),
    "lgamma of few": lambda: tensor(X[:20_000]).lgamma(),
    "to float32": lambda: tensor(H).float(),
    "to float64": lambda: tensor(X).double(),
    "to bool": lambda: tensor(X).bool(),
    "full": lambda: imode.full((MANY,), 2.5),
    "zeros": lambda: imode.zeros(MANY, dtype=imode.int64),
    "copy of a row": lambda: imode.empty(700, 500).copy_(tensor(A[0])),
    "copy of a column": lambda: imode.empty(300, 700).copy_(tensor(A[:, :1])),
    "diag": lambda: imode.diag(tensor(X[:600])),
    "sin": lambda: tensor(X).sin(),
    "roll": lambda: (tensor(A).roll(7, 1), tensor(X).roll(-9)),
    "repeat": lambda: tensor(A).repeat(3, 2),
    "sort": lambda: tuple(tensor(H).sort(stable=True)),
    "cat": lambda: imode.cat((tensor(A), tensor(A[:, ::2])), 1),
    "pad": lambda: F.pad(tensor(X.reshape(150, 4, 10, 25)), (1, 2, 0, 3)),
    "softmax of columns": lambda: tensor(A).t().softmax(1),
    "cdist": lambda: imode.cdist(tensor(A), tensor(A[::2])),
    "cumsum": lambda: tensor(A).cumsum(1),
    "sum": lambda: (tensor(X).sum(), tensor(A[:, 3:-4]).sum(1)),
    "operands that lie apart": lambda: (tensor(X)[::2] + tensor(X)[1::2], -tensor(H)[::3]),
    "operands that lie across": lambda: tensor(A) * tensor(A.reshape(500, 300)).t(),
    "cumsum of integers": lambda: tensor(H.reshape(300, 500)).cumsum(1),
    "extrema of columns": lambda: (tensor(A).amax(0), tensor(A).amin(0)),
    "transforms": lambda: imode.fft.rfft(tensor(A)),
    "gradient of a convolution": lambda: imode.ops.aten.convolution_backward(
        tensor(X[:147_456].reshape(9, 16, 32, 32)),
        tensor(X[:73_728].reshape(9, 8, 32, 32)),
        tensor(X[:1152].reshape(16, 8, 3, 3)),
        None,
        (1, 1),
        (1, 1),
        (1, 1),
        False,
        (0, 0),
        1,
        (True, True, False),
    )[:2],
    "product of bfloat16": lambda: (tensor(A).bfloat16() @ tensor(A).bfloat16().t()).float(),
}


@pytest.mark.parametrize("what", SHARED)
def test_the_bits_do_not_depend_on_the_threads(what):
    found = []
    for threads in (1, 2, 3):
        set_num_threads(threads)
        found.append(bits(SHARED[what]()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [2, 3, 9, 10, 16, 17, 47, 48])
@pytest.mark.parametrize("columns", [47, 48, 131])
def test_a_few_rows_by_the_transpose_of_a_matrix(rows, columns, dtype):
    """Also where the rows, and those of the matrix, do not lie side by side."""
    x, w = numbers(0, rows, 400, dtype=dtype), numbers(1, columns, 400, dtype=dtype)
    for a, b in ((x, w), (x[:, ::2], w[:, :200]), (np.asfortranarray(x), w[:, 3:])):
        a, b = a[:, -min(a.shape[1], b.shape[1]) :], b[:, -min(a.shape[1], b.shape[1]) :]
        found = imode.from_numpy(a) @ imode.from_numpy(b).T
        wanted = a.astype("float64") @ b.T.astype("float64")
        scale = np.abs(a).astype("float64") @ np.abs(b).T.astype("float64")
        assert found.is_contiguous()
        assert (np.abs(found.numpy() - wanted) <= 20 * np.finfo(dtype).eps * scale).all()


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "complex128"])
def test_of_several_writes_to_an_element_the_last_one_stays(dtype, threads):
    set_num_threads(threads)
    values = numbers(6, MANY, dtype=dtype, scale=99)
    expected = np.zeros(MANY, dtype)
    expected[PLACES] = values
    zeros = imode.from_numpy(np.zeros(MANY, dtype))
    assert (zeros.put(tensor(PLACES), tensor(values)).numpy() == expected).all()
    zeros[tensor(PLACES)] = tensor(values)
    assert (zeros.numpy() == expected).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("shape, dim", [((700, 60), 0), ((60, 700), 1), ((3, 500, 40), 1)])
def test_slices_are_added_at_their_index(shape, dim, dtype):
    into, index = numbers(0, *shape, dtype=dtype, scale=9), np.arange(shape[dim]) * 7 % 50
    added = numbers(1, *shape, dtype=dtype, scale=9)
    expected = into.copy()
    place = (slice(None),) * dim + (index,)
    np.add.at(expected, place, added)
    set_num_threads(2)
    found = tensor(into).index_add(dim, tensor(index), tensor(added)).numpy()
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-4)
    rows = index % shape[0]
    ones = tensor(into).index_put((tensor(rows),), imode.ones((), dtype=tensor(into).dtype), True)
    np.add.at(into, rows, 1)
    assert np.allclose(ones.numpy(), into, rtol=1e-5, atol=1e-4)


def test_parts_of_a_whole_tensor_are_folded_by_sums():
    """A sum of infinities of both signs is NaN, and no element that `nansum` leaves out."""
    x = tensor(HOLES)
    assert x.nansum().item() == pytest.approx(np.nansum(HOLES.astype("float64")), rel=1e-4)
    assert imode.count_nonzero(x) == np.count_nonzero(HOLES)
    x[0], x[1] = float("inf"), float("-inf")
    assert x.nansum().isnan()
    x[1] = 0
    assert x.nansum() == float("inf")
    assert not tensor(X * 0).any() and tensor(X * 0 + 1).all()
    truth = tensor(X * 0)
    truth[-1] = 1
    assert truth.any() and not truth.all()


def test_an_index_out_of_range_leaves_all_as_it_was():
    for places in (PLACES, COLUMNS[0]):
        wrong = places.copy()
        wrong[-1] = MANY
        target = tensor(X.copy())
        with pytest.raises(IndexError, match="out of range"):
            target.put_(tensor(wrong), tensor(np.zeros(wrong.shape, "float32")))
        assert (target.numpy() == X).all()
    with pytest.raises(IndexError, match="out of range"):
        tensor(X).take(tensor(PLACES + MANY))


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", ["scatter", "scatter_add", "scatter_", "scatter_add_"])
def test_a_scatter_to_an_index_out_of_range_leaves_all_as_it_was(name, dim):
    for wrong in (-1, 500, 10**12):
        places, target = COLUMNS % 300, tensor(A.copy())
        places[299, 499] = wrong
        with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
            getattr(target, name)(dim, tensor(places), tensor(A + 1))
        assert (target.numpy() == A).all()
        with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
            target.gather(dim, tensor(places))


@pytest.mark.parametrize("dtype", ["float32", "int64", "int16", "uint8"])
@pytest.mark.parametrize(
    "shape, dim",
    [((40, 5, 700), 1), ((300, 130), 0), ((2, 3, 4, 90), 2), ((900, 300), 0), ((2, 1500, 91), 1)],
)
def test_columns_are_gathered_and_scattered_in_blocks(shape, dim, dtype):
    rng = np.random.default_rng(9)
    x, y = (rng.integers(0, 99, shape).astype(dtype) for _ in range(2))
    places = rng.integers(0, shape[dim], shape)
    found = tensor(x).gather(dim, tensor(places))
    assert (found.numpy() == np.take_along_axis(x, places, dim)).all()
    expected = x.copy()
    at = list(np.indices(shape))
    at[dim] = places
    np.add.at(expected, tuple(at), y)
    added = tensor(x).scatter_add(dim, tensor(places), tensor(y))
    assert (added.numpy() == expected).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("length", [1, 15, 16, 17, 333])
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes_look_ahead(name, length, dtype):
    x = np.random.default_rng(length).integers(-50, 50, (7, length)).astype(dtype)
    if dtype.startswith("float"):
        x[1, length // 2], x[2, -1], x[3, 0] = np.nan, np.nan, np.inf
    x[4] = 3
    line = np.maximum if name == "cummax" else np.minimum
    expected = line.accumulate(x, 1)
    for found in (getattr(tensor(x), name)(1), [t.t() for t in getattr(tensor(x.T), name)(0)]):
        values, places = (t.numpy() for t in found)
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(np.take_along_axis(x, places, 1), expected)
        later = (x == expected) | (np.isnan(x) & np.isnan(expected))
        last = np.maximum.accumulate(np.where(later, np.arange(length), 0), 1)
        np.testing.assert_array_equal(places, last)


# ---- whole numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [5, 1000, 2**51 - 1, 2**51 + 5, 2**62, 2**63 - 1])
def test_integers_divide_exactly(size):
    draw = np.random.default_rng(0).integers
    x, y = draw(-size, size, 700), draw(-size, size, 700)
    x[:8] = size, -size, size - 1, 1 - size, 0, 7, -7, -1
    y[::5], y[1::5] = -1, 1
    y[y == 0] = 3
    pairs = [(int(p), int(q)) for p, q in zip(x, y, strict=True)]
    assert (tensor(x) // tensor(y)).tolist() == [p // q for p, q in pairs]
    assert (tensor(x) % tensor(y)).tolist() == [p % q for p, q in pairs]
    assert (tensor(x) // -7).tolist() == [p // -7 for p, _ in pairs]


def test_the_least_integer_over_minus_one_wraps_around():
    least = tensor(np.full(300, -(2**63)))
    assert (least // -1).tolist() == [-(2**63)] * 300
    assert (least % -1).tolist() == [0] * 300


@pytest.mark.parametrize("divisor", ["0", "zero", "some", "narrow", "wraps"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_a_divisor_of_zero_is_refused_before_anything_is_written(name, divisor):
    x = imode.arange(1, 601)
    x = x.to(imode.uint8) if divisor == "wraps" else x
    by = {
        "0": 0,
        "zero": imode.tensor(0),
        "some": imode.arange(600),
        "narrow": imode.arange(600).to(imode.uint8),  # 256 is a 0
        "wraps": imode.tensor(256),
    }[divisor]
    before = x.tolist()
    for form in (f"{name}_", name):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            getattr(x, form)(by)
        assert x.tolist() == before
    assert getattr(x[:0], name)(0).shape == (0,)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_narrow_integers_divide_exactly(dtype):
    x, y = (np.random.default_rng(k).integers(1, 100, 999).astype(dtype) for k in (0, 1))
    assert ((tensor(x) // tensor(y)).numpy() == x // y).all()
    assert ((tensor(x) % tensor(y)).numpy() == x % y).all()
    assert (tensor(x) // tensor(y)).dtype == tensor(x).dtype


@pytest.mark.parametrize("size", [9, 2**51, 2**63 - 1])
def test_integers_become_floats_rounded_once(size):
    x = np.random.default_rng(0).integers(-size, size, 999)
    assert (tensor(x).float().numpy() == x.astype("float32")).all()
    assert (tensor(x).double().numpy() == x.astype("float64")).all()
    assert (tensor(x).bool().numpy() == (x != 0)).all()


def test_bounds_hold_integers():
    x = np.random.default_rng(0).integers(-9, 9, 999)
    assert (tensor(x).clamp(-3, 4).numpy() == x.clip(-3, 4)).all()
    assert (tensor(x).clamp(4, -3).numpy() == -3).all()


def test_whole_numbers_that_lie_close_are_counted():
    x = np.random.default_rng(0).integers(-700, 700, (30, 100))
    found = imode.unique(tensor(x), return_inverse=True, return_counts=True)
    expected = np.unique(x, return_inverse=True, return_counts=True)
    for own, other in zip(found, expected, strict=True):
        assert own.dtype == imode.int64 and (own.numpy() == other.reshape(own.shape)).all()
    assert imode.unique(tensor(x)).tolist() == expected[0].tolist()
    ends = np.array([-(2**63), 2**63 - 1] * 600)
    assert imode.unique(tensor(ends)).tolist() == ends[:2].tolist()
    x = np.abs(x).reshape(-1)
    times = imode.bincount(tensor(x), minlength=900)
    assert times.tolist() == np.bincount(x, minlength=900).tolist()


# ---- floats --------------------------------------------------------------------------------------

SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e5, -1e5, 1e38, 1e-42], "float32")


@pytest.mark.parametrize("scale", [1e-30, 1, 100, 9e4, 1e6, 1e30])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sines_are_right_to_their_last_bits(name, scale):
    x = numbers(0, 5000, scale=scale)
    for given in (x, np.concatenate([SPECIAL, x])):
        with np.errstate(invalid="ignore"):
            expected = getattr(np, name)(given.astype("float64"))
        found = getattr(tensor(given), name)().numpy()
        assert (np.isnan(found) == np.isnan(expected)).all()
        finite = ~np.isnan(expected)
        unit = np.spacing(np.abs(expected[finite]).astype("float32"))
        assert (np.abs(found[finite] - expected[finite]) < 2.5 * unit).all()
    assert np.signbit(tensor(SPECIAL[:2]).sin().numpy()).tolist() == [False, True]


def test_copysign_keeps_all_but_the_sign():
    x, y = np.tile(SPECIAL, 9), np.repeat(SPECIAL, 9)
    for dtype in ("float16", "float32", "float64"):
        with np.errstate(over="ignore"):
            a, b = x.astype(dtype), y.astype(dtype)
        found, expected = imode.copysign(tensor(a), tensor(b)).numpy(), np.copysign(a, b)
        assert (np.signbit(found) == np.signbit(expected)).all()
        np.testing.assert_array_equal(found, expected)


def test_bounds_that_are_nan_win():
    x, low, high = (a.reshape(-1) for a in np.meshgrid(SPECIAL, SPECIAL, SPECIAL))
    found = imode.clamp(tensor(x), tensor(low), tensor(high)).numpy()
    np.testing.assert_array_equal(found, np.minimum(np.maximum(x, low), high))


def test_shrinking_keeps_nan_and_infinity():
    x = np.concatenate([SPECIAL, numbers(0, 999)])
    with np.errstate(invalid="ignore"):
        expected = np.where(np.abs(x) > 0.5, x - np.copysign(np.float32(0.5), x), x * 0)
    np.testing.assert_array_equal(F.softshrink(tensor(x), 0.5).numpy(), expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("dim", [0, 1])
def test_a_gate_is_a_product(dtype, dim):
    a = numbers(0, 6, 8, dtype=dtype)
    first, second = (h.astype("float64") for h in np.split(a, 2, dim))
    expected = first / (1 + np.exp(-second))
    found = F.glu(tensor(a), dim)
    assert found.dtype == tensor(a).dtype
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-2 if dtype == "float16" else 1e-6)
    assert F.glu(imode.zeros(0, 4)).stride() == (2, 1)


# ---- places, order, copies -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32"])
@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 513])
def test_places_in_a_sorted_sequence(dtype, length):
    sequence = np.sort(numbers(0, 513, dtype=dtype, scale=50))[:length]
    values = np.concatenate([sequence, numbers(1, 9000, dtype=dtype, scale=60)])
    if values.dtype.kind == "f":
        values[:3] = np.nan, np.inf, -np.inf
    for side in ("left", "right"):
        found = imode.searchsorted(tensor(sequence), tensor(values), side=side)
        assert found.dtype == imode.int64
        assert (found.numpy() == np.searchsorted(sequence, values, side)).all()
    found = imode.bucketize(tensor(values), tensor(sequence), out_int32=True)
    assert found.dtype == imode.int32 and (found.numpy() == np.searchsorted(sequence, values)).all()


def bisected(sequence, value, right):
    """The place that halving finds, whether or not the sequence is sorted."""
    begin, end = 0, len(sequence)
    while begin < end:
        middle = (begin + end) // 2
        above = sequence[middle] > value if right else sequence[middle] >= value
        begin, end = (begin, middle) if above else (middle + 1, end)
    return begin


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int16"])
@pytest.mark.parametrize("right", [False, True])
def test_places_in_rows_that_are_not_sorted(dtype, right):
    sequences = tensor(numbers(0, 3, 9, scale=3)).round().to(getattr(imode, dtype))
    values = tensor(numbers(1, 3, 20, scale=3)).round().to(getattr(imode, dtype))
    if sequences.is_floating_point():
        sequences[0, 4] = sequences[1, -1] = values[0, 0] = imode.nan
    found = imode.searchsorted(sequences, values, right=right)
    for row in range(3):
        numbers_there = sequences[row].tolist()
        expected = [bisected(numbers_there, value, right) for value in values[row].tolist()]
        assert found[row].tolist() == expected
        assert imode.bucketize(values[row], sequences[row], right=right).tolist() == expected


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("descending", [False, True])
def test_sorted_are_the_very_elements(dtype, descending):
    x = numbers(0, 500, dtype=dtype, scale=9)
    if x.dtype.kind == "f":
        x[:90] = np.tile([0, -0.0, np.nan, -np.nan, np.inf, -np.inf], 15)
    values, indices = tensor(x).sort(stable=True, descending=descending)
    assert values.numpy().tobytes() == x[indices.numpy()].tobytes()
    key = np.where(np.isnan(x), np.inf, x + 0.0)
    order = np.lexsort((np.arange(500), np.isnan(x), key))
    if descending:
        order = np.lexsort((np.arange(500), ~np.isnan(x), -key))
    assert indices.tolist() == order.tolist()


def test_draws_without_replacement_are_distinct_and_have_weight():
    weights = np.abs(numbers(0, 50, 300))
    weights[:, ::3] = 0
    found = tensor(weights).multinomial(100).numpy()
    assert all(len(set(row)) == 100 for row in found)
    assert (np.take_along_axis(weights, found, 1) > 0).all()


APART = {
    "every other": lambda a: a[:, ::2],
    "every third, from the middle": lambda a: a[7:, 1::3],
    "across": lambda a: a.T,
    "across and apart": lambda a: a[::2, 5:].T,
    "repeated": lambda a: a[:, :1].repeat(300, 1).T,
    "images": lambda a: a.reshape(20, 30, -1).transpose(1, 2, 0),
    "swapped": lambda a: a.reshape(20, 30, -1).swapaxes(0, 1)[:, :, ::2],
}


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("how", APART)
@pytest.mark.parametrize("threads", [1, 2])
def test_operands_whose_elements_lie_apart(how, dtype, threads):
    set_num_threads(threads)
    rng = np.random.default_rng(11)
    x, y = (
        APART[how]((rng.standard_normal((600, 250)) * 50).astype("i8").astype(dtype)) for _ in "xy"
    )
    a, b = imode.from_numpy(x), imode.from_numpy(y)
    beside = tensor(x)
    for found, expected in (
        (beside + b, x + y), (a * beside, x * x), (a + b, x + y), (a + 3, x + 3),
        (a == beside, x == x),
        (imode.where(a == b, a, beside), x), (imode.addcmul(beside, a, b), x + x * y),
        (beside.clone().sub_(b), x - y),
    ):  # fmt: skip
        assert (found.numpy() == expected).all()
    a *= b  # what lies apart is written to
    assert (a.numpy() == x).all() and a.data_ptr() == imode.from_numpy(x).data_ptr()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [1, 2, 4, 5, 6, 9, 40])
@pytest.mark.parametrize("columns", [7, 8, 9, 130, 1030])
def test_extrema_of_columns(rows, columns, dtype):
    x = numbers(rows * columns, rows, columns, dtype=dtype)
    for odd in (False, True):
        if odd:
            x[rows // 2, columns // 3] = x[-1, -1] = np.nan
        for found, expected in ((tensor(x).amax(0), x.max(0)), (tensor(x).amin(0), x.min(0))):
            np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("rows", [1, 3, 16, 17, 50])
@pytest.mark.parametrize("columns", [7, 8, 100, 1100])
@pytest.mark.parametrize("share", [0, 0.03, 0.5, 0.97, 1])
def test_truth_of_columns(rows, columns, dtype, share):
    rng = np.random.default_rng(rows)
    x = np.where(
        rng.random((rows, columns)) < share, rng.standard_normal((rows, columns)) * 9 + 99, 0
    )
    x = x.astype(dtype)
    assert (tensor(x).any(0).numpy() == x.any(0)).all()
    assert (tensor(x).all(0).numpy() == x.all(0)).all()
    assert (tensor(x.T).t().all(1).numpy() == x.all(1)).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_truth_of_pairs(dtype):
    x = np.array([0, -0.0, 1, -2, np.nan, np.inf, 1e-45] * 9)[:, None]
    with np.errstate(all="ignore"):
        x = x.astype(dtype)
    for name in ("logical_and", "logical_or", "logical_xor"):
        found = getattr(imode, name)(tensor(x), tensor(x.T))
        assert (found.numpy() == getattr(np, name)(x, x.T)).all()


@pytest.mark.parametrize("name", ["median", "nanmedian", "mode", "cummax", "cummin"])
def test_order_of_float16_is_that_of_float32(name):
    x = numbers(5, 40, 300).astype("float16")
    x[3, 5] = x[7, 7] = np.nan if name != "mode" else 0
    for dim in (0, 1):
        narrow, wide = (getattr(t, name)(dim) for t in (tensor(x), tensor(x).float()))
        np.testing.assert_array_equal(narrow.values.numpy(), wide.values.half().numpy())
        assert (narrow.indices == wide.indices).all() and narrow.values.dtype == imode.float16


def test_float16_is_added_in_float32_and_rounded_once():
    start, ones = imode.full((1, 3), 2048.0).half(), imode.ones(6, 3).half()
    places = imode.zeros(6, 3, dtype=imode.int64)
    for found in (start.scatter_add(0, places, ones), start.clone().scatter_add_(0, places, ones)):
        assert found.tolist() == [[2054.0] * 3]  # 2048 + 1 is 2048 in float16


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["logaddexp", "atan2", "hypot"])
def test_loops_over_far_memory_are_those_over_near_memory(name, dtype):
    """What is fetched ahead, from 1 MB of an operand on, is no other element."""
    n = (1 << 21) // np.dtype(dtype).itemsize + 321
    set_num_threads(1)
    a, b = tensor(numbers(6, n, dtype=dtype)), tensor(numbers(7, n, dtype=dtype))
    whole = getattr(imode, name)(a, b)
    parts = [getattr(imode, name)(a[i : i + 4096], b[i : i + 4096]) for i in range(0, n, 4096)]
    assert bits(whole) == bits(imode.cat(parts))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 31, 1000])
def test_running_sums_of_integers(n):
    x = np.random.default_rng(n).integers(-(2**63), 2**63 - 1, (3, n))
    with np.errstate(over="ignore"):
        assert (tensor(x).cumsum(1).numpy() == x.cumsum(1)).all()
        assert (tensor(x).sum(1).numpy() == x.sum(1)).all()


@pytest.mark.parametrize("scale", [1, 60])
def test_rows_of_softmax_of_every_length(scale):
    for n in (*range(1, 70), 255, 256, 263, 264, 2049):
        x = numbers(n, 3, n, scale=scale)
        x[1, : n // 2] = -np.inf
        wide = x.astype("float64")
        with np.errstate(divide="ignore"):
            total = np.log(np.exp(wide).sum(1, keepdims=True))
        for found, expected in (
            (tensor(x).logsumexp(1, True), total),
            (tensor(x).log_softmax(1), wide - total),
            (tensor(x).softmax(1), np.exp(wide - total)),
        ):
            np.testing.assert_allclose(found.numpy(), expected, rtol=3e-6, atol=3e-5 * scale / 9)


@pytest.mark.parametrize("size", [5, 8, 17, 32])
@pytest.mark.parametrize("images", [3, 9, 70])
def test_a_weight_gradient_summed_over_pieces_of_the_images(images, size):
    x, w = numbers(1, images, 6, size, size), numbers(2, 24, 6, 3, 3)
    found = []
    for dtype in (imode.float32, imode.float64):
        weight = tensor(w).to(dtype).requires_grad_()
        out = F.conv2d(tensor(x).to(dtype), weight)
        found += imode.autograd.grad(out.cos().sum(), weight)
        found.append(out.detach())
    for narrow, wide in ((found[0], found[2]), (found[1], found[3])):
        tolerance = 2e-5 * float(wide.abs().max())
        np.testing.assert_allclose(narrow.double().numpy(), wide.numpy(), atol=tolerance)


@pytest.mark.parametrize("channels", [5, 16, 24, 40])
@pytest.mark.parametrize("padding", [0, 1])
def test_lines_of_large_images_lie_one_behind_the_other(channels, padding):
    x, w = numbers(1, 2, 3, 90, 301), numbers(2, channels, 3, 3, 3)
    narrow, wide = (
        F.conv2d(
            tensor(x).to(dtype), tensor(w).to(dtype), tensor(w[:, 0, 0, 0]).to(dtype), 1, padding
        )
        for dtype in (imode.float32, imode.float64)
    )
    taps = np.lib.stride_tricks.sliding_window_view(
        np.pad(x.astype("f8"), [(0, 0), (0, 0), (padding,) * 2, (padding,) * 2]), (3, 3), (2, 3)
    )
    expected = np.einsum("nchwij,ocij->nohw", taps, w) + w[:, 0, 0, 0][:, None, None]
    np.testing.assert_allclose(wide.numpy(), expected, atol=1e-10)
    np.testing.assert_allclose(narrow.numpy(), expected, atol=2e-5)


@pytest.mark.parametrize("hidden", [3, 8, 40, 128])
@pytest.mark.parametrize("layer", [imode.nn.LSTM, imode.nn.GRU, imode.nn.RNN])
def test_a_recurrent_step_of_one_row_is_that_of_several(layer, hidden):
    imode.manual_seed(0)
    net, x = layer(5, hidden), tensor(numbers(3, 20, 2, 5))
    with imode.no_grad():
        both, alone = net(x)[0], net(x[:, :1])[0]
    assert bits(both[:, :1]) == bits(alone)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(5, 3), (16, 512), (300, 270), (3, 40, 50)])
def test_turned_copies(dtype, shape):
    a = numbers(0, *shape, dtype=dtype, scale=99)
    for given in (a, a[::-1], a[..., ::2]):
        turned = np.swapaxes(given, -1, -2)
        assert (imode.from_numpy(turned.copy("A")).contiguous().numpy() == turned).all()
        held = imode.from_numpy(a)
        held = held.flip(0) if given.strides[0] < 0 else held
        held = held[..., ::2] if given.shape != a.shape else held
        assert (held.transpose(-1, -2).contiguous().numpy() == turned).all()
        for k in (-1, 1, 2):
            assert (held.rot90(k).numpy() == np.rot90(given, k)).all()


@pytest.mark.parametrize("part", ["a[..., :1]", "a[:1]", "a[0]", "a[0, 0]", "a[:, :1]", "a[3, 4]"])
def test_copies_into_larger_arrays(part):
    a = numbers(0, 40, 50)
    for target in (np.zeros((40, 50), "float32"), np.zeros((50, 40), "float32").T):
        held = imode.from_numpy(target)
        held.copy_(eval(part, {"a": imode.from_numpy(a)}))
        assert (held.numpy() == eval(part, {"a": a})).all()
    with pytest.raises(RuntimeError, match="must match the size"):
        held.copy_(imode.zeros(41, 1))
    row = imode.from_numpy(a)
    with pytest.raises(RuntimeError, match="single memory location"):
        row.copy_(row[0])


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex128"])
@pytest.mark.parametrize("shape", [(7, 9), (300, 500), (30, 50, 100)])
def test_moved_on_and_repeated(dtype, shape):
    a = numbers(0, *shape, dtype=dtype, scale=99)
    for shift in (-7, 0, 3, 500):
        assert (tensor(a).roll(shift).numpy() == np.roll(a, shift)).all()
        for dim in range(a.ndim):
            assert (tensor(a).roll(shift, dim).numpy() == np.roll(a, shift, dim)).all()
    for times in ((1, 2), (2, 1), (3, 2), (2, 1, 1), (2, 3, 1), (1, 1, 2), (2, 1, 2, 1)):
        if len(times) >= a.ndim:
            assert (tensor(a).repeat(times).numpy() == np.tile(a, times)).all()


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_masks_select_and_fill(dtype):
    x = numbers(0, 5000, dtype=dtype, scale=99)
    mask = np.random.default_rng(1).integers(0, 2, 5000).astype(bool)
    for flags in (mask, ~mask, np.zeros(5000, bool), np.ones(5000, bool)):
        assert (tensor(x)[tensor(flags)].numpy() == x[flags]).all()
        filled = tensor(x).masked_fill(tensor(flags), 1)
        assert (filled.numpy() == np.where(flags, np.array(1, dtype), x)).all()
        chosen = imode.where(tensor(flags), tensor(x), tensor(x[::-1]))
        assert (chosen.numpy() == np.where(flags, x, x[::-1])).all()


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
@pytest.mark.parametrize("dim", [0, 1])
def test_slices_are_copied_to_their_index(dtype, dim):
    a = numbers(0, 30, 30, dtype=dtype, scale=99)
    index = np.random.default_rng(1).permutation(30)[:20]
    source = np.take(a, range(20), dim)
    expected = np.zeros_like(a)
    (expected if dim == 0 else expected.T)[index] = source if dim == 0 else source.T
    found = imode.from_numpy(np.zeros_like(a)).index_copy(dim, tensor(index), tensor(source))
    assert (found.numpy() == expected).all()


# ---- medians, counts, bags, products -------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5, 6, 7, 16, 17, 255, 1023, 1024, 5000, 70_001])
@pytest.mark.parametrize("kinds", [2, 40, 10**9])
def test_the_median_is_the_first_of_its_equals(n, kinds):
    x = np.random.default_rng(n).integers(-kinds, kinds, n).astype("float32")
    at = np.argsort(x, kind="stable")[(n - 1) // 2]
    value, index = tensor(x).median(0)
    assert value.item() == tensor(x).median().item() == x[at]
    assert index.item() == at
    x[n // 3] = np.nan
    assert np.isnan(tensor(x).median().item())
    if n > 1:
        assert tensor(x).nanmedian().item() == np.sort(x)[(n - 2) // 2]


@pytest.mark.parametrize("most", [10, 4095, 4096, 100_000])
@pytest.mark.parametrize("least", [0, 50, 5000])
def test_counts_of_small_and_large_numbers(most, least):
    x = np.random.default_rng(most).integers(0, most + 1, 6000)
    x[17] = most
    counted = tensor(x).bincount(minlength=least).numpy()
    assert (counted == np.bincount(x, minlength=least)).all()
    x[5999] = -1
    with pytest.raises(RuntimeError, match="non-negative"):
        tensor(x).bincount()


@pytest.mark.parametrize("columns", [1, 7, 31, 100, 517])
@pytest.mark.parametrize("size", [0, 1, 3, 200])
def test_bags_are_sums_in_order(columns, size):
    table, index = numbers(1, 50, columns), np.random.default_rng(2).integers(0, 50, 3 * size)
    starts = tensor(np.arange(3) * size)
    found = F.embedding_bag(tensor(index), tensor(table), starts, mode="sum", padding_idx=7)
    wanted = np.zeros((3, columns), "float32")
    for bag in range(3):
        for i in index[bag * size : (bag + 1) * size]:
            if i != 7:
                wanted[bag] += table[i]
    assert (found.numpy() == wanted).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [48, 63, 64, 65, 79, 96, 111, 160, 385, 433])
@pytest.mark.parametrize("rows", [48, 57, 103])
def test_products_by_panels_of_any_number_of_vectors(rows, columns, dtype):
    """Of small whole numbers, whose sums are exact: in every order, and deeper than a block."""
    rng = np.random.default_rng(columns)
    a = rng.integers(-4, 5, (rows, 900)).astype(dtype)
    b = rng.integers(-4, 5, (900, columns)).astype(dtype)
    of_columns = tensor(a.T).t(), tensor(b.T).t()
    for left in (tensor(a), of_columns[0]):
        for right in (tensor(b), of_columns[1]):
            assert np.array_equal((left @ right).numpy(), a @ b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("depth", [3, 20, 33, 200])
@pytest.mark.parametrize("columns", [1, 2, 3, 7, 12, 65, 500])
def test_products_of_few_rows_and_narrow_ones(columns, depth, dtype):
    rng = np.random.default_rng(columns)
    b = rng.integers(-4, 5, (depth, columns)).astype(dtype)
    for rows in (1, 2, 3, 4, 5, 8, 9, 300):
        a = rng.integers(-4, 5, (rows, depth)).astype(dtype)
        for left in (tensor(a), tensor(a.T).t(), tensor(a.repeat(2, 1))[:, ::2]):
            for right in (tensor(b), tensor(b.T).t(), tensor(b.repeat(2, 1))[:, ::2]):
                assert np.array_equal((left @ right).numpy(), a @ b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("depth, columns", [(128, 512), (301, 700), (129, 129), (5, 900)])
def test_few_rows_by_a_large_matrix_of_any_layout(depth, columns, dtype):
    """Also one whose rows or columns are all the same memory, and in stacks."""
    rng = np.random.default_rng(depth)
    b = rng.integers(-4, 5, (depth, columns)).astype(dtype)
    rights = {
        "rows": (b, tensor(b)),
        "columns": (b, tensor(b.T).t()),
        "wider": (b, tensor(np.pad(b, ((0, 0), (1, 2))))[:, 1:-2]),
        "the same row": (b[:1].repeat(depth, 0), tensor(b[:1]).expand(depth, -1)),
        "the same column": (b[:, :1].repeat(columns, 1), tensor(b[:, :1]).expand(-1, columns)),
    }
    for rows in (1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 31, 47):
        a = rng.integers(-4, 5, (rows, depth)).astype(dtype)
        for left in (tensor(a), tensor(a.T).t()):
            for layout, (array, right) in rights.items():
                assert np.array_equal((left @ right).numpy(), a @ array), (rows, layout)
                pair = imode.bmm(imode.stack([left, -left]), right.expand(2, -1, -1)).numpy()
                assert np.array_equal(pair, [a @ array, -(a @ array)]), (rows, layout)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [5, 8, 13, 16])
def test_inverses_of_a_stack(n, dtype):
    a = numbers(n, 7, n, n, dtype=dtype) + 3 * np.eye(n, dtype=dtype)
    found = imode.linalg.inv(tensor(a)).numpy()
    close = 1e-4 if dtype == "float32" else 1e-12
    assert np.allclose(found @ a, np.eye(n), atol=close)
    for one, alone in zip(found, a, strict=True):
        assert one.tobytes() == imode.linalg.inv(tensor(alone)).numpy().tobytes()


@pytest.mark.parametrize("shape", [(8, 512, 80), (64, 65, 63), (129, 300, 33), (100, 9, 1000)])
@pytest.mark.parametrize("turned", [(), (0,), (1,), (0, 1)])
def test_products_of_bfloat16(shape, turned):
    n, k, m = shape
    a, b = tensor(numbers(1, n, k)).bfloat16(), tensor(numbers(2, k, m)).bfloat16()
    wanted = a.double().numpy() @ b.double().numpy()
    sizes = np.abs(a.double().numpy()) @ np.abs(b.double().numpy())
    a = a.t().contiguous().t() if 0 in turned else a
    b = b.t().contiguous().t() if 1 in turned else b
    found = (a @ b).double().numpy()
    assert (np.abs(found - wanted) <= np.abs(wanted) * 2**-8 + sizes * 1e-6).all()


def test_products_of_bfloat16_keep_nan_and_infinity():
    a = tensor(numbers(1, 70, 90)).bfloat16()
    b = tensor(numbers(2, 90, 80)).bfloat16()
    a[3, 4], a[5, 6], b[7, 8] = float("nan"), float("inf"), float("-inf")
    with np.errstate(invalid="ignore"):
        wanted = a.double().numpy() @ b.double().numpy()
    found = (a @ b).double().numpy()
    assert (np.isnan(found) == np.isnan(wanted)).all()
    assert (np.isinf(found) == np.isinf(wanted)).all()


# ---- where arrays begin --------------------------------------------------------------------------


def test_large_arrays_begin_at_a_cache_line():
    x = imode.rand(5000)
    for made in (x, x + 1, x.clone(), x.relu(), imode.zeros(70, 80), x.bfloat16(), x.sort()[0]):
        assert made.data_ptr() % 64 == 0


def test_memory_of_one_dtype_serves_another():
    for dtype in (imode.float32, imode.int32, imode.float32, imode.int64):
        x = imode.ones(400_000 * 8 // dtype.itemsize // 2, dtype=dtype)
        assert x.dtype == dtype
        assert x.numpy().dtype == np.dtype(str(dtype).rsplit(".", 1)[-1])
        assert x.sum().item() == x.numel()
        del x


def test_an_array_with_aligned_memory_can_be_resized():
    x = imode.arange(3000.0)
    x.resize_(9000)
    assert (x[:3000] == imode.arange(3000.0)).all()
    array = imode.arange(3000.0).numpy().copy()
    x = imode.from_numpy(array)
    assert x.sum().item() == array.sum(dtype=float)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bins", [1, 7, 64, 5000])
def test_many_elements_are_counted(bins, dtype):
    a = numbers(0, 5001, dtype=dtype)
    a[:50] = np.linspace(-1, 1, 50)
    a[50:54] = [np.nan, np.inf, -np.inf, 1e30]
    inside = a[(a >= -1) & (a <= 1)]
    places = ((inside + 1) * a.dtype.type(bins) / a.dtype.type(2)).astype(int)
    found = imode.histc(tensor(a), bins, -1, 1)
    assert found.tolist() == np.bincount(np.minimum(places, bins - 1), minlength=bins).tolist()
    assert imode.histc(tensor(a[54:]), bins).sum() == 5001 - 54
    with pytest.raises(RuntimeError, match="is not finite"):
        imode.histc(tensor(a), bins)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("bins", [1, 50, 60_000])
def test_histogram_of_many_elements(bins, scale, dtype):
    """As by a search among the same edges; elements at edges and the greatest are counted, too."""
    x = numbers(3, MANY, dtype=dtype, scale=scale)
    hist, edges = imode.histogram(tensor(x), bins)
    x[:1000] = edges.numpy()[:1000] if bins >= 1000 else edges.numpy()[0]
    hist, edges = imode.histogram(tensor(x), bins)
    wanted = imode.histogram(tensor(x), edges).hist
    assert imode.equal(hist, wanted) and hist.sum() == MANY
    x[7] = np.nan
    with pytest.raises(RuntimeError, match="is not finite"):
        imode.histogram(tensor(x), bins)
