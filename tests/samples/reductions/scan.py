"""Samples of running sums, logsumexp and the softmax family."""

from tests.samples import D, S, T

NAN, INF = float("nan"), float("inf")

RUNNING = [
    S(T(5), 0),
    S(T(2, 3), 0),
    S(T(2, 3), -1),
    S(T(2, 3, 4), dim=1),
    S(T(2, 3, 4, view="permuted"), 1),
    S(T(4, 6, view="strided"), 0),
    S(T(3, 100), 0),
    S(T(), 0),
    S(T(0, 3), 0),
    S(T(2, 3, dtype="float64"), 0),
    S(T(2, 3, dtype="float16"), 1, grad=False),
    S(T(2, 3, dtype="complex64"), 1),
    *(S(T(3, 4, dtype=t), 1) for t in ("int64", "int32", "uint8")),
    S(T(3, 4, dtype="bool"), 1, variants=False),
    S(T(3, 4, dtype="bool"), 1, dtype=D("bool"), raises=NotImplementedError),
    S(T(2, 3), 0, dtype=D("float64"), variants=False),
    S(T(2, 3), 0, dtype=D("int32"), grad=False, variants=False),
    S(T(2, 3), 2, raises=IndexError),
]
SOFTMAX = [
    S(T(4), 0),
    S(T(2, 3), 1),
    S(T(2, 3), 0),
    S(T(2, 3, 4), -2),
    S(T(2, 3, 4, view="permuted"), 1),
    S(T(4, 6, view="strided"), 1),
    S(T(40, 70), 0),
    S(T(40, 70), 1),
    S(T(), 0),
    S(T(0, 3), 0),
    S(T(2, 0), 1),
    S(T(2, 3, dtype="float64"), 1),
    S(T(2, 3, dtype="float16"), 1, grad=False),
    S(T(values=[1000.0, 0.0, -1000.0]), 0),
    S(T(values=[-INF, 0.0, 1.0]), 0, grad=False),
    S(T(values=[-INF, -INF]), 0, grad=False),
    S(T(values=[NAN, 1.0]), 0, grad=False),
    S(T(2, 3), 2, raises=IndexError),
    S(T(2, 3, dtype="int64"), 1, raises=NotImplementedError),
    S(T(2, 3, dtype="bool"), 0, raises=NotImplementedError),
    S(T(2, 3, dtype="complex64"), 0, raises=NotImplementedError),
]
TYPED = [
    S(T(2, 3), 1, D("float64")),
    S(T(2, 3), dim=0, dtype=D("float64")),
    S(T(2, 3, dtype="int64"), 1, dtype=D("float32")),
    S(T(2, 3), 1, None),
]

SAMPLES = {
    "cumsum": RUNNING,
    "cumprod": [*RUNNING, S(T(values=[2.0, 0.0, 3.0, 0.0, 4.0]), 0)],
    "logsumexp": [
        S(T(5), 0),
        S(T(2, 3), 1),
        S(T(2, 3), (0, 1)),
        S(T(2, 3, 4), dim=(0, 2), keepdim=True),
        S(T(2, 3, 4, view="permuted"), 1),
        S(T(40, 70), 0),
        S(T(), 0),
        S(T(0, 3), 0, smooth=False),
        S(T(0, 3), 1),
        S(T(2, 3, dtype="float64"), 1),
        S(T(2, 3, dtype="int64"), 1),
        S(T(2, 3, dtype="bool"), 1),
        S(T(values=[1000.0, 1000.0]), 0),
        S(T(values=[-INF, -INF]), 0, grad=False),
        S(T(values=[INF, 1.0]), 0, grad=False),
        S(T(2, 3), 2, raises=IndexError),
    ],
    "softmax": SOFTMAX,
    "log_softmax": SOFTMAX,
    "softmax.dtype": TYPED,
    "log_softmax.dtype": TYPED,
}
