"""float16 and bfloat16, which are computed in float32 a block or a row at a time.

Each length and layout gives what float64 gives, rounded once.
"""

import numpy as np
import pytest

import imode

F = imode.nn.functional
INF, NAN = float("inf"), float("nan")
NARROW = [imode.float16, imode.bfloat16]
# Around the sizes of vectors, of blocks, and of rows that need memory of their own.
SHAPES = [(1, 7), (3, 31), (3, 32), (40, 17), (5, 2049), (2, 9001), (70, 1030)]
rng = np.random.default_rng(5)
BEGUN = rng.bit_generator.state


@pytest.fixture(autouse=True)
def seeded():
    """The same numbers whichever tests ran before."""
    rng.bit_generator.state = BEGUN
    imode.manual_seed(0)


def layouts(shape, dtype, whole=False):
    """Yield tensors of one shape in different orders of memory; `whole`: of small whole numbers."""
    numbers = rng.integers(-3, 4, shape) if whole else rng.standard_normal(shape)
    x = imode.from_numpy(numbers.astype("f")).to(dtype)
    yield x
    yield x.t().contiguous().t()
    yield imode.cat((x, x), 1)[:, : shape[1]]
    yield imode.stack((x, x), 2)[:, :, 0]


def assert_rounded(found, exact):
    """Whether the result is a float64 one rounded, or, where that is near the middle, the next."""
    step = {imode.float16: 2**-10, imode.bfloat16: 2**-7}[found.dtype]
    away = (found.double() - exact).abs()
    assert (away <= 0.505 * step * exact.abs() + 1e-6).all(), away.max()


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_of_whole_numbers_are_exact(shape, dtype):
    for x in layouts(shape, dtype, whole=True):
        wide = x.double()
        assert imode.equal(x.sum(), wide.sum().to(dtype))
        for dim in (0, 1):
            assert imode.equal(x.sum(dim), wide.sum(dim).to(dtype))
            assert imode.equal(x.amax(dim), wide.amax(dim).to(dtype))


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", ["mean", "softmax", "log_softmax", "logsumexp"])
def test_rows_and_columns(name, dim, shape, dtype):
    for x in layouts(shape, dtype):
        found = getattr(x, name)(dim)
        assert found.dtype == dtype
        assert_rounded(found, getattr(x.double(), name)(dim))


@pytest.mark.parametrize("dtype", NARROW)
def test_a_mean_is_rounded_after_the_division(dtype):
    x = imode.full((70_000,), 3.0, dtype=dtype)  # their sum is no float16
    assert x.mean() == 3 and x.view(2, -1).mean(1).tolist() == [3, 3]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dim", [0, 1])
def test_extrema_and_where_they_are(dim, shape, dtype):
    for x in layouts(shape, dtype):
        for name in ("max", "min"):
            found, wanted = getattr(x, name)(dim), getattr(x.double(), name)(dim)
            assert found.values.dtype == dtype
            assert imode.equal(found.values.double(), wanted.values)
            assert imode.equal(found.indices, wanted.indices)
            assert imode.equal(getattr(x, f"arg{name}")(dim), wanted.indices)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("n", [3, 40])
def test_nan_infinity_and_what_overflows(dtype, n):
    x = imode.zeros(4, n, dtype=dtype)
    x[0, 1], x[1, 2], x[2, 0] = NAN, INF, -INF
    x[3] = imode.tensor(60000.0 if dtype == imode.float16 else 2e38).to(dtype)
    assert x.sum(1).isnan().tolist() == [True, False, False, False]
    assert x.sum(1)[1:].tolist() == [INF, -INF, INF]
    assert x.argmax(1).tolist() == [1, 2, 1, 0]
    assert x.softmax(1).isnan().any(1).tolist() == [True, True, False, False]
    assert x.logsumexp(1)[1:3].tolist()[0] == INF and x.logsumexp(1)[0].isnan()


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("affine", [False, True])
def test_layer_norm(affine, shape, dtype):
    w = imode.randn(shape[1]).to(dtype) if affine else None
    for x in layouts(shape, dtype):
        found = F.layer_norm(x, shape[1:], w, w)
        wide = None if w is None else w.double()
        expected = F.layer_norm(x.double(), shape[1:], wide, wide)
        step = imode.finfo(dtype).eps
        assert found.dtype == dtype
        assert ((found.double() - expected).abs() <= step * (2 + expected.abs())).all()


def test_parameters_of_layer_norm_may_be_wider():
    x, w = imode.randn(3, 8).half(), imode.randn(8)
    found = imode.native_layer_norm(x, (8,), w, w, 1e-5)
    assert [t.dtype for t in found] == [imode.float16, imode.float32, imode.float32]
    narrow = imode.native_layer_norm(x.bfloat16(), (8,), w.bfloat16(), None, 1e-5)
    assert {t.dtype for t in narrow} == {imode.bfloat16}


