"""The multivariate normal distribution."""

import math

import imode

from . import constraints
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]

_LOG_2PI = math.log(2 * math.pi)


def _batch_mv(bmat, bvec):
    """Products of matrices with vectors."""
    return imode.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL, bx):
    """xᵀ (L Lᵀ)⁻¹ x of batches, where that of x may be longer and broadcast to that of L.

    Each matrix is solved once for all vectors that belong to it.
    """
    n, batch = bx.size(-1), bx.shape[:-1]
    outer, own = len(batch) - (bL.dim() - 2), bL.dim() - 2
    # Axes of x: the outer ones, and in place of each axis of L's batch, (repeats, as long as L's).
    pairs = [(sx // sl, sl) for sl, sx in zip(bL.shape[:-2], batch[outer:], strict=True)]
    bx = bx.reshape(batch[:outer] + tuple(size for pair in pairs for size in pair) + (n,))
    last = outer + 2 * own
    repeats, ours = range(outer, last, 2), range(outer + 1, last, 2)
    bx = bx.permute(*range(outer), *repeats, *ours, last)
    flat = bL.reshape(-1, n, n)
    columns = bx.reshape(-1, flat.size(0), n).permute(1, 2, 0)
    solved = imode.linalg.solve_triangular(flat, columns, upper=False)
    m = solved.pow(2).sum(-2).t().reshape(bx.shape[:-1])
    back = (axis + i for i in range(own) for axis in (outer, outer + own))
    return m.permute((*range(outer), *back)).reshape(batch)


def _precision_to_scale_tril(P):
    """The Cholesky factor of the inverse: P = U Uᵀ with U upper triangular, and L = U⁻ᵀ."""
    factor = imode.linalg.cholesky(imode.flip(P, (-2, -1)))
    inverse = imode.transpose(imode.flip(factor, (-2, -1)), -2, -1)
    identity = imode.eye(P.shape[-1], dtype=P.dtype, device=P.device)
    return imode.linalg.solve_triangular(inverse, identity, upper=False)


def _half_log_det(factor):
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _check_loc(loc):
    if loc.dim() < 1:
        raise ValueError("loc must be at least one-dimensional.")


def _one_matrix(covariance_matrix, precision_matrix, scale_tril, error=ValueError):
    """The name of the matrix that is given, and it; raise the error where not one is."""
    given = {
        "covariance_matrix": covariance_matrix,
        "precision_matrix": precision_matrix,
        "scale_tril": scale_tril,
    }
    given = [(name, matrix) for name, matrix in given.items() if matrix is not None]
    if len(given) != 1:
        raise error(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        )
    return given[0]


def _factor(name, matrix):
    """The Cholesky factor of the covariance, given one of its forms."""
    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return imode.linalg.cholesky(matrix)
    return _precision_to_scale_tril(matrix)


class MultivariateNormal(Distribution):
    """Normal vectors of mean `loc`, given one of covariance, precision and Cholesky factor.

    Raises ValueError for none or several matrices, and for too few dimensions.

    >>> normal = imode.distributions.MultivariateNormal(imode.zeros(2), imode.eye(2))
    >>> normal.log_prob(imode.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _expands = ("loc", "covariance_matrix", "scale_tril", "precision_matrix")
    _keeps = ("_unbroadcasted_scale_tril",)

    def __init__(
        self,
        loc,
        covariance_matrix=None,
        precision_matrix=None,
        scale_tril=None,
        validate_args=None,
    ):
        _check_loc(loc)
        name, matrix = _one_matrix(covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            called = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{called} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = imode.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name] = matrix.expand(batch_shape + (-1, -1))
        self.loc = loc.expand(batch_shape + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _factor(name, matrix)

    def _square(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return self._square(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._square(imode.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return self._square(imode.cholesky_inverse(self._unbroadcasted_scale_tril))

    mean = mode = property(lambda self: self.loc, doc="The mean, `loc`.")

    @property
    def variance(self):
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        factor = self._unbroadcasted_scale_tril
        distance = _batch_mahalanobis(factor, value - self.loc)
        return -0.5 * (self._event_shape[0] * _LOG_2PI + distance) - _half_log_det(factor)

    def entropy(self):
        half = _half_log_det(self._unbroadcasted_scale_tril)
        entropy = 0.5 * self._event_shape[0] * (1.0 + _LOG_2PI) + half
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
