"""Large arrays that are copied, converted, gathered, sorted or multiplied: past every block.

The sizes are odd, so that blocks are cut, and large enough that two threads share the work.
"""

import numpy as np
import pytest

import imode

DTYPES = ["uint8", "int16", "float32", "int64", "complex128"]
SIZES = [(1, 1), (3, 5), (17, 33), (300, 257), (2, 40_001), (40_001, 2)]


@pytest.fixture(params=[1, 2], autouse=True)
def threads(request):
    before = imode.get_num_threads()
    imode.set_num_threads(request.param)
    yield
    imode.set_num_threads(before)


def numbers(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


def same(tensor, array):
    given = tensor.numpy()
    assert given.dtype == array.dtype
    np.testing.assert_array_equal(given, array)


# ---- elements that become of another dtype -------------------------------------------------------

KINDS = ["float32", "float64", "float16", "bfloat16", "bool", "uint8", "int16", "int32", "int64"]
LAYOUTS = {
    "rows of a wider one": lambda a: a[:, 7:-9],
    "every other column": lambda a: a[:, ::2],
    "columns that lie apart": lambda a: a[:, 3::3].t(),
    "turned": lambda a: a.t(),
    "a row, repeated": lambda a: a[:1].expand(70, -1),
    "planes": lambda a: a[:, :100].reshape(-1, 10, 10).permute(0, 2, 1)[:, ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_conversions_of_any_layout(kind, layout):
    """Also into what has gaps. What is wanted comes from views, which no conversion has touched."""
    array = numbers((131, 257), "float32")
    view = LAYOUTS[layout]
    source = view(imode.from_numpy(array).to(getattr(imode, kind)))
    wanted = view(imode.from_numpy(array)).numpy()
    for other in KINDS:
        dtype = getattr(imode, other)
        expected = wanted != 0 if "bool" in (kind, other) else wanted
        found = source.to(dtype)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.contiguous().float().numpy(), expected)
        gaps = tuple(slice(1, None, 2) for _ in source.shape)
        wide = imode.zeros([2 * n for n in source.shape], dtype=dtype)
        wide[gaps].copy_(source)
        written = wide.float().numpy()
        np.testing.assert_array_equal(written[gaps], expected)
        assert np.count_nonzero(written) == np.count_nonzero(expected)


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_between_layouts(dtype, shape):
    array = numbers(shape, dtype)
    x = imode.from_numpy(array)
    same(x.t().contiguous(), array.T)
    same(x[::2, ::3].contiguous(), array[::2, ::3])
    same(x.flip(0), array[::-1])
    same(x.flip(1), array[:, ::-1])
    same(x.flip(0, 1), array[::-1, ::-1])
    for dim in range(3):
        same(imode.stack([x, x + 1], dim), np.stack([array, array + 1], dim))
    for dim in range(2):
        same(imode.cat([x, x + 1, x], dim), np.concatenate([array, array + 1, array], dim))
    target = imode.zeros(shape[1], shape[0], dtype=x.dtype)
    same(target.copy_(x.t()), array.T)


@pytest.mark.parametrize("n", [1, 100, 1023, 1024, 4099, 16_384, 70_001])
@pytest.mark.parametrize("off", [1, 3, 100, 127, 128])
def test_copies_to_where_reads_wait_for_writes(n, off):
    """A little behind what is read, by the lowest twelve bits of both: copied from the end."""
    both = imode.zeros(2 * n + 2048)
    source, target = both[:n], both[-(-n // 1024) * 1024 + off :][:n]
    source.copy_(imode.arange(1, n + 1))
    same(target.copy_(source), np.arange(1, n + 1, dtype="float32"))
    assert both.count_nonzero() == 2 * n


@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_of_any_order(dtype):
    array = numbers((7, 18, 5, 33), dtype)
    x = imode.from_numpy(array)
    for order in [(0, 2, 3, 1), (3, 2, 1, 0), (2, 0, 1, 3), (1, 3, 0, 2), (0, 3, 1, 2)]:
        same(x.permute(order).contiguous(), array.transpose(order))
        same(x[:, ::2].permute(order).contiguous(), array[:, ::2].transpose(order))
    wide = imode.from_numpy(array[:, :1]).expand(7, 18, 5, 33)
    same(wide.contiguous(), np.broadcast_to(array[:, :1], array.shape))


def part(draw, size, length=None):
    """A slice of a dimension: `length` elements, or any number of them, side by side or not."""
    length = length or int(draw.integers(1, size + 1))
    step = int(draw.integers(1, 3)) if 2 * length - 1 <= size else 1
    start = int(draw.integers(0, size - (length - 1) * step))
    return slice(start, start + (length - 1) * step + 1, step)


def test_parts_of_one_tensor():
    """Added to each other: what is read is there before anything is written, where they meet; and
    copied, where they do not, also as rows of a few small elements, wherever these begin."""
    draw = np.random.default_rng(5)
    met = 0
    for _ in range(1500):
        shape = draw.integers(1, 9, draw.integers(1, 4))
        array = numbers(shape, DTYPES[draw.integers(len(DTYPES))], draw)
        to = tuple(part(draw, n) for n in shape)
        given = tuple(part(draw, n, len(range(*t.indices(n)))) for t, n in zip(to, shape))
        order = tuple(int(d) for d in draw.permutation(len(shape)))
        tensor = imode.from_numpy(array.copy())
        target, source = tensor[to].permute(order), tensor[given].permute(order)
        if not np.shares_memory(target.numpy(), source.numpy()):
            target.copy_(source)
            array[to] = array[given]
            same(source.clone(), array[given].transpose(order))
        elif source.clone().stride() != source.stride():  # of what is dense, an overlap is an error
            target.add_(source)
            array[to] += array[given].copy()
            met += 1
        same(tensor, array)
    assert met > 200


def test_copies_of_bfloat16():
    x = imode.from_numpy(numbers((65, 70), "float32"))
    same(x.bfloat16().t().contiguous().float(), x.numpy().T)


# ---- conversions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_floats_become_integers(source, target):
    array = np.random.default_rng(0).uniform(0, 200, 70_001).astype(source)
    same(imode.from_numpy(array).to(getattr(imode, target)), array.astype(target))
    into = imode.zeros(70_001, dtype=getattr(imode, target))
    same(into.copy_(imode.from_numpy(array)), array.astype(target))


def test_floats_of_16_bits_and_back():
    array = np.random.default_rng(0).standard_normal(70_001).astype("float32")
    array[:4] = np.inf, -np.inf, -0.0, 1e-6
    x = imode.from_numpy(array)
    same(x.half(), array.astype("float16"))
    same(x.half().float(), array.astype("float16").astype("float32"))
    bits = array.view("uint32").astype("uint64")
    bits = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype("uint32")
    same(x.bfloat16().float(), bits.view("float32"))
    assert imode.full((300,), imode.nan).bfloat16().isnan().all()


def test_numbers_and_halves():
    array = (np.arange(5001) % 100).astype("float16")
    x = imode.from_numpy(array)
    same(x + 2, array + np.float16(2))
    same(3 - x, np.float16(3) - array)
    same(x * x[7:8], array * array[7])
    same((x.bfloat16() * 2).half(), array * np.float16(2))
    same(imode.where(x > 50, x, 1), np.where(array > 50, array, np.float16(1)))


# ---- gather, index_select ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_by_an_index_of_any_layout(dtype):
    array = numbers((301, 70), dtype)
    x = imode.from_numpy(array)
    index = numbers((301, 140), "int64") % 70
    at = imode.from_numpy(index)
    row = at[:1].expand(301, 140)
    for given in [at, row, at[:, ::2], at[:, :99], at[::2].expand(151, 140)]:
        part = x[: given.shape[0]]
        same(part.gather(1, given), np.take_along_axis(part.numpy(), given.numpy(), 1))
        if given.shape[1] <= 70:
            same(
                x.gather(0, given), np.take_along_axis(array[:, : given.shape[1]], given.numpy(), 0)
            )
    row = at[:1].clone()
    row[0, 139] = 70
    with pytest.raises(RuntimeError, match="index 70 is out of bounds"):
        x.gather(1, row.expand(301, 140))


@pytest.mark.parametrize("dtype", DTYPES)
def test_index_select(dtype):
    array = numbers((303, 70, 2), dtype)
    x = imode.from_numpy(array)
    index = numbers(131, "int64") % 70
    same(x.index_select(1, imode.from_numpy(index)), array[:, index])
    same(x[:, :, 0].contiguous().index_select(1, imode.from_numpy(index)), array[:, index, 0])
    same(x.index_select(0, imode.from_numpy(index)), array[index])


# ---- sort ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_sort_by_digits(dtype, falling):
    rng = np.random.default_rng(0)
    array = rng.integers(-1000, 1000, (70, 129)).astype(dtype)
    if dtype.startswith("float"):
        array *= rng.choice([1e-30, 1e-3, 1e30], array.shape).astype(dtype)
        array[:, ::9], array[:, ::10], array[:, 5] = 0.0, -0.0, np.nan
        array[:, 7], array[:, 8] = np.inf, -np.inf
    else:
        array[:, 3], array[:, 4] = np.iinfo(dtype).min, np.iinfo(dtype).max
    for dim in range(2):
        values, indices = imode.from_numpy(array).sort(dim, falling)
        if falling:
            order = array.shape[dim] - 1 - np.flip(np.flip(array, dim).argsort(dim, "stable"), dim)
        else:
            order = array.argsort(dim, kind="stable")
        same(indices, order)
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(array, order, dim))
        assert (
            np.signbit(values.numpy()) == np.signbit(np.take_along_axis(array, order, dim))
        ).all()


# ---- a matrix times a vector ---------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 513), (3, 300), (34, 31), (6, 40_001), (900, 160)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrix_times_vector(dtype, shape):
    matrix, vector = numbers(shape, dtype) % 10, numbers(shape[1], dtype, 1) % 10
    x, v = imode.from_numpy(matrix), imode.from_numpy(vector)
    expected = matrix.astype("int64") @ vector.astype("int64")
    same(x.mv(v), expected.astype(dtype))
    same(v @ x.t(), expected.astype(dtype))
    same(imode.nn.functional.linear(v[None], x)[0], expected.astype(dtype))
    rows = imode.from_numpy(matrix.astype(dtype).T.copy())
    same(rows.t().mv(v), expected.astype(dtype))
    same(v @ rows, expected.astype(dtype))


@pytest.mark.parametrize("n", [130, 1000, 5001, 262_147])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_copies_to_shortly_behind_their_source(n, dtype):
    """By the lowest bits of the addresses: these go backwards, whatever the last stride leaves."""
    x = (imode.arange(n) % 251).to(getattr(imode, dtype))
    for shift in (1, 3, 17, 63, 100, 511, n - 1, -1):
        assert (x.roll(shift).numpy() == np.roll(x.numpy(), shift)).all()
        to = imode.zeros(n + 600, dtype=x.dtype)
        at = shift % 600
        to[at : at + n] = x
        assert (to[at : at + n].numpy() == x.numpy()).all()
        assert not to[:at].any()
        assert not to[at + n :].any()


@pytest.mark.parametrize("colours", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["uint8", "bool", "int16", "float32", "float64"])
def test_colours_of_images(dtype, colours):
    for height, width in ((1, 1), (1, 16), (1, 17), (1, 18), (3, 11), (16, 16), (33, 65)):
        image = numbers((height, width, colours), dtype)
        x = imode.from_numpy(image)
        same(x.permute(2, 0, 1).contiguous(), image.transpose(2, 0, 1))
        same(x[..., 0].contiguous(), image[..., 0])
        same(x[:, 1:].permute(2, 0, 1).contiguous(), image[:, 1:].transpose(2, 0, 1))
        same(x.permute(2, 0, 1).contiguous().permute(1, 2, 0).contiguous(), image)
