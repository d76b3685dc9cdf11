"""finfo, iinfo, result_type, broadcast_shapes."""

import numpy as np
import pytest

import imode


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo_has_the_limits(name):
    info, known = imode.finfo(getattr(imode, name)), np.finfo(name)
    for field in ("bits", "eps", "max", "min", "tiny", "smallest_normal"):
        assert getattr(info, field) == getattr(known, field), field
    assert info.dtype == name
    assert info.resolution == pytest.approx(float(known.resolution), rel=1e-3)


def test_finfo_without_a_dtype_and_of_a_complex_one():
    assert imode.finfo() == imode.finfo(imode.float32) == imode.finfo(imode.complex64)
    assert imode.finfo() != imode.finfo(imode.float64)
    assert repr(imode.finfo(imode.float16)) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
        "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)"
    )


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8"])
def test_iinfo_has_the_limits(name):
    info, known = imode.iinfo(getattr(imode, name)), np.iinfo(name)
    assert (info.bits, info.max, info.min, info.dtype) == (known.bits, known.max, known.min, name)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: imode.finfo(imode.int8), "requires a floating point input type"),
        (lambda: imode.iinfo(imode.float32), "requires an integer input type"),
        (lambda: imode.iinfo(imode.bool), "torch.bool is not supported"),
        (lambda: imode.iinfo(3), r"iinfo\(\): argument 'type' \(position 1\) must be"),
        (lambda: imode.result_type(1, "a"), r"result_type\(\) received an invalid combination"),
    ],
)
def test_other_types_are_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_result_type_promotes_by_category():
    ints, double = imode.ones(2, dtype=imode.int32), imode.ones((), dtype=imode.float64)
    assert imode.result_type(ints, 1.0) is imode.float32
    assert imode.result_type(ints, double) is imode.float64
    assert imode.result_type(imode.ones(2), double) is imode.float32
    assert imode.result_type(1, 2) is imode.int64
    assert imode.result_type(True, ints) is imode.int32


def test_broadcast_shapes():
    assert imode.broadcast_shapes((2, 1), (3, 1, 4), 4) == (3, 2, 4)
    assert imode.broadcast_shapes() == ()
    assert imode.broadcast_shapes((0,), (1,)) == (0,)
    with pytest.raises(RuntimeError, match="a dimension of length 3 at -1! Mismatching argument"):
        imode.broadcast_shapes((2,), (3,))
    with pytest.raises(ValueError, match="negative length"):
        imode.broadcast_shapes((-1,))
