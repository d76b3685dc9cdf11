"""Student's t distribution."""

import math

import imode
from imode import inf, nan

from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import _standard_normal, broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """`loc` + `scale` times normal numbers, divided by the root of chi-squared ones over `df`.

    >>> imode.distributions.StudentT(3.0).variance
    tensor(3.)
    """

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _expands = ("df", "loc", "scale", "_chi2")

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self):
        mean = self.loc.clone(memory_format=imode.contiguous_format)
        mean[self.df <= 1] = nan
        return mean

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        df, finite = self.df, self.df > 2
        variance = df.clone(memory_format=imode.contiguous_format)
        variance[finite] = self.scale[finite].pow(2) * df[finite] / (df[finite] - 2)
        variance[(df <= 2) & (df > 1)] = inf
        variance[df <= 1] = nan
        return variance

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        normal = _standard_normal(shape, self.df.dtype, self.df.device)
        chi2 = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * imode.rsqrt(chi2 / self.df))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        df, y = self.df, (value - self.loc) / self.scale
        constant = (
            self.scale.log()
            + 0.5 * df.log()
            + 0.5 * math.log(math.pi)
            + imode.lgamma(0.5 * df)
            - imode.lgamma(0.5 * (df + 1.0))
        )
        return -0.5 * (df + 1.0) * imode.log1p(y**2.0 / df) - constant

    def entropy(self):
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = imode.lgamma(half) + math.lgamma(0.5) - imode.lgamma(more)
        slope = more * (imode.digamma(more) - imode.digamma(half))
        return self.scale.log() + slope + 0.5 * self.df.log() + log_beta
