"""Samples of functions of two operands."""

from tests.samples import S, T

from .arithmetic import BOOL, C64, DOUBLE, HALF, INF, LONG, NAN, binary, by_overload


def integers(*more):
    """Calls of what takes integers alone."""
    return [
        S(T(2, 3, dtype=LONG, low=-20, high=20), T(3, dtype=LONG, low=-20, high=20)),
        S(T(2, 3, dtype="int32", view="transposed"), T(2, 3, dtype="int32", low=1, high=9)),
        S(T(3, dtype="uint8", high=9), T(3, dtype="int8", low=1, high=9)),
        S(T(3, dtype=BOOL), T(3, dtype="int8")),
        S(T(values=[-128, -128, 0, 100], dtype="int8"), T(values=[0, -128, 0, 99], dtype="int8")),
        S(T(0, 3, dtype=LONG), T(1, dtype=LONG)),
        S(T(2, dtype=BOOL), T(2, dtype=BOOL), raises=NotImplementedError),
        S(T(2), T(2), raises=NotImplementedError, grad=False),
        S(T(2, dtype=LONG), 2, raises=TypeError),
        *more,
    ]


SAMPLES = {
    "atan2": binary(low=0.5, complexes=False, both=False),
    "hypot": binary(
        S(T(values=[3.0, INF, NAN, 0.0]), T(values=[4.0, NAN, 1.0, 0.0]), grad=False),
        S(T(2, dtype=LONG), T(2, dtype=LONG), raises=NotImplementedError),
        low=0.5,
        ints=False,
        complexes=False,
        both=False,
    ),
    "logaddexp": binary(
        S(T(values=[800.0, -INF]), T(values=[800.0, 1.0]), grad=False),
        S(T(2, 3, dtype=C64), T(2, 3, dtype=C64)),
        S(T(2, 3, dtype=C64), T(3), grad=False),
        ints=False,
        complexes=False,
        both=False,
    ),
    **by_overload(
        "xlogy",
        binary(
            S(T(values=[0.0, 0.0, 1.0, 2.0]), T(values=[0.0, NAN, 0.0, -1.0]), grad=False),
            low=0.5,
            complexes=False,
        ),
        ".Scalar_Other",
    ),
    "xlogy.Scalar_Self": [S(2.5, T(2, 3, low=0.5)), S(2, T(3, dtype=LONG, low=1, high=4))],
    **by_overload(
        "copysign",
        binary(S(T(3, low=0.5), T(values=[0.0, -0.0, -INF]), grad=False), low=0.5, complexes=False),
    ),
    "logaddexp2": binary(
        S(T(values=[800.0, -INF, INF, INF]), T(values=[800.0, 1.0, INF, -INF]), grad=False),
        S(T(2, dtype=C64), T(2, dtype=C64), raises=NotImplementedError),
        ints=False,
        complexes=False,
        both=False,
    ),
    "heaviside": [
        S(T(2, 3), T(2, 3), smooth=False, grad=False),
        S(T(values=[NAN, 0.0, -0.0, 1.0, -1.0, INF]), T(values=[5.0, NAN, 3, 3, 3, 2]), grad=False),
        S(T(2, 3, dtype=DOUBLE, view="transposed"), T(3, dtype=DOUBLE), grad=False),
        S(T(3, dtype=HALF), T(3, dtype=HALF), grad=False),
        S(T(2, 3, dtype=LONG), T(3, dtype=LONG)),
        S(T(3, dtype="uint8"), T(3, dtype="uint8")),
        S(T(4, dtype=BOOL), T(4, dtype=BOOL)),
        S(T(0, 3), T(1), grad=False),
        S(T(2), T(2, dtype=DOUBLE), raises=RuntimeError),
        S(T(2, dtype=C64), T(2, dtype=C64), raises=RuntimeError),
        S(T(2), 1.0, raises=TypeError),
    ],
    "nextafter": [
        S(T(2, 3), T(2, 3), smooth=False),
        S(T(2, 3, dtype=DOUBLE, view="transposed"), T(3, dtype=DOUBLE), smooth=False),
        S(
            T(values=[0.0, -0.0, 1.0, 1.0, -1.0, INF, NAN, 1.0, 0.0]),
            T(values=[1.0, 1.0, 2.0, 0.0, -2.0, 0.0, 1.0, NAN, -0.0]),
            grad=False,
        ),
        S(T(4, dtype=HALF), T(4, dtype=HALF, view="strided"), grad=False),
        S(T(0, 3), T(1)),
        S(T(2, dtype=LONG), T(2, dtype=LONG), raises=NotImplementedError),
        S(T(2), 1.0, raises=TypeError),
    ],
    "gcd": integers(),
    "lcm": integers(),
    "ldexp": [
        S(T(2, 3), T(2, 3)),
        S(T(3, dtype=HALF), T(3, dtype=HALF), grad=False),
        S(T(3, dtype=LONG), T(3, dtype=LONG)),
        S(T(3, dtype="uint8"), T(3)),
        S(T(2, 3), T(3, dtype="int32")),
        S(T(2, 3, dtype=DOUBLE, view="transposed"), T(2, 3, dtype=LONG, low=-9, high=9)),
        S(T(3, dtype=HALF), T(3, dtype=LONG), grad=False),
        S(T(3, dtype=C64), T(3, dtype=LONG)),
        S(
            T(values=[1e-30, 1e30, 1.0, INF]),
            T(values=[200, -200, -149, 3], dtype=LONG),
            grad=False,
        ),
        S(T(0, 3), T(1)),
        S(T(2), T(2, dtype=BOOL), raises=NotImplementedError),
        S(T(2), 2, raises=TypeError),
    ],
    "frexp": [
        S(T(2, 3, low=0.6, high=0.9)),
        S(T(2, 3, dtype=DOUBLE, view="transposed", low=0.6, high=0.9)),
        S(T(4, view="strided", low=0.6, high=0.9)),
        S(T(3, dtype=HALF), grad=False),
        S(T(values=[0.0, -0.0, INF, -INF, NAN, 1e-40, 6.0]), grad=False),
        S(T(0, 3)),
        S(T(2, dtype=LONG), raises=RuntimeError),
        S(T(2, dtype=C64), raises=RuntimeError),
    ],
}
SAMPLES["xlogy.Tensor"][8].grad = False  # of mixed precision: PyTorch computes it in the other one
