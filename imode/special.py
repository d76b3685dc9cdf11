"""PyTorch's torch.special: of gamma, error functions and Bessel's, orthogonal polynomials.

`airy_ai` and those of Bessel's functions that are not of the form i compute by scipy, which they
import when first called: `pip install 'imode[special]'` brings it.

>>> imode.special.expit(imode.tensor([0.0]))
tensor([0.5000])
"""

import imode as _imode

__all__ = [
    # exponentials and the like
    *("entr", "exp2", "expit", "expm1", "log1p", "log_softmax", "logit", "logsumexp", "round"),
    *("sinc", "softmax", "xlog1py", "xlogy"),
    # of the normal distribution
    *("erf", "erfc", "erfcx", "erfinv", "log_ndtr", "ndtr", "ndtri"),
    # gamma and zeta
    *("digamma", "gammainc", "gammaincc", "gammaln", "multigammaln", "polygamma", "psi", "zeta"),
    # Bessel's and Airy's
    *("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "i0", "i0e", "i1", "i1e"),
    *("modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1"),
    *("scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0"),
    # polynomials
    *("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v"),
    *("chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he"),
    *("laguerre_polynomial_l", "legendre_polynomial_p", "shifted_chebyshev_polynomial_t"),
    *("shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v"),
    *("shifted_chebyshev_polynomial_w",),
]


def __getattr__(name):
    """Return a function of the list above; it is loaded when first asked for."""
    if name not in __all__:
        raise _imode.errors.no_such_name(__name__, name)
    function = globals()[name] = getattr(_imode, f"special_{name}")
    return function


def __dir__():
    return sorted({*globals(), *__all__})
