"""Fourier transforms of lines whose elements lie apart, of long ones, and of lengths with large
prime factors. Without PyTorch."""

import numpy as np
import pytest

import imode

LENGTHS = (1, 2, 7, 64, 127, 131, 257, 512, 600, 1024, 2048, 2049, 4096)


@pytest.mark.parametrize("rows", [1, 8, 70])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_along_either_dimension(dtype, rows):
    rng = np.random.default_rng(rows)
    eps = np.finfo(dtype).eps
    for n in LENGTHS:
        z = rng.standard_normal((rows, n)) + 1j * rng.standard_normal((rows, n))
        for a, dim in ((z.astype(dtype), 1), (z.T.astype(dtype).copy(), 0)):
            t, wide = imode.from_numpy(a), a.astype("D")
            pairs = [
                (imode.fft.fft(t, dim=dim), np.fft.fft(wide, axis=dim)),
                (imode.fft.ifft(t, dim=dim), np.fft.ifft(wide, axis=dim)),
                (imode.fft.rfft(t.real, dim=dim), np.fft.rfft(wide.real, axis=dim)),
                (imode.fft.fft2(t), np.fft.fft2(wide)),
            ]
            for found, right in pairs:
                assert np.linalg.norm(found.numpy() - right) <= 40 * eps * np.linalg.norm(right)
