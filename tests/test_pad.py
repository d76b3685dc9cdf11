"""Padding with a number: against NumPy's, for all sizes of elements, borders and crops."""

import itertools

import numpy as np
import pytest

import imode
import imode.nn.functional as F

DTYPES = [imode.bool, imode.int16, imode.float32, imode.float64, imode.complex128]


def by_numpy(x, pad, value):
    """The same by np.pad, and slices for what is negative."""
    sides = [pad[i : i + 2] for i in range(0, len(pad), 2)][::-1]
    sides = [(0, 0)] * (x.ndim - len(sides)) + [tuple(side) for side in sides]
    wide = np.pad(x, [(max(a, 0), max(b, 0)) for a, b in sides], constant_values=value)
    return wide[tuple(slice(max(-a, 0), min(b, 0) or None) for a, b in sides)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 33])
def test_with_a_number(dtype, width):
    x = imode.arange(2 * 3 * 4 * width).reshape(2, 3, 4, width).to(dtype)
    for low, high in itertools.product((-1, 0, 1, 5, 40), (0, 3, 17)):
        for pad in ((low, high), (high, low, low, high), (0, 0, high, 0, low, high)):
            if any(sum(pad[i : i + 2]) + n < 0 for i, n in ((0, width), (2, 4), (4, 3))):
                continue
            found = F.pad(x, pad, value=1)
            expected = by_numpy(x.numpy(), pad, 1)
            assert found.is_contiguous() and found.dtype == dtype
            assert np.array_equal(found.numpy(), expected), pad


def test_with_other_strides():
    x = imode.arange(24.0).reshape(1, 2, 3, 4)
    expected = by_numpy(x.numpy(), (1, 2, 3, 0), 7)
    turned = x.permute(0, 1, 3, 2).contiguous().permute(0, 1, 3, 2)
    last = x.contiguous(memory_format=imode.channels_last)
    for other in (turned, last):
        assert np.array_equal(F.pad(other, (1, 2, 3, 0), value=7).numpy(), expected)
    assert F.pad(last, (1, 2, 3, 0)).is_contiguous(memory_format=imode.channels_last)


def test_on_several_threads():
    x = imode.arange(300.0 * 40 * 40).reshape(1, 300, 40, 40)
    before = imode.get_num_threads()
    try:
        for threads in (1, 2, 5):
            imode.set_num_threads(threads)
            assert np.array_equal(
                F.pad(x, (2, 1, 0, 3)).numpy(), by_numpy(x.numpy(), (2, 1, 0, 3), 0)
            )
    finally:
        imode.set_num_threads(before)
