"""Reductions: every shape of memory against NumPy, what is exact, who gets the gradient."""

import itertools

import numpy as np
import pytest

import imode

NAN, INF = float("nan"), float("inf")
rng = np.random.default_rng(7)

# ---- every geometry against NumPy ----

REFERENCE = {
    "sum": lambda a, axes, keep: a.sum(axes, keepdims=keep, dtype=sum_type(a)),
    "mean": lambda a, axes, keep: a.mean(axes, keepdims=keep),
    "amax": lambda a, axes, keep: a.max(axes, keepdims=keep),
    "amin": lambda a, axes, keep: a.min(axes, keepdims=keep),
    "any": lambda a, axes, keep: (a != 0).any(axes, keepdims=keep),
    "all": lambda a, axes, keep: (a != 0).all(axes, keepdims=keep),
    "nansum": lambda a, axes, keep: np.nansum(a, axes, keepdims=keep, dtype=sum_type(a)),
    "var": lambda a, axes, keep: a.var(axes, keepdims=keep, ddof=1),
    "std": lambda a, axes, keep: a.std(axes, keepdims=keep, ddof=1),
    "logsumexp": lambda a, axes, keep: np.log(np.exp(a).sum(axes, keepdims=keep)),
}


def sum_type(a):
    return a.dtype if a.dtype.kind in "fc" else np.int64


def layouts(shape, dtype):
    """Yield (name, tensor) of one shape in different orders of memory."""
    for name, order in (("c", range(len(shape))), ("f", range(len(shape) - 1, -1, -1))):
        base = rng.integers(-3, 4, [shape[i] for i in order]).astype(dtype)
        yield name, imode.from_numpy(base).permute([*order])
    rolled = [*range(1, len(shape)), 0]
    base = rng.integers(-3, 4, [shape[i] for i in rolled]).astype(dtype)
    yield "rolled", imode.from_numpy(base).permute([*np.argsort(rolled)])
    wide = rng.integers(-3, 4, (*shape[:-1], 2 * shape[-1])).astype(dtype)
    yield "strided", imode.from_numpy(wide)[..., ::2]
    base = rng.integers(-3, 4, (1, *shape[1:])).astype(dtype)
    yield "expanded", imode.from_numpy(base).expand(shape)


def dims(ndim):
    for n in range(1, ndim + 1):
        yield from itertools.combinations(range(ndim), n)


FLOATING = ("mean", "var", "std", "logsumexp")
TYPED = [
    (name, dtype)
    for name in REFERENCE
    for dtype in ("float32", "float64", "int64", "int16", "bool")
    if dtype.startswith("float") or name not in FLOATING
]


@pytest.mark.parametrize("shape", [(5,), (3, 70), (70, 3), (2, 33, 4), (3, 2, 5, 4)])
@pytest.mark.parametrize(("name", "dtype"), TYPED)
def test_every_geometry(name, dtype, shape):
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    for _, tensor in layouts(shape, dtype):
        array = tensor.numpy()
        for axes, keep in itertools.product(dims(len(shape)), (False, True)):
            with np.errstate(all="ignore"):
                count = np.prod([shape[i] for i in axes])
                if name in ("var", "std") and count == 1:
                    continue
                wanted = REFERENCE[name](array, axes, keep)
            kwargs = {"keepdim": keep}
            seen = getattr(imode, name)(tensor, axes, **kwargs).numpy()
            assert seen.shape == wanted.shape
            assert seen.dtype == wanted.dtype
            assert seen.flags.c_contiguous
            np.testing.assert_allclose(seen, wanted, tolerance, tolerance)


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
@pytest.mark.parametrize("shape", [(5,), (3, 70), (70, 3), (2, 33, 4), (3, 2, 5, 4)])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extrema_and_indices(name, shape, dtype):
    for _, tensor in layouts(shape, dtype):
        array = tensor.numpy()
        for dim, keep in itertools.product(range(len(shape)), (False, True)):
            found = getattr(np, f"arg{name}")(array, dim, keepdims=True)
            values, indices = getattr(imode, name)(tensor, dim, keep)
            wanted = np.take_along_axis(array, found, dim)
            if not keep:
                wanted, found = wanted.squeeze(dim), found.squeeze(dim)
            np.testing.assert_array_equal(values.numpy(), wanted)
            np.testing.assert_array_equal(indices.numpy(), found)
            again = getattr(imode, f"arg{name}")(tensor, dim, keep)
            np.testing.assert_array_equal(again.numpy(), found)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5,), (3, 70), (70, 3), (2, 33, 4), (3, 2, 5, 4)])