PLANES = [(2, 3), (4, 3, 5), (3, 20, 4, 4), (2, 3, 50, 61), (1, 2, 4, 1), (300, 2100)]


def normalised(function, x, *parameters):
    """What it gives, and the gradients of x and of the parameters."""
    given = [t.clone().requires_grad_() for t in (x, *parameters)]
    found = function(*given)
    slopes = imode.arange(found.numel()).view(found.shape).remainder(11).to(found.dtype)
    return [found, *imode.autograd.grad(found, given, slopes)]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", PLANES)
@pytest.mark.parametrize("wide", [False, True], ids=["alike", "float32"])
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm(training, wide, shape, dtype):
    """Also by parameters in float32, and of images with the channels innermost."""
    own = imode.float32 if wide else dtype
    w, b = (imode.from_numpy(rng.standard_normal(shape[1])).to(own) for _ in range(2))
    x = imode.from_numpy(rng.standard_normal(shape)).to(dtype)
    for given in (x, x.contiguous(memory_format=imode.channels_last) if x.dim() == 4 else x):
        mean, var = b.clone(), w.abs() + 0.5
        running = mean.double(), var.double()

        def norm(x, w, b, mean=mean, var=var):
            return F.batch_norm(x, mean, var, w, b, training, 0.25)

        found = normalised(norm, given, w, b)
        norm.__defaults__ = running
        wanted = normalised(norm, x.double(), w.double(), b.double())
        assert [t.dtype for t in found] == [dtype, dtype, own, own]
        for one, other in zip((*found, mean, var), (*wanted, *running)):
            # the statistics are rounded to 16 bits, too, where all else is of them
            room = 4 if wide or not training else 64
            step = room * imode.finfo(dtype).eps * (1 + other.abs().max())
            assert ((one.double() - other).abs() <= step).all()


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("wide", [False, True], ids=["alike", "float32"])
def test_group_norm(wide, dtype):
    own = imode.float32 if wide else dtype
    for shape, groups in (((3, 6, 40), 2), ((2, 4, 33, 33), 4), ((1, 8, 2300), 1)):
        w, b = (imode.from_numpy(rng.standard_normal(shape[1])).to(own) for _ in range(2))
        x = imode.from_numpy(rng.standard_normal(shape)).to(dtype)

        def norm(x, w, b, groups=groups):
            return F.group_norm(x, groups, w, b)

        found = normalised(norm, x, w, b)
        wanted = normalised(norm, x.double(), w.double(), b.double())
        assert [t.dtype for t in found] == [dtype, dtype, own, own]
        for one, other in zip(found, wanted):
            step = 4 * imode.finfo(dtype).eps * (1 + other.abs().max())
            assert ((one.double() - other).abs() <= step).all()


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("area", [(), (3, 2)])
def test_a_loss_of_classes_reads_what_the_targets_pick(area, reduction, dtype):
    logs = imode.from_numpy(rng.standard_normal((6, 5, *area))).to(dtype)
    target = imode.from_numpy(rng.integers(0, 5, (6, *area)))
    target[0] = 1
    weight = imode.tensor([0.5, 2.0, 0.25, 1.0, 4.0])
    for scale in (None, weight):
        narrow, wide = logs.clone().requires_grad_(), logs.double().requires_grad_()
        for x in (narrow, wide):
            each = None if scale is None else scale.to(x.dtype)
            loss = F.nll_loss(x, target, each, ignore_index=1, reduction=reduction)
            loss.sum().backward()
            assert loss.dtype == x.grad.dtype == x.dtype
        assert imode.allclose(narrow.grad.double(), wide.grad, rtol=0.01, atol=1e-3)
        assert imode.equal(narrow.grad == 0, wide.grad == 0)
    with pytest.raises(IndexError, match="Target 6 is out of bounds"):
        F.nll_loss(logs, target + 5)


