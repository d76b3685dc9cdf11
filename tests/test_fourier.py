"""Fourier transforms: every length, layout and thread count; windows against their formulas."""

import re
import threading

import numpy as np
import pytest

import imode

LENGTHS = [*range(1, 70), 97, 100, 128, 243, 256, 289, 400, 511, 512, 513, 1000, 1009, 1024, 4099]
TOLERANCE = {"float32": 2e-6, "float64": 1e-14}


def close(ours, expected, dtype):
    """Whether a tensor is the array but for rounding, beside its largest number."""
    difference = np.abs(ours.numpy() - expected).max()
    return difference <= TOLERANCE[dtype] * max(np.abs(expected).max(), 1)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n, dtype):
    """Of one line and of several, along each dimension, by whatever way the length is done."""
    rng = np.random.default_rng(n)
    for shape, dim in ((n,), 0), ((35, n), 1), ((n, 19), 0), ((2, n, 3), 1):
        x = rng.standard_normal(shape).astype(dtype)
        z = x + 1j * rng.standard_normal(shape).astype(dtype)
        t, u = imode.from_numpy(x), imode.from_numpy(z)
        assert close(imode.fft.fft(u, dim=dim), np.fft.fft(z, axis=dim), dtype)
        assert close(imode.fft.ifft(u, dim=dim), np.fft.ifft(z, axis=dim), dtype)
        assert close(imode.fft.rfft(t, dim=dim), np.fft.rfft(x, axis=dim), dtype)
        assert close(imode.fft.fft(t, dim=dim), np.fft.fft(x, axis=dim), dtype)
        half, whole = u.narrow(dim, 0, n // 2 + 1), np.take(z, range(n // 2 + 1), dim)
        expected = np.fft.irfft(whole, n, axis=dim)
        assert close(imode.fft.irfft(half, n, dim), expected, dtype)


def test_memory_that_overlaps_is_read_as_it_is():
    x = imode.arange(10.0).as_strided((4, 4), (2, 1))
    assert close(imode.fft.rfft(x), np.fft.rfft(x.numpy()), "float32")
    ones = imode.ones(()).expand(6)
    assert imode.fft.rfft(ones).tolist() == [6, 0, 0, 0]


def test_threads_share_plans():
    """Lengths are dropped and made again while others are being transformed."""
    failed = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for n in rng.integers(1, 300, 200):
            x = rng.standard_normal((3, n))
            if not close(imode.fft.fft(imode.from_numpy(x)), np.fft.fft(x), "float64"):
                failed.append(n)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


@pytest.mark.parametrize("n", [300, 400, 512, 1000, 4096])
@pytest.mark.parametrize("lines", [17, 65, 101])
def test_many_lines_are_shared_between_threads(lines, n):
    """With the same bits, however many share them: lines beside each other stay together."""
    before = imode.get_num_threads()
    imode.manual_seed(0)
    x = imode.randn(lines, n, dtype=imode.complex64)
    found = []
    try:
        for threads in (1, 2, 3):
            imode.set_num_threads(threads)
            made = imode.fft.fft(x), imode.fft.fft(x.T, dim=0), imode.fft.rfft(x.real)
            found.append([*made, imode.fft.irfft(x, n)])
    finally:
        imode.set_num_threads(before)
    for made in found[1:]:
        assert all(ours.equal(alone) for ours, alone in zip(made, found[0], strict=True))


def test_the_signal_comes_back():
    x = imode.arange(100.0).sin().double()
    window = imode.hann_window(16, dtype=imode.float64)
    for hop in 2, 3, 4, 8:
        parts = imode.stft(x, 16, hop, window=window, return_complex=True)
        y = imode.istft(parts, 16, hop, window=window, length=100)
        assert imode.allclose(y[:92], x[:92])


WINDOWS = {
    "bartlett": np.bartlett,
    "blackman": np.blackman,
    "hamming": np.hamming,
    "hann": np.hanning,
    "kaiser": lambda n: np.kaiser(n, 12.0),
    "cosine": lambda n: np.sin(np.pi * (np.arange(n) + 0.5) / n),
    "exponential": lambda n: np.exp(-np.abs(np.arange(n) - (n - 1) / 2)),
    "gaussian": lambda n: np.exp(-((np.arange(n) - (n - 1) / 2) ** 2) / 2),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    """Symmetric ones, and periodic ones, which lack the last value of a longer one."""
    make = getattr(imode.signal.windows, name)
    for n in 2, 3, 8, 33:
        expected = WINDOWS[name](n)
        assert np.allclose(make(n, dtype=imode.float64).numpy(), expected, atol=1e-14)
        periodic = make(n - 1, sym=False, dtype=imode.float64).numpy()
        if name != "cosine" and n > 2:
            assert np.allclose(periodic, expected[:-1], atol=1e-14)
    assert make(1).tolist() == [1.0]
    assert make(0).shape == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("hann(-1)", "general_cosine requires non-negative window length, got M=-1"),
        ("kaiser(5, beta=-1)", "beta must be non-negative, got: -1 instead."),
        ("gaussian(5, std=0)", "Standard deviation must be positive, got: 0 instead."),
        ("exponential(5, tau=-1)", "Tau must be positive, got: -1 instead."),
        ("exponential(5, center=2)", "Center must be None for symmetric windows"),
        ("general_cosine(5, a=[])", "Coefficients cannot be empty"),
        (
            "cosine(5, dtype=imode.half)",
            "cosine expects float32 or float64 dtypes, got: imode.float16",
        ),
    ],
)
def test_windows_refuse(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        eval(f"imode.signal.windows.{call}")


def test_coefficients_are_a_list():
    with pytest.raises(TypeError, match="Coefficients must be a list/tuple"):
        imode.signal.windows.general_cosine(5, a=5)
