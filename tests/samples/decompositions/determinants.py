"""Samples of determinants."""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart, definite

SINGULAR = T(values=[[1.0, 1.0], [1.0, 1.0]], fixed=True)
MATRICES = [
    *(S(apart(3, 3, dtype=dtype)) for dtype in DTYPES),
    S(apart(2, 3, 3)),
    S(apart(2, 2, seed=3)),
    S(apart(3, 3, view="transposed")),
    S(T(0, 3, 3)),
    S(T(0, 0)),
    S(T(2, 3), raises=RuntimeError),
    S(T(3), raises=RuntimeError),
    S(T(3, 3, dtype="int64"), raises=RuntimeError),
]
HALF = S(T(3, 3, dtype="float16"), raises=RuntimeError)
SAMPLES = {
    **{
        name: [
            *MATRICES,
            S(SINGULAR, smooth=False),
            S(T(3, 3, dtype="float16"), raises=NotImplementedError),
        ]
        for name in ("linalg_det", "det")
    },
    **{name: [*MATRICES, S(SINGULAR, grad=False), HALF] for name in ("linalg_slogdet", "slogdet")},
    "logdet": [
        *(S(definite(3, 3, dtype=d), smooth=d.startswith("float")) for d in DTYPES),
        S(apart(2, 3, 3), smooth=False),
        S(apart(2, 2, seed=3), smooth=False),
        S(T(0, 0)),
        S(T(2, 3), raises=RuntimeError),
        S(T(3), raises=RuntimeError),
        S(SINGULAR, grad=False),
        HALF,
    ],
}
