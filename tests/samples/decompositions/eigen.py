"""Samples of eigenvalues and eigenvectors.

Vectors are determined up to a sign or a phase: their values are compared by functions that do not
depend on it, in tests/conformance/test_decompositions.py. Of Hermitian matrices one triangle is
read, so differences of single elements do not give the gradient.
"""

from tests.samples import S, T
from tests.samples.decompositions.matrices import DTYPES, apart, definite

REFUSED = [
    S(T(3), raises=RuntimeError),
    S(T(2, 3), raises=RuntimeError),
    S(T(3, 3, dtype="float16"), raises=NotImplementedError),
]
INTEGERS = T(3, 3, dtype="int64")
NAN = T(values=[[float("nan"), 1.0], [1.0, 1.0]])
NOTHING = [S(T(0, 3, 3), grad=False), S(T(0, 0), grad=False)]
SYMMETRIC = T(values=[[1.0, 2.0, 0.0], [0.5, 2.0, 1.0], [1.0, 0.0, 4.0]], fixed=True)


def _eigvals(self):
    """What PyTorch's refuses, too, when it is recorded; else NaN may end its process."""
    import torch

    if not torch.isfinite(self).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return torch.linalg.eigvals(self)


SAMPLES = {
    "linalg_eigh": [
        *(S(definite(3, 3, dtype=dtype), values=False) for dtype in DTYPES),
        S(definite(3, 3), "U", values=False),
        S(SYMMETRIC, UPLO="u", values=False),
        S(definite(2, 3, 3), values=False),
        *NOTHING,
        S(definite(3, 3), "x", raises=RuntimeError),
        S(INTEGERS, raises=NotImplementedError),
        *REFUSED,
    ],
    "linalg_eigvalsh": [
        *(S(definite(3, 3, dtype=dtype), smooth=False) for dtype in DTYPES),
        S(SYMMETRIC, "U", smooth=False),
        S(SYMMETRIC, smooth=False),
        S(definite(2, 3, 3), smooth=False),
        *NOTHING,
        S(INTEGERS, raises=NotImplementedError),
        *REFUSED,
    ],
    "linalg_eig": [
        *(S(apart(3, 3, dtype=dtype), values=False) for dtype in DTYPES),
        S(apart(2, 3, 3), values=False),
        *NOTHING,
        S(INTEGERS, raises=RuntimeError),
        S(NAN, raises=RuntimeError),
        *REFUSED,
    ],
    "linalg_eigvals": [
        *(S(definite(3, 3, dtype=d), values=False, torch=_eigvals) for d in DTYPES),
        S(apart(2, 3, 3), values=False, torch=_eigvals),
        S(T(0, 0), grad=False),
        S(NAN, torch=_eigvals, raises=RuntimeError),
        S(INTEGERS, raises=RuntimeError),
        *REFUSED,
    ],
}