@pytest.mark.parametrize("dtype", NARROW)
def test_gradients_on_meta_have_the_shape_of_the_input(dtype):
    x = imode.ones(4, 6, 5, dtype=dtype, device="meta", requires_grad=True)
    target = imode.zeros(4, 5, dtype=imode.int64, device="meta")
    wide = imode.ones(6, device="meta")
    for found in (
        F.nll_loss(x, target),
        F.nll_loss(x, target, reduction="none"),
        F.mse_loss(x, x.detach()),
        F.batch_norm(x, None, None, wide, wide, training=True),
        F.group_norm(x, 2, wide, wide),
    ):
        (grad,) = imode.autograd.grad(found.sum(), x)
        assert found.dtype == grad.dtype == dtype and grad.shape == x.shape


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("n", [0, 1, 511, 513, 40_000])
def test_losses_of_float16_are_rounded_where_pytorchs_are(n, reduction):
    x, y = imode.from_numpy(rng.standard_normal((2, n)).astype("f")).half()
    away = (x.float() - y.float()).half().float()  # a difference first, then its square
    squares = (away * away).half()
    exact = squares if reduction == "none" else getattr(squares.double(), reduction)().half()
    assert imode.equal(F.mse_loss(x, y, reduction=reduction).nan_to_num(7), exact.nan_to_num(7))
    probability = y.sigmoid()
    found = F.binary_cross_entropy_with_logits(x, probability, reduction=reduction)
    wanted = F.binary_cross_entropy_with_logits(
        x.double(), probability.double(), reduction=reduction
    )
    assert imode.allclose(found.double(), wanted, rtol=2e-3, atol=1e-3, equal_nan=True)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("n", [1, 15, 16, 33, 5000])
def test_functions_with_a_number_in_registers(n, dtype):
    x, y, z = imode.from_numpy(rng.standard_normal((3, n)).astype("f")).to(dtype)
    wide = [t.double() for t in (x, y, z)]
    for function, exact in (
        (lambda x, y, z: x.addcmul(y, z, value=0.3), None),
        (lambda x, y, z: x.lerp(y, 0.3), None),
        (lambda x, y, z: x.lerp(y, 0.9), None),
        (lambda x, y, z: x**2, wide[0] * wide[0]),
        (lambda x, y, z: x.square(), wide[0] * wide[0]),
    ):
        found = function(x, y, z)
        assert found.dtype == dtype
        assert_rounded(found, function(*wide) if exact is None else exact)
        gaps = [imode.stack((t, t), 1)[:, 0] for t in (x, y, z)]
        assert_rounded(function(*gaps), function(*wide) if exact is None else exact)
    place = x.clone()
    assert place.lerp_(y, 0.25) is place and imode.equal(place, x.lerp(y, 0.25))


@pytest.mark.parametrize("dtype", NARROW)
def test_gradients(dtype):
    x = imode.randn(4, 40).to(dtype).requires_grad_()
    y = x.softmax(1).sum() + x.sum(0).mean() + x.max(1).values.sum() + x.logsumexp(0).sum()
    (F.layer_norm(x, (40,)).sum() + y).backward()
    assert x.grad.dtype == dtype
    wide = x.detach().double().requires_grad_()
    y = wide.softmax(1).sum() + wide.sum(0).mean() + wide.max(1).values.sum()
    (F.layer_norm(wide, (40,)).sum() + y + wide.logsumexp(0).sum()).backward()
    assert imode.allclose(x.grad.double(), wide.grad, atol=0.05)


def test_conversions_are_alike_in_rows_of_any_length():
    edges = [0.0, -0.0, 1.0, 65504.0, 65519.9, 65520.0, 2**-24, 2**-25, 2**-25 * 1.001, 1e-40, 1e38]
    edges += [1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1 + 3 * 2**-8, INF, NAN]
    x = np.array([*edges, *[-e for e in edges]], "f")
    for dtype in NARROW:
        one = [imode.tensor(float(v)).to(dtype).view(imode.int16).item() for v in x]
        for n in range(1, len(x) + 1):
            row = imode.from_numpy(x[:n]).to(dtype).view(imode.int16).tolist()
            assert row == one[:n]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("n", [1, 31, 1023, 1025, 5000])
def test_pointwise_blocks(dtype, n):
    x, y = imode.randn(2, n).to(dtype)
    assert imode.equal(x + y, (x.float() + y.float()).to(dtype))
    assert imode.equal(x.relu(), x.float().relu().to(dtype))
    assert imode.equal(F.leaky_relu(x, 0.1), F.leaky_relu(x.float(), 0.1).to(dtype))
    assert imode.equal(x.clamp(-0.5, 0.5), x.float().clamp(-0.5, 0.5).to(dtype))


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("n", [1, 15, 16, 17, 1000, 40_001])
@pytest.mark.filterwarnings("ignore:overflow")
def test_operations_in_registers(n, dtype):
    special = [0.0, -0.0, INF, -INF, NAN, 6e-8, 60_000.0, -3e38, 1e-40]
    x = imode.tensor([*rng.standard_normal(n), *special]).to(dtype)
    y = x.flip(0)
    for name in ("add", "sub", "mul", "div"):
        function = getattr(imode, name)
        for other in (y, y[3], 2.5):
            wide = other.float() if isinstance(other, imode.Tensor) else other
            want = function(x.float(), wide).to(dtype)
            assert imode.equal(function(x, other).nan_to_num(7), want.nan_to_num(7))
            signs = imode.signbit(function(x, other)) == imode.signbit(want)
            assert (signs | want.isnan()).all()
            gaps = imode.stack((x, x), 1)[:, 0]
            assert imode.equal(function(gaps, other).nan_to_num(7), want.nan_to_num(7))
    assert imode.equal(x.relu().nan_to_num(7), x.float().relu().to(dtype).nan_to_num(7))
    assert x.relu()[n + 1].signbit()  # -0


