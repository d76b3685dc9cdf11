"""Samples of the functions of the error function and of the normal distribution."""

from tests.samples import S, T

from .arithmetic import DOUBLE, HALF, INF, LONG, NAN, binary
from .functions import refused, unary

COMPLEX = refused("complex64")
NO_HALF = refused(HALF)


def without_half(samples):
    """The calls that are not in float16, which some functions lack."""
    return [s for s in samples if not any(getattr(a, "dtype", "") == HALF for a in s.args)]


OUTSIDE = S(T(values=[-1.5, -1.0, 0.0, 1.0, 1.5, NAN, INF, -INF, -0.0, 1e-30]), grad=False)
NDTR = [
    S(T(2, 3)),
    S(T(2, 3, dtype=DOUBLE, view="transposed")),
    S(T(0, 3)),
    S(T(3, dtype=LONG)),
    S(T(values=[0.0, INF, -INF, NAN, 3.0, -3.0]), grad=False),
    S("a", raises=TypeError),
]
ZEROS = S(
    T(values=[0.0, 0.0, 0.0, 1.0, 1.0, NAN, INF]),
    T(values=[NAN, -1.0, -2.0, -1.0, -2.0, 1.0, 0.0]),
    grad=False,
)
SAMPLES = {
    "erfinv": unary(COMPLEX, OUTSIDE, low=-0.9, high=0.9, complexes=False, special=False),
    "special_erfcx": without_half(unary(complexes=False)) + [COMPLEX, NO_HALF],
    "special_ndtr": NDTR,
    "special_ndtri": [
        *without_half(unary(low=0.1, high=0.9, complexes=False, special=False)),
        *(OUTSIDE, COMPLEX, NO_HALF),
    ],
    "special_log_ndtr": [
        *without_half(unary(complexes=False)),
        S(T(values=[-30.0, -5.0, 5.0, 30.0, 1e10, -1e10], dtype=DOUBLE), grad=False),
        *(COMPLEX, NO_HALF),
    ],
    "special_entr": unary(COMPLEX, low=0.1, complexes=False),
    "special_xlog1py": binary(ZEROS, low=-0.5, complexes=False, both=False),
    "special_xlog1py.self_scalar": [S(2.5, T(2, 3, low=-0.5)), S(2, T(3, dtype=LONG, low=1))],
    "special_xlog1py.other_scalar": [
        S(T(2, 3), 2.5),
        S(T(3, dtype=LONG), 2),
        S(T(3), -1.0, grad=False),
        S(T(3, dtype=HALF), 1.5, grad=False),
    ],
}
