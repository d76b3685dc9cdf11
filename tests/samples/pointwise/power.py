"""Powers."""

from tests.samples import S, T
from tests.samples.pointwise.arithmetic import BOOL, C64, DOUBLE, HALF, INF, LONG, NAN

SAMPLES = {
    "pow.Tensor_Tensor": [
        S(T(3, low=0.5), T(2, 1)),
        S(T(2, 3, low=0.5), T(3)),
        S(T(values=[-1, 1, 2, -1], dtype=LONG), T(values=[-3, -3, -1, -2], dtype=LONG)),
        S(T(2, dtype=BOOL), T(2, dtype=BOOL), raises=NotImplementedError),
    ],
    "pow": [
        S(T(2, 3), 2),
        S(T(2, 3), 3.0),
        S(T(2, 3, low=0.5), 0.5),
        S(T(2, 3, low=0.5), -0.5),
        S(T(2, 3, low=0.5), -1),
        S(T(2, 3, low=0.5), 1.7),
        S(T(2, 3), 0),
        S(T(values=[-2.0, 0.0, -0.0, NAN, INF]), 2.5, grad=False),
        S(T(2, 3, dtype=LONG), 3),
        S(T(2, 3, dtype=LONG, low=1), 2.0),
        S(T(2, dtype=LONG), -1, raises=RuntimeError),
        S(T(2, 3, dtype=HALF), 2, grad=False),
        S(T(2, 3, low=0.5, dtype=C64), 2),
        S(T(2, 3, view="transposed"), 2),
        S(T(0, 3), 2),
        S(T(), exponent=2),
    ],
    "pow.Scalar": [S(2, T(2, 3)), S(2.5, T(3, dtype=LONG, low=0)), S(3, T(3, dtype=LONG, low=0))],
    "square": [S(T(2, 3)), S(T(3, dtype=LONG)), S(T(3, dtype=BOOL), variants=False), S(T(0))],
    "float_power": [
        S(T(2, 3, low=0.5), 1.5, variants=False),
        S(T(3, dtype=LONG, low=1), 2, variants=False),
        S(2, T(3), variants=False),
    ],
    "float_power_": [
        S(T(2, 3, low=0.5, dtype=DOUBLE), 1.5, grad=False),
        S(T(3, dtype=DOUBLE), T(3, dtype=LONG, low=1), grad=False),
        S(T(3), 2, raises=RuntimeError),
    ],
}
