"""Samples of gather, take_along_dim and scatter."""

from tests.samples import S, T

from .index import GRID, L, N, both

GATHER = [
    S(T(3, 4), 0, GRID),
    S(T(3, 4), 1, GRID),
    S(T(3, 4), -1, L([[3], [0], [0]])),
    S(T(2, 3, 2), 1, T(values=[[[2, 0]], [[1, 1]]], dtype="int64")),
    S(T(3, 4, view="transposed"), 0, GRID),
    S(T(3, 4, dtype="int64"), dim=0, index=GRID),
    S(T(3, dtype="bool"), 0, L(2, 2)),
    S(T(3, dtype="complex64"), 0, L(2, 2)),
    S(T(3, dtype="float64"), 0, N(2, 0)),
    S(T(), 0, T(values=0, dtype="int64")),
    S(T(3), 0, T(0, dtype="int64")),
    S(T(3, 4), 0, L([[3]]), raises=RuntimeError),
    S(T(3, 4), 0, L([[-1]]), raises=RuntimeError),
    S(T(3, 4), 0, L(1), raises=RuntimeError),
    S(T(3, 4), 2, GRID, raises=IndexError),
    S(T(3, 4), 0, T(2, 2), raises=RuntimeError),
    S(T(3, 4), 1, T(4, 1, dtype="int64", low=0, high=2), raises=RuntimeError),
]

_PLACED = [
    S(T(3, 4), 0, GRID, T(2, 2)),
    S(T(3, 4), 1, L([[0, 3], [2, 1], [1, 0]]), T(3, 2)),
    S(T(3, 4), -2, GRID, T(3, 4), grad=False),
    S(T(3, 4, view="transposed"), 0, GRID, T(2, 2)),
    S(T(3, 2, dtype="int64"), 0, L([[0, 2]]), T(1, 2, dtype="int64")),
    S(T(3, dtype="float64"), 0, N(2, 0), T(2, dtype="float64")),
    S(T(), 0, T(values=0, dtype="int64"), T()),
    S(T(3), 0, T(0, dtype="int64"), T(3), grad=False),
    S(T(3), 0, L(3), T(1), raises=RuntimeError),
    S(T(3), 0, L(-1), T(1), raises=RuntimeError),
    S(T(3), 0, L([[1]]), T(1), raises=RuntimeError),
    S(T(3), 0, L(0, 1), T(1), raises=RuntimeError),
    S(T(3), 0, L(0), T(1, dtype="int64"), raises=RuntimeError),
    S(T(3), 0, T(1), T(1), raises=RuntimeError),
    S(T(3), 1, L(0), T(1), raises=IndexError),
]

SCATTER_SRC = [*_PLACED, S(T(3, dtype="bool"), 0, L(1), T(1, dtype="bool"))]

SCATTER_VALUE = [
    S(T(3, 4), 0, GRID, 2.5),
    S(T(3, 4), 1, GRID, value=-1),
    S(T(3, dtype="int64"), 0, L(1), 2.9),
    S(T(3, dtype="complex64"), 0, L(1), 1 + 2j),
    S(T(3), 0, L(1), True),
    S(T(3), 0, L(3), 1.0, raises=RuntimeError),
    S(T(3), 0, L(1), 1j, raises=RuntimeError),
    S(T(3, 4), 0, L(1), 1.0, raises=RuntimeError),
]

SCATTER_REDUCED = [
    S(T(3, 4), 0, GRID, T(2, 2), reduce="add", grad=False),
    S(T(3, 4), 0, GRID, T(2, 2), reduce="multiply", grad=False),
    S(T(3, dtype="int64"), 0, L(1, 1), T(2, dtype="int64"), reduce="add"),
    S(T(3), 0, L(1), T(1), reduce="sum", raises=RuntimeError),
]

SCATTER_VALUE_REDUCED = [
    S(T(3, 4), 0, GRID, 2.0, reduce="add", grad=False),
    S(T(3, dtype="int64"), 0, L(1, 1), 3, reduce="multiply"),
]

SCATTER_ADD = [
    *_PLACED,
    S(T(3), 0, L(1, 1, 1), T(3)),
    S(T(3, dtype="complex128"), 0, L(1, 1), T(2, dtype="complex128")),
    S(T(3, dtype="float16"), 0, L(1, 2), T(2, dtype="float16")),
]

_MODES = ("sum", "prod", "mean", "amax", "amin")

SCATTER_REDUCE = [
    *(S(T(3, 4), 0, GRID, T(2, 2, low=1), mode) for mode in _MODES),
    *(S(T(3, 4), 0, GRID, T(2, 2, low=1), mode, include_self=False) for mode in _MODES),
    *(
        S(T(3, dtype="int64"), 0, L(1, 1), T(2, dtype="int64"), mode, include_self=False)
        for mode in _MODES
    ),
    S(T(values=[1.0, 0.0, 2.0]), 0, L(1, 1, 2), T(values=[0.0, 3.0, 0.0]), "prod", grad=False),
    S(T(3), 0, L(1), T(1), "median", raises=RuntimeError),
    S(T(3), 0, L(5), T(1), "sum", raises=RuntimeError),
    S(T(3), 0, L(1), T(1, dtype="int64"), "sum", raises=RuntimeError),
]

SAMPLES = {
    "gather": GATHER,
    "take_along_dim": [
        S(T(3, 4), L([[2, 0, 1, 1]]), 0),
        S(T(3, 4), L([[3], [0], [1]]), -1),
        S(T(3, 4), L([[3, 0]]), 1),
        S(T(3, 4), L([[2, 0], [11, 5]])),
        S(T(3, 4, dtype="int64"), L([[2]]), dim=0),
        S(T(3, 4), L([[-1], [4], [-6]]), 1),
        S(T(3, 4), L(2), 0, raises=RuntimeError),
        S(T(3, 4), T(1, 4), 0, raises=RuntimeError),
        S(T(3, 4), L([[0, 1]]), 0, raises=RuntimeError),
    ],
} | both(
    {
        "scatter.src": SCATTER_SRC,
        "scatter.value": SCATTER_VALUE,
        "scatter.reduce": SCATTER_REDUCED,
        "scatter.value_reduce": SCATTER_VALUE_REDUCED,
        "scatter_add": SCATTER_ADD,
        "scatter_reduce.two": SCATTER_REDUCE,
    }
)
