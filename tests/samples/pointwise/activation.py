"""Samples of smooth activation functions; of straight pieces and gates in files of their own."""

from tests.samples import S, T

NAN = float("nan")
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
}
