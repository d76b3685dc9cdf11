"""Samples of least squares."""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart

DEFICIENT = T(values=[[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
SAMPLES = {
    "linalg_lstsq": [
        *(S(apart(4, 3, dtype=dtype), T(4, 2, dtype=dtype)) for dtype in DTYPES),
        *(
            S(apart(4, 3, dtype=dtype), T(4, 2, dtype=dtype), driver=driver, tol=(1e-4, 1e-4))
            for dtype in ("float64", "complex64")
            for driver in ("gels", "gelsy", "gelsd", "gelss")
        ),
        *(S(apart(3, 4), T(3, 2), driver=driver) for driver in ("gels", "gelsd", "gelss")),
        S(apart(3, 3), T(3)),
        S(apart(2, 4, 3), T(2, 4, 2)),
        S(apart(2, 4, 3), T(2, 4)),
        S(apart(2, 4, 3), T(2, 4, 2), driver="gelsd"),
        S(DEFICIENT, T(3, 1), driver="gelsd", grad=False),
        S(DEFICIENT, T(3, 1), 0.1, grad=False),
        S(T(0, 4, 3), T(0, 4, 2), grad=False, variants=False),
        S(apart(4, 3), T(4, 2), driver="x", raises=RuntimeError),
        S(apart(4, 3), T(3, 2), raises=RuntimeError),
        S(apart(4, 3), T(4, 2, dtype="float64"), raises=RuntimeError),
        S(T(3), T(3), raises=RuntimeError),
        S(T(3, 3), T(), raises=RuntimeError),
        S(T(3, 3, dtype="int64"), T(3, 2, dtype="int64"), raises=RuntimeError),
    ],
}
