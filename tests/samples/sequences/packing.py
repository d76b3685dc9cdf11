"""Sequences of several lengths."""

from tests.samples import S, T

_LENGTHS = T(values=[3, 2], dtype="int64")


SAMPLES = {
    "_pack_padded_sequence": [
        S(T(3, 2, 4), _LENGTHS, False),
        S(T(2, 3, 4), _LENGTHS, True),
        S(T(4, 2), _LENGTHS, False),
        S(T(3, 2, 4), T(values=[2, 3], dtype="int64"), False, raises=RuntimeError),
        S(T(3, 2, 4), T(values=[2, 0], dtype="int64"), False, raises=RuntimeError),
        S(T(3, 2, 4), T(values=[2], dtype="int64"), False, raises=RuntimeError),
        S(T(0, 2, 4), _LENGTHS, False, raises=RuntimeError),
    ],
    "_pad_packed_sequence": [
        S(T(5, 4), T(values=[2, 2, 1], dtype="int64"), False, 0.0, -1),
        S(T(5, 4), T(values=[2, 2, 1], dtype="int64"), True, 1.5, 4),
        S(T(5, 4), T(values=[2, 2, 1], dtype="int64"), True, 0.0, 2, raises=RuntimeError),
    ],
}
