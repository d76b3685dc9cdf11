"""Samples of the reductions: sums, products, means, truth, counts."""

from tests.samples import D, S, T

NAN, INF = float("nan"), float("inf")

# Shapes, memory layouts and dtypes that every reduction of all elements meets.
FLOATS = [
    S(T(2, 3)),
    S(T()),
    S(T(4, dtype="float64")),
    S(T(2, 3, 4, view="permuted")),
    S(T(3, 4, view="strided")),
    S(T(3, 4, view="expanded")),
    S(T(50, 70)),
    S(T(2, 3, dtype="float16"), grad=False),
    S(T(values=[1.0, NAN, 2.0]), smooth=False),
    S(T(values=[1.0, INF, -INF]), smooth=False),
]
INTEGERS = [S(T(2, 3, dtype=t)) for t in ("int64", "int32", "uint8", "bool")]
COMPLEX = [S(T(2, 3, dtype="complex64"))]
EMPTY = [S(T(0), smooth=False), S(T(2, 0, 3), smooth=False)]


def along(*more):
    """Calls with every way to name dimensions; `more` follows `dim`."""
    return [
        S(T(2, 3), 0, *more),
        S(T(2, 3), -1, *more),
        S(T(2, 3, 4), (0, 2), *more),
        S(T(2, 3, 4), [0, 1], *more),
        S(T(2, 3, 4), (2, 1), *more),
        S(T(2, 3), None, *more),
        S(T(2, 3), (), *more),
        S(T(2, 3), dim=1, keepdim=True),
        S(T(2, 3, 4), (0, 2), True),
        S(T(2, 3, 4), 1, True),
        S(T(), 0, *more),
        S(T(), -1, *more),
        S(T(3, 1, 4), 1, *more),
        S(T(2, 3, 4, view="permuted"), 1, *more),
        S(T(2, 3, 4, view="permuted"), (0, 1), *more),
        S(T(4, 6, view="transposed"), 0, *more),
        S(T(4, 6, view="strided"), 1, *more),
        S(T(4, 6, view="expanded"), 0, *more),
        S(T(40, 70), 0, *more),
        S(T(40, 70), 1, *more),
        S(T(2, 3, dtype="float64"), 0, *more),
        S(T(2, 3, dtype="float16"), 0, *more, grad=False),
        S(T(2, 3), 2, *more, raises=IndexError),
        S(T(2, 3), -3, *more, raises=IndexError),
        S(T(2, 3), (0, 0), *more, raises=RuntimeError),
        S(T(2, 3), (0, -2), *more, raises=RuntimeError),
    ]


def integers_along(*more):
    return [S(T(3, 4, dtype=t), 1, *more) for t in ("int64", "int32", "uint8", "bool")]


EMPTY_ALONG = [S(T(0, 3), 0, smooth=False), S(T(0, 3), 1), S(T(2, 0), (0, 1), smooth=False)]

ONE = [
    S(T(2, 3), 0),
    S(T(2, 3), -1),
    S(T(2, 3), 1, True),
    S(T(2, 3, 4), dim=1, keepdim=True),
    S(T(), 0),
    S(T(2, 3, 4, view="permuted"), 1),
    S(T(4, 6, view="strided"), 0),
    S(T(2, 3), 2, raises=IndexError),
]


