"""How tensors print, character by character; the texts are PyTorch's."""

import numpy as np
import pytest

import imode
from imode._tensor.printing import get_printoptions, tensor_str

inf, nan = float("inf"), float("nan")


@pytest.fixture(autouse=True)
def options():
    """Leave the print options as they were."""
    before = get_printoptions()
    yield
    imode.set_printoptions(**before)


@pytest.mark.parametrize(
    ("values", "dtype", "text"),
    [
        (1.5, "float32", "tensor(1.5000)"),
        (2.0, "float32", "tensor(2.)"),
        (nan, "float32", "tensor(nan)"),
        (3, "int64", "tensor(3)"),
        (True, "bool", "tensor(True)"),
        (1 + 2j, "complex64", "tensor(1.+2.j)"),
        ([], "float32", "tensor([])"),
        ([], "int64", "tensor([], dtype=imode.int64)"),
        ([[], []], "float32", "tensor([], size=(2, 0))"),
        ([1.0, 2.5], "float32", "tensor([1.0000, 2.5000])"),
        ([1.0, 2.0], "float64", "tensor([1., 2.], dtype=imode.float64)"),
        ([1.0, inf, -inf, nan], "float32", "tensor([1., inf, -inf, nan])"),
        ([0.5, inf], "float32", "tensor([0.5000,    inf])"),
        ([1e-5, 1.0], "float32", "tensor([1.0000e-05, 1.0000e+00])"),
        ([1e9], "float32", "tensor([1.0000e+09])"),
        ([1e8], "float32", "tensor([100000000.])"),
        ([0.0, 0.0], "float32", "tensor([0., 0.])"),
        ([-1.0, 100.0], "float16", "tensor([ -1., 100.], dtype=imode.float16)"),
        ([1, -22], "int32", "tensor([  1, -22], dtype=imode.int32)"),
        ([True, False], "bool", "tensor([ True, False])"),
        ([1j, -0.5 - 1j], "complex64", "tensor([ 0.0000+1.j, -0.5000-1.j])"),
        ([1j], "complex128", "tensor([0.+1.j], dtype=imode.complex128)"),
        ([[1, 2], [3, 4]], "int64", "tensor([[1, 2],\n        [3, 4]])"),
        ([[[1]], [[2]]], "int64", "tensor([[[1]],\n\n        [[2]]])"),
    ],
)
def test_values(values, dtype, text):
    array = np.array(values, dtype)
    assert tensor_str(array) == text
    assert repr(imode.from_numpy(array)) == text


def test_long_rows_break():
    text = repr(imode.arange(30))
    first = "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,"
    assert text.split("\n")[0] == first
    assert text.split("\n")[1].startswith("        18, 19")


def test_summary():
    assert repr(imode.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    assert repr(imode.zeros(40, 40)).split("\n") == [
        "tensor([[0., 0., 0.,  ..., 0., 0., 0.],",
        "        [0., 0., 0.,  ..., 0., 0., 0.],",
        "        [0., 0., 0.,  ..., 0., 0., 0.],",
        "        ...,",
        "        [0., 0., 0.,  ..., 0., 0., 0.],",
        "        [0., 0., 0.,  ..., 0., 0., 0.],",
        "        [0., 0., 0.,  ..., 0., 0., 0.]])",
    ]


def test_suffixes():
    x = imode.ones(2, requires_grad=True)
    assert repr(x) == "tensor([1., 1.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
    assert repr(x[0]) == "tensor(1., grad_fn=<SelectBackward0>)"
    p = imode.nn.Parameter(imode.ones(2))
    assert repr(p) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert str(p) == repr(p)
    long = tensor_str(np.arange(12.0), grad_fn_name="SomeVeryLongBackward0", dtype="imode.float64")
    assert long.split("\n") == [
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11.],",
        "       dtype=imode.float64, grad_fn=<SomeVeryLongBackward0>)",
    ]


def test_default_dtype():
    assert tensor_str(np.ones(1), default_dtype="float64") == "tensor([1.])"
    single = np.ones(1, "float32")
    assert tensor_str(single, default_dtype="float64") == "tensor([1.], dtype=imode.float32)"
    assert tensor_str(np.ones(1) * 1j, default_dtype="float64") == "tensor([0.+1.j])"


def test_meta_and_device():
    assert tensor_str(np.ones((2, 3)), meta=True) == (
        "tensor(..., size=(2, 3), dtype=imode.float64)"
    )
    assert tensor_str(np.ones(1, "f4"), device="other:0") == "tensor([1.], device='other:0')"


def test_options():
    x = imode.tensor([1.23456, 20000.0])
    assert repr(x) == "tensor([1.2346e+00, 2.0000e+04])"
    imode.set_printoptions(precision=2, sci_mode=False)
    assert repr(x) == "tensor([    1.23, 20000.00])"
    imode.set_printoptions(threshold=3, edgeitems=1)
    assert repr(imode.arange(9)) == "tensor([0,  ..., 8])"
    imode.set_printoptions(profile="full")
    assert "..." not in repr(imode.arange(2000))
    imode.set_printoptions(profile="short")
    assert repr(x) == "tensor([1.23e+00, 2.00e+04])"
    imode.set_printoptions(profile="default", linewidth=20)
    assert repr(imode.tensor([1.5, 2.5])) == "tensor([1.5000,\n        2.5000])"


def test_format():
    assert f"{imode.tensor(0.25):.1%}" == "25.0%"
    assert f"{imode.tensor(3):>4d}" == "   3"
    assert f"{imode.tensor(1.5)} {imode.tensor(2.0, requires_grad=True):.1f}" == "1.5 2.0"
    assert f"{imode.tensor([1.0])}" == "tensor([1.])"
    with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor.__format__"):
        f"{imode.tensor([1.0]):.2f}"


def test_a_view_whose_history_is_gone_still_prints():
    x = imode.ones(2, requires_grad=True)
    with imode.no_grad():
        v = x[:]
    assert "tensor([1., 1.]" in repr(v)


def test_a_summary_reads_no_more_than_it_shows():
    assert repr(imode.ones(1).expand(7, 10**12)).startswith(
        "tensor([[1., 1., 1.,  ..., 1., 1., 1.]"
    )
