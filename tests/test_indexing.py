"""`tensor[index]` and its assignment: against NumPy, and the rules that are PyTorch's own."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import imode

T = imode.tensor


def names(t):
    """The names of the nodes from a tensor's grad_fn along the first inputs."""
    found, node = [], t.grad_fn
    while node is not None:
        found.append(node.name().rpartition("::")[2])
        node = node.next_functions[0][0] if node.next_functions else None
    return found


@pytest.fixture
def x():
    return imode.arange(12.0).reshape(3, 4).clone()


# ---- against NumPy -------------------------------------------------------------------------------


@st.composite
def indexed(draw):
    """A shape, an index for NumPy, the same index for imode."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    ours, theirs = [], []
    advanced = draw(st.integers(0, 1))  # one index array: NumPy counts integers as such, too
    for n in shape[: draw(st.integers(0, len(shape)))]:
        kind = draw(st.sampled_from(["int", "slice", "none", "tensor", "mask"]))
        if kind == "none":
            ours.append(None)
            theirs.append(None)
        if kind == "int" and not advanced:
            theirs.append(draw(st.integers(-n, n - 1)))
            ours.append(theirs[-1])
        elif kind in ("tensor", "mask") and advanced:
            advanced = 0
            if kind == "mask":
                picked = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
            else:
                size = draw(st.sampled_from([(), (1,), (3,), (2, 2), (0,)]))
                count = int(np.prod(size))
                items = draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count))
                picked = np.array(items, np.int64).reshape(size)
            theirs.append(picked)
            ours.append(imode.from_numpy(picked.copy()))
            break  # an integer after it would be an index array, too, for NumPy
        else:
            bound = st.one_of(st.none(), st.integers(-n - 1, n + 1))
            theirs.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, 3]))))
            ours.append(theirs[-1])
    return tuple(shape), tuple(ours), tuple(theirs)


@settings(max_examples=300, deadline=None)
@given(indexed())
def test_reading_and_writing_as_numpy(case):
    shape, ours, theirs = case
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    t = imode.from_numpy(array.copy())
    expected = array[theirs]
    found = t[ours]
    assert tuple(found.shape) == expected.shape and found.tolist() == expected.tolist()

    array[theirs] = 7
    t[ours] = 7
    assert t.tolist() == array.tolist()
    values = np.arange(expected.size, dtype=np.float32).reshape(expected.shape)
    picked = [i for i in theirs if isinstance(i, np.ndarray) and i.dtype != bool]
    if all(len(np.unique(i % 24)) == i.size for i in picked):  # no element written twice
        array[theirs] = values
        t[ours] = imode.from_numpy(values)
        assert t.tolist() == array.tolist()


@settings(max_examples=100, deadline=None)
@given(indexed())
def test_gradient_is_a_count(case):
    shape, ours, theirs = case
    x = imode.zeros(shape, requires_grad=True)
    x[ours].sum().backward()
    counts = np.zeros(shape)
    np.add.at(counts, theirs, 1)
    assert x.grad.tolist() == counts.tolist()


# ---- views and copies ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, ["SelectBackward0"]),
        (slice(1, None), ["SliceBackward0"]),
        (slice(None), ["SliceBackward0"]),
        ((slice(None), 0), ["SelectBackward0"]),
        ((slice(None), slice(None)), ["AliasBackward0"]),
        ((slice(-3, None), 0), ["SelectBackward0", "SliceBackward0"]),
        (None, ["UnsqueezeBackward0"]),
        (Ellipsis, ["AliasBackward0"]),
        ((), ["AliasBackward0"]),
        ((Ellipsis, 0), ["SelectBackward0"]),
        ((0, None), ["UnsqueezeBackward0", "SelectBackward0"]),
        (T(1), ["SelectBackward0"]),
        (np.int64(1), ["SelectBackward0"]),
    ],
    ids=str,
)
def test_basic_indices_are_views(x, index, expected):
    x.requires_grad_()
    y = x[index]
    assert names(y)[:-1] == expected
    assert y._is_view() and np.shares_memory(y.detach().numpy(), x.detach().numpy())


@pytest.mark.parametrize(
    "index",
    [[0, 2], T([0, 2]), (slice(None), T([1])), T([True, False, True]), True, (0, [1, 2])],
    ids=str,
)
def test_advanced_indices_copy(x, index):
    x.requires_grad_()
    y = x[index]
    assert names(y)[0] == "IndexBackward0" and not y._is_view()
    assert not np.shares_memory(y.detach().numpy(), x.detach().numpy())


def test_index_arrays_apart_go_to_the_front():
    x = imode.zeros(2, 3, 4)
    i = T([0, 1, 1])
    assert x[:, i, i].shape == (2, 3)
    assert x[i, :, i].shape == (3, 3)
    assert x[:, None, i, :, None].shape == (2, 1, 3, 4, 1)
    assert x[0, :, i].shape == (3, 3)  # an integer is not an index array here, as in NumPy
    assert x[True, i].shape == (3, 3, 4)
    assert x[False].shape == (0, 2, 3, 4)
    assert x[i[:0]].shape == (0, 3, 4)


def test_layout_of_copies():
    x = imode.zeros(4, 3, 2).permute(2, 1, 0)
    i = T([1, 0])
    assert x[i].stride() == (12, 1, 3)
    assert x[:, i].stride() == (1, 2, 4)
    assert x[:, :, i].stride() == (2, 4, 1)


def test_masks_of_several_dimensions(x):
    mask = x > 5
    assert x[mask].tolist() == [6, 7, 8, 9, 10, 11]
    assert x[None, mask].shape == (1, 6)
    assert x[mask, None].shape == (6, 1)
    assert x[T([True, False, True]), T([True, False, True, False])].tolist() == [0, 10]


def test_lists(x):
    assert x[[1.9]].tolist() == x[[1]].tolist()
    assert x[[]].shape == (0, 4)
    assert x[range(2)].shape == (2, 4)
    assert x[:, [True, False, False, True]].shape == (3, 2)
    assert x[0, [T(1), T(2)]].tolist() == [1, 2]
    with pytest.warns(UserWarning, match="Using a non-tuple sequence"):
        assert x[[[0, 1], [2, 3]]].tolist() == [2, 7]
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        assert x[T([1, 0, 1], dtype=imode.uint8)].shape == (2, 4)


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (3, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
        (-4, IndexError, "index -4 is out of bounds for dimension 0 with size 3"),
        ((0, 9), IndexError, "index 9 is out of bounds for dimension 1 with size 4"),
        ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2"),
        (T([3]), IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
        (T([0, -4]), IndexError, "index -4 is out of bounds for dimension 0 with size 3"),
        ((T([0]), T([0, 4])), IndexError, "index 4 is out of bounds for dimension 1 with size 4"),
        (
            (T([0, 1]), T([0, 1, 2])),
            IndexError,
            "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
        ),
        (T([0.0]), IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
        (
            T([True, False]),
            IndexError,
            "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor "
            "[3, 4] at index 0",
        ),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
        (slice(1.5, None), TypeError, "slice indices must be integers or None"),
        (1.0, IndexError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte"),
        ({}, IndexError, "are valid indices (got dict)"),
        (2**70, ValueError, "Overflow when unpacking long long"),
        ("a", TypeError, "new(): invalid data type 'str'"),
        ((0, [[0], [0, 1]]), ValueError, "expected sequence of length 1 at dim 1 (got 2)"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_"),
    ],
    ids=str,
)
def test_bad_indices(x, index, error, message):
    before = x.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for use in (lambda: x[index], lambda: x.__setitem__(index, 1.0)):
            with pytest.raises(error) as raised:
                use()
            assert message in str(raised.value)
    assert x.tolist() == before and x._version == 0


def test_a_number_has_no_elements():
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        T(1.0)[0]
    with pytest.raises(IndexError, match="slice\\(\\) cannot be applied to a 0-dim tensor"):
        T(1.0)[:]
    with pytest.raises(IndexError, match="too many indices"):
        T(1.0)[T([0])]
    assert T(1.0)[None].shape == (1,) and T(1.0)[...].shape == ()


def test_length_zero():
    x = imode.zeros(0, 3)
    with pytest.raises(IndexError, match="index is out of bounds for dimension with size 0"):
        x[T([0])]
    assert x[:, T([0, 2])].shape == (0, 2)
    assert x[T([], dtype=imode.int64)].shape == (0, 3)


# ---- writing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, [1.0] * 4),
        (2.5, [2.5] * 4),
        (True, [1.0] * 4),
        (T(1), [1.0] * 4),
        (T([1, 2, 3, 4]), [1.0, 2.0, 3.0, 4.0]),
        (T([[7.0]]), [7.0] * 4),
    ],
    ids=str,
)
def test_writing_casts_and_broadcasts(x, value, expected):
    x[1] = value
    assert x[1].tolist() == expected and x._version == 1


@pytest.mark.parametrize(
    ("index", "value", "error", "message"),
    [
        (0, T([1.0, 2.0]), RuntimeError, "The expanded size of the tensor (4) must match"),
        (slice(None), imode.zeros(2, 3, 4), RuntimeError, "the number of sizes provided (2) must"),
        ([0], T([1.0, 2.0]), RuntimeError, "shape mismatch: value tensor of shape [2] cannot be"),
        ([0], T([1, 2, 3, 4]), RuntimeError, "Index put requires the source and destination"),
        (0, "a", TypeError, "can't assign a str to a"),
        (0, [1, 2, 3, 4], TypeError, "can't assign a list to a"),
        (0, None, TypeError, "can't assign a NoneType to a"),
        (0, np.ones(4), TypeError, "can't assign a numpy.ndarray to a"),
        (0, 1j, RuntimeError, "value cannot be converted to type float without overflow"),
        (0, 2**70, ValueError, "Overflow when unpacking long long"),
    ],
    ids=str,
)
def test_bad_values(x, index, value, error, message):
    before = x.tolist()
    with pytest.raises(error) as raised:
        x[index] = value
    assert message in str(raised.value)
    assert x.tolist() == before and x._version == 0


def test_integers_are_cut_not_rounded():
    x = imode.zeros(3, dtype=imode.int64)
    x[0], x[[1]], x[T([False, False, True])] = 1.9, -1.9, 2.9
    assert x.tolist() == [1, -1, 2]
    with pytest.raises(RuntimeError, match="value cannot be converted to type int64_t"):
        x[0] = float("nan")


def test_writing_is_recorded(x):
    v = imode.ones(4, requires_grad=True)
    x[0] = v
    x[T([1, 2])] = v * 2
    assert names(x)[0] == "IndexPutBackward0" and x._version == 2
    x.sum().backward()
    assert v.grad.tolist() == [5.0] * 4
    leaf = imode.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf[T([0])] = 1.0


def test_one_place_twice(x):
    y = x.index_put((T([0, 0]), T([1, 1])), T([5.0, 6.0]), accumulate=True)
    assert y[0, 1].item() == 12.0 and x[0, 1].item() == 1.0
    x.index_put_((T([0, 0]), T([1, 1])), T([5.0, 6.0]))
    assert x[0, 1].item() == 6.0


def test_overlapping_memory(x):
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        x[[0]] = x[1:2]
    x[x > 5] = x[0, :1].expand(6)  # what overlaps itself is not looked at
    wide = imode.zeros(1).expand(3)
    with pytest.warns(UserWarning, match="Use of index_put_ on expanded tensors is deprecated"):
        wide[T([0])] = T([2.0])


def test_inference_tensors(x):
    with imode.inference_mode():
        y = x[T([0, 1])]
        z = x[0]
        x[T([2])] = 0.0
    assert y.is_inference() and not z.is_inference() and x._version == 1
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        y[0] = 1.0
    assert y[T([0])].is_inference() is False


def test_index_saved_for_backward_is_watched(x):
    x.requires_grad_()
    i = T([0, 1])
    y = x[i].sum()
    i[0] = 2
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_take_along_dim_counts_modulo_the_length():
    x = imode.arange(12).reshape(3, 4)
    assert x.take_along_dim(T([[-1], [4], [7]]), 1).tolist() == [[3], [4], [11]]
    with pytest.raises(
        RuntimeError, match="index 12 is out of bounds for dimension 0 with size 12"
    ):
        x.take_along_dim(T([12]))


def test_named_results():
    s = imode.sort(T([3, 1, 2]))
    assert s.values.tolist() == [1, 2, 3] and s.indices.tolist() == [1, 2, 0]
    assert type(imode.topk(T([3, 1, 2]), 2)).__name__ == "topk"


def test_a_second_ellipsis_beyond_the_last_dimension_is_refused():
    x = imode.arange(6).view(2, 3)
    for index in ((..., ..., 0), (..., ..., slice(None)), (None, ..., ..., -1)):
        with pytest.raises(IndexError, match="Dimension out of range"):
            x[index]
    assert x[..., ...].shape == (2, 3)
    assert x[..., True].shape == (2, 3, 1)
    assert imode.ones(())[..., True].shape == (1,)


@pytest.mark.parametrize("plain", [True, False])
def test_writes_by_index_mask_and_position(plain):
    def zeros():
        return imode.zeros(2, 3) if plain else imode.zeros(3, 2).t()

    index, flat = imode.tensor([0, -1]), imode.tensor([[1, 1], [-1, 0]])
    assert zeros().index_fill(1, index, 5).tolist() == [[5, 0, 5]] * 2
    assert zeros().index_fill_(0, index[:1], 5.0).tolist() == [[5, 5, 5], [0, 0, 0]]
    source = imode.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert zeros().put(flat, source).tolist() == [[4, 2, 0], [0, 0, 3]]
    assert zeros().put_(flat, source, True).tolist() == [[4, 3, 0], [0, 0, 3]]
    mask = imode.tensor([[True, False, True], [False, True, False]])
    filled = [[1, 0, 2], [0, 3, 0]]
    assert zeros().masked_scatter(mask, source).tolist() == filled
    assert zeros().masked_scatter_(mask, source).tolist() == filled
    with pytest.raises(RuntimeError, match="Number of elements of source"):
        zeros().masked_scatter_(mask, source[0])
    with pytest.raises(IndexError, match="out of range"):
        zeros().put_(flat * 7, source)


@pytest.mark.parametrize("first", [0, 1])
def test_gradient_of_several_indices(first):
    x = imode.zeros(2, 3, 2, requires_grad=True)
    rows = imode.tensor([0, 1, 1]), imode.tensor([-1, 0, 0])
    (x[rows] if first == 0 else x[:, rows[0], rows[1]]).sum().backward()
    expected = np.zeros((2, 3, 2))
    at = (slice(None),) * first + tuple(row.numpy() for row in rows)
    np.add.at(expected, at, 1)
    assert x.grad.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [imode.float32, imode.float64, imode.int8, imode.complex128])
def test_a_mask_chooses_of_scattered_elements_in_row_order(dtype):
    x = imode.arange(24).to(dtype).view(2, 3, 4)
    for y in (x.permute(2, 0, 1), x[:, ::2, 1:], x[:1].expand(3, 3, 4), x.transpose(0, 2)[::3]):
        mask = imode.arange(y.numel()).view(y.shape) % 3 != 1
        assert y.masked_select(mask).tolist() == y.contiguous().masked_select(mask).tolist()


@pytest.mark.parametrize(
    "rows, columns", [(1, 9), (2, 7), (5, 8), (40, 4095), (3, 4097), (90, 4097)]
)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
def test_columns_picked_of_every_row(rows, columns, dtype):
    rng = np.random.default_rng(columns)
    array = rng.integers(-99, 99, (rows, columns)).astype(dtype)
    for count in (0, 1, columns, 2 * columns + 3):
        at = rng.integers(0, columns, count)
        assert np.array_equal(T(array).index_select(1, T(at)), array[:, at])
        assert np.array_equal(T(array)[:, T(at - columns)], array[:, at])


PLACES = [
    (np.array([0, 2, 2]), np.array([1, -1, 0])),
    (slice(None), np.array([3, 0])),
    (1, np.array([[0, 1], [2, -1]])),
    (np.array([2, 0]), slice(1, 3)),
    (None, np.array([1]), Ellipsis),
    (np.array([0, 1]), slice(None), np.array([1, 0])),
    (slice(0, 2), np.array([1, 2]), np.array([0, 1])),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "float16"])
@pytest.mark.parametrize("index", PLACES, ids=str)
def test_several_indices_at_once(index, dtype):
    array = np.arange(60).reshape(3, 4, 5).astype(dtype)
    made = tuple(T(i) if isinstance(i, np.ndarray) else i for i in index)
    x = imode.from_numpy(array.copy())
    assert np.array_equal(x[made].numpy(), array[index]) and not x[made]._is_view()
    for value in (7, array[index] + 1, array[index][..., :1]):
        array[index] = value
        x[made] = imode.from_numpy(value) if isinstance(value, np.ndarray) else value
        assert np.array_equal(x.numpy(), array)
    assert x._version == 3


def test_several_indices_of_which_one_is_outside(x):
    for index in ((T([0]), T([9])), (T([0, 1]), T([0, -5]))):
        before = x.clone()
        with pytest.raises(IndexError, match="is out of bounds for dimension 1 with size 4"):
            x[index]
        with pytest.raises(IndexError, match="is out of bounds for dimension 1 with size 4"):
            x[index] = 1.0
        assert imode.equal(x, before)


def test_gradients_through_several_indices():
    leaf = imode.arange(12.0).view(3, 4).requires_grad_()
    picked = leaf[T([0, 0, 2]), T([1, 1, 3])]
    assert picked.grad_fn.name() == "IndexBackward0"
    (picked * imode.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert leaf.grad.tolist() == [[0, 3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 4]]
    value = imode.tensor([5.0, 6.0], requires_grad=True)
    y = leaf.detach() * 1
    y[T([0, 1]), T([0, 1])] = value
    y.sum().backward()
    assert value.grad.tolist() == [1, 1] and y[0, 0].item() == 5


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "uint8", "bool"])
@pytest.mark.parametrize(
    "shape", [(2, 3, 4, 5), (1, 1, 4, 5), (2, 1, 1, 5), (4, 5), (2, 3, 4, 1), (1,), (3, 1, 1), ()]
)
def test_a_mask_is_broadcast(shape, dtype):
    dtype = getattr(imode, dtype)
    numbers = np.random.default_rng(1).integers(0, 2, (2, 3, 4, 5)).astype("f")
    x = imode.from_numpy(numbers).to(dtype)
    mask = imode.from_numpy(np.asarray(np.random.default_rng(2).random(shape) < 0.5))
    value = True if dtype == imode.bool else 9
    expected = np.where(mask.numpy(), float(value), numbers)
    assert np.array_equal(x.masked_fill(mask, value).float().numpy(), expected)
    turned = x.transpose(0, 3).contiguous().transpose(0, 3)
    assert np.array_equal(turned.masked_fill(mask, value).float().numpy(), expected)
    assert x.masked_fill_(mask, value) is x and np.array_equal(x.float().numpy(), expected)
    with pytest.raises(RuntimeError, match="must match the size"):
        x.masked_fill(imode.ones(3, dtype=imode.bool), value)


@pytest.mark.parametrize(
    "shape", [(9,), (5, 7), (1, 300), (300, 1), (3, 1, 4, 5), (2, 0, 3), (2,) * 9]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_where_elements_are_not_zero(shape, dtype):
    generator = np.random.default_rng(3)
    for share in (0.0, 0.1, 0.6, 1.0):
        array = (generator.random(shape) < share).astype(dtype)
        found = imode.from_numpy(array).nonzero()
        assert np.array_equal(found.numpy(), np.argwhere(array))


@pytest.mark.parametrize("dtype", ["float16", "uint8", "bool"])
def test_what_a_mask_picks_and_what_is_written_there(dtype):
    array = np.random.default_rng(1).integers(0, 2, (40, 7)).astype(dtype)
    mask = np.random.default_rng(2).random((40, 7)) < 0.5
    x = imode.from_numpy(array.copy())
    assert np.array_equal(x[T(mask)].numpy(), array[mask])
    x[T(mask)] = 1
    array[mask] = 1
    assert np.array_equal(x.numpy(), array)
