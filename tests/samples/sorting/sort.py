"""Order, the greatest."""

from tests.samples import S, T

NAN = float("nan")
INTS = T(values=[3, 1, 2, 1, 3], dtype="int64")
MIXED = T(values=[1.0, NAN, -2.0, float("inf"), 0.0])

SORT = [
    S(T(3, 4, distinct=True)),
    S(T(3, 4, distinct=True), 0, True),
    S(T(3, 4, distinct=True), dim=-2),
    S(T(3, 4, distinct=True, view="transposed"), 0),
    S(INTS),
    S(INTS, descending=True),
    S(MIXED, grad=False),
    S(MIXED, descending=True, grad=False),
    S(T(3, dtype="bool")),
    S(T(4, dtype="float16", distinct=True)),
    S(T()),
    S(T(2, 0)),
    S(T(3), 1, raises=IndexError),
    S(T(3, dtype="complex64"), raises=RuntimeError, grad=False),
]
TOPK = [
    S(T(3, 5, distinct=True), 2),
    S(T(3, 5, distinct=True), 2, 0),
    S(T(3, 5, distinct=True), 3, largest=False),
    S(T(3, 5, distinct=True, view="transposed"), 1, -1),
    S(T(400, distinct=True), 7),
    S(T(400, distinct=True), 7, largest=False),
    S(T(2, 300, distinct=True), k=3, dim=1),
    S(MIXED, 2, grad=False),
    S(MIXED, 2, largest=False, grad=False),
    S(T(values=[3, 1, 2], dtype="int64"), 3),
    S(T(), 1),
    S(T(3), 0),
    S(T(3), 4, raises=RuntimeError),
    S(T(3), -1, raises=RuntimeError),
    S(T(3), 1, 1, raises=IndexError),
    S(T(3, dtype="bool"), 1, raises=RuntimeError),
]

SAMPLES = {
    "sort": SORT,
    "sort.stable": [
        S(T(3, 4, distinct=True), stable=True),
        S(INTS, stable=True, dim=0, descending=True),
        S(T(values=[2.0, 1.0, 2.0, 1.0]), stable=True, grad=False),
    ],
    "msort": [S(T(3, 2, distinct=True)), S(INTS)],
    "argsort": [
        S(T(3, 4, distinct=True)),
        S(T(3, 4, distinct=True), 0, True),
        S(T(values=[3, 1, 2], dtype="int64"), dim=0),
        S(T(3), 1, raises=IndexError),
    ],
    "argsort.stable": [S(INTS, stable=True), S(INTS, stable=True, descending=True)],
    "topk": TOPK,
    "kthvalue": [
        S(T(3, 5, distinct=True), 2),
        S(T(3, 5, distinct=True), 2, 0),
        S(T(3, 5, distinct=True), k=1, dim=1, keepdim=True),
        S(T(values=[1.0, NAN]), 2, grad=False),
        S(T(), 1),
        S(T(3), 0, raises=RuntimeError),
        S(T(3), 4, raises=RuntimeError),
        S(T(3, 0), 1, raises=IndexError),
    ],
}
