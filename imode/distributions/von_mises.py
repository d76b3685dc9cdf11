"""The von Mises distribution."""

import math

import imode

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]

# The modified Bessel functions of orders 0 and 1: polynomials, lowest power first, in (x / 3.75)²
# below 3.75 and in 3.75 / x above (M. Abramowitz and I. Stegun, 9.8.1 to 9.8.4).
_BELOW = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411),
)
_ABOVE = (
    (
        *(0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706),
        *(0.02635537, -0.01647633, 0.00392377),
    ),
    (
        *(0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967),
        *(-0.02895312, 0.01787654, -0.00420059),
    ),
)


def _polynomial(terms, x):
    result = terms[-1]
    for term in terms[-2::-1]:
        result = term + x * result
    return result


def _log_bessel(x, order):
    """The logarithm of a modified Bessel function of order 0 or 1, of positive numbers."""
    below = _polynomial(_BELOW[order], (x / 3.75) ** 2)
    if order == 1:
        below = x.abs() * below
    above = x - 0.5 * x.log() + _polynomial(_ABOVE[order], 3.75 / x).log()
    return imode.where(x < 3.75, below.log(), above)


class VonMises(Distribution):
    """Angles around `loc`, in radians; `concentration` is 1 / variance where it is large.

    Samples lie in [-π, π). They are drawn by rejection: D. Best and N. Fisher, "Efficient
    simulation of the von Mises distribution" (1979).

    >>> imode.distributions.VonMises(0.0, 1.0).log_prob(imode.tensor(0.0))
    tensor(-1.0738)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _expands = ("loc", "concentration")

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        log_density = self.concentration * imode.cos(value - self.loc)
        return log_density - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)

    def _proposal(self, concentration):
        """The parameter of the wrapped Cauchy numbers that are proposed."""
        tau = 1 + (1 + 4 * concentration**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * concentration)
        exact = (1 + rho**2) / (2 * rho)
        return imode.where(concentration < 1e-5, 1 / concentration + concentration, exact)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with imode.no_grad():
            loc, concentration = self.loc.double(), self.concentration.double()
            r = self._proposal(concentration)
            x = imode.empty(shape, dtype=loc.dtype, device=loc.device)
            done = imode.zeros(shape, dtype=imode.bool, device=loc.device)
            while not done.all():
                u = imode.rand((3, *shape), dtype=loc.dtype, device=loc.device)
                u1, u2, u3 = u.unbind()
                z = imode.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = concentration * (r - f)
                accept = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
                if accept.any():
                    x = imode.where(accept, (u3 - 0.5).sign() * f.acos(), x)
                    done = done | accept
            drawn = (x + math.pi + loc) % (2 * math.pi) - math.pi
            return drawn.to(self.loc.dtype)

    mean = mode = property(lambda self: self.loc, doc="The mean direction, `loc`.")

    @lazy_property
    def variance(self):
        """The circular variance: 1 minus the length of the mean of unit vectors."""
        ratio = _log_bessel(self.concentration, 1) - _log_bessel(self.concentration, 0)
        return 1 - ratio.exp()
