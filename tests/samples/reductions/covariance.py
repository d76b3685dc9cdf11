"""Samples of covariances and correlations."""

from tests.samples import S, T

COUNTS = T(values=[1, 2, 1, 3], dtype="int64")

SAMPLES = {
    "cov": [
        S(T(3, 4)),
        S(T(4)),
        S(T(3, 4), correction=0),
        S(T(3, 4), fweights=COUNTS),
        S(T(3, 4), aweights=T(4, low=0.5)),
        S(T(3, 4), fweights=COUNTS, aweights=T(4, low=0.5)),
        S(T(4, 3, view="transposed")),
        S(T(3, 4, dtype="int64")),
        S(T(2, 3, dtype="complex64")),
        S(T(2, 2, 2), raises=RuntimeError),
        S(T(2, 3, dtype="bool"), raises=RuntimeError),
        S(T(3, 4), fweights=T(4), raises=RuntimeError),
        S(T(3, 4), aweights=COUNTS, raises=RuntimeError),
        S(T(3, 4), aweights=T(3, low=0.5), raises=RuntimeError),
    ],
    "corrcoef": [
        S(T(3, 4)),
        S(T(4), smooth=False),
        S(T(3, 4, dtype="int64")),
        S(T(2, 2, 2), raises=RuntimeError),
    ],
}
