"""Tensors from data and factories: flags, out=, the older constructors, what is refused."""

import numpy as np
import pytest

import imode
from tests.foreign import ArrayLike, Series

FACTORIES = {
    "empty": lambda **o: imode.empty(2, **o),
    "zeros": lambda **o: imode.zeros(2, **o),
    "ones": lambda **o: imode.ones(2, **o),
    "full": lambda **o: imode.full((2,), 3.0, **o),
    "arange": lambda **o: imode.arange(2.0, **o),
    "linspace": lambda **o: imode.linspace(0, 1, 2, **o),
    "logspace": lambda **o: imode.logspace(0, 1, 2, **o),
    "eye": lambda **o: imode.eye(2, **o),
    "rand": lambda **o: imode.rand(2, **o),
    "randn": lambda **o: imode.randn(2, **o),
    "normal": lambda **o: imode.normal(0.0, 1.0, (2,), **o),
    "tensor": lambda **o: imode.tensor([1.0, 2.0], **o),
    "scalar_tensor": lambda **o: imode.scalar_tensor(1.0, **o),
    "zeros_like": lambda **o: imode.zeros_like(imode.ones(2), **o),
    "rand_like": lambda **o: imode.rand_like(imode.ones(2), **o),
    "new_zeros": lambda **o: imode.ones(2).new_zeros((2,), **o),
    "new_tensor": lambda **o: imode.ones(2).new_tensor([1.0], **o),
    "asarray": lambda **o: imode.asarray([1.0, 2.0], **o),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_requires_grad(name):
    make = FACTORIES[name]
    assert not make().requires_grad
    t = make(requires_grad=True)
    assert t.requires_grad and t.is_leaf and t.grad_fn is None
    with imode.no_grad():
        assert make(requires_grad=True).requires_grad
    with imode.inference_mode():
        inside = make(requires_grad=True)
        assert inside.requires_grad and inside.is_inference()
        assert not make().requires_grad


@pytest.mark.parametrize(
    "name", [n for n in FACTORIES if n not in ("rand", "randn", "normal", "rand_like")]
)
def test_integers_cannot_require_grad(name):
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can"):
        FACTORIES[name](dtype=imode.int64, requires_grad=True)


@pytest.mark.parametrize(
    "name", [n for n in FACTORIES if "_like" not in n and not n.startswith("new_")]
)
def test_default_dtype(name):
    imode.set_default_dtype(imode.float64)
    try:
        assert FACTORIES[name]().dtype == imode.float64
        assert imode.tensor(1j).dtype == imode.complex128
    finally:
        imode.set_default_dtype(imode.float32)
    assert FACTORIES[name]().dtype == imode.float32


# ---- out= ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (lambda out: imode.zeros(3, out=out), [0, 0, 0]),
        (lambda out: imode.ones((3,), out=out), [1, 1, 1]),
        (lambda out: imode.full((3,), 2, out=out), [2, 2, 2]),
        (lambda out: imode.arange(3, out=out), [0, 1, 2]),
        (lambda out: imode.arange(1, 4, out=out), [1, 2, 3]),
        (lambda out: imode.linspace(0, 2, 3, out=out), [0, 1, 2]),
        (lambda out: imode.eye(1, 3, out=out).squeeze_(), [1, 0, 0]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "int32", "float64"])
def test_out_keeps_its_dtype(call, values, dtype):
    out = imode.empty(0, dtype=getattr(imode, dtype))
    assert call(out) is out
    assert out.tolist() == values and out.dtype == getattr(imode, dtype) and out._version >= 1


def test_out_draws_in_its_dtype():
    imode.manual_seed(3)
    wanted = imode.rand(3, dtype=imode.float64).tolist()
    imode.manual_seed(3)
    assert imode.rand(3, out=imode.empty(3, dtype=imode.float64)).tolist() == wanted


def test_out_refuses_another_dtype_than_the_stated_one():
    out = imode.ones(2)
    with pytest.raises(RuntimeError, match=r"dtype Int does not match dtype of out parameter \(F"):
        imode.zeros(2, dtype=imode.int32, out=out)
    assert out.tolist() == [1, 1]


# ---- from data ----------------------------------------------------------------------------------


