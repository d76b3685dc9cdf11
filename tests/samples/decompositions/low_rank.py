"""Samples of decompositions of matrices of low rank, by random projections."""

from tests.samples import S
from tests.samples.decompositions.matrices import apart

SAMPLES = {
    "svd_lowrank": [
        S(apart(5, 3), 2, values=False),
        S(apart(3, 5), 2, values=False),
        S(apart(2, 5, 3), q=3, niter=1, values=False),
        S(apart(5, 3), 2, M=apart(5, 3, seed=1), values=False),
    ],
    "pca_lowrank": [
        S(apart(5, 3), values=False),
        S(apart(5, 3), 2, center=False, values=False),
        S(apart(5, 3), 7, raises=ValueError),
        S(apart(5, 3), niter=-1, raises=ValueError),
    ],
}