SAMPLES = {
    "trace": [
        S(T(3, 3)),
        S(T(7, 2)),
        S(T(2, 3)),
        S(T(3, 2, view="transposed")),
        S(T(0, 3)),
        *(S(T(3, 3, dtype=dtype)) for dtype in ("float64", "complex64", "int64")),
        S(T(3, 3, dtype="bool"), raises=NotImplementedError),
        S(T(3), raises=RuntimeError),
    ],
    "sum": [
        *FLOATS,
        *INTEGERS,
        *COMPLEX,
        *EMPTY,
        S(T(2, 3), dtype=D("float64")),
        S(T(2, 3, dtype="int64"), dtype=D("int8")),
        S(T(2, 3), dtype=D("int64"), grad=False),
        S(T(2, 3), dtype=D("bool"), grad=False),
    ],
    "sum.dim": [
        *along(),
        *integers_along(),
        *EMPTY_ALONG,
        S(T(2, 3, dtype="complex64"), 0),
        S(T(2, 3), 0, dtype=D("float64")),
        S(T(4, 5, 6, 7), (0, 2, 3)),
        S(T(4, 5, 6, 7), (1, 3)),
    ],
    "nansum": [
        S(T(2, 3)),
        S(T(values=[[1.0, NAN, 2.0], [NAN, NAN, 3.0]])),
        S(T(values=[[1.0, NAN, 2.0], [NAN, NAN, 3.0]]), 1),
        S(T(values=[[1.0, NAN, 2.0], [NAN, NAN, 3.0]]), dim=0, keepdim=True),
        S(T(2, 3, 4, view="permuted"), (0, 1)),
        S(T(40, 70), 0),
        S(T(2, 3, dtype="float64"), 0),
        S(T(2, 3, dtype="float16"), grad=False),
        *integers_along(),
        *EMPTY,
        S(T(2, 3), 0, dtype=D("float64")),
        S(T(2, 3), 2, raises=IndexError),
        S(T(2, 3, dtype="complex64"), raises=RuntimeError),
    ],
    "mean": [
        *FLOATS,
        *COMPLEX,
        *EMPTY,
        S(T(2, 3, dtype="int64"), dtype=D("float32")),
        S(T(2, 3), dtype=D("float64")),
        S(T(2, 3, dtype="int64"), raises=RuntimeError),
        S(T(2, 3, dtype="bool"), raises=RuntimeError),
        S(T(2, 3), dtype=D("int64"), raises=RuntimeError),
    ],
    "mean.dim": [
        *along(),
        *EMPTY_ALONG,
        S(T(2, 3, dtype="complex64"), 0),
        S(T(2, 3, dtype="int64"), 0, dtype=D("float64")),
        S(T(2, 3, dtype="int64"), 0, raises=RuntimeError),
    ],
    "nanmean": [
        S(T(2, 3)),
        S(T(values=[[1.0, NAN, 2.0], [NAN, NAN, 3.0]])),
        S(T(values=[[1.0, NAN, 2.0], [NAN, NAN, 3.0]]), 1),
        S(T(2, 3), dim=0, keepdim=True),
        S(T(0), smooth=False),
        S(T(2, 3, dtype="int64"), raises=RuntimeError),
    ],
    "prod": [
        *FLOATS,
        *INTEGERS,
        *COMPLEX,
        *EMPTY,
        S(T(values=[2.0, 0.0, 3.0])),
        S(T(values=[2.0, 0.0, 3.0, 0.0])),
        S(T(2, 3), dtype=D("float64")),
    ],
    "prod.dim_int": [
        *ONE,
        *integers_along(),
        S(T(0, 3), 0),
        S(T(0, 3), 1),
        S(T(values=[[2.0, 0.0], [0.0, 3.0], [0.0, 4.0]]), 0),
        S(T(2, 3, dtype="complex64"), 1),
        S(T(2, 3), 1, dtype=D("float64")),
    ],
    "any": [S(s.args[0], grad=False) for s in (*FLOATS, *INTEGERS, *COMPLEX, *EMPTY)],
    "all": [S(s.args[0], grad=False) for s in (*FLOATS, *INTEGERS, *COMPLEX, *EMPTY)],
    "any.dim": [
        *(S(*s.args, **s.kwargs, grad=False, raises=s.raises) for s in along()),
        *integers_along(),
        *EMPTY_ALONG,
    ],
    "all.dim": [
        *(S(*s.args, **s.kwargs, grad=False, raises=s.raises) for s in along()),
        *integers_along(),
        *EMPTY_ALONG,
    ],
    "count_nonzero": [
        S(T(2, 3, dtype="int64")),
        S(T(2, 3, dtype="bool")),
        S(T(2, 3), grad=False),
        S(T(2, 3, dtype="complex64"), grad=False),
        S(T(), grad=False),
        S(T(0, 3), grad=False),
        S(T(3, 4, dtype="int64"), 0),
        S(T(3, 4, dtype="int64"), dim=-1),
        S(T(3, 4, 2, dtype="bool"), (0, 2)),
        S(T(3, 4, dtype="int64"), 2, raises=IndexError),
    ],
    "count_nonzero.dim_IntList": [
        S(T(3, 4, 2, dtype="int64"), (0, 2)),
        S(T(3, 4, dtype="bool"), dim=(1,)),
        S(T(3, 4, dtype="int64"), (0, 2), raises=IndexError),
    ],
}