def test_lanes(shape, dtype):
    """softmax, log_softmax and running sums along every dimension of every layout."""
    for _, tensor in layouts(shape, dtype):
        array = tensor.numpy()
        for dim in range(len(shape)):
            powers = np.exp(array - array.max(dim, keepdims=True))
            soft = powers / powers.sum(dim, keepdims=True)
            np.testing.assert_allclose(tensor.softmax(dim).numpy(), soft, 1e-5)
            np.testing.assert_allclose(tensor.log_softmax(dim).numpy(), np.log(soft), 1e-5, 1e-6)
            np.testing.assert_allclose(tensor.cumsum(dim).numpy(), array.cumsum(dim), 1e-5)
            np.testing.assert_allclose(tensor.cumprod(dim).numpy(), array.cumprod(dim), 1e-5)


# ---- precision ----


def test_long_float32_sums_stay_exact():
    x = imode.full((1_000_000, 3), 0.1)
    wanted = np.full(1_000_000, 0.1, np.float32).sum(dtype=np.float64)
    for total in (x[:, 0].contiguous().sum(), x.sum(0)[1], x.mean(0)[2] * 1_000_000):
        assert abs(float(total) - wanted) < 1e-6 * wanted


def test_float16_adds_up_in_float32():
    x = imode.ones(5000, dtype=imode.float16)
    assert x.sum().item() == 5000
    assert x.reshape(50, 100).sum((0, 1)).item() == 5000


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("value", [0.1, 0.3, 1.7])
@pytest.mark.parametrize("n", [2, 7, 33, 40, 300])
def test_numbers_that_are_all_alike_have_no_spread(dtype, value, n):
    x = imode.full((n, 3), value, dtype=getattr(imode, dtype), requires_grad=True)
    for spread in (x.std(), x.std(0), x.t().std(1), x.var(0)):
        assert (spread == 0).all()
    (grad,) = imode.autograd.grad(x.std(0).sum(), x)
    assert (grad == 0).all()
    assert imode.full((n,), float("inf")).std().isnan()


def test_variance_of_what_lies_far_from_zero():
    x = imode.tensor([10000.0, 10001.0, 10002.0] * 100)
    assert abs(x.var().item() - x.double().var().item()) < 1e-4


def test_norm_of_what_squares_to_nothing_or_infinity():
    assert imode.tensor([3e-30, 4e-30]).norm().item() == pytest.approx(5e-30)
    assert imode.tensor([3e30, 4e30]).norm().item() == pytest.approx(5e30)
    assert imode.tensor([INF, 1.0]).norm().item() == INF
    assert np.isnan(imode.tensor([NAN, 1.0]).norm().item())


# ---- NaN, ties and their gradients ----


def test_nan_wins():
    x = imode.tensor([1.0, NAN, 3.0, NAN])
    assert np.isnan(x.max().item())
    assert np.isnan(x.amin().item())
    assert x.argmax().item() == x.argmin().item() == 1
    assert x.max(0).indices.item() == 1


def gradient(function, values):
    x = imode.tensor(values, requires_grad=True)
    function(x).backward()
    return x.grad.tolist()


def test_ties_share_the_gradient_but_an_index_takes_it():
    assert gradient(lambda x: x.max(), [1.0, 3.0, 3.0]) == [0, 0.5, 0.5]
    assert gradient(lambda x: x.amax(), [1.0, 3.0, 3.0]) == [0, 0.5, 0.5]
    assert gradient(lambda x: x.max(0).values, [1.0, 3.0, 3.0]) == [0, 1, 0]
    assert gradient(lambda x: x.median(), [1.0, 3.0, 3.0]) == [0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([2.0, 3.0, 4.0], [12, 8, 6]),
        ([2.0, 0.0, 4.0], [0, 8, 0]),
        ([0.0, 0.0, 4.0], [0, 0, 0]),
    ],
)
def test_gradient_of_a_product_with_zeros(values, wanted):
    assert gradient(lambda x: x.prod(), values) == wanted
    assert gradient(lambda x: x.prod(0), values) == wanted
    assert gradient(lambda x: x.cumprod(0)[-1], values) == wanted


def test_norm_has_no_gradient_at_zero():
    assert gradient(lambda x: x.norm(), [0.0, 0.0]) == [0, 0]
    assert gradient(lambda x: x.norm(3), [0.0, 0.0]) == [0, 0]


# ---- names in the graph, forms of calls ----


