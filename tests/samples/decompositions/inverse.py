"""Samples of inverses."""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart, folded

SINGULAR = T(values=[[1.0, 1.0], [1.0, 1.0]])
SECOND = T(values=[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]]])
MATRICES = [
    *(S(apart(3, 3, dtype=dtype)) for dtype in DTYPES),
    S(apart(2, 3, 3)),
    S(apart(3, 3, view="transposed")),
    S(apart(40, 40), tol=(1e-3, 1e-3)),
    S(T(0, 3, 3)),
    S(T(0, 0)),
    S(T(2, 3), raises=RuntimeError),
    S(T(3), raises=RuntimeError),
    S(T(3, 3, dtype="int64"), raises=RuntimeError),
    S(T(3, 3, dtype="float16"), raises=RuntimeError),
]
FAILING = [S(SINGULAR, raises=RuntimeError), S(SECOND, raises=RuntimeError)]
SAMPLES = {
    "linalg_inv": [*MATRICES, *FAILING],
    "inverse": [*MATRICES, *FAILING],
    "linalg_inv_ex": [*MATRICES, S(SINGULAR, check_errors=True, raises=RuntimeError)],
    "linalg_tensorinv": [
        S(folded(6, 2, 3, dims=1), ind=1),
        S(folded(2, 3, 3, 2), ind=2),
        S(T(2, 3), ind=1, raises=RuntimeError),
        S(T(2, 2), ind=0, raises=RuntimeError),
        S(SINGULAR, ind=1, raises=RuntimeError),
    ],
}