@pytest.mark.parametrize("rows, depth, columns", [(1, 1, 1), (3, 5, 7), (40, 65, 33), (70, 99, 90)])
def test_products_of_float16_are_rounded_once(rows, depth, columns):
    half = imode.float16
    for x in layouts((rows, depth), half):
        for y in layouts((depth, columns), half):
            exact = x.double() @ y.double()
            near = 2e-4 * depth**0.5 + 6e-4 * exact.abs()
            added = imode.ones(columns, dtype=half)
            found = [x @ y, imode.addmm(added, x, y, beta=0.5, alpha=2)]
            found += [imode.bmm(x[None], y[None])[0]]
            found += [imode.baddbmm(added.expand(1, rows, columns).clone(), x[None], y[None])[0]]
            found += [imode.stack([x.mv(column) for column in y.t()], 1)]
            found += [imode.stack([x[0].dot(column) for column in y.t()])]
            wanted = [exact, 0.5 + 2 * exact, exact, 1 + exact, exact, exact[0]]
            for one, other in zip(found, wanted):
                assert one.dtype == half
                assert one.shape == other.shape
                bound = near[0] if one.dim() == 1 else near
                assert ((one.double() - other).abs() <= 2 * bound + 6e-4).all()


def test_products_of_float16_overflow_to_infinity():
    x = imode.full((4, 4), 300.0, dtype=imode.float16)
    one = imode.ones(4, dtype=imode.float16)
    for found in (x @ x, imode.bmm(x[None], x[None]), x.mv(x[0]), imode.addmm(one, x, x)):
        assert (found == INF).all()
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        imode.mm(x, x.float())


# Few rows and many, more rows than columns and fewer, whole vectors and parts, one block and
# several, above and below the sizes that have instructions of their own.
PRODUCTS = [(1, 40, 9), (3, 1, 5), (7, 67, 66), (9, 9, 9), (8, 300, 120), (16, 130, 70)]
PRODUCTS += [(33, 130, 70), (47, 96, 63), (100, 31, 100), (20, 700, 230), (300, 20, 9)]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("rows, depth, columns", PRODUCTS)
def test_products_of_whole_numbers_are_exact(rows, depth, columns, dtype):
    bias = imode.arange(columns).to(dtype)
    for x in layouts((rows, depth), dtype, whole=True):
        for y in layouts((depth, columns), dtype, whole=True):
            exact = x.double() @ y.double()
            added = (exact + bias.double()).to(dtype)
            exact = exact.to(dtype)
            assert imode.equal(x @ y, exact)
            assert imode.equal(imode.addmm(bias, x, y), added)
            assert imode.equal(F.linear(x[None].contiguous(), y.t(), bias)[0], added)
            assert imode.equal(F.linear(x, y.t()), exact)
            assert imode.equal(y.t().mv(x[0]), exact[0])
            assert imode.equal(x[-1].dot(y[:, -1]), exact[-1, -1])
            stacks = imode.stack((x, -x)), imode.stack((y, y))
            assert imode.equal(imode.bmm(*stacks), imode.stack((exact, -exact)))


@pytest.mark.parametrize("dtype", NARROW)
def test_a_product_of_nothing_and_the_vectors_that_are_added(dtype):
    x, y = imode.ones(3, 0, dtype=dtype), imode.ones(0, 2, dtype=dtype)
    assert imode.equal(x @ y, imode.zeros(3, 2, dtype=dtype))
    assert imode.equal(F.linear(x, y.t(), imode.ones(2, dtype=dtype)), imode.ones(3, 2).to(dtype))
    x, y = imode.ones(3, 4, dtype=dtype), imode.ones(4, 2, dtype=dtype)
    for added in (imode.ones(1), imode.ones(1, 2), imode.ones(3, 1), imode.ones(3, 2)):
        found = imode.addmm(added.to(dtype), x, y)
        assert found.dtype == dtype
        assert (found == 5).all()
    to = imode.zeros(3, 2, dtype=dtype)
    assert imode.mm(x, y, out=to) is to
    assert (to.addmm_(x, y) == 8).all()
    with pytest.raises(RuntimeError, match="The expanded size of the tensor"):
        imode.addmm(imode.ones(3, dtype=dtype), x, y)


