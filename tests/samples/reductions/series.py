"""Samples of `imode/ops/reductions/series.py`: integrals of samples, powers."""

from tests.samples import S, T

_PLACES = [
    S(T(3), T(3)),
    S(T(2, 3), T(3)),
    S(T(2, 3), T(2), dim=0),
    S(T(2, 3), T(2, 3, view="transposed"), dim=-2),
    S(T(2, 3, 4), T(3, 4), dim=1),
    S(T(4, dtype="int64"), T(4, dtype="int64"), grad=False),
    S(T(4), T(4, dtype="float64")),
    S(T(1), T(1)),
    S(T(2, 3), T(4), raises=RuntimeError),
    S(T(3), T(3, dtype="bool"), raises=RuntimeError),
    S(T(), T(), raises=IndexError),
    S(T(3), T(3), dim=1, raises=IndexError),
]
_STEPS = [
    S(T(3)),
    S(T(2, 3), dx=2),
    S(T(2, 3, view="transposed"), dx=0.5, dim=0),
    S(T(2, 0)),
    S(T(4, dtype="int64"), dx=0.5),
    S(T(3, dtype="complex64")),
    S(T(3, dtype="float16")),
    S(T(3, dtype="bool"), raises=RuntimeError),
    S(T(), raises=IndexError),
    S(T(3), dim=2, raises=IndexError),
    S(T(3), 2, raises=TypeError),
]

SAMPLES = {
    "trapezoid.x": _PLACES,
    "trapezoid.dx": _STEPS,
    "trapz.x": _PLACES,
    "trapz.dx": _STEPS,
    "cumulative_trapezoid.x": _PLACES,
    "cumulative_trapezoid.dx": _STEPS,
    # It saves what it writes to: backward raises, tests/conformance/named/saving.py.
    "vander": [
        S(T(3), grad=False),
        S(T(3), 2, grad=False),
        S(T(3), 0, grad=False),
        S(T(3), 1, grad=False),
        S(T(3), N=4, increasing=True, grad=False),
        S(T(3, view="strided"), grad=False),
        S(T(3, dtype="int32"), 3),
        S(T(2, dtype="bool")),
        S(T(3, dtype="float16"), 3, grad=False),
        S(T(2, dtype="complex64"), 3, grad=False),
        S(T(0), grad=False),
        S(T(2, 2), raises=RuntimeError),
        S(T(3), -1, raises=RuntimeError),
    ],
}
