"""Samples of Cholesky's factorization.

It reads one triangle; the gradient is that of Hermitian matrices: differences of single elements do
not give it. tests/test_decompositions.py takes them of the symmetric part.
"""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, definite, triangular

INDEFINITE = T(values=[[1.0, 0.0], [0.0, -1.0]])
SECOND = T(values=[[[1.0, 0.0], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]])
MATRICES = [
    *(S(definite(3, 3, dtype=dtype), smooth=False) for dtype in DTYPES),
    *(
        S(definite(3, 3, dtype=dtype), upper=True, smooth=False)
        for dtype in ("float32", "complex128")
    ),
    S(definite(2, 3, 3), smooth=False),
    S(definite(3, 3, view="transposed"), smooth=False),
]
REFUSED = [S(T(2, 3), raises=RuntimeError), S(T(3), raises=RuntimeError)]
FAILING = [S(INDEFINITE, raises=RuntimeError), S(SECOND, raises=RuntimeError)]
INTEGERS = S(T(3, 3, dtype="int64"), raises=RuntimeError)
NOTHING = [S(T(0, 3, 3)), S(T(0, 0))]

SAMPLES = {
    "linalg_cholesky": [*MATRICES, *NOTHING, *REFUSED, *FAILING, INTEGERS],
    "linalg_cholesky_ex": [
        *MATRICES,
        *NOTHING,
        S(INDEFINITE, check_errors=True, raises=RuntimeError),
        S(T(3, 3, dtype="float16"), raises=NotImplementedError),
        *REFUSED,
        INTEGERS,
    ],
    "cholesky": [
        *MATRICES,
        *NOTHING,
        *REFUSED,
        *FAILING,
        S(T(3, 3, dtype="int64"), raises=NotImplementedError),
    ],
    "cholesky_inverse": [
        *(S(triangular(3, 3, dtype=dtype), smooth=False) for dtype in DTYPES),
        S(triangular(3, 3, upper=True), True, smooth=False),
        S(triangular(3, 3, dtype="complex64", upper=True), upper=True, smooth=False),
        S(triangular(2, 3, 3), smooth=False),
        S(T(0, 0)),
        S(T(values=[[1.0, 0.0], [0.0, 0.0]]), raises=RuntimeError),
        S(T(3, 3, dtype="int64"), raises=NotImplementedError),
        *REFUSED,
    ],
    "cholesky_solve": [
        *(S(T(3, 2, dtype=d), triangular(3, 3, dtype=d), smooth=False) for d in DTYPES),
        S(T(3, 2), triangular(3, 3, upper=True), True, smooth=False),
        S(T(2, 3, 2), triangular(3, 3), smooth=False),
        S(T(3, 1), triangular(2, 3, 3), smooth=False),
        S(T(0, 3, 2), T(0, 3, 3)),
        S(T(2, 2), triangular(3, 3), raises=RuntimeError),
        S(T(3), triangular(3, 3), raises=RuntimeError),
        S(T(3, 2), T(3, 3, dtype="float64"), raises=RuntimeError),
        S(T(3, 2), T(2, 3), raises=RuntimeError),
    ],
}