# Around the sizes of tiles: 64 queries, 256 keys, 32 numbers of each.
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(
    "queries, keys, size", [(1, 1, 1), (3, 40, 8), (64, 32, 32), (70, 257, 33), (33, 300, 80)]
)
def test_attention(queries, keys, size, dtype):
    q = imode.randn(2, 4, queries, size).to(dtype)
    k, v = imode.randn(2, 2, keys, 2, size).to(dtype).transpose(2, 3)
    seen = imode.rand(queries, keys) > 0.3
    added = imode.randn(2, 1, queries, keys).to(dtype)
    for facts in ({}, {"is_causal": True}, {"attn_mask": seen}, {"attn_mask": added, "scale": 0.3}):
        narrow = [x.clone().requires_grad_() for x in (q, k, v)]
        wide = [x.double().requires_grad_() for x in (q, k, v)]
        exact = facts
        if "scale" in facts:
            exact = {**facts, "attn_mask": added.double()}
        found = F.scaled_dot_product_attention(*narrow, enable_gqa=True, **facts)
        wanted = F.scaled_dot_product_attention(*wide, enable_gqa=True, **exact)
        assert found.dtype == dtype
        found.sum().backward()
        wanted.sum().backward()
        pairs = [(found, wanted), *((a.grad, b.grad) for a, b in zip(narrow, wide))]
        step = imode.finfo(dtype).eps
        for one, other in pairs:
            bound = step * (2 * other.abs() + 4 * other.abs().max() + 0.1)
            assert ((one.double() - other).abs() <= bound).all()


def test_a_row_without_keys_is_zero():
    q, seen = imode.randn(1, 1, 3, 8).bfloat16(), imode.tensor([[True], [False], [True]])
    found = F.scaled_dot_product_attention(q, q, q, attn_mask=seen.expand(3, 3))
    assert found[0, 0, 1].eq(0).all()
    assert found[0, 0, ::2].ne(0).all()


@pytest.mark.parametrize("dtype", NARROW)
def test_rows_of_tables_and_borders_keep_their_bits(dtype):
    table = imode.tensor([[1.0, -0.0], [NAN, 3e38], [1e-40, 2.5]]).to(dtype).requires_grad_()
    found = F.embedding(imode.tensor([2, 0, 2]), table)
    assert found.view(imode.int16).tolist() == table.view(imode.int16)[[2, 0, 2]].tolist()
    found.sum().backward()
    assert table.grad.tolist() == [[1, 1], [0, 0], [2, 2]]
    padded = F.pad(found, (1, 1, 0, 1), value=1 / 3)
    assert padded[:3, 1:3].view(imode.int16).equal(found.view(imode.int16))
    assert padded[3].eq(imode.tensor(1 / 3).to(dtype)).all()
    assert F.pad(found, (-1, 0)).equal(found[:, 1:])


@pytest.mark.parametrize("dtype", [*NARROW, imode.float32, imode.complex64, imode.float8_e5m2])
@pytest.mark.parametrize("size", [4, 5000])
def test_what_is_beyond_the_range_becomes_infinite_without_a_warning(size, dtype):
    x = imode.full((size,), -1e300, dtype=imode.float64)
    for source in (x, x[::2], x.reshape(2, -1).t()):
        to = imode.zeros(source.shape, dtype=dtype)
        to.copy_(source)
        for found in (source.to(dtype), to):
            wide = found.to(imode.complex64).real
            assert (wide == -INF).all()
    if dtype == imode.float32:
        assert (imode.add(x, x, out=imode.zeros(size)) == -INF).all()


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", [*SHAPES, (4200, 9), (130, 515), (65, 4, 30)])
def test_columns_are_summed_as_those_of_float32(shape, dtype):
    x = imode.from_numpy(rng.standard_normal(shape).astype("f")).to(dtype)
    x.view(-1)[[0, 1, -1]] = imode.tensor([-0.0, INF, NAN]).to(dtype)
    for part in (x, x[1:], x[..., 1:], x[..., ::2], x[::2]):
        for dim in ((0,), (0, 1)[: len(shape) - 1]):
            found, wanted = part.sum(dim), part.float().sum(dim).to(dtype)
            assert np.array_equal(found.view(imode.int16), wanted.view(imode.int16))


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", [*SHAPES, (3, 70_000)])
def test_norms(shape, dtype):
    for x in layouts(shape, dtype):
        for dim in (None, 0, 1):
            assert_rounded(x.norm(2, dim), x.double().norm(2, dim))
    assert x[:0].norm() == 0 and x[0, 0].norm() == x[0, 0].abs()
    x[0, 1], x[1:, 2] = NAN, -INF
    assert x.norm().isnan() and x.norm(2, 1)[0].isnan() and (x.norm(2, 1)[1:] == INF).all()


