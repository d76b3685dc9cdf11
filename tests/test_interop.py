"""Memory shared with NumPy, buffers and DLPack: both directions, both ways of writing."""

import array
import gc
import weakref

import numpy as np
import pytest

import imode

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


# ---- NumPy --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_from_numpy_and_back(dtype):
    source = np.arange(6).reshape(2, 3).astype(dtype)
    t = imode.from_numpy(source)
    assert t.dtype == getattr(imode, dtype) and t.shape == (2, 3)
    back = t.numpy()
    assert back.dtype == source.dtype and np.shares_memory(back, source)
    assert back.tobytes() == source.tobytes()


def test_writes_show_on_both_sides():
    source = np.zeros(3)
    t = imode.from_numpy(source)
    source[0] = 1
    t[1] = 2
    t.numpy()[2] = 3
    assert source.tolist() == t.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "view",
    [lambda a: a.T, lambda a: a[:, ::2], lambda a: a[1:], lambda a: a[:, :0], lambda a: a[0, 0]],
)
def test_views_of_arrays(view):
    source = view(np.arange(12.0).reshape(3, 4))
    if not isinstance(source, np.ndarray):
        source = np.array(source)
    t = imode.from_numpy(source)
    assert t.tolist() == source.tolist()
    assert all(
        s * 8 == n for s, n, size in zip(t.stride(), source.strides, source.shape) if size > 1
    )


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
def test_the_array_may_be_reshaped_by_its_owner():
    source = np.arange(6)
    t = imode.from_numpy(source)
    source.resize((2, 3))
    assert t.shape == (6,)


def test_the_memory_lives_as_long_as_its_user():
    class Array(np.ndarray):
        pass

    source = np.ones(100).view(Array)
    gone = weakref.ref(source)
    t = imode.from_numpy(source)
    del source
    gc.collect()
    assert t.sum().item() == 100
    del t
    gc.collect()
    assert gone() is None


def test_read_only_arrays_are_read_but_not_written():
    source = np.arange(3.0)
    source.flags.writeable = False
    t = imode.from_numpy(source)
    assert (t + 1).tolist() == [1, 2, 3]
    for write in (lambda: t.add_(1), lambda: t.zero_(), lambda: t.uniform_(), lambda: t.copy_(t)):
        with pytest.raises((RuntimeError, ValueError)):
            write()
    assert source.tolist() == [0, 1, 2]


def test_numpy_refuses_what_requires_grad():
    t = imode.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        t.numpy()
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        np.asarray(t)
    assert t.numpy(force=True).tolist() == t.detach().numpy().tolist() == [1, 1]


def test_array_protocol():
    t = imode.arange(3, dtype=imode.float32)
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert np.asarray(t).dtype == np.float32
    assert np.array(t, dtype=np.int64).tolist() == [0, 1, 2]
    copied = np.array(t)
    assert not np.shares_memory(copied, t.numpy())
    assert np.array([t, t]).shape == (2, 3)
    assert not hasattr(t, "__array_interface__")


SUPPORTED = (
    "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
    "uint16, uint8, and bool"
)


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        ("longdouble", "Convert it: array.astype(numpy.float64)"),
        ("clongdouble", "Convert it: array.astype(numpy.complex128)"),
        ("datetime64", "Convert it: array.astype(numpy.int64)"),
        ("object", "Convert it: array.astype(numpy.float64)"),
        ("str", "Tensors hold numbers"),
        ("void", "Tensors hold numbers"),
    ],
)
def test_arrays_of_other_dtypes_are_refused(dtype, wanted):
    source = np.zeros(2, dtype)
    said = (
        f"can't convert np.ndarray of type numpy.{source.dtype.type.__name__}. "
        f"The only supported types are: {SUPPORTED}. {wanted}"
    )
    ways = [imode.from_numpy, imode.tensor, imode.as_tensor, imode.asarray]
    if source.dtype.kind not in "OU":
        ways.append(lambda array: imode.utils.data.default_collate([array]))
    ways.append(imode.arange(4.0).__getitem__)
    for way in ways:
        with pytest.raises(TypeError) as error:
            way(source)
        assert str(error.value) == said


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_integers_without_a_sign_are_shared_or_converted(dtype):
    source = np.array([1, 3], dtype)
    t = imode.from_numpy(source)
    assert t.dtype is getattr(imode, dtype) and t.tolist() == [1, 3]
    assert np.shares_memory(t.numpy(), source)
    for made in (
        imode.tensor(source, dtype=imode.float32),
        imode.as_tensor(source, dtype=imode.float32),
        imode.asarray(source, dtype=imode.float32),
        imode.ones(1).new_tensor(source),
        imode.FloatTensor(source),
    ):
        assert made.dtype is imode.float32 and made.tolist() == [1, 3]
    assert imode.arange(4.0)[source].tolist() == [1, 3]
    assert (imode.ones(2) == source).tolist() == [True, False]
    assert imode.tensor([source[0], source[1]]).dtype is t.dtype


