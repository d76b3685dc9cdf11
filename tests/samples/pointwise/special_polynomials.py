"""Samples of orthogonal polynomials."""

from tests.samples import S, T

from .arithmetic import DOUBLE, HALF, LONG, NAN

NAMES = [f"{way}chebyshev_polynomial_{kind}" for way in ("", "shifted_") for kind in "tuvw"]
NAMES += ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"]
NAMES += ["legendre_polynomial_p"]


def degrees(*shape, **words):
    return T(*shape, dtype=LONG, low=0, high=9, **words)


TENSORS = [
    S(T(2, 3), degrees(2, 3)),
    S(T(2, 1, dtype=DOUBLE), degrees(3)),
    S(T(3), T(values=[2.7, -1.0, 0.0])),
    S(T(values=[-1.0, 1.0, 0.0, 2.0, NAN]), T(values=[3, 4, 5, 20, 0], dtype=LONG)),
    S(T(4, low=-0.9, high=0.9, dtype=DOUBLE), T(values=[9, 12, 30, 50], dtype=LONG)),
    S(T(0, 3), degrees(3)),
    S(degrees(3), degrees(3)),
    S(T(2, dtype=HALF), T(2, dtype=HALF), raises=NotImplementedError),
    S(T(2, dtype="complex64"), degrees(2), raises=NotImplementedError),
    S(T(2), degrees(3), raises=RuntimeError),
    S(T(2), "a", raises=TypeError),
]
SAMPLES = {}
for _name in NAMES:
    SAMPLES[f"special_{_name}"] = TENSORS
    SAMPLES[f"special_{_name}.x_scalar"] = [S(0.5, degrees(2, 3)), S(2, degrees(3))]
    SAMPLES[f"special_{_name}.n_scalar"] = [S(T(2, 3), 3), S(T(3, dtype=DOUBLE), 2.0)]