def test_norms_of_bfloat16_neither_overflow_nor_vanish():
    for size in (1e30, 1e-30):
        x = imode.full((100, 40), size, dtype=imode.bfloat16)
        for dim in (None, 0, 1):
            assert_rounded(x.norm(2, dim), x.double().norm(2, dim))
            assert x.norm(2, dim).min() > size


@pytest.mark.parametrize("n", [31, 1025, 1 << 16])
@pytest.mark.filterwarnings("error")
def test_roots_of_every_number(n):
    numbers = imode.arange(n, dtype=imode.int32).sub(n // 2).to(imode.int16)
    for dtype in NARROW:
        x = numbers.view(dtype)
        for part in (x, x[3:], imode.stack((x, x), 1)[:, 0]):
            whole = part[: len(part) // 32 * 32]
            for found, exact in (
                (part.sqrt(), part.double().sqrt()),
                (whole.rsqrt(), whole.double().rsqrt()),
            ):
                wanted = exact.float().to(dtype)
                assert found.nan_to_num(7).equal(wanted.nan_to_num(7))
                assert imode.equal(found.signbit() | exact.isnan(), exact.signbit() | exact.isnan())


def every(dtype):
    """All 65 536 numbers of a dtype, in order and shuffled."""
    bits = imode.from_numpy(np.arange(65536, dtype=np.uint16).view(np.int16))
    shuffled = imode.from_numpy(np.random.default_rng(2).permutation(65536))
    return bits.view(dtype), bits[shuffled].view(dtype)


def assert_same(found, expected):
    """Whether two tensors are equal; NaN is equal to NaN, 0 is not to -0."""
    assert found.dtype == expected.dtype and found.shape == expected.shape
    found, expected = found.double(), expected.double()
    assert imode.equal(found.isnan(), expected.isnan())
    found, expected = found.nan_to_num(1.0, INF, -INF), expected.nan_to_num(1.0, INF, -INF)
    assert imode.equal(found, expected) and imode.equal(found.signbit(), expected.signbit())


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("n", [1, 17, 65536])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: -x,
        lambda x, y: x.abs(),
        lambda x, y: x.floor(),
        lambda x, y: x.ceil(),
        lambda x, y: x.trunc(),
        lambda x, y: x.round(),
        lambda x, y: x.reciprocal(),
        lambda x, y: F.leaky_relu(x, 0.25),
        lambda x, y: x.clamp(-1, 0.5),
        lambda x, y: x.clamp(2, 1),
        lambda x, y: x.clamp(min=0.5),
        lambda x, y: x.clamp(max=-0.5),
        lambda x, y: x.clamp(NAN, 1),
        lambda x, y: imode.clamp_min(x, y),
        lambda x, y: imode.clamp_max(x, y),
        lambda x, y: imode.maximum(x, y),
        lambda x, y: imode.minimum(x, y),
        lambda x, y: F.threshold(x, 0.125, 7),
        lambda x, y: x.copysign(y),
        lambda x, y: imode.addcdiv(x, y, y.flip(0), value=0.5),
    ],
)
def test_every_number_as_in_float32(function, n, dtype):
    x, y = (numbers[-n:] for numbers in every(dtype))
    with np.errstate(all="ignore"):
        assert_same(function(x, y), function(x.float(), y.float()).to(dtype))
        strided = imode.stack((x, x), 1)[:, 1]
        assert_same(function(strided, y), function(x, y))


@pytest.mark.parametrize("dtype", NARROW)
def test_every_number_converted(dtype):
    x, _ = every(dtype)
    assert_same(x.double(), x.float().double())
    assert imode.equal(x.bool(), x.float().bool())
    inside = x[x.float().abs() < 2**31 - 200]
    for to in (imode.int64, imode.int32):
        assert imode.equal(inside.to(to), inside.float().to(to))
    bytes_ = x[(x.float() >= 0) & (x.float() < 256)]
    assert imode.equal(bytes_.to(imode.uint8), bytes_.float().to(imode.uint8))
    assert imode.count_nonzero(x).item() == 65534 and not x.all() and x.any()


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("n", [5, 3000])
def test_float64_is_rounded_by_way_of_float32(dtype, n):
    # Just above the middle of two: float32 rounds it to the middle, which goes to the even one.
    middle = {imode.float16: 1 + 2**-11, imode.bfloat16: 1 + 2**-8}[dtype]
    x = imode.full((n,), middle + 2**-40, dtype=imode.float64)
    assert imode.equal(x.to(dtype), imode.ones(n, dtype=dtype))
    assert imode.full((n,), 1e300, dtype=imode.float64).to(dtype).isinf().all()