@pytest.mark.parametrize(
    ("call", "node"),
    [
        (lambda x: x.sum(), "SumBackward0"),
        (lambda x: x.sum(0), "SumBackward1"),
        (lambda x: x.mean(), "MeanBackward0"),
        (lambda x: x.mean(0), "MeanBackward1"),
        (lambda x: x.prod(0), "ProdBackward1"),
        (lambda x: x.max(), "MaxBackward1"),
        (lambda x: x.max(0)[0], "MaxBackward0"),
        (lambda x: x.amax(0), "AmaxBackward0"),
        (lambda x: x.std(), "StdBackward0"),
        (lambda x: x.std(0, False), "StdBackward0"),
        (lambda x: imode.std_mean(x)[1], "StdMeanBackward0"),
        (lambda x: x.norm(), "LinalgVectorNormBackward0"),
        (lambda x: x.logsumexp(0), "LogsumexpBackward0"),
        (lambda x: x.softmax(0), "SoftmaxBackward0"),
        (lambda x: imode.nn.functional.log_softmax(x, dim=1), "LogSoftmaxBackward0"),
    ],
)
def test_graph_nodes(call, node):
    assert call(imode.ones(2, 3, requires_grad=True)).grad_fn.name() == node


def test_softmax_without_a_dimension_warns():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        assert imode.nn.functional.softmax(imode.zeros(2)).tolist() == [0.5, 0.5]


def test_several_results_have_names():
    found = imode.ones(2, 3).max(1)
    assert found.values is found[0]
    assert found.indices is found[1]
    low, high = imode.aminmax(imode.tensor([1.0, 2.0]))
    assert (low.item(), high.item()) == (1, 2)


def test_out_is_resized_and_must_be_of_the_dtype():
    x = imode.tensor([[1.0, 5.0], [7.0, 3.0]])
    out = imode.empty(0)
    assert imode.sum(x, 1, out=out) is out
    assert out.tolist() == [6, 10]
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype long int"):
        imode.argmax(x, 0, out=imode.empty(0))


# ---- warnings ----


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
@pytest.mark.parametrize(
    ("shape", "options"),
    [((), {}), ((1,), {"dim": 0}), ((1, 3), {"dim": (0,)}), ((2,), {"correction": 2}), ((0,), {})],
)
@pytest.mark.parametrize("dtype", [imode.float32, imode.float16, imode.complex64])
def test_no_degrees_of_freedom(name, shape, options, dtype):
    x = imode.ones(shape, dtype=dtype)
    with pytest.warns(
        UserWarning, match=rf"^{name}\(\): degrees of freedom is <= 0\. Corr"
    ) as seen:
        getattr(imode, name)(x, **options)
    assert [w.filename for w in seen] == [__file__]


def test_degrees_of_freedom_that_are_there():
    imode.ones(2).var()  # a warning is an error here
    imode.ones(1).std(correction=0)
    imode.var_mean(imode.ones(3, 2, dtype=imode.complex64), 0)


