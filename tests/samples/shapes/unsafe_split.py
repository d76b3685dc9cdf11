"""Pieces that are no views."""

from tests.samples import S, T
from tests.samples.shapes.view_copy import _SPLIT, _SPLIT_WITH_SIZES

SAMPLES = {
    "unsafe_split": _SPLIT,
    "unsafe_split_with_sizes": _SPLIT_WITH_SIZES,
    "unsafe_chunk": [
        S(T(5, 2), 2),
        S(T(5, 2), 7),
        S(T(4, 3), chunks=2, dim=1),
        S(T(0, 2), 3),
        S(T(5), 0, raises=RuntimeError),
        S(T(), 2, raises=RuntimeError),
    ],
}
