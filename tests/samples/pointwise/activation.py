"""Samples of activation functions."""

from tests.samples import S, T

NAN, INF = float("nan"), float("inf")
VALUES = [0.0, 1.0, -1.0, 30.0, -30.0, 100.0, -100.0, NAN]


def activation(*more, ints=None, low=-2, high=2):
    """Calls that every activation takes; `ints`: the error that integers raise."""
    samples = [
        S(T(2, 3, low=low, high=high)),
        S(T(2, 3, low=low, high=high, view="transposed")),
        S(T(4, low=low, high=high, view="strided")),
        S(T(2, 3, low=low, high=high, dtype="float64")),
        S(T(40, low=low, high=high, dtype="float16"), grad=False),
        S(T(values=VALUES), grad=False),
        S(T()),
        S(T(0, 3)),
    ]
    if ints is None:
        samples += [S(T(2, 3, dtype="int64")), S(T(3, dtype="int32"))]
    else:
        samples.append(S(T(2, dtype="int64"), raises=ints))
    return [*samples, *more]


def functional(samples):
    """Samples of a function of nn.functional, where out= and in-place forms are not for users."""
    for sample in samples:
        sample.variants = False
    return samples


REFUSED = NotImplementedError
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
    "gelu": functional(
        activation(
            S(T(2, 3), approximate="tanh"),
            S(T(2, 3, dtype="float64"), approximate="tanh"),
            S(T(2), approximate="x", raises=RuntimeError),
            ints=REFUSED,
        )
    ),
    "silu": activation(ints=REFUSED),
    "mish": activation(ints=REFUSED),
    "softplus": functional(activation(S(T(2, 3), 2, 1.5), S(T(2, 3), beta=0.5), ints=REFUSED)),
    "elu": activation(S(T(2, 3), 0.5), ints=REFUSED),
    "celu": activation(S(T(2, 3), 0.5), S(T(2), 0.0, raises=RuntimeError), ints=REFUSED),
    "selu": activation(ints=REFUSED),
    "leaky_relu": activation(S(T(2, 3), 0.2), S(T(2, 3), negative_slope=2), ints=REFUSED),
    "glu": functional(
        [
            S(T(4, 6, low=-2, high=2)),
            S(T(4, 6, low=-2, high=2), 0),
            S(T(6, 4, view="transposed"), dim=-2),
            S(T(2, 4, dtype="float64")),
            S(T(8, dtype="float16"), grad=False),
            S(T(values=VALUES), grad=False),
            S(T(0, 4)),
            S(T(), raises=RuntimeError),
            S(T(3), raises=RuntimeError),
            S(T(2), 1, raises=IndexError),
            S(T(2, dtype="int64"), raises=REFUSED),
            S(T(2, dtype="complex64"), raises=REFUSED),
        ]
    ),
    "prelu": [
        S(T(2, 3), T(1)),
        S(T(2, 3), T(3)),
        S(T(2, 3, 4), T(3)),
        S(T(4), T(1)),
        S(T(), T(1)),
        S(T(2, 3), T(2), raises=RuntimeError),
    ],
}
