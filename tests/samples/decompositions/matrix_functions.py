"""Samples of functions of matrices, and of names that are only in linalg."""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart

POWERS = [
    *(S(apart(3, 3), n, tol=(1e-4, 1e-4)) for n in (0, 1, 4)),
    *(S(apart(3, 3), n, variants=False) for n in (2, 3, 5, -2)),
    S(apart(3, 3), -1, variants=False),
    S(apart(2, 3, 3, dtype="complex128"), 3, variants=False),
    S(T(3, 3, dtype="int64"), 3, variants=False),
    *(S(apart(3, 3, view="transposed"), n, variants=False) for n in (0, 1)),
    S(T(0, 0), 2, variants=False),
    S(T(2, 3), 2, raises=RuntimeError),
    S(T(3), 2, raises=RuntimeError),
    S(T(values=[[1.0, 1.0], [1.0, 1.0]]), -1, raises=RuntimeError),
]
EXPONENTIALS = [
    *(S(T(3, 3, dtype=dtype)) for dtype in DTYPES),
    S(T(2, 3, 3)),
    S(T(3, 3, low=-20, high=20), tol=(1e-3, 1e-2), grad=False),
    S(T(3, 3, view="transposed")),
    S(T(0, 0)),
    S(T(0, 3, 3)),
    S(T(2, 3), raises=RuntimeError),
    S(T(3), raises=RuntimeError),
    S(T(3, 3, dtype="int64"), raises=RuntimeError),
]
SAMPLES = {
    "linalg_matrix_power": POWERS,
    "matrix_power": POWERS,
    "linalg_matrix_exp": EXPONENTIALS,
    "matrix_exp": EXPONENTIALS,
    "linalg_vander": [
        S(T(3)),
        S(T(2, 3), N=4),
        S(T(3, dtype="complex64")),
        S(T(3, dtype="int64"), N=2),
        S(T(3), N=1, raises=RuntimeError),
        S(T(3, dtype="float16"), raises=RuntimeError),
        S(T(3, dtype="bool"), raises=RuntimeError),
    ],
    "linalg_vecdot": [
        *(S(T(2, 3, dtype=dtype), T(2, 3, dtype=dtype)) for dtype in DTYPES),
        S(T(3), T(3)),
        S(T(2, 3), T(3)),
        S(T(2, 3), T(2, 3), dim=0),
        S(T(2, 3), T(2, 3, dtype="float64"), raises=RuntimeError),
        S(T(2, 3), T(2, 4), raises=RuntimeError),
        S(T(3, dtype="int64"), T(3, dtype="int64"), raises=RuntimeError),
    ],
    "linalg_matmul": [S(T(2, 3), T(3, 4)), S(T(2, 3, 4), T(4)), S(T(2), T(3), raises=RuntimeError)],
    "linalg_diagonal": [
        S(T(3, 3)),
        S(T(2, 3, 4), offset=1),
        S(T(2, 3, 4), dim1=0, dim2=1),
        S(T(3), raises=IndexError),
    ],
}
