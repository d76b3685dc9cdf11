"""dtypes, PyTorch's type promotion, Size and device."""

import copy
import pickle

import pytest

import imode


def test_dtype_attributes():
    assert repr(imode.float32) == "imode.float32"
    assert imode.float is imode.float32
    assert imode.long is imode.int64
    assert (imode.int64.is_floating_point, imode.float16.is_floating_point) == (False, True)
    assert imode.complex64.is_complex
    assert imode.complex64.to_real() is imode.float32
    assert imode.float64.to_complex() is imode.complex128
    assert imode.float64.itemsize == 8
    assert not imode.uint8.is_signed
    assert pickle.loads(pickle.dumps(imode.int8)) is imode.int8
    assert copy.deepcopy(imode.int8) is imode.int8


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("uint8", "int8", "int16"),
        ("uint8", "int16", "int16"),
        ("int64", "float16", "float16"),
        ("float16", "float32", "float32"),
        ("float64", "complex64", "complex128"),
        ("int64", "complex64", "complex64"),
        ("bool", "uint8", "uint8"),
    ],
)
def test_promote_types(a, b, expected):
    a, b, expected = (getattr(imode, name) for name in (a, b, expected))
    assert imode.promote_types(a, b) is expected
    assert imode.promote_types(b, a) is expected


def test_tensors_with_dimensions_outrank_numbers_and_0_dim_tensors():
    ints, floats = imode.ones(2, dtype=imode.int64), imode.ones(2)
    assert (ints + floats).dtype is imode.float32
    assert (ints + 1.5).dtype is imode.float32
    assert (imode.ones(2, dtype=imode.float16) + 1.5).dtype is imode.float16
    assert (floats + imode.tensor(1.0, dtype=imode.float64)).dtype is imode.float32
    assert (ints + imode.tensor(1.0, dtype=imode.float64)).dtype is imode.float64
    assert (ints / ints).dtype is imode.float32
    assert (imode.ones(2, dtype=imode.int8) + 1000000).dtype is imode.int8
    assert (imode.ones(2, dtype=imode.bool) + 1).dtype is imode.int64


def test_can_cast():
    assert imode.can_cast(imode.int64, imode.float16)
    assert not imode.can_cast(imode.float16, imode.int64)
    assert not imode.can_cast(imode.complex64, imode.float64)
    assert not imode.can_cast(imode.int8, imode.bool)


def test_default_dtype():
    imode.set_default_dtype(imode.float64)
    try:
        assert imode.tensor([1.0]).dtype is imode.float64
        assert (imode.ones(2, dtype=imode.int64) + 1.5).dtype is imode.float64
    finally:
        imode.set_default_dtype(imode.float32)
    with pytest.raises(TypeError, match="only floating-point types are supported as the default"):
        imode.set_default_dtype(imode.int64)
    assert imode.get_default_dtype() is imode.float32


def test_size_is_a_tuple():
    size = imode.zeros(2, 3).shape
    assert size == (2, 3)
    assert isinstance(size, imode.Size)
    assert repr(size) == "imode.Size([2, 3])"
    assert size.numel() == 6
    assert isinstance(size[1:], imode.Size)
    assert isinstance(size + (4,), imode.Size)
    assert pickle.loads(pickle.dumps(size)) == size
    with pytest.raises(TypeError, match="item 1 is 'str'"):
        imode.Size([1, "2"])


def test_device():
    cpu = imode.device("cpu")
    assert cpu == imode.zeros(1).device
    assert (cpu.type, cpu.index, str(cpu)) == ("cpu", None, "cpu")
    assert repr(imode.device("cpu", 0)) == "device(type='cpu', index=0)"
    assert imode.zeros(1, device="cpu").to("cpu").cpu().device == cpu
    with pytest.raises(RuntimeError, match="at start of device string: gpu"):
        imode.device("gpu")
    with pytest.raises(AssertionError, match="not compiled with CUDA enabled"):
        imode.zeros(1, device="cuda")
    assert imode.cuda.is_available() is False


@pytest.mark.parametrize("name", ["dtype", "device", "Size", "Tensor"])
def test_classes_are_shown_by_their_public_names(name):
    cls = getattr(imode, name)
    assert f"{cls.__module__}.{cls.__qualname__}" == f"imode.{name}"
    assert repr(cls) == f"<class 'imode.{name}'>"
    assert pickle.loads(pickle.dumps(cls)) is cls
