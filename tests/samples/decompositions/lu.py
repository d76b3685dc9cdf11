"""Samples of LU and of what is solved by it."""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart

ONE, TWO = T(values=[3, 2, 3], dtype="int32"), T(values=[[3, 2, 3], [1, 3, 3]], dtype="int32")
REFUSED = [
    S(T(3), raises=RuntimeError),
    S(T(3, 3, dtype="int64"), raises=NotImplementedError),
    S(T(3, 3, dtype="float16"), raises=NotImplementedError),
]
MATRICES = [
    *(S(apart(3, 3, dtype=dtype)) for dtype in DTYPES),
    S(apart(4, 3)),
    S(apart(3, 5)),
    S(apart(2, 3, 3)),
    S(apart(3, 3, view="transposed")),
    S(T(0, 3, 3)),
    S(T(0, 0)),
    S(T(2, 0, 3)),
]
SAMPLES = {
    "linalg_lu_factor": [
        *MATRICES,
        S(apart(3, 3), pivot=False, raises=RuntimeError),
        S(T(values=[[1.0, 1.0], [1.0, 1.0]]), raises=RuntimeError),
        *REFUSED,
    ],
    "linalg_lu_factor_ex": [
        *MATRICES,
        S(T(values=[[1.0, 1.0], [1.0, 1.0]]), grad=False),
        S(T(values=[[1.0, 1.0], [1.0, 1.0]]), check_errors=True, raises=RuntimeError),
        *REFUSED,
    ],
    "linalg_lu": [
        *MATRICES,
        S(apart(3, 3), pivot=False, raises=RuntimeError),
        *REFUSED,
    ],
    "lu": [
        S(apart(3, 3), variants=False),
        S(apart(2, 4, 3), variants=False),
        S(apart(3, 3), get_infos=True, variants=False),
        S(T(values=[[1.0, 1.0], [1.0, 1.0]]), grad=False, variants=False),
        S(T(3), raises=RuntimeError),
    ],
    "lu_unpack": [
        *(S(apart(3, 3, dtype=dtype), ONE) for dtype in DTYPES),
        S(apart(2, 3, 3), TWO),
        S(apart(4, 3), ONE),
        S(apart(3, 5), ONE),
        S(apart(2, 5, 3), TWO),
        S(apart(3, 3), ONE, unpack_data=False, grad=False),
        S(apart(3, 3), ONE, unpack_pivots=False),
        S(T(3, 3, dtype="int64"), ONE),
        S(T(0, 3, 3), T(0, 3, dtype="int32")),
        S(apart(3, 3), T(values=[1, 2, 3], dtype="int64"), raises=RuntimeError),
        S(T(3), ONE, raises=RuntimeError),
        S(apart(3, 3), T(values=[1, 2, 9], dtype="int32"), raises=RuntimeError),
    ],
    "linalg_lu_solve": [
        *(S(apart(3, 3, dtype=dtype), ONE, T(3, 2, dtype=dtype)) for dtype in DTYPES),
        *(
            S(apart(3, 3, dtype=dtype), ONE, T(*shape, dtype=dtype), left=left, adjoint=adjoint)
            for dtype in ("float64", "complex128")
            for shape, left in (((3, 2), True), ((2, 3), False))
            for adjoint in (False, True)
        ),
        S(apart(2, 3, 3), TWO, T(2, 3, 2)),
        S(apart(3, 3), ONE, T(2, 3, 2)),
        S(apart(2, 3, 3), TWO, T(3, 1)),
        S(T(0, 3, 3), T(0, 3, dtype="int32"), T(0, 3, 2)),
        S(apart(3, 3), ONE, T(2, 2), raises=RuntimeError),
        S(apart(3, 3), ONE, T(3, 2, dtype="float64"), raises=RuntimeError),
        S(apart(4, 3), ONE, T(3, 2), raises=RuntimeError),
        S(apart(3, 3), T(values=[1, 2, 3], dtype="int64"), T(3, 2), raises=RuntimeError),
        S(apart(2, 3, 3), ONE, T(3, 2), raises=RuntimeError),
    ],
    "lu_solve": [
        S(T(3, 2), apart(3, 3), ONE),
        S(T(2, 3, 2), apart(2, 3, 3), TWO),
        S(T(2, 2), apart(3, 3), ONE, raises=RuntimeError),
    ],
}
