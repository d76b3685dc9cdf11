"""Samples of gradients on a grid."""

from tests.samples import S, T

PLACES = T(values=[0.0, 1.0, 1.5, 3.0])

SAMPLES = {
    "gradient": [
        S(T(5)),
        S(T(3, 4)),
        S(T(3, 4), spacing=2.0),
        S(T(3, 4), spacing=[2.0, 0.5]),
        S(T(3, 4), dim=1, edge_order=2),
        S(T(3, 4), spacing=[PLACES], dim=1),
        S(T(3, 4), spacing=[PLACES], dim=1, edge_order=2),
        S(T(3, 4, view="transposed"), dim=(1, 0), edge_order=2),
        S(T(3, 4, dtype="int64")),
        S(T(3, 4), dim=2, raises=IndexError),
        S(T(3, 4), dim=(0, 0), raises=RuntimeError),
        S(T(3, 1), raises=RuntimeError),
        S(T(3, 4), edge_order=3, raises=RuntimeError),
        S(T(3, 4), spacing=[1.0], raises=RuntimeError),
        S(T(3, dtype="uint8"), raises=RuntimeError),
    ],
}
