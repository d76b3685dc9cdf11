"""Samples of `imode/ops/fourier/windows.py`: the older window functions."""

from tests.samples import D, S

_LENGTHS = [
    S(5),
    S(8),
    S(0),
    S(1),
    S(5, dtype=D("float64")),
    S(5, dtype=D("float16")),
    S(-1, raises=RuntimeError),
    S(5, dtype=D("int64"), raises=RuntimeError),
    S(5, dtype=D("complex64"), raises=NotImplementedError),
    S(2.5, raises=TypeError),
    S("a", raises=TypeError),
]
_PERIODIC = [
    S(5, False),
    S(5, True),
    S(4, periodic=False, dtype=D("float64")),
    S(2, False),
    S(1, False, dtype=D("complex64")),
]
_ONE = [S(6, True, 0.3), S(6, False, 4.5, dtype=D("float64")), S(5, alpha=0.3, raises=TypeError)]

SAMPLES = {
    **{
        f"{name}_window": _LENGTHS for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")
    },
    **{
        f"{name}_window.periodic": _PERIODIC
        for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")
    },
    "hamming_window.periodic_alpha": _ONE,
    "hamming_window.periodic_alpha_beta": [
        S(6, True, 0.3, 0.7),
        S(6, False, alpha=0.5, beta=0.25),
    ],
    "kaiser_window.beta": [S(6, True, 3.0), S(6, False, beta=4), S(6, beta=3.0, raises=TypeError)],
}