def test_both_integers_of_64_bits_are_int64():
    source = np.array([1, 2], np.longlong)
    t = imode.from_numpy(source)
    assert t.dtype is imode.int64 and t.numpy().dtype.num == np.dtype(np.int64).num
    assert np.shares_memory(t.numpy(), source)
    assert imode.tensor(source).numpy().dtype.num == np.dtype(np.int64).num


def test_the_byte_order_is_named_after_the_dtype():
    with pytest.raises(TypeError, match="can't convert"):
        imode.from_numpy(np.ones(2, np.dtype(np.longdouble).newbyteorder()))
    for dtype in (np.int32, np.uint16):
        source = np.ones(2, np.dtype(dtype).newbyteorder())
        for way in (imode.from_numpy, imode.arange(4).__getitem__, imode.ones(2).__eq__):
            with pytest.raises(ValueError, match="byte order different"):
                way(source)


def test_an_array_is_divided_by_a_tensor():
    quotient = np.array([2.0, 3.0]) / imode.tensor([2.0, 4.0])
    assert isinstance(quotient, imode.Tensor) and quotient.tolist() == [1, 0.75]
    with pytest.raises(TypeError, match="unsupported operand"):
        np.array(["a"]) / imode.ones(1)


def test_numpys_integers_can_be_assigned():
    t = imode.zeros(3)
    t[0], t[1:] = np.int64(1), np.uint16(2)
    assert t.tolist() == [1, 2, 2]
    with pytest.raises(TypeError, match="can't assign a numpy"):
        t[0] = np.timedelta64(1, "s")


def test_numpys_numbers_are_found_and_promoted():
    t = imode.tensor([1, 2])
    assert np.int8(2) in t and np.float32(3) not in t
    assert imode.result_type(t, np.float32(1)) is imode.float32
    assert (t * np.longdouble(2)).tolist() == [2, 4]
    with pytest.raises(TypeError, match="expected a number, got numpy"):
        imode.result_type(t, np.timedelta64(1, "s"))


def test_numpy_numbers_are_numbers():
    t = imode.ones(2)
    for number in (np.float64(2), np.float32(2), np.int64(2), np.float16(2)):
        assert (t * number).dtype == imode.float32 and (t * number).tolist() == [2, 2]
        assert (number * t).tolist() == [2, 2]
        assert isinstance(number * t, imode.Tensor)


def test_inference_mode_shares_too():
    source = np.zeros(2)
    with imode.inference_mode():
        t = imode.from_numpy(source)
        assert t.is_inference()
        t.add_(1)
    assert source.tolist() == [1, 1]


# ---- buffers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_memoryview_shares(dtype):
    t = imode.arange(4).to(getattr(imode, dtype)).view(2, 2)
    view = memoryview(t)
    assert view.shape == (2, 2) and view.itemsize == t.element_size()
    assert np.shares_memory(np.asarray(view), t.numpy())


def test_memoryview_refuses_what_requires_grad():
    with pytest.raises((BufferError, RuntimeError)):
        memoryview(imode.ones(2, requires_grad=True))


def test_numpys_frombuffer_keeps_the_memory_where_the_tensor_gets_another():
    t = imode.arange(1000.0)
    shown = np.frombuffer(t, np.float32)
    t.data = imode.zeros(3)
    gc.collect()
    others = [imode.full((1000,), 7.0) for _ in range(3)]
    assert shown.tolist() == list(range(1000))
    del others


def test_frombuffer_shares_and_keeps_alive():
    buffer = bytearray(8)
    t = imode.frombuffer(buffer, dtype=imode.int32)
    t[0] = 1
    assert buffer[0] == 1
    with pytest.raises(BufferError):
        buffer.append(0)  # exported: it may not move
    floats = array.array("d", [1.0, 2.0])
    assert imode.frombuffer(floats, dtype=imode.float64).tolist() == [1, 2]


def test_frombuffer_of_bytes_is_read_only():
    t = imode.frombuffer(b"abcd", dtype=imode.uint8)
    with pytest.raises((RuntimeError, ValueError)):
        t.add_(1)


# ---- DLPack -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_both_ways(dtype):
    t = imode.arange(6).to(getattr(imode, dtype)).view(2, 3).t()
    there = np.from_dlpack(t)
    assert there.dtype == np.dtype(dtype) and np.shares_memory(there, t.numpy())
    source = np.arange(6).astype(dtype).reshape(2, 3)[:, ::2]
    back = imode.from_dlpack(source)
    assert np.shares_memory(back.numpy(), source) and back.tolist() == source.tolist()
    again = imode.from_dlpack(t)
    assert np.shares_memory(again.numpy(), t.numpy()) and again.stride() == t.stride()


