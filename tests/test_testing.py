"""assert_close and make_tensor; tests/conformance/test_testing.py has the table of cases."""

import pytest

import imode
from imode.testing import _comparison, assert_allclose, assert_close, make_tensor


def test_what_is_close():
    assert_close(imode.ones(3), imode.ones(3) + 1e-7)
    assert_close({"a": [1.0, None, True]}, {"a": (1.0, None, True)})
    assert_close(imode.ones(2), imode.ones(2).double(), check_dtype=False)
    assert_close(float("nan"), float("nan"), equal_nan=True)
    assert_close(imode.ones(2, device="meta"), imode.ones(2, device="meta"))
    weight = imode.ones(2, requires_grad=True)
    assert_close(weight, weight * 1)


def test_the_text_tells_where_and_by_how_much():
    x = imode.zeros(2, 3)
    y = x.clone()
    y[1, 2] = 0.5
    with pytest.raises(AssertionError) as raised:
        assert_close({"a": [x]}, {"a": [y]})
    assert str(raised.value) == (
        "Tensor-likes are not close!\n\n"
        "Mismatched elements: 1 / 6 (16.7%)\n"
        "Greatest absolute difference: 0.5 at index (1, 2) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 1.0 at index (1, 2) (up to 1.3e-06 allowed)\n\n"
        "The failure occurred for item ['a'][0]"
    )
    with pytest.raises(AssertionError, match=r"^of mine$"):
        assert_close(x, y, msg="of mine")
    with pytest.raises(AssertionError, match=r"^mine: Tensor-likes are not equal!"):
        assert_close(x, y, rtol=0, atol=0, msg=lambda text: f"mine: {text}")


class Named(imode.Tensor):
    pass


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (lambda: assert_close(1, 2), AssertionError, "^Scalars are not equal!\n\nExpected 2 but"),
        (lambda: assert_close(1, 1.0), AssertionError, r"The \(d\)types do not match"),
        (lambda: assert_close(True, False), AssertionError, "Booleans mismatch: True is not False"),
        (lambda: assert_close(True, 1), RuntimeError, "Originating a NumberPair"),
        (lambda: assert_close(None, 1), AssertionError, "None mismatch: None is not 1"),
        (lambda: assert_close([1], []), AssertionError, "length of the sequences mismatch: 1 != 0"),
        (lambda: assert_close({1: 1}, {}), AssertionError, "keys of the mappings do not match"),
        (lambda: assert_close("a", "a"), TypeError, "No comparison pair was able to handle inputs"),
        (
            lambda: assert_close(
                imode.ones(1), imode.ones(1).as_subclass(Named), allow_subclasses=False
            ),
            *(TypeError, "No comparison pair was able to handle inputs"),
        ),
        (
            lambda: assert_close(imode.ones(1), imode.ones(2)),
            AssertionError,
            "attribute 'shape' do",
        ),
        (
            lambda: assert_close(imode.eye(2), imode.eye(2).to_sparse()),
            *(AssertionError, "attribute 'layout' do not match"),
        ),
        (
            lambda: assert_close(imode.eye(2).to_sparse(), imode.ones(2, 2).to_sparse()),
            *(AssertionError, "number of specified values in sparse COO tensors does not match"),
        ),
        (lambda: assert_close(1.0, 2.0, rtol=1), ValueError, "Both 'rtol' and 'atol' must be"),
        (lambda: _comparison.default_tolerances(3), TypeError, "Expected a imode.Tensor or a"),
        (
            lambda: assert_close(*[imode.ones(1).to(imode.float8_e5m2)] * 2, rtol=1, atol=1),
            *(AssertionError, "not supported for bitwise comparison of low dimensional floats"),
        ),
    ],
)
def test_errors_of_comparisons(action, error, text):
    with pytest.raises(error, match=text):
        action()


def test_the_older_name_warns():
    with pytest.warns(FutureWarning, match="assert_allclose.* is deprecated since 1.12"):
        assert_allclose(imode.ones(2), [1.0, 1.00001])


@pytest.mark.parametrize(
    "dtype",
    [imode.bool, imode.uint8, imode.int64, imode.float16, imode.bfloat16, imode.float32]
    + [imode.complex64, imode.float8_e4m3fn],
)
def test_tensors_of_each_dtype(dtype):
    x = make_tensor(4, 5, dtype=dtype, device="cpu", noncontiguous=True)
    assert x.shape == (4, 5) and x.dtype == dtype and not x.is_contiguous()
    if not dtype.is_complex:
        assert x.double().abs().max() <= 9


def test_options_of_make_tensor():
    x = make_tensor(50, dtype=imode.int64, device="cpu", low=0, high=2, exclude_zero=True)
    assert x.tolist() == [1] * 50
    y = make_tensor(2, dtype=imode.float32, device="meta", requires_grad=True)
    assert y.is_meta and y.requires_grad
    with pytest.warns(FutureWarning, match="Passing `low==high`"):
        assert make_tensor(2, dtype=imode.float32, device="cpu", low=3, high=3).tolist() == [3, 3]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"dtype": imode.int64, "requires_grad": True}, ValueError, "is not supported for boolean"),
        ({"dtype": imode.float32, "low": 2, "high": 1}, ValueError, "`low` must be less than `hig"),
        ({"dtype": imode.uint8, "low": 300, "high": 301}, ValueError, r"only supports \[0, 256\)"),
        (
            {"dtype": imode.float32, "low": float("nan")},
            ValueError,
            "cannot be NaN, but got low=na",
        ),
        (
            {
                "dtype": imode.float32,
                "noncontiguous": True,
                "memory_format": imode.contiguous_format,
            },
            *(ValueError, "`noncontiguous` and `memory_format` are mutually exclusive"),
        ),
        ({"dtype": "float"}, TypeError, "The requested dtype 'float' is not supported by imode"),
    ],
)
def test_errors_of_make_tensor(options, error, text):
    with pytest.raises(error, match=text):
        make_tensor(2, device="cpu", **options)