def test_tensor_copies_and_as_tensor_shares():
    array = np.zeros(3, np.float32)
    copied, shared = imode.tensor(array), imode.as_tensor(array)
    array[0] = 5
    assert copied.tolist() == [0, 0, 0] and shared.tolist() == [5, 0, 0]
    t = imode.ones(2)
    assert imode.as_tensor(t) is t
    assert imode.as_tensor(t, dtype=imode.float64).dtype == imode.float64


def test_tensor_of_a_tensor_warns_and_detaches():
    source = imode.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct from a tensor, it is recommended"):
        copied = imode.tensor(source)
    assert not copied.requires_grad and copied.grad_fn is None


@pytest.mark.parametrize("make", [imode.tensor, imode.as_tensor, imode.asarray])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float16", "float64", "complex64"])
def test_a_series_gives_its_dtype(make, dtype):
    made = make(Series([1, 0], dtype))
    assert made.dtype is getattr(imode, dtype) and made.tolist() == [1, 0]
    rows = make([Series([1, 0], dtype)] * 2)
    assert rows.dtype is made.dtype and rows.shape == (2, 2)


def test_a_series_without_a_first_label_has_no_shape():
    with pytest.raises(ValueError, match="could not determine the shape of object type 'Series'"):
        imode.tensor(Series([1, 2], "int32", labels=[5, 6]))
    with pytest.raises(RuntimeError, match="Could not infer dtype of ArrayLike"):
        imode.tensor(ArrayLike([1], "int32"))


def test_a_series_is_an_index():
    x = imode.arange(4.0)
    assert x[Series([1, 3], "int32")].tolist() == [1, 3]
    assert x[Series([True, False, True, False], "bool")].tolist() == [0, 2]


def test_self_containing_lists_end():
    loop = []
    loop.append(loop)
    for data in (loop, [[1], [loop]], [1, loop]):
        with pytest.raises((ValueError, TypeError)):
            imode.tensor(data)


def test_sequences_that_change_while_read():
    class Shrinks:
        def __init__(self, items):
            self.items = items

        def __float__(self):
            self.items.clear()
            return 1.0

    items = []
    items += [Shrinks(items), 2.0, 3.0]
    with pytest.raises(ValueError, match="changed its length"):
        imode.tensor(items, dtype=imode.float32)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_integers_that_do_not_fit(dtype):
    info = np.iinfo(dtype)
    wanted = getattr(imode, dtype)
    assert imode.tensor([int(info.max)], dtype=wanted).tolist() == [info.max]
    assert imode.tensor([int(info.min)], dtype=wanted).tolist() == [info.min]
    error = ValueError if dtype == "int64" else RuntimeError
    with pytest.raises(error):
        imode.tensor([int(info.max) + 1], dtype=wanted)
    with pytest.raises(RuntimeError):
        imode.tensor([float("nan")], dtype=wanted)


def test_huge_and_negative_sizes():
    for make in (imode.empty, imode.zeros, imode.ones, imode.rand):
        with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
            make(2**62, 2)
        with pytest.raises(RuntimeError, match="negative"):
            make(3, -1)
    with pytest.raises(RuntimeError, match="can't allocate memory: you tried to allocate"):
        imode.empty(2**50)


# ---- like another tensor ------------------------------------------------------------------------


def test_like_keeps_the_order_of_dimensions():
    t = imode.ones(2, 3, 4).permute(2, 0, 1)
    assert imode.zeros_like(t).stride() == t.stride() == (1, 12, 4)
    assert imode.zeros_like(t, memory_format=imode.contiguous_format).stride() == (6, 3, 1)
    assert imode.zeros_like(imode.ones(4, 1, 3).expand(4, 2, 3)).stride() == (6, 3, 1)


def test_memory_formats():
    assert imode.empty(2, 3, 4, 5, memory_format=imode.channels_last).stride() == (60, 1, 15, 3)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        imode.empty(2, 3, memory_format=imode.channels_last)
    with pytest.raises(TypeError, match="memory_format"):
        imode.empty(2, memory_format=3)
    assert repr(imode.strided) == "imode.strided"


# ---- the older constructors ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("FloatTensor", "float32"),
        ("DoubleTensor", "float64"),
        ("HalfTensor", "float16"),
        ("LongTensor", "int64"),
        ("IntTensor", "int32"),
        ("ShortTensor", "int16"),
        ("CharTensor", "int8"),
        ("ByteTensor", "uint8"),
        ("BoolTensor", "bool"),
    ],
)
def test_older_types(name, dtype):
    cls, wanted = getattr(imode, name), getattr(imode, dtype)
    t = cls([1, 0])
    assert t.dtype == wanted == cls.dtype and t.tolist() == [1, 0]
    assert cls(2, 3).shape == (2, 3) and cls().shape == (0,)
    assert isinstance(t, cls) and not isinstance(imode.ones(1, dtype=imode.complex64), cls)
    with pytest.raises(TypeError, match="data must be a sequence"):
        cls(2.5)


