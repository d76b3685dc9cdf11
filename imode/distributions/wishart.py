"""The Wishart distribution."""

import math

import imode
from imode import Size, nan
from imode._core.user_frames import warn

from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import _factor, _half_log_det, _one_matrix
from .utils import lazy_property

__all__ = ["Wishart"]

_LOG_2 = math.log(2)


def _mvdigamma(x, p):
    """The derivative of the logarithm of the multivariate gamma function."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    steps = imode.arange(p, dtype=x.dtype, device=x.device).div(2)
    return imode.digamma(x.unsqueeze(-1) - steps.expand(x.shape + (-1,))).sum(-1)


class Wishart(ExponentialFamily):
    """X Xᵀ of `df` normal vectors X, given one of their covariance, precision, Cholesky factor.

    `df` is a number or a tensor, above the dimension - 1, else ValueError. Drawn by Bartlett's
    decomposition; samples that rounding made singular are drawn again.

    >>> imode.distributions.Wishart(3, covariance_matrix=imode.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _expands = (
        *("_unbroadcasted_scale_tril", "df", "covariance_matrix", "scale_tril"),
        *("precision_matrix", "_dist_chi2"),
    )

    def __init__(
        self,
        df,
        covariance_matrix=None,
        precision_matrix=None,
        scale_tril=None,
        validate_args=None,
    ):
        name, matrix = _one_matrix(covariance_matrix, precision_matrix, scale_tril, AssertionError)
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        options = {"dtype": matrix.dtype, "device": matrix.device}
        if isinstance(df, (int, float)):
            batch_shape = matrix.shape[:-2]
            self.df = imode.tensor(df, **options)
        else:
            batch_shape = imode.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = matrix.shape[-2:]
        p = event_shape[-1]
        if self.df.le(p - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {p - 1}.")
        self.__dict__[name] = matrix.expand(batch_shape + (-1, -1))
        if self.df.lt(p).any():
            warn(
                "Low df values detected. Singular samples are highly likely to occur for "
                "ndim - 1 < df < ndim.",
            )
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_scale_tril = self._square(_factor(name, matrix))
        steps = imode.arange(p, **options).expand(batch_shape + (-1,))
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - steps)

    @property
    def arg_constraints(self):
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def _square(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return self._square(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance of the vectors."""
        factor = self._unbroadcasted_scale_tril
        return self._square(factor @ factor.transpose(-2, -1))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        factor = self._unbroadcasted_scale_tril
        identity = imode.eye(self._event_shape[-1], device=factor.device, dtype=factor.dtype)
        return self._square(imode.cholesky_solve(identity, factor))

    def _df(self):
        """The degrees of freedom, with the axes of a matrix."""
        return self.df.view(self._batch_shape + (1, 1))

    @property
    def mean(self):
        return self._df() * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = nan
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        outer = imode.einsum("...i,...j->...ij", diagonal, diagonal)
        return self._df() * (covariance.pow(2) + outer)

    def _bartlett_sampling(self, sample_shape=()):
        p = self._event_shape[-1]
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=imode.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        i, j = imode.tril_indices(p, p, offset=-1)
        shape = Size(sample_shape) + self._batch_shape + (p * (p - 1) // 2,)
        noise[..., i, j] = imode.randn(shape, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.transpose(-2, -1)

    def _singular(self, sample):
        """Which samples rounding made singular; of a batch, where one of its matrices is."""
        singular = ~self.support.check(sample)
        dims = [-(i + 1) for i in range(len(self._batch_shape))]
        return singular.amax(dims) if dims else singular

    def rsample(self, sample_shape=(), max_try_correction=None):
        """Draw matrices; those that are singular again, up to `max_try_correction` (10) times."""
        # For the same seed as PyTorch's, which draws once more what is not singular.
        sample = self._bartlett_sampling(Size(sample_shape))
        again = imode.ones_like(self._singular(sample))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            drawn = self._bartlett_sampling(again[again].shape)
            sample[again] = drawn
            again[again.clone()] = self._singular(drawn)
            if not again.any():
                return sample
        warn("Singular sample detected.")
        return sample

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = imode.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (
            -nu * (p * _LOG_2 / 2 + _half_log_det(factor))
            - imode.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * imode.linalg.slogdet(value).logabsdet
            - trace / 2
        )

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        return (
            (p + 1) * (p * _LOG_2 / 2 + _half_log_det(self._unbroadcasted_scale_tril))
            + imode.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p)
            + nu * p / 2
        )

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        power = y + (p + 1) / 2
        log_det = imode.linalg.slogdet(-2 * x).logabsdet
        return power * (-log_det + _LOG_2 * p) + imode.mvlgamma(power, p=p)
