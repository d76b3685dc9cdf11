"""Samples of maxima, minima and medians."""

from tests.samples import S, T

NAN, INF = float("nan"), float("inf")
TIES = [[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]

WHOLE = [
    S(T(2, 3, distinct=True)),
    S(T()),
    S(T(values=TIES), smooth=False),
    S(T(values=[1.0, NAN, 3.0]), smooth=False),
    S(T(values=[1.0, INF, -INF]), smooth=False),
    S(T(2, 3, 4, view="permuted", distinct=True)),
    S(T(3, 4, view="strided", distinct=True)),
    S(T(40, 70, distinct=True)),
    S(T(2, 3, dtype="float64", distinct=True)),
    S(T(2, 3, dtype="float16"), grad=False),
    *(S(T(2, 3, dtype=t)) for t in ("int64", "int32", "uint8", "bool")),
    S(T(0), raises=RuntimeError),
    S(T(2, 0, 3), raises=RuntimeError),
    S(T(2, 3, dtype="complex64"), raises=NotImplementedError),
]
ALONG = [
    S(T(2, 3, distinct=True), 0),
    S(T(2, 3, distinct=True), -1),
    S(T(2, 3, distinct=True), 1, True),
    S(T(2, 3, 4, distinct=True), dim=1, keepdim=True),
    S(T(values=TIES), 1, smooth=False),
    S(T(values=[[1.0, NAN], [NAN, 3.0]]), 0, smooth=False),
    S(T(), 0),
    S(T(), -1, True),
    S(T(3, 1, 4, distinct=True), 1),
    S(T(2, 3, 4, view="permuted", distinct=True), 1),
    S(T(2, 3, 4, view="permuted", distinct=True), 2, True),
    S(T(4, 6, view="strided", distinct=True), 0),
    S(T(40, 70, distinct=True), 0),
    S(T(40, 70, distinct=True), 1),
    S(T(2, 3, dtype="float64", distinct=True), 0),
    S(T(2, 3, dtype="float16"), 0, grad=False),
    *(S(T(3, 4, dtype=t), 1) for t in ("int64", "int32", "uint8")),
    S(T(0, 3), 1),
    S(T(0, 3), 0, raises=IndexError),
    S(T(2, 3), 2, raises=IndexError),
    S(T(2, 3), -3, raises=IndexError),
]
COMPLEX = [S(T(2, 3, dtype="complex64"), 0, raises=RuntimeError)]
SEVERAL = [
    S(T(2, 3, distinct=True)),
    S(T(2, 3, distinct=True), 0),
    S(T(2, 3, distinct=True), ()),
    S(T(2, 3, 4, distinct=True), (0, 2)),
    S(T(2, 3, 4, distinct=True), dim=[0, -1], keepdim=True),
    S(T(2, 3, 4, view="permuted", distinct=True), (0, 1)),
    S(T(4, 6, view="transposed", distinct=True), 0),
    S(T(40, 70, distinct=True), 0),
    S(T(values=TIES), 1, smooth=False),
    S(T(values=TIES), smooth=False),
    S(T(values=[[1.0, NAN], [2.0, 3.0]]), 0, grad=False),
    S(T(), 0),
    S(T(2, 3, dtype="float16"), 0, grad=False),
    *(S(T(3, 4, dtype=t), 1) for t in ("int64", "int32", "uint8", "bool")),
    S(T(0, 3), 1),
    S(T(0, 3), 0, raises=IndexError),
    S(T(0, 3), raises=RuntimeError),
    S(T(2, 3), 2, raises=IndexError),
    S(T(2, 3), (0, 0), raises=RuntimeError),
    S(T(2, 3, dtype="complex64"), 0, raises=NotImplementedError),
]
WHERE = [
    *(
        S(*s.args, **s.kwargs, grad=False, raises=s.raises)
        for s in (*WHOLE[:12], *ALONG)
        if "bool" not in repr(s)
    ),
    S(T(2, 3), keepdim=True, grad=False),
    S(T(0), raises=IndexError),
    S(T(2, 3, dtype="complex64"), raises=RuntimeError),
    S(T(2, 3, dtype="bool"), raises=RuntimeError),
]
OTHER = [
    S(T(2, 3), T(2, 3, low=-1)),
    S(T(2, 3), T(3, low=-1)),
    S(T(2, 3), T(2, 3, dtype="float64")),
    S(T(2, 3), T(2, 3, dtype="int64")),
    S(T(2, 3, dtype="int64"), T(dtype="int64", values=1)),
    S(T(2, 3), other=T(2, 3, low=0)),
    S(T(2, 3), T(4), raises=RuntimeError),
]
RUNNING = [
    S(T(5, distinct=True), 0),
    S(T(2, 3, distinct=True), 1),
    S(T(4, 6, view="transposed", distinct=True), 0),
    S(T(values=[1.0, 3.0, 3.0, 2.0, 3.0]), 0, smooth=False),
    S(T(values=[1.0, NAN, 3.0, NAN]), 0, grad=False),
    S(T(), 0),
    S(T(0, 3), 0),
    *(S(T(3, 4, dtype=t), 1) for t in ("int64", "uint8", "bool")),
    S(T(2, 3), 2, raises=IndexError),
]

SAMPLES = {
    "max": WHOLE,
    "min": WHOLE,
    "max.dim": ALONG + COMPLEX,
    "min.dim": ALONG + COMPLEX,
    "max.other": OTHER,
    "min.other": OTHER,
    "amax": SEVERAL,
    "amin": SEVERAL,
    "argmax": WHERE,
    "argmin": WHERE,
    "aminmax": [
        S(T(2, 3, distinct=True)),
        S(T(2, 3, distinct=True), dim=0),
        S(T(2, 3, distinct=True), dim=-1, keepdim=True),
        S(T(2, 3, distinct=True), keepdim=True),
        S(T(values=TIES), dim=1, smooth=False),
        S(T()),
        S(T(2, 3, dtype="int64")),
        S(T(0), raises=RuntimeError),
        S(T(0, 3), dim=0, raises=IndexError),
        S(T(2, 3), dim=2, raises=IndexError),
        S(T(2, 3, dtype="complex64"), raises=NotImplementedError),
    ],
    "median": [
        S(T(5, distinct=True)),
        S(T(2, 3, distinct=True)),
        S(T(2, 3, view="transposed", distinct=True)),
        S(T()),
        S(T(0), smooth=False),
        S(T(values=[1.0, NAN, 3.0]), smooth=False),
        S(T(6, dtype="int64")),
        S(T(2, 3, dtype="bool"), raises=NotImplementedError),
    ],
    "median.dim": [
        S(T(2, 3, distinct=True), 0),
        S(T(2, 4, distinct=True), 1, True),
        S(T(2, 3, view="transposed", distinct=True), -1),
        S(T(values=[[1.0, NAN, 3.0], [3.0, 1.0, 2.0]]), 1, smooth=False),
        S(T(), 0),
        S(T(0, 3), 0, raises=IndexError),
        S(T(2, 3), 2, raises=IndexError),
    ],
    "cummax": RUNNING,
    "cummin": RUNNING,
}
