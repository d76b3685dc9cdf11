"""Transforms of vectors and matrices."""

import math

import imode
from imode.nn.functional import logsigmoid, pad, softplus

from . import constraints
from ._transform import Plain, Transform, inside, too_few
from .utils import tril_matrix_to_vec, vec_to_tril_matrix


class SoftmaxTransform(Plain):
    """exp(x) as shares of 1 along the last axis; the inverse is the logarithm.

    >>> imode.distributions.SoftmaxTransform()(imode.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise too_few()
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Plain):
    """n numbers as n + 1 shares of 1: each breaks its part, by a sigmoid, off what is left.

    >>> imode.distributions.StickBreakingTransform()(imode.zeros(2))
    tensor([0.3333, 0.3333, 0.3333])
    """

    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = True

    @staticmethod
    def _offset(like, n):
        """log n ... log 1: what makes the shares of zeros equal."""
        return (n + 1 - like.new_ones(n).cumsum(-1)).log()

    def _call(self, x):
        z = inside(imode.sigmoid(x - self._offset(x, x.shape[-1])))
        left = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y):
        shares = y[..., :-1]
        left = (1 - shares.cumsum(-1)).clamp(min=imode.finfo(y.dtype).tiny)
        return shares.log() - left.log() + self._offset(y, shares.shape[-1])

    def log_abs_det_jacobian(self, x, y):
        x = x - self._offset(x, x.shape[-1])
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise too_few()
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        if len(shape) < 1:
            raise too_few()
        return shape[:-1] + (shape[-1] - 1,)


class CorrCholeskyTransform(Transform):
    """n (n - 1) / 2 numbers as the Cholesky factor of an n × n correlation matrix.

    Each row is a unit vector, made as by `StickBreakingTransform`, of signed numbers tanh(x).
    Source: D. Lewandowski, D. Kurowicka and H. Joe, "Generating random correlation matrices
    based on vines and extended onion method" (2009).

    >>> imode.distributions.CorrCholeskyTransform()(imode.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x):
        eps = imode.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)
        r = r + imode.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = pad(1 - imode.cumsum(y * y, dim=-1)[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        by_tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)
        return 0.5 * left.log().sum(-1) + by_tanh

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise too_few()
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (n, n)

    def inverse_shape(self, shape):
        if len(shape) < 2:
            raise too_few()
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


class LowerCholeskyTransform(Plain):
    """Any square matrices as lower triangular ones with a positive diagonal, its exponential.

    >>> imode.distributions.LowerCholeskyTransform()(imode.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Plain):
    """Any square matrices as positive definite ones: L Lᵀ of `LowerCholeskyTransform`.

    >>> imode.distributions.PositiveDefiniteTransform()(imode.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x):
        x = LowerCholeskyTransform()(x)
        return x @ x.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(imode.linalg.cholesky(y))
