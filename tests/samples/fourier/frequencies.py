"""Samples of `imode/ops/fourier/frequencies.py`: frequencies, the order of numbers."""

from tests.samples import D, S, T

_FREQUENCIES = [
    S(5),
    S(4, 0.5),
    S(4, d=2),
    S(1),
    S(5, dtype=D("float64")),
    S(5, dtype=D("float16")),
    S(3, d=0.0),
    S(4, dtype=D("int64"), raises=RuntimeError),
    S(4, dtype=D("complex64"), raises=NotImplementedError),
    S(2.5, raises=TypeError),
]
_SHIFTS = [
    S(T(5)),
    S(T(2, 3, 4)),
    S(T(2, 3, 4), dim=1),
    S(T(2, 3, 4), (0, -1)),
    S(T(2, 3), dim=(0, 0)),
    S(T(4, 3, view="transposed")),
    S(T(3, dtype="int64")),
    S(T(3, dtype="complex64")),
    S(T(2, 0)),
    S(T(), raises=RuntimeError),
    S(T(3), dim=1, raises=IndexError),
    S(T(3), dim=(), raises=RuntimeError),
]

SAMPLES = {
    "fft_fftfreq": [*_FREQUENCIES, S(0), S(-1, raises=RuntimeError)],
    "fft_rfftfreq": [*_FREQUENCIES, S(0)],
    "fft_fftshift": _SHIFTS,
    "fft_ifftshift": _SHIFTS,
}
