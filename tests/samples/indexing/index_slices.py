"""Samples of whole slices along a dimension."""

from tests.samples import S, T

from .index import GRID, L, N, both

INDEX_SELECT = [
    S(T(3, 4), 0, L(0, 2, 2)),
    S(T(3, 4), -1, L(3, 1)),
    S(T(2, 3, 4), 1, L(2)),
    S(T(3, 4, view="transposed"), 0, L(0, 2)),
    S(T(3, 4), 0, T(values=1, dtype="int64")),
    S(T(), 0, L(0)),
    S(T(3, dtype="bool"), 0, N(2, 0)),
    S(T(3, dtype="complex64"), 0, L(2)),
    S(T(3, 4), 1, T(0, dtype="int64")),
    S(T(3, 4), 0, L(3), raises=IndexError),
    S(T(3, 4), 0, L(-1), raises=IndexError),
    S(T(3, 4), 1, L(9), raises=RuntimeError),
    S(T(3, 4), 0, GRID, raises=IndexError),
    S(T(3, 4), 0, T(2), raises=RuntimeError),
    S(T(3, 4), 2, L(0), raises=IndexError),
    S(T(), 0, L(0, 0), raises=RuntimeError),
]

INDEX_ADD = [
    S(T(3, 4), 0, L(0, 2), T(2, 4)),
    S(T(3, 4), 0, L(1, 1), T(2, 4), alpha=2),
    S(T(3, 4), 1, L(0, 3, 3), T(3, 3)),
    S(T(3, 4, view="transposed"), -1, L(0), T(3, 1)),
    S(T(3), 0, L(2), T(1)),
    S(T(3), 0, N(2, 2), T(2)),
    S(T(), 0, T(values=0, dtype="int64"), T()),
    S(T(3, dtype="int64"), 0, L(1), T(1, dtype="int64"), alpha=3),
    S(T(3, dtype="complex64"), 0, L(1, 1), T(2, dtype="complex64")),
    S(T(3, 4), 0, L(0, 2), T(3, 4), raises=RuntimeError),
    S(T(3, 4), 0, L(0, 2), T(2, 3), raises=RuntimeError),
    S(T(3, 4), 0, L(0), T(1, 4, dtype="int64"), raises=RuntimeError),
    S(T(3, 4), 0, L(3), T(1, 4), raises=RuntimeError),
    S(T(3, 4), 0, GRID, T(2, 4), raises=IndexError),
    S(T(3, 4), 0, T(2), T(2, 4), raises=RuntimeError),
]

INDEX_COPY = [
    S(T(3, 4), 0, L(2, 0), T(2, 4)),
    S(T(3, 4), 1, L(1), T(3, 1)),
    S(T(3, 4, view="transposed"), -2, L(0), T(1, 4)),
    S(T(3), 0, L(1), T(1)),
    S(T(3, dtype="bool"), 0, L(1), T(1, dtype="bool")),
    S(T(), 0, T(values=0, dtype="int64"), T()),
    S(T(3, 4), 0, L(0, 2), T(3, 4), raises=IndexError),
    S(T(3, 4), 0, L(0), T(1, 4, dtype="int64"), raises=RuntimeError),
    S(T(3, 4), 0, L(3), T(1, 4), raises=IndexError),
    S(T(3, 4), 0, L(0, 2), T(2, 3), raises=RuntimeError),
    S(T(3, 4), 0, GRID, T(2, 4), raises=IndexError),
    S(T(3, 4), 0, N(0), T(1, 4), raises=RuntimeError),
    S(T(3, 4), 0, L(0), T(4), raises=IndexError),
]

INDEX_FILL = [
    S(T(3, 4), 0, L(0, 2), 1.5),
    S(T(3, 4), 1, L(-1, 1), value=2),
    S(T(3, 4, view="transposed"), 0, L(0), 1.0),
    S(T(3, 4), 0, T(values=1, dtype="int64"), 1.0),
    S(T(3, dtype="int64"), 0, L(1), 2.9),
    S(T(3, dtype="complex64"), 0, L(1), 1j),
    S(T(), 0, L(0), 1.0),
    S(T(3), 0, L(3), 1.0, raises=IndexError),
    S(T(3), 0, L([[0]]), 1.0, raises=RuntimeError),
    S(T(3), 0, N(0), 1.0, raises=IndexError),
    S(T(3), 0, L(0), 1j, raises=RuntimeError),
    S(T(3), 1, L(0), 1.0, raises=IndexError),
]

