"""Bilinear forms."""

from tests.samples import S, T

SAMPLES = {
    "bilinear": [
        S(T(3, 4), T(3, 5), T(6, 4, 5), T(6)),
        S(T(3, 4), T(3, 5), T(6, 4, 5)),
        S(T(2, 3, 4), T(2, 3, 5), T(6, 4, 5)),
        S(T(4), T(5), T(6, 4, 5), T(6)),
        S(T(0, 4), T(0, 5), T(6, 4, 5)),
        S(T(3, 4), T(2, 5), T(6, 4, 5), raises=RuntimeError),
        S(T(3, 4), T(5), T(6, 4, 5), raises=RuntimeError),
        S(T(3, 3), T(3, 5), T(6, 4, 5), raises=RuntimeError),
        S(T(3, 4), T(3, 4), T(6, 4, 5), raises=RuntimeError),
        S(T(3, 4), T(3, 5), T(6, 4, 5), T(5), raises=RuntimeError),
        S(T(3, 4), T(3, 5), T(6, 4), raises=IndexError),
    ],
}