def test_nan_to_num_of_every_float16():
    x, _ = every(imode.float16)
    most = imode.finfo(imode.float16).max
    assert_same(x.nan_to_num(), x.float().nan_to_num(0.0, most, -most).half())


@pytest.mark.parametrize("shape", [(9,), (70, 90), (3, 5000)])
def test_extrema_and_products_of_float16(shape):
    x = imode.from_numpy(rng.uniform(0.97, 1.03, shape).astype("f")).half()
    assert imode.equal(x.amax(-1), x.float().amax(-1).half())
    assert imode.equal(x.amin(0), x.float().amin(0).half())
    assert imode.equal(x.prod(-1), x.float().prod(-1).half())
    x.view(-1)[3] = NAN
    assert x.amax().isnan()


@pytest.mark.parametrize("dtype", [*NARROW, imode.int32, imode.uint8])
@pytest.mark.parametrize("value", [0, 3, 200, 2.5, INF, -INF, NAN, 65504, 1e5])
def test_what_is_filled_in_is_rounded_once(value, dtype):
    if not dtype.is_floating_point and value not in (0, 3, 200):
        return
    if value == 1e5 and dtype == imode.float16:
        with pytest.raises(RuntimeError, match="without overflow"):
            imode.zeros(3, dtype=dtype).fill_(value)
        return
    expected = imode.tensor(value, dtype=imode.float32).to(dtype)
    assert_same(imode.zeros(70, dtype=dtype).fill_(value), expected.expand(70))
    assert_same(imode.full((70,), value, dtype=dtype), expected.expand(70))


@pytest.mark.parametrize("beta", [1.0, 0.25])
def test_smooth_l1_of_float16_is_rounded_after_each_step(beta):
    x = imode.from_numpy(rng.standard_normal(3000).astype("f")).half()
    y = imode.from_numpy(rng.standard_normal(3000).astype("f")).half()
    a, b = x.numpy(), y.numpy()
    away, factor = np.abs(a - b), np.float16(beta)
    near = np.float16(0.5) * away * away / factor
    expected = np.where(away < factor, near, away - np.float16(0.5) * factor)
    found = F.smooth_l1_loss(x, y, reduction="none", beta=beta)
    assert np.array_equal(found.numpy(), expected)
    total = F.smooth_l1_loss(x, y, reduction="sum", beta=beta)
    assert total.item() == np.float16(expected.astype("d").sum())


