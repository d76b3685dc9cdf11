"""Samples of Bessel functions; those that scipy computes are only called where it is installed."""

import importlib.util

from tests.samples import S, T

from .arithmetic import DOUBLE, HALF, INF, NAN
from .functions import refused, unary

PLACES = [0.0, -0.0, 1.0, -1.0, 7.99, 8.0, 8.01, -20.0, 1e-30, NAN]


def modified(**words):
    return unary(
        S(T(values=[*PLACES, INF, -INF, 90.0, -90.0]), grad=False),
        S(T(values=[*PLACES, 700.0, 800.0], dtype=DOUBLE), grad=False),
        refused("complex64"),
        low=0.3,
        complexes=False,
        special=False,
        **words,
    )


def plain(*more):
    """Calls of those that have no derivative, and none in float16."""
    return [
        S(T(2, 3, low=0.5)),
        S(T(2, 3, low=0.5, view="transposed")),
        S(T(2, 3, low=0.5, dtype=DOUBLE)),
        S(T(0, 3)),
        S(T(low=0.5)),
        S(T(3, dtype="int64", low=1, high=9)),
        S(T(3, dtype="bool")),
        S(T(values=[0.0, -1.0, 3.0, 9.0, 20.0, -0.0, NAN]), tol=(1e-4, 1e-6)),
        refused(HALF),
        refused("complex64"),
        S("a", raises=TypeError),
        *more,
    ]


SAMPLES = {
    "i0": modified(),
    "special_i0e": modified(),
    "special_i1": modified(),
    "special_i1e": modified(),
    "special_modified_bessel_i0": plain(),
    "special_modified_bessel_i1": plain(),
    "special_spherical_bessel_j0": plain(S(T(values=[INF, -INF, 1e-9]))),
}
SCIPY = [f"bessel_{kind}" for kind in ("j0", "j1", "y0", "y1")] + ["airy_ai"]
SCIPY += [f"{scaled}modified_bessel_k{order}" for scaled in ("", "scaled_") for order in (0, 1)]
HAS_SCIPY = importlib.util.find_spec("scipy") is not None
for _name in SCIPY:
    SAMPLES[f"special_{_name}"] = plain() if HAS_SCIPY else [refused(HALF), refused("complex64")]
if HAS_SCIPY:
    SAMPLES["special_airy_ai"].append(S(T(values=[-5.0, 100.0, 1e3, 1e18]), grad=False))
