"""Samples of quantiles and modes."""

from tests.samples import S, T

NAN = float("nan")
AT = T(values=[0.05, 0.3, 0.9])
HOLES = T(values=[[1.0, NAN, 3.0, -1.0], [2.0, 0.5, 1.5, 4.0], [NAN, NAN, NAN, NAN]])
BETWEEN = ("linear", "lower", "higher", "midpoint", "nearest")

TENSOR = [
    S(T(5, distinct=True), AT),
    S(T(3, 4, distinct=True), AT, 1),
    S(T(3, 4, distinct=True), AT, 0, True),
    S(T(3, 4, distinct=True), AT, -1, keepdim=True),
    S(T(3, 4, distinct=True, view="transposed"), AT, dim=0),
    S(T(2, 3, 4, distinct=True), AT, None, True),
    *(S(T(3, 4, distinct=True), AT, 1, interpolation=word) for word in BETWEEN),
    S(T(3, 4, dtype="float64", distinct=True), T(values=0.4, dtype="float64"), 1),
    S(T(), AT, 0),
    S(T(3, distinct=True), T(0)),
    S(HOLES, AT, 1, grad=False),
    S(T(3), T(1, 1, low=0, high=1), raises=RuntimeError),
    S(T(3), T(values=[1.5]), raises=RuntimeError),
    S(T(3), T(1, dtype="float64", low=0, high=1), raises=RuntimeError),
]
NUMBER = [
    S(T(5, distinct=True), 0.3),
    S(T(3, 4, distinct=True), 0.3, 1),
    S(T(3, 4, distinct=True), 0.3, 0, True),
    S(T(3, 4, distinct=True), 1, None, keepdim=True),
    *(S(T(3, 4, distinct=True), 0.6, 1, interpolation=word) for word in BETWEEN),
    S(HOLES, 0.4, 1, grad=False),
    S(HOLES, 0.4, 0, interpolation="nearest", grad=False),
    S(T(), 0.5),
    S(T(3), 0.5, interpolation="none", raises=RuntimeError),
    S(T(3), 1.5, raises=RuntimeError),
    S(T(0, 3), 0.5, 1, raises=RuntimeError),
    S(T(3), 0.5, 1, raises=IndexError),
    S(T(3, dtype="int64"), 0.5, raises=RuntimeError),
    S(T(3, dtype="float16"), 0.5, raises=RuntimeError, grad=False),
    S(T(3, dtype="complex64"), 0.5, raises=RuntimeError, grad=False),
]

SAMPLES = {
    "quantile": TENSOR,
    "quantile.scalar": NUMBER,
    "nanquantile": TENSOR,
    "nanquantile.scalar": NUMBER,
    "mode": [
        S(T(5, distinct=True)),
        S(T(3, 4, distinct=True), 0),
        S(T(3, 4, distinct=True, view="transposed"), 1, True),
        S(T(values=[2.0, 1.0, 1.0, 2.0, 3.0]), smooth=False),
        S(T(4, 3, dtype="int64", low=0, high=1), 0),
        S(T(5, dtype="bool")),
        S(T(4, dtype="float16", distinct=True)),
        S(T()),
        S(T(3, 0), 0),
        S(T(0, 3), 0, raises=IndexError),
        S(T(3), 1, raises=IndexError),
        S(T(3, dtype="complex64"), raises=NotImplementedError),
    ],
}
