"""Samples of systems of linear equations."""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart, folded, triangular

SINGULAR = T(values=[[1.0, 1.0], [1.0, 1.0]])
SYSTEMS = [
    *(S(apart(3, 3, dtype=dtype), T(3, 2, dtype=dtype)) for dtype in DTYPES),
    S(apart(3, 3), T(3)),
    S(apart(2, 3, 3), T(2, 3)),
    S(apart(2, 3, 3), T(2, 3, 2)),
    S(apart(2, 3, 3), T(3, 2)),
    S(apart(3, 3), T(2, 3, 2)),
    S(apart(3, 3), T(2, 3), left=False),
    S(apart(2, 3, 3, dtype="complex128"), T(2, 4, 3, dtype="complex128"), left=False),
    S(apart(3, 3, view="transposed"), T(3, 2, view="transposed")),
    S(apart(40, 40), T(40, 3), tol=(1e-3, 1e-3)),
    S(T(0, 3, 3), T(0, 3, 2)),
    S(T(0, 0), T(0, 2)),
    S(apart(3, 3), T(2, 2), raises=RuntimeError),
    S(apart(3, 3), T(3, 2, dtype="float64"), raises=RuntimeError),
    S(apart(3, 3), T(3), left=False, raises=RuntimeError),
    S(apart(2, 3, 3), T(5, 3, 3), raises=RuntimeError),
    S(T(2, 3), T(2, 3), raises=RuntimeError),
    S(T(3), T(3), raises=RuntimeError),
    S(T(3, 3, dtype="int64"), T(3, 2, dtype="int64"), raises=RuntimeError),
    S(T(3, 3, dtype="float16"), T(3, 2, dtype="float16"), raises=NotImplementedError),
]
REFUSED = [
    S(triangular(3, 3), T(2, 2), upper=False, raises=RuntimeError),
    S(T(2, 3), T(3, 2), upper=False, raises=RuntimeError),
    S(T(3), T(3, 2), upper=False, raises=RuntimeError),
    S(T(3, 3, dtype="int64"), T(3, 2, dtype="int64"), upper=True, raises=NotImplementedError),
]
SAMPLES = {
    "linalg_solve": [*SYSTEMS, S(SINGULAR, T(2, 2), raises=RuntimeError)],
    "linalg_solve_ex": [
        *SYSTEMS,
        S(SINGULAR, T(2, 2), check_errors=True, raises=RuntimeError),
    ],
    "linalg_solve_triangular": [
        *(S(triangular(3, 3, dtype=d), T(3, 2, dtype=d), upper=False) for d in DTYPES),
        S(triangular(3, 3, upper=True), T(3, 2), upper=True),
        S(triangular(3, 3, view="transposed"), T(3, 2), upper=False),
        S(triangular(3, 3, dtype="complex64", upper=True), T(2, 3, dtype="complex64"), upper=True,
          left=False),
        S(triangular(3, 3), T(3, 2), upper=False, unitriangular=True),
        S(triangular(3, 3), T(2, 3), upper=False, left=False, unitriangular=True),
        S(triangular(2, 3, 3), T(3, 2), upper=False),
        S(triangular(3, 3), T(2, 3, 2), upper=False),
        S(apart(3, 3), T(3, 2), upper=True),
        S(T(0, 3, 3), T(0, 3, 2), upper=True),
        S(T(values=[[0.0]]), T(values=[[1.0]]), upper=True, grad=False),
        *REFUSED,
    ],
    "triangular_solve": [
        *(S(T(3, 2, dtype=d), triangular(3, 3, dtype=d, upper=True)) for d in DTYPES),
        S(T(3, 2), triangular(3, 3), upper=False),
        S(T(3, 2), triangular(3, 3), False, True),
        S(T(3, 2, dtype="complex64"), triangular(3, 3, dtype="complex64"), False, True),
        S(T(3, 2), triangular(3, 3, upper=True), True, False, True),
        S(T(2, 3, 2), triangular(3, 3, upper=True)),
        S(T(0, 3, 2), T(0, 3, 3)),
        S(T(2, 2), triangular(3, 3), raises=RuntimeError),
        S(T(3), triangular(3, 3), raises=RuntimeError),
        S(T(3, 2, dtype="float64"), triangular(3, 3), raises=RuntimeError),
        S(T(3, 2), T(2, 3), raises=RuntimeError),
    ],
    "linalg_tensorsolve": [
        S(folded(6, 2, 3, dims=1), T(6)),
        S(folded(2, 3, 6), T(2, 3)),
        S(folded(6, 3, 2, dims=1, order=(1, 0, 2)), T(6), dims=(0, 2)),
        S(T(2, 3), T(2), raises=RuntimeError),
    ],
}  # fmt: skip
