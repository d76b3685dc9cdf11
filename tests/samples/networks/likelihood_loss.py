"""Negative log-likelihoods."""

from tests.samples import S, T

_COUNTS = T(3, 4, low=0.5, high=5)

SAMPLES = {
    "poisson_nll_loss": [
        S(T(3, 4), _COUNTS, True, False, 1e-8, 1),
        S(T(3, 4), _COUNTS, True, True, 1e-8, 0),
        S(T(3, 4, low=1), _COUNTS, False, False, 1e-3, 2),
    ],
}
