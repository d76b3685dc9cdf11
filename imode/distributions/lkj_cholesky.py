"""The distribution of Lewandowski, Kurowicka and Joe over correlation matrices."""

import math

import imode
from imode import Size

from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices of density proportional to det^(concentration - 1).

    `dim`: the rows, at least 2, else ValueError. Drawn by the onion method of D. Lewandowski,
    D. Kurowicka and H. Joe, "Generating random correlation matrices based on vines and extended
    onion method" (2009).

    >>> imode.distributions.LKJCholesky(3, 0.5).sample().shape
    imode.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _expands = ("concentration", "_beta")
    _keeps = ("dim",)

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        like = self.concentration
        marginal = like + 0.5 * (dim - 2)
        offset = imode.arange(dim - 1, dtype=like.dtype, device=like.device)
        offset = imode.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(like.shape, Size((dim, dim)), validate_args)

    def sample(self, sample_shape=()):
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        shape = self._extended_shape(sample_shape)
        normal = imode.randn(shape, dtype=y.dtype, device=y.device).tril(-1)
        direction = normal / normal.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)
        w = imode.sqrt(y) * direction
        left = 1 - imode.sum(w**2, dim=-1)
        return w + imode.diag_embed(left.clamp(min=imode.finfo(w.dtype).tiny).sqrt())

    def log_prob(self, value):
        # The density of the factor is Π L_ii^order, over i from 2 on.
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = imode.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        power = imode.sum(order * diagonal.log(), dim=-1)
        rest = self.dim - 1
        alpha = self.concentration + 0.5 * rest
        constant = 0.5 * rest * math.log(math.pi) + imode.mvlgamma(alpha - 0.5, rest)
        return power - (constant - imode.lgamma(alpha) * rest)
