"""Convolution of sequences whose dimensions are (time, batch, channels)."""

from tests.samples import S, T

SAMPLES = {
    "conv_tbc": [
        S(T(5, 2, 3), T(3, 3, 4), T(4)),
        S(T(5, 2, 3), T(3, 3, 4), T(4), 1),
        S(T(2, 2, 3), T(3, 3, 4), T(4), pad=4),
        S(T(2, 2, 3), T(3, 3, 4), T(4), 0),
        S(T(5, 2, 3), T(3, 3, 4, view="transposed"), T(4), 1),
        S(T(5, 2, 3, dtype="float64"), T(3, 3, 4, dtype="float64"), T(4, dtype="float64")),
        S(T(5, 2, 3, dtype="int64"), T(3, 3, 4, dtype="int64"), T(4, dtype="int64")),
        S(T(5, 2, 3), T(3, 3, 4), T(4), -1),
        S(T(1, 2, 3), T(3, 3, 4), T(4), raises=RuntimeError),
        S(T(5, 3), T(3, 3, 4), T(4), raises=RuntimeError),
        S(T(5, 2, 3), T(3, 4), T(4), raises=RuntimeError),
        S(T(5, 2, 3), T(3, 3, 4), T(1, 4), raises=RuntimeError),
        S(T(5, 2, 3), T(3, 3, 4), T(3), raises=RuntimeError),
        S(T(5, 2, 3), T(3, 2, 4), T(4), raises=RuntimeError),
    ],
}