# ---- runs ----


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize(
    "runs",
    [
        {"lengths": imode.tensor([1, 3])},
        {"lengths": imode.tensor([2, 0, 2]), "initial": 0.5},
        {"offsets": imode.tensor([0, 3, 4])},
        {"lengths": imode.tensor([1, 1]), "unsafe": True},
        {"lengths": imode.tensor([[3, 0], [0, 3], [2, 1], [1, 2]]), "axis": 1, "initial": 1},
    ],
)
def test_gradients_of_runs(reduce, runs):
    x = imode.randperm(12).view(4, 3).double().requires_grad_()

    def reduced(x):
        return imode.segment_reduce(x / 4 - 1.1, reduce, **runs)

    assert imode.autograd.gradcheck(reduced, x)
    (grad,) = imode.autograd.grad(reduced(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="_segment_reduce_backward is not implemented"):
        grad.sum().backward()


def test_gradients_of_products_with_zeros():
    x = imode.tensor([0.0, 2, 3, 0, 0, 5], requires_grad=True)
    imode.segment_reduce(x, "prod", lengths=imode.tensor([3, 3])).sum().backward()
    assert x.grad.tolist() == [6, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("shape", [(3, 7), (3, 8), (700, 9), (9, 1100), (2, 600, 11)])
def test_sums_of_columns_of_whole_numbers(shape, dtype):
    info = np.iinfo(dtype) if dtype != "bool" else None
    high = 2 if info is None else min(info.max, 2**62)
    a = rng.integers(0 if dtype == "bool" else info.min // 2, high, shape).astype(dtype)
    for x in (a, a.swapaxes(0, 1), a[::-1]):  # those of int64 wrap around
        for dim in range(x.ndim):
            found = imode.from_numpy(x.copy()).sum(dim)
            assert np.array_equal(found.numpy(), x.sum(dim, dtype="int64"))
        moved = imode.from_numpy(np.ascontiguousarray(x.T)).permute(*range(x.ndim)[::-1]).sum(0)
        assert np.array_equal(moved.numpy(), x.sum(0, dtype="int64"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("slope", [-3, -0.01, 0, 0.01, 3, 30])
@pytest.mark.parametrize("n", [1, 255, 257, 700])
def test_running_logarithms_of_sums(n, slope, dtype):
    a = (rng.standard_normal((3, n)) + slope * np.arange(n)).astype(dtype)
    wanted = np.logaddexp.accumulate(a.astype("longdouble"), axis=1).astype("float64")
    bound = np.abs(a).max() * np.finfo(dtype).eps + 1e-6 * (dtype == "float32") + 1e-14
    for found in (
        imode.from_numpy(a).logcumsumexp(1),
        imode.from_numpy(np.ascontiguousarray(a.T)).logcumsumexp(0).t(),
        imode.from_numpy(np.ascontiguousarray(a.T)).t().logcumsumexp(1),
    ):
        assert np.abs(found.numpy() - wanted).max() <= 2 * bound


@pytest.mark.parametrize(
    "values",
    [
        [-INF, -INF, 1, 2],
        [1, INF, 2],
        [NAN, 1, 2],
        [1, NAN, INF],
        [-INF, NAN],
        [INF, -INF],
        [-200, 0, 100, 3e38, -3e38],
    ],
)
def test_running_logarithms_of_what_is_not_finite(values):
    a = np.array([values], "f")
    with np.errstate(all="ignore"):
        wanted = np.logaddexp.accumulate(a, axis=1)
    assert np.allclose(imode.from_numpy(a).logcumsumexp(1).numpy(), wanted, equal_nan=True)
    assert np.allclose(
        imode.from_numpy(a.T.copy()).logcumsumexp(0).numpy().T, wanted, equal_nan=True
    )
    columns = imode.from_numpy(np.tile(a.T, 40))
    assert np.allclose(columns.logsumexp(0).numpy(), wanted[0, -1], equal_nan=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 31, 33, 4097, 70_000, 600_000])
def test_whole_tensors_in_pieces(n, dtype):
    a, b = rng.standard_normal((2, n)).astype(dtype)
    x, y = imode.from_numpy(a), imode.from_numpy(b)
    assert [v.item() for v in x.aminmax()] == [a.min(), a.max()]
    assert np.isclose(imode.dist(x, y).item(), np.sqrt(((a - b).astype("d") ** 2).sum()), 1e-6)
    assert np.isclose(imode.dist(x, y, 1).item(), np.abs((a - b).astype("d")).sum(), 1e-6)
    assert np.isclose(imode.dist(x, y, INF).item(), np.abs(a - b).max())
    x[n // 2] = NAN
    assert all(v.isnan() for v in (*x.aminmax(), imode.dist(x, y), x.max(), x.amin(0)))


def test_distances_whose_squares_leave_the_range():
    x, y = imode.tensor([3.0, 0.0]), imode.tensor([0.0, 4.0])
    assert imode.dist(x * 1e-25, y * 1e-25) == 0  # as in PyTorch
    assert imode.dist(x * 1e25, y * 1e25) == INF
    assert np.isclose(imode.dist(x * 1e15, y * 1e15).item(), 5e15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 100])
def test_extrema_of_rows_with_nan(n, dtype):
    a = rng.standard_normal((n, n)).astype(dtype)
    a[np.arange(n), np.arange(n)] = NAN
    a[0] = 1
    x = imode.from_numpy(a)
    assert x.amax(1).isnan().tolist() == [False, *[True] * (n - 1)]
    assert x.amin(1).isnan().tolist() == [False, *[True] * (n - 1)]
    assert x[0].amax() == 1 == x[0].amin()


@pytest.mark.parametrize("shape", [(1, 7), (3, 5), (4, 8), (7, 1001), (0, 4), (4, 0), (2, 3, 5)])
def test_running_sums_of_whole_numbers(shape):
    whole = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, shape)
    for dim in range(len(shape)):
        got = imode.tensor(whole).cumsum(dim)
        np.testing.assert_array_equal(got.numpy(), whole.cumsum(dim))


@pytest.mark.parametrize("n", [32, 33, 96, 100, 500])
def test_one_nan_in_a_row(n):
    for place in {0, 15, 16, 31, n // 2, n - 1}:
        x = np.random.default_rng(0).standard_normal((3, n)).astype("float32")
        x[1, place] = np.nan
        np.testing.assert_array_equal(imode.tensor(x).amax(1).numpy(), x.max(1))
        np.testing.assert_array_equal(imode.tensor(x).amin(1).numpy(), x.min(1))


@pytest.mark.parametrize("n", [1, 3, 8, 17, 64, 300, 4097])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sums_of_complex_numbers(n, dtype):
    generator = np.random.default_rng(n)
    parts = generator.integers(-9, 10, (2, 3, n))
    x = (parts[0] + 1j * parts[1]).astype(dtype)
    t = imode.from_numpy(x)
    assert np.array_equal(t.sum(1).numpy(), x.sum(1)) and t.sum().item() == x.sum()
    assert np.array_equal(t[:, ::2].sum(1).numpy(), x[:, ::2].sum(1))
    assert np.array_equal(t.sum(0).numpy(), x.sum(0))