def test_tensor_constructor():
    assert imode.Tensor(2, 3).shape == (2, 3)
    assert imode.Tensor([1, 2]).tolist() == [1.0, 2.0]
    assert imode.Tensor(imode.Size([2])).shape == (2,)
    shared = imode.ones(2, dtype=imode.int64)
    imode.Tensor(shared)[0] = 7
    assert shared.tolist() == [7, 1]
    for bad in ("a", None, 2.5, {}, True):
        with pytest.raises(TypeError):
            imode.Tensor(bad)
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        imode.Tensor([1], dtype=imode.int64)
    with pytest.raises(ValueError, match="expected sequence of length 2 at dim 1"):
        imode.Tensor([[1, 2], [3]])


def test_a_tensor_without_contents_has_no_elements():
    made = imode.Tensor.__new__(imode.Tensor)
    assert made.shape == (0,)
    assert made.tolist() == []
    t = imode.Tensor([1.0])
    t.__init__(2, 3)  # made already
    assert t.tolist() == [1]


def test_sizes_and_strides_of_python_kernels_may_be_lists():
    """What reads them looks at no type: a list in a tuple's place ended the process."""
    from imode.kernels.shapes.storage_views import as_strided
    from imode.kernels.shapes.views import apply, expand
    from imode.ops.creation.create import strided

    assert strided([2, 3], np.dtype("float32"), [1, 2]).strides == (4, 8)
    assert apply(expand, np.zeros((1, 3)), [2, 3]).shape == (2, 3)
    assert apply(as_strided, np.zeros(6), (2, 3), [3, 1], 0).strides == (24, 8)
    with pytest.raises(RuntimeError, match="mismatch in length of strides and shape"):
        apply(as_strided, np.zeros(6), [2, 3], [1], 0)
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        strided([2, 3], np.dtype("float32"), [-3, 1])


@pytest.mark.parametrize(
    ("size", "stride", "error"),
    [
        ([2, 3], [-3, 1], RuntimeError),
        ([2, 3], [1 << 62, 1], RuntimeError),
        ([2, 3], [1 << 70, 1], TypeError),
        ([2, 3], [1], RuntimeError),
        ([2, True], [2, 1], TypeError),
        ([2, 3], None, TypeError),
        (2, 1, TypeError),
        ([2] * 70, [1] * 70, (RuntimeError, ValueError)),
    ],
)
def test_strides_that_cannot_be(size, stride, error):
    for call in (
        lambda: imode.empty_strided(size, stride),
        lambda: imode.ops.aten.empty_strided(size, stride),
        lambda: imode.ones(1).new_empty_strided(size, stride),
        lambda: imode.empty_strided(size, stride, device="meta"),
    ):
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("upper", [False, True])
def test_indices_of_triangles(upper):
    function = imode.triu_indices if upper else imode.tril_indices
    expected = np.triu_indices if upper else np.tril_indices
    for rows in range(5):
        for columns in range(5):
            for offset in (-(2**40), -6, -2, -1, 0, 1, 3, 2**40):
                found = function(rows, columns, offset)
                near = max(-20, min(20, offset))
                assert np.array_equal(found.numpy(), expected(rows, near, columns))
    with pytest.raises((MemoryError, RuntimeError, ValueError)):
        function(2**40, 2**40)


@pytest.mark.parametrize("n", [2, 3, 15, 16, 17, 33, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_linspace_goes_from_both_ends(n, dtype):
    start, end = np.array([-3.7, 11.3], dtype)
    step = (end - start) / np.array(n - 1, dtype)
    i = np.arange(n)
    wide = np.longdouble
    up, down = start + wide(step) * i, end - wide(step) * (n - 1 - i)
    expected = np.where(i < n // 2, up, down).astype("d").astype(dtype)
    found = imode.linspace(float(start), float(end), n, dtype=getattr(imode, dtype)).numpy()
    assert np.abs(found - expected).max() <= np.spacing(np.array(12, dtype))
    assert found[0] == start and found[-1] == end