def test_losses_and_quotients_of_one_float16():
    x, y = imode.tensor(2.5, dtype=imode.float16), imode.tensor(0.25, dtype=imode.float16)
    for a, b in ((x, y), (x[None], y[None])):
        for reduction in ("none", "mean", "sum"):
            assert F.smooth_l1_loss(a, b, reduction=reduction).item() == 1.75
        assert (a // b).item() == 10 and (-a // b).item() == -10
    assert (x // y.expand(3)).tolist() == [10, 10, 10]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", SHAPES)
def test_gates_and_slopes_are_rounded_once(shape, dtype):
    for x in layouts(shape, dtype):
        for function in (F.hardswish, F.hardsigmoid, F.rrelu):
            assert imode.equal(function(x), function(x.float()).to(dtype))
        if shape[0] % 2 == 0:
            assert imode.equal(F.glu(x, 0), F.glu(x.float(), 0).to(dtype))


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("n", [1, 5, 40, 5000])
def test_nan_to_num_gives_the_greatest_of_the_dtype(n, dtype):
    x = imode.tensor([NAN, INF, -INF, 2.0, -0.0]).repeat(n)
    most = imode.finfo(dtype).max
    for given in (x.to(dtype), imode.stack((x, x), 1).to(dtype)[:, 0]):
        found = imode.nan_to_num(given)
        assert found.view(-1, 5).tolist() == [[0.0, most, -most, 2.0, 0.0]] * n
        assert found.view(-1, 5)[:, 4].signbit().all()
    assert imode.nan_to_num(given, 1.0, 3.0, -4.0)[:3].tolist() == [1, 3, -4]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("columns", [1, 33, 1030])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(mode, columns, dtype):
    """Empty ones, long ones, and rows of padding."""
    table = imode.from_numpy(rng.standard_normal((50, columns))).to(dtype)
    index = imode.from_numpy(rng.integers(0, 50, 100))
    offsets = imode.tensor([0, 3, 3, 60, 61, 92])
    padding = int(index[60])
    found = F.embedding_bag(index, table, offsets, mode=mode, padding_idx=padding)
    wide = F.embedding_bag(index, table.double(), offsets, mode=mode, padding_idx=padding)
    assert not found[1].any() and not found[3].any()
    assert_rounded(found, wide)


def halves(x):
    return x.half().float()


@pytest.mark.parametrize("n", [1, 7, 8, 530, 5000])
def test_losses_of_float16_are_rounded_after_each_step(n):
    x, y = (imode.from_numpy(rng.standard_normal(n).astype("f")).half() for _ in range(2))
    x[0] = NAN if n > 1 else 1.0
    beta = 0.3
    away = halves(x.float() - y.float())
    size, limit = away.abs(), imode.tensor(beta).half().float()
    near = halves(halves(halves(0.5 * size) * size) / limit)
    smooth = imode.where(size < limit, near, halves(size - halves(0.5 * limit)))
    for found, wanted in (
        (F.mse_loss(x, y, reduction="none"), away * away),
        (F.smooth_l1_loss(x, y, beta=beta, reduction="none"), smooth),
    ):
        assert imode.equal(found[1:], wanted.half()[1:]) and found[0].isnan() == x[0].isnan()
    total = F.smooth_l1_loss(x[1:], y[1:], beta=beta, reduction="sum")
    assert_rounded(total, smooth[1:].half().double().sum())


@pytest.mark.parametrize("dim", [0, 1])
def test_scattered_sums_of_bfloat16_are_rounded_once(dim):
    x, source = (imode.from_numpy(rng.standard_normal((40, 17))).bfloat16() for _ in range(2))
    index = imode.from_numpy(rng.integers(0, 17, (40, 17)))
    wide = x.float().scatter_add(dim, index, source.float())
    assert imode.equal(x.scatter_add(dim, index, source), wide.bfloat16())
    assert imode.equal(x.clone().scatter_add_(dim, index, source), wide.bfloat16())
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.scatter_add(dim, index + 40, source)


@pytest.mark.parametrize("dtype", NARROW)
def test_coins_of_16_bits_are_those_of_float32(dtype):
    chances = imode.rand(5000).to(dtype)
    for given in (chances, chances.view(50, 100).t()):
        imode.manual_seed(3)
        found = imode.bernoulli(given)
        imode.manual_seed(3)
        assert imode.equal(found, imode.bernoulli(given.float()).to(dtype))
    chances[17] = NAN
    with pytest.raises(RuntimeError, match="p_in >= 0 && p_in <= 1"):
        imode.bernoulli(chances)


def test_products_of_float16_are_rounded_after_each_step():
    x, y = (imode.from_numpy(rng.standard_normal((300, 3))).half() for _ in range(2))
    i, j = [1, 2, 0], [2, 0, 1]
    left, right = (halves(x[:, a].float() * y[:, b].float()) for a, b in ((i, j), (j, i)))
    assert imode.equal(imode.linalg.cross(x, y), (left - right).half())
    assert imode.equal(imode.linalg.cross(x[7], y[7]), (left - right).half()[7])
    weight = imode.from_numpy(rng.standard_normal((2, 3, 3))).half()
    halfway = halves(imode.einsum("rn,knm->rkm", x.float(), weight.float()))
    assert_rounded(
        F.bilinear(x, y, weight), imode.einsum("rkm,rm->rk", halfway.double(), y.double())
    )


def test_counts_of_float16_are_by_steps_that_are_rounded():
    x = imode.from_numpy(rng.standard_normal(5000).astype("f")).half()
    low, high = x.float().min(), x.float().max()
    place = halves(halves(halves(x.float() - low) * 50) / halves(high - low)).long().clamp(max=49)
    assert imode.equal(imode.histc(x, 50), imode.bincount(place, minlength=50).half())
    inside = ((x >= -1) & (x <= 1)).sum()
    assert imode.histc(x, 1, -1, 1) == inside.half()


@pytest.mark.parametrize("dtype", NARROW)
def test_floors_of_quotients(dtype):
    """Of more than a block, and of one divisor."""
    x, y = (imode.from_numpy(rng.integers(1, 60, 40_000).astype("f")) for _ in range(2))
    exact = (x - 30).double().floor_divide(y.double())
    assert imode.equal(imode.floor_divide((x - 30).to(dtype), y.to(dtype)), exact.to(dtype))
    assert imode.equal((x - 30).to(dtype) // 7, ((x - 30) // 7).to(dtype))
    grid = (x - 30).to(dtype).view(200, 200)
    assert imode.equal(
        grid // y[:200].to(dtype),
        imode.floor_divide(grid, y[:200].to(dtype).expand(200, 200).contiguous()),
    )
