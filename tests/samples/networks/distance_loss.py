"""Distances of pairs of rows, and losses of them."""

from tests.samples import S, T

_ROWS = T(3, 4), T(3, 4)
_SIGNS = T(values=[1, -1, 1], dtype="int64")

SAMPLES = {
    "pairwise_distance": [
        S(*_ROWS),
        S(*_ROWS, 1.0, 0.0, True),
        S(*_ROWS, 3.0),
        S(T(3, 4), T(4)),
        S(T(3, 4, dtype="float64"), T(3, 4, dtype="float64")),
        S(T(3, 4), T(3, 5), raises=RuntimeError),
    ],
    "pdist": [
        S(T(4, 3)),
        S(T(4, 3, dtype="float64"), 3.0),
        S(T(4, 3), 0.0, grad=False),
        S(T(1, 3)),
        S(T(4), raises=RuntimeError),
        S(T(4, 3), -1.0, raises=RuntimeError),
        S(T(4, 3, dtype="int64"), raises=RuntimeError),
    ],
    "cosine_embedding_loss": [
        S(*_ROWS, _SIGNS),
        S(*_ROWS, _SIGNS, 0.9, 0),
        S(T(4), T(4), T(values=-1, dtype="int64"), -1.0, 2),
        S(*_ROWS, T(3, 4, dtype="int64"), raises=RuntimeError),
        S(T(4), T(4), _SIGNS, raises=RuntimeError),
    ],
    "triplet_margin_loss": [
        S(*_ROWS, T(3, 4), 9.0),
        S(*_ROWS, T(3, 4), 9.0, 1.0, 1e-6, True, 0),
        S(T(4), T(4), T(4), 9.0, reduction=2),
        S(*_ROWS, T(4), raises=RuntimeError),
    ],
}
