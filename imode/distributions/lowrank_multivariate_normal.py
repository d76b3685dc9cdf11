"""The multivariate normal distribution whose covariance is diagonal, but for a low rank.

By Woodbury's identity and the matrix determinant lemma all is computed with the matrix of the low
rank, 1 + Wᵀ D⁻¹ W, whose Cholesky factor is `_capacitance_tril`.
"""

import math

import imode

from . import constraints
from .distribution import Distribution
from .multivariate_normal import _batch_mahalanobis, _batch_mv, _check_loc, _half_log_det
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _plus_identity(matrix):
    matrix = matrix.contiguous()
    n = matrix.size(-1)
    matrix.view(-1, n * n)[:, :: n + 1] += 1
    return matrix


def _batch_capacitance_tril(W, D):
    return imode.linalg.cholesky(_plus_identity(imode.matmul(W.mT / D.unsqueeze(-2), W)))


def _batch_lowrank_logdet(W, D, capacitance_tril):
    return 2 * _half_log_det(capacitance_tril) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W, D, x, capacitance_tril):
    low = _batch_mahalanobis(capacitance_tril, _batch_mv(W.mT / D.unsqueeze(-2), x))
    return (x.pow(2) / D).sum(-1) - low


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of mean `loc` and covariance W Wᵀ + D.

    W is `cov_factor`, D has the diagonal `cov_diag`. Raises ValueError for shapes that do not fit.

    >>> d = imode.distributions
    >>> d.LowRankMultivariateNormal(imode.zeros(2), imode.ones(2, 1), imode.ones(2)).variance
    tensor([2., 2.])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _expands = ("loc", "cov_diag", "cov_factor")
    _keeps = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        _check_loc(loc)
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(
                f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m"
            )
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            loc_, self.cov_factor, diag_ = imode.broadcast_tensors(
                loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1)
            )
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = loc_[..., 0], diag_[..., 0]
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)

    def _parts(self):
        return self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag

    def _square(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    mean = mode = property(lambda self: self.loc, doc="The mean, `loc`.")

    @lazy_property
    def variance(self):
        factor, diag = self._parts()
        return (factor.pow(2).sum(-1) + diag).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        factor, diag = self._parts()
        root = diag.sqrt().unsqueeze(-1)
        scaled = factor / root
        inner = _plus_identity(imode.matmul(scaled, scaled.mT))
        return self._square(root * imode.linalg.cholesky(inner))

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        factor, diag = self._parts()
        return self._square(imode.matmul(factor, factor.mT) + imode.diag_embed(diag))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        factor, diag = self._parts()
        scaled = factor.mT / diag.unsqueeze(-2)
        a = imode.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._square(imode.diag_embed(diag.reciprocal()) - a.mT @ a)

    def rsample(self, sample_shape=()):
        shape, loc = self._extended_shape(sample_shape), self.loc
        factor, diag = self._parts()
        low = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], loc.dtype, loc.device)
        own = _standard_normal(shape, loc.dtype, loc.device)
        return loc + _batch_mv(factor, low) + diag.sqrt() * own

    def _log_det(self):
        return _batch_lowrank_logdet(*self._parts(), self._capacitance_tril)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_lowrank_mahalanobis(
            *self._parts(), value - self.loc, self._capacitance_tril
        )
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self._log_det() + distance)

    def entropy(self):
        constant = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        entropy = 0.5 * (constant + self._log_det())
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
