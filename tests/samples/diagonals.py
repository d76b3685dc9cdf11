"""Samples of diagonals as tensors of their own."""

from tests.samples import S, T

SAMPLES = {
    "diag_embed": [
        S(T(3)),
        S(T(2, 3)),
        S(T(2, 3), 1),
        S(T(2, 3), -2),
        S(T(2, 3), offset=1, dim1=0, dim2=2),
        S(T(2, 3), 0, 2, 0),
        S(T(2, 3, view="transposed")),
        S(T(2, 0)),
        S(T(3, dtype="bool")),
        S(T(2, 3, dtype="int64"), 1),
        S(T(3, dtype="complex64")),
        S(T(2, 3), dim1=1, dim2=-2, raises=RuntimeError),
        S(T(2, 3), dim1=5, raises=IndexError),
        S(T(), raises=IndexError),
        S(2.5, raises=TypeError),
    ],
    "diag": [
        S(T(3)),
        S(T(3), 1),
        S(T(3), diagonal=-2),
        S(T(3, 4)),
        S(T(3, 4), 2),
        S(T(3, 4), -1),
        S(T(3, 4, view="transposed")),
        S(T(0)),
        S(T(3, dtype="int64")),
        S(T(3, 3, dtype="complex128")),
        S(T(2, 2, 2), raises=RuntimeError),
        S(T(), raises=RuntimeError),
    ],
    "diagflat": [
        S(T(3)),
        S(T(2, 3)),
        S(T(2, 3), 1),
        S(T(2, 3), offset=-1),
        S(T(2, 3, view="transposed")),
        S(T()),
        S(T(2, 2, dtype="int64")),
    ],
}
