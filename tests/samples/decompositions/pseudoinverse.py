"""Samples of pseudoinverses and ranks."""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart, definite

DEFICIENT = T(values=[[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
MATRICES = [
    *(S(apart(3, 3, dtype=dtype)) for dtype in DTYPES),
    S(apart(4, 3)),
    S(apart(3, 4)),
    S(apart(2, 3, 4, dtype="complex128")),
    S(definite(3, 3), hermitian=True, smooth=False),
    S(apart(3, 3), rtol=0.5, smooth=False),
    S(apart(3, 3), atol=1.5, smooth=False),
    S(apart(3, 3), atol=0.5, rtol=0.1, smooth=False),
    S(T(3, 0)),
    S(T(0, 3, 2)),
    S(T(3), raises=RuntimeError),
    S(T(3, 3, dtype="int64"), raises=RuntimeError),
    S(T(3, 3, dtype="float16"), raises=RuntimeError),
]
TENSORS = [
    S(apart(2, 3, 3), rtol=T(values=[0.1, 0.5], requires_grad=False), smooth=False),
    S(apart(3, 3), atol=T(values=1.5, requires_grad=False), smooth=False),
]
SAMPLES = {
    "linalg_pinv.atol_rtol_float": [*MATRICES, S(T(2, 3), hermitian=True, raises=RuntimeError)],
    "linalg_pinv.atol_rtol_tensor": TENSORS,
    "linalg_pinv": [S(apart(3, 3), 0.5, smooth=False), S(definite(3, 3), 1e-3, True, smooth=False)],
    "linalg_pinv.rcond_tensor": [
        S(apart(2, 3, 3), T(values=[0.1, 0.5], requires_grad=False), smooth=False)
    ],
    "pinverse": [S(apart(4, 3)), S(apart(3, 3), 0.5, smooth=False), S(T(3), raises=RuntimeError)],
    "linalg_matrix_rank.atol_rtol_float": [*MATRICES, S(DEFICIENT)],
    "linalg_matrix_rank.atol_rtol_tensor": [
        *TENSORS,
        S(DEFICIENT, atol=T(values=1j, dtype="complex64"), raises=RuntimeError),
    ],
    "linalg_matrix_rank": [S(apart(3, 3), 1.5), S(apart(3, 3), 0)],
    "linalg_matrix_rank.tol_tensor": [
        S(apart(2, 3, 3), T(values=[0.1, 1.5], requires_grad=False), grad=False)
    ],
}
