"""Samples of choices by a condition."""

from tests.samples import S, T
from tests.samples.indexing.masks import MASK, ZEROS

from .compare import BOOL, LONG

SAMPLES = {
    "where": [
        S(T(2, 3, dtype=BOOL), T(2, 3), T(2, 3), variants=False),
        S(T(2, 3, dtype=BOOL), T(3), T(2, 1), variants=False),
        S(T(2, 3, dtype=BOOL), T(3), 1.5, variants=False),
        S(T(2, 3, dtype=BOOL), 1, 2.5, variants=False),
        S(T(2, 3, dtype=BOOL), T(dtype=LONG), T(3), variants=False),
        S(
            T(2, 3, dtype=BOOL, view="transposed"),
            T(2, 3, view="transposed"),
            T(2, 3),
            variants=False,
        ),
        S(T(3, dtype=BOOL), T(3, dtype=BOOL), T(3, dtype=BOOL), variants=False),
        S(T(3, dtype=BOOL), T(3, dtype="complex64"), T(3), variants=False, grad=False),
        S(T(3, dtype=BOOL), T(3, dtype="float16"), T(3, dtype="float16"), grad=False),
        S(T(0, 3, dtype=BOOL), T(3), T(3), variants=False),
        S(T(2), T(2), T(2), raises=RuntimeError),
        S(T(2, dtype=BOOL), T(3), T(2), raises=RuntimeError),
    ],
    "where.condition": [S(ZEROS, grad=False), S(MASK), S(T(values=True, dtype="bool"))],
}
