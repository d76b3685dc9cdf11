"""Activation functions of straight pieces."""

from tests.samples import S, T
from tests.samples.pointwise.activation import REFUSED, VALUES, activation, functional

INF = float("inf")

SAMPLES = {
    "relu": activation(S(T(2, dtype="bool"), raises=RuntimeError)),
    "threshold": [
        S(T(2, 3), 0.1, 20),
        S(T(2, 3, view="transposed"), threshold=0.1, value=-1.5),
        S(T(3, dtype="int64"), 1, 5),
        S(T(values=VALUES), 0.5, 2, grad=False),
        S(T(0), 0.1, 1),
    ],
    "hardtanh": activation(
        S(T(2, 3), -0.5, 0.7), S(T(2, 3, dtype="int64"), 0, 1), S(T(2), max_val=0.5)
    ),
    "hardsigmoid": activation(S(T(6, low=-5, high=5)), ints=REFUSED),
    "hardswish": activation(S(T(6, low=-5, high=5)), ints=REFUSED),
    "hardshrink": functional(activation(S(T(2, 3), 0.3), S(T(2, 3), lambd=1), ints=REFUSED)),
    "softshrink": functional(
        activation(S(T(2, 3), 0.3), S(T(2, 3), -1, raises=RuntimeError), ints=REFUSED)
    ),
    "leaky_relu": activation(S(T(2, 3), 0.2), S(T(2, 3), negative_slope=2), ints=REFUSED),
    "prelu": [
        S(T(2, 3), T(1)),
        S(T(2, 3), T(3)),
        S(T(2, 3, 4), T(3)),
        S(T(4), T(1)),
        S(T(), T(1)),
        S(T(2, 3), T(2), raises=RuntimeError),
    ],
}
