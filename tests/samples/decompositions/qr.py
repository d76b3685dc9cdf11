"""Samples of QR, and of products of reflections."""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart

NOTHING = [S(T(0, 3, 3)), S(T(0, 0)), S(T(2, 0, 3)), S(T(3, 0))]
REFUSED = [S(T(3), raises=RuntimeError), S(T(3, 3, dtype="int64"), raises=RuntimeError)]
SAMPLES = {
    "linalg_qr": [
        *(S(apart(4, 3, dtype=dtype)) for dtype in DTYPES),
        S(
            apart(3, 3), smooth=False
        ),  # as complex numbers: the last column changes its sign at once
        S(apart(3, 5), smooth=False),
        S(apart(3, 5, dtype="complex128")),
        S(apart(2, 4, 3)),
        S(apart(4, 3, view="transposed")),
        S(apart(3, 3), "complete", smooth=False),
        S(apart(3, 4), "complete", smooth=False),
        S(apart(4, 3), "complete", grad=False),
        S(apart(4, 3), mode="r", grad=False),
        *NOTHING,
        S(apart(4, 3), "x", raises=RuntimeError),
        S(T(3, 3, dtype="float16"), raises=NotImplementedError),
        *REFUSED,
    ],
    "qr": [
        S(apart(4, 3)),
        S(apart(3, 4), some=False, smooth=False),
        S(apart(2, 3, 3), smooth=False),
        *REFUSED,
    ],
    "geqrf": [
        *(S(apart(4, 3, dtype=dtype), grad=False) for dtype in DTYPES),
        S(apart(2, 3, 4), grad=False),
        S(T(3), raises=RuntimeError),
        S(T(3, 3, dtype="int64"), raises=NotImplementedError),
    ],
    "linalg_householder_product": [
        *(S(apart(4, 3, dtype=dtype), T(3, dtype=dtype)) for dtype in DTYPES),
        S(apart(4, 3), T(2)),
        S(apart(2, 4, 3), T(2, 3)),
        S(apart(4, 3), T(0)),
        S(apart(3, 4), T(3), raises=RuntimeError),
        S(apart(4, 3), T(4), raises=RuntimeError),
        S(apart(2, 4, 3), T(3), raises=RuntimeError),
        S(apart(2, 4, 3), T(5, 3), raises=RuntimeError),
        S(apart(4, 3), T(3, dtype="float64"), raises=RuntimeError),
        S(T(3), T(3), raises=RuntimeError),
    ],
    "orgqr": [S(apart(4, 3), T(3)), S(apart(3, 4), T(3), raises=RuntimeError)],
    "ormqr": [
        *(S(apart(4, 3, dtype=d), T(3, dtype=d), T(4, 2, dtype=d)) for d in DTYPES),
        *(
            S(apart(4, 3, dtype=dtype), T(3, dtype=dtype), T(*shape, dtype=dtype), left, transpose)
            for dtype in ("float64", "complex128")
            for shape, left in (((4, 2), True), ((2, 4), False))
            for transpose in (False, True)
        ),
        S(apart(2, 4, 3), T(2, 3), T(2, 4, 2)),
        S(apart(4, 3), T(2), T(4, 2), raises=RuntimeError),
        S(apart(4, 3), T(3), T(3, 2), raises=RuntimeError),
        S(apart(4, 3), T(3), T(2, 4, 2), raises=RuntimeError),
        S(apart(4, 3), T(3), T(4, 2, dtype="float64"), raises=RuntimeError),
        S(apart(4, 3), T(3), T(4), raises=RuntimeError),
    ],
}