def test_dlpack_device_and_options():
    t = imode.ones(2)
    assert t.__dlpack_device__() == (1, 0)
    assert "dltensor" in repr(t.__dlpack__())
    assert "dltensor_versioned" in repr(t.__dlpack__(max_version=(1, 0)))
    copied = imode.from_dlpack(t, copy=True)
    copied[0] = 5
    assert t.tolist() == [1, 1]
    with pytest.raises(AssertionError, match="stream should be None on cpu"):
        t.__dlpack__(stream=1)


def test_tensor_and_as_tensor_take_exporters():
    class Exporter:
        def __dlpack__(self, **options):
            return t.__dlpack__(**options)

        def __dlpack_device__(self):
            return t.__dlpack_device__()

    t = imode.arange(3.0)
    copied, shared = imode.tensor(Exporter()), imode.as_tensor(Exporter())
    other = (
        imode.tensor(Exporter(), dtype=imode.int64),
        imode.as_tensor(Exporter(), dtype=imode.int64),
    )
    t[0] = 5
    assert copied.tolist() == [0, 1, 2] and shared.tolist() == [5, 1, 2]
    assert [o.dtype for o in other] == [imode.int64] * 2 and other[1].tolist() == [0, 1, 2]
    assert t.new_tensor(Exporter()).tolist() == [5, 1, 2]


def test_capsules_are_consumed_once():
    t = imode.ones(2)
    capsule = t.__dlpack__()
    assert imode.from_dlpack(capsule).tolist() == [1, 1]
    with pytest.raises((RuntimeError, ValueError, BufferError)):
        imode.from_dlpack(capsule)


def test_dlpack_refusals():
    with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
        imode.ones(2, requires_grad=True).__dlpack__()
    with pytest.raises(RuntimeError, match="from_dlpack received an invalid capsule"):
        imode.from_dlpack([1])
    with pytest.raises(ValueError, match="stride in the given numpy array is negative"):
        imode.from_dlpack(np.zeros(3)[::-1])


# ---- PyTorch ------------------------------------------------------------------------------------


def test_pytorch_through_numpy_and_dlpack():
    torch = pytest.importorskip("torch")
    theirs = torch.arange(6.0).view(2, 3)
    for ours in (imode.from_dlpack(theirs), imode.from_numpy(theirs.numpy())):
        ours[0, 0] = 9.0
        assert theirs[0, 0].item() == 9.0
    mine = imode.arange(6.0)
    for shared in (torch.from_dlpack(mine), torch.from_numpy(mine.numpy())):
        shared[0] += 1
    assert mine[0].item() == 2.0


def test_a_capsule_is_used_once_and_its_memory_is_shared():
    from imode.utils import dlpack

    x = imode.arange(3.0)
    capsule = dlpack.to_dlpack(x)
    y = dlpack.from_dlpack(capsule)
    y[0] = 9
    assert x.tolist() == [9, 1, 2]
    with pytest.raises(RuntimeError, match="from_dlpack received an invalid capsule"):
        dlpack.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="got int"):
        dlpack.from_dlpack(3)


def test_numpys_functions_of_tensors_give_tensors():
    x = imode.tensor([1.0, 4.0])
    for result, expected in (
        (np.sqrt(x), [1, 2]),
        (x + np.ones(2), [2, 5]),
        (np.add(x, 1), [2, 5]),
    ):
        assert isinstance(result, imode.Tensor)
        assert result.tolist() == expected
    assert np.greater(x, 2).dtype is imode.uint8


def test_a_type_names_its_dtype():
    assert imode.ones(2).type(imode.LongTensor).dtype is imode.int64


def test_equal_compares_with_an_array():
    x = imode.tensor([1, 2])
    assert (x == np.array([1.0, 3.0])).tolist() == [True, False]
    assert (x == np.array(["a", "b"])) is False
    with pytest.raises(RuntimeError, match="must match"):
        x == np.ones(3)  # noqa: B015


def test_conversions_to_python_numbers_that_lose_something_are_refused():
    with pytest.raises(RuntimeError, match="cannot be converted to type double without overflow"):
        float(imode.tensor(1 + 2j))
    assert float(imode.tensor(1 + 0j)) == 1.0
    assert [1, 2, 3][imode.tensor(True)] == 2
    with pytest.raises(TypeError, match=r"~ \(operator.invert\) is only implemented on integer"):
        ~imode.ones(1)
    with pytest.raises(TypeError, match=r"size\(\): argument 'dim' \(position 1\) must be int"):
        imode.ones(1).size("a")
    with pytest.raises(TypeError, match="expected Tensor as element 1 in argument 0, but got int"):
        imode.cat([imode.ones(1), 1])
    with pytest.raises(ValueError, match="only one element tensors can be converted"):
        imode.tensor([imode.ones(2), imode.ones(3)])
