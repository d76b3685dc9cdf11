"""Samples of LDL, which has no derivative."""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart, definite

PIVOTS = T(values=[1, 2, 3], dtype="int32")
MATRICES = [
    *(S(definite(3, 3, dtype=dtype), grad=False) for dtype in DTYPES),
    S(definite(3, 3, dtype="complex64"), hermitian=True, grad=False),
    S(definite(2, 3, 3), grad=False),
    S(T(values=[[0.0, 1.0], [1.0, 0.0]]), grad=False),
    S(T(0, 3, 3), grad=False),
    S(T(0, 0), grad=False),
    S(T(2, 3), raises=RuntimeError),
    S(T(3), raises=RuntimeError),
    S(T(3, 3, dtype="int64"), raises=RuntimeError),
    S(T(3, 3, dtype="float16"), raises=NotImplementedError),
]
SAMPLES = {
    "linalg_ldl_factor": MATRICES,
    "linalg_ldl_factor_ex": MATRICES,
    "linalg_ldl_solve": [
        *(S(apart(3, 3, dtype=d), PIVOTS, T(3, 2, dtype=d), grad=False) for d in DTYPES),
        S(apart(3, 3, dtype="complex64"), PIVOTS, T(3, 2, dtype="complex64"), hermitian=True,
          grad=False),
        S(apart(3, 3), PIVOTS, T(2, 3, 2), grad=False),
        S(apart(3, 3), PIVOTS, T(2, 2), raises=RuntimeError),
        S(apart(2, 3, 3), PIVOTS, T(3, 2), raises=RuntimeError),
        S(T(2, 3), PIVOTS, T(3, 2), raises=RuntimeError),
        S(apart(3, 3), T(3), T(3, 2), raises=RuntimeError),
        S(apart(3, 3), PIVOTS, T(3, 2, dtype="float64"), raises=RuntimeError),
    ],
}  # fmt: skip
