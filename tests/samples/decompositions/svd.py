"""Samples of singular values and vectors.

Vectors are determined up to a sign or a phase: their values are compared by functions that do not
depend on it, in tests/conformance/test_decompositions.py.
"""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart

INF = float("inf")
NAN = T(values=[[float("nan"), 1.0], [1.0, 1.0]])
SHAPES = [(3, 3), (4, 3), (3, 4), (2, 3, 3)]
REFUSED = [
    S(T(3), raises=RuntimeError),
    S(T(3, 3, dtype="int64"), raises=RuntimeError),
    S(T(3, 3, dtype="float16"), raises=NotImplementedError),
    S(NAN, raises=RuntimeError),
]
NOTHING = [S(T(0, 3, 3), grad=False), S(T(0, 0), grad=False), S(T(2, 0, 3), grad=False)]
SAMPLES = {
    "linalg_svd": [
        *(S(apart(3, 3, dtype=dtype), values=False) for dtype in DTYPES),
        *(S(apart(*shape), values=False, grad=False) for shape in SHAPES),
        *(S(apart(*shape), full_matrices=False, values=False) for shape in SHAPES),
        *NOTHING,
        S(apart(3, 3), driver="gesvd", raises=RuntimeError),
        *REFUSED,
    ],
    "svd": [
        S(apart(4, 3), values=False, variants=False),
        S(apart(3, 4), some=False, values=False, grad=False, variants=False),
        S(apart(3, 4), True, False, variants=False),
        S(T(3), raises=RuntimeError),
    ],
    "linalg_svdvals": [
        *(S(apart(3, 3, dtype=dtype)) for dtype in DTYPES),
        *(S(apart(*shape)) for shape in SHAPES),
        S(apart(40, 30), tol=(1e-3, 1e-3)),
        *NOTHING,
        *REFUSED,
    ],
    "linalg_cond": [
        *(S(apart(3, 3, dtype=dtype)) for dtype in DTYPES),
        *(S(apart(3, 3), p) for p in (2, -2, 1, -1, INF, -INF)),
        S(apart(4, 3)),
        S(apart(2, 3, 3), 1),
        S(T(values=[[1.0, 1.0], [1.0, 1.0]]), 1, grad=False),
        S(T(0, 3, 3)),
        S(T(0, 0)),
        S(apart(4, 3), 1, raises=RuntimeError),
        S(apart(3, 3), 3, raises=RuntimeError),
        S(T(3), raises=RuntimeError),
    ],
    "linalg_cond.p_str": [
        S(apart(3, 3), "fro"),
        S(apart(3, 3), "nuc"),
        S(apart(3, 3), "x", raises=RuntimeError),
    ],
}