INDEX_FILL_TENSOR = [
    S(T(3, 4), 0, L(0, 2, 0), T()),
    S(T(3, 4), -1, L(1), T(requires_grad=False)),
    S(T(3), 0, L(0), T(1), raises=RuntimeError),
]

INDEX_REDUCE = [
    S(T(3, 4), 0, L(2, 0), T(2, 4), "prod"),
    S(T(3, 4), 0, L(2, 0, 2), T(3, 4), "mean"),
    S(T(3, 4, distinct=True), 1, L(1, 1), T(3, 2, distinct=True), "amax"),
    S(T(3, 4, distinct=True), -1, L(1, 3), T(3, 2, low=-3, distinct=True), "amin"),
    S(T(3, 4), 0, L(2, 0, 2), T(3, 4), "prod", include_self=False),
    S(T(3, 4), 0, L(2, 0, 2), T(3, 4), "mean", include_self=False),
    S(T(3, 4), 1, L(1, 1), T(3, 2, distinct=True), "amax", include_self=False),
    S(T(3, 4, view="transposed"), 1, L(0), T(3, 1), "prod"),
    S(T(2, 3, 2), 1, L(0, 2), T(2, 2, 2), "mean"),
    S(T(values=[2.0, 0.0, 3.0]), 0, L(0, 1), T(values=[0.0, 4.0]), "prod", smooth=False),
    S(T(values=[1.0, 2.0]), 0, L(0, 0), T(values=[1.0, 1.0]), "amax", smooth=False),
    S(T(3), 0, N(2, 2), T(2), "prod"),
    S(T(), 0, T(values=0, dtype="int64"), T(), "mean"),
    S(T(3, dtype="int64"), 0, L(1, 1), T(2, dtype="int64"), "mean"),
    S(T(3, dtype="int8"), 0, L(1, 1), T(2, dtype="int8"), "amin", include_self=False),
    S(T(3, dtype="float16"), 0, L(1, 1), T(2, dtype="float16"), "mean", grad=False),
    S(T(3, 2, dtype="bool"), 0, L(1), T(1, 2, dtype="bool"), "amax"),
    S(T(3, 2, dtype="complex64"), 0, L(1, 1), T(2, 2, dtype="complex64"), "prod", grad=False),
    S(T(3, 4), 0, T(0, dtype="int64"), T(0, 4), "prod", include_self=False),
    S(T(0, 3), 1, L(1), T(0, 1), "amax"),
    S(T(3), 0, L(1), T(1), "sum", raises=RuntimeError),
    S(T(3, 4), 0, L(0, 2), T(3, 4), "prod", raises=RuntimeError),
    S(T(3, 4), 0, L(0, 2), T(2, 3), "prod", raises=RuntimeError),
    S(T(3, 4), 0, L(3), T(1, 4), "amax", raises=IndexError),
    S(T(3, 4), 0, GRID, T(2, 4), "prod", raises=IndexError),
    S(T(3, 4), 0, T(2), T(2, 4), "prod", raises=RuntimeError),
    S(T(3, 4), 0, L(0), T(1, 4, dtype="float64"), "prod", raises=RuntimeError),
    S(T(3, 2, dtype="bool"), 0, L(1), T(1, 2, dtype="bool"), "mean", raises=NotImplementedError),
    S(T(3, dtype="bool"), 0, L(1), T(1, dtype="bool"), "amax", raises=NotImplementedError),
    S(T(3, 2, dtype="complex64"), 0, L(1), T(1, 2, dtype="complex64"), "amax",
      raises=NotImplementedError),
]  # fmt: skip

SAMPLES = {"index_select": INDEX_SELECT} | both(
    {
        "index_add": INDEX_ADD,
        "index_reduce": INDEX_REDUCE,
        "index_copy": INDEX_COPY,
        "index_fill.int_Scalar": INDEX_FILL,
        "index_fill.int_Tensor": INDEX_FILL_TENSOR,
    }
)
