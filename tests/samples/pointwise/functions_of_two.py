"""Samples of functions of two operands."""

from tests.samples import S, T

from .arithmetic import C64, INF, LONG, NAN, binary, by_overload

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
}
SAMPLES["xlogy.Tensor"][8].grad = False  # of mixed precision: PyTorch computes it in the other one
