"""Weights with a property: orthogonal, of a given norm, of largest singular value 1."""

from imode import no_grad, ops
from imode._core.tensor import Tensor

from .. import functional as F
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from . import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _tensor_of(module, name):
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


# ---- orthogonal ----------------------------------------------------------------------------------


def _identity(n, like):
    return ops.eye(n, dtype=like.dtype, device=like.device)


def _is_orthogonal(q):
    """Whether the columns are orthonormal, up to rounding."""
    n = q.shape[-1]
    eps = 10 * n * {4: 2**-23, 8: 2**-52}[q.element_size() // (2 if q.is_complex() else 1)]
    return bool(ops.allclose(q.mH @ q, _identity(n, q), atol=eps))


def _nearest_orthogonal(x):
    """The Q of a QR decomposition whose R has a positive diagonal."""
    factors, scales = ops.geqrf(x)
    q = ops.linalg_householder_product(factors, scales)
    return q * factors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    def __init__(self, weight, orthogonal_map, use_trivialization):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        wide = X.shape[-2] < X.shape[-1]
        if wide:
            X = X.mT
        n, k = X.shape[-2:]
        if self.orthogonal_map == "householder":
            vectors = X.tril(diagonal=-1)
            scales = 2.0 / (1.0 + (vectors * vectors).sum(dim=-2))
            q = ops.linalg_householder_product(vectors, scales)
            q = q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)  # its signs are constants
        else:
            q = self._by_skew(X.tril(), n, k)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _by_skew(self, lower, n, k):
        """The first columns of a function of a skew-symmetric matrix."""
        if n != k:
            beside = lower.new_zeros(n, n - k).expand(*lower.shape[:-2], -1, -1)
            lower = ops.cat([lower, beside], dim=-1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            q = ops.matrix_exp(skew)
        else:
            one = _identity(n, skew)
            q = ops.linalg_solve(one.add(skew, alpha=-0.5), one.add(skew, alpha=0.5))
        return q[..., :k] if n != k else q

    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {Q.shape}."
            )
        with no_grad():
            return self._based(Q) if hasattr(self, "base") else self._reflections(Q)

    def _reflections(self, Q):
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        wide = Q.shape[-2] < Q.shape[-1]
        factors, scales = ops.geqrf(Q.mT if wide else Q)
        signs = factors.diagonal(dim1=-2, dim2=-1)
        signs.sign_()
        signs[scales == 0.0] *= -1  # a reflection that LAPACK leaves out
        return factors.mT if wide else factors

    def _based(self, Q):
        kept = ops.zeros_like(Q)
        kept.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        if Q.shape[-2] < Q.shape[-1]:
            Q = Q.mT
        n, k = Q.shape[-2:]
        if n != k:
            more = ops.randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)
            Q = _nearest_orthogonal(ops.cat([Q, more], dim=-1))
        else:
            Q = Q.clone() if _is_orthogonal(Q) else _nearest_orthogonal(Q)
        self.base = Q
        return kept


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keep a matrix, or each of a batch, orthogonal (unitary); returns the module.

    orthogonal_map: "matrix_exp", "cayley" or "householder", by which it is computed from a free
    matrix; None chooses the first for squares and complex numbers, else the last.
    use_trivialization: relative to the matrix that was assigned last.

    Raises ValueError where there is no such tensor, fewer than two dimensions or no such map.

    >>> layer = imode.nn.utils.parametrizations.orthogonal(imode.nn.Linear(3, 3))
    >>> bool(imode.allclose(layer.weight @ layer.weight.T, imode.eye(3), atol=1e-5))
    True
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        plain = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
        orthogonal_map = "matrix_exp" if plain else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


# ---- norms of slices -----------------------------------------------------------------------------


def norms(v, dim):
    """The norm of each slice along `dim`, whose other sizes become 1; -1: of all, 0-dim."""
    if dim == -1:
        return v.norm(2)
    if dim not in (0, v.dim() - 1):
        return norms(v.transpose(0, dim), 0).transpose(0, dim)
    shape = [1] * v.dim()
    shape[dim] = v.shape[dim]
    if dim == 0:
        return v.contiguous().view(shape[0], -1).norm(2, 1).view(shape)
    return v.contiguous().view(-1, shape[-1]).norm(2, 0).view(shape)


def with_norms(v, g, dim):
    """The tensor, each slice along `dim` scaled to the norm that `g` holds."""
    return v * (g / norms(v, dim))


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return with_norms(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return norms(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Keep the norm of each slice along `dim` and its direction as two tensors; returns the module.

    dim: None for the norm of the whole. State dicts of the older `nn.utils.weight_norm` load.

    >>> layer = imode.nn.utils.parametrizations.weight_norm(imode.nn.Linear(2, 3))
    >>> layer.parametrizations.weight.original0.shape
    imode.Size([3, 1])
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(module, state_dict, prefix, *rest):
        old = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{i}"
                state_dict[new] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
    return module


# ---- the largest singular value ------------------------------------------------------------------


def slices_dim(module, dim):
    """Along which dimension a layer's weight has an output each, if `dim` does not say it."""
    if dim is not None:
        return dim
    return int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))


def as_matrix(weight, dim):
    """The weight as a matrix with a row for each slice along `dim`."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.dim()) if d != dim))
    return weight.flatten(1)


def check_iterations(n_power_iterations):
    """Refuse no steps of the power method."""
    if n_power_iterations <= 0:
        raise ValueError(
            "Expected n_power_iterations to be positive, but got "
            f"n_power_iterations={n_power_iterations}"
        )


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got "
                f"{dim})"
            )
        check_iterations(n_power_iterations)
        self.dim = dim % ndim
        self.eps = eps
        if ndim == 1:
            return
        self.n_power_iterations = n_power_iterations
        matrix = as_matrix(weight, self.dim)
        drawn = [matrix.new_empty(n).normal_(0, 1) for n in matrix.shape]
        for key, vector in zip(("_u", "_v"), drawn, strict=True):
            self.register_buffer(key, F.normalize(vector, dim=0, eps=eps))
        self._power_method(matrix, 15)

    def _power_method(self, matrix, n):
        """Bring both vectors nearer to the largest singular value's, in place."""
        with no_grad():
            for _ in range(n):
                self._u.copy_(F.normalize(ops.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(ops.mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Copies: the next call writes to the vectors.
        u, v = self._u.clone(), self._v.clone()
        return weight / ops.vdot(u, ops.mv(matrix, v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a weight by its largest singular value; returns the module.

    The value is followed by `n_power_iterations` steps of the power method in each call in
    training. dim: of the outputs; None for 1 of transposed convolutions, else 0.

    Raises ValueError where there is no such tensor, or no step.

    >>> layer = imode.nn.utils.parametrizations.spectral_norm(imode.nn.Linear(4, 3))
    >>> layer(imode.ones(4)).shape
    imode.Size([3])
    """
    weight = _tensor_of(module, name)
    made = _SpectralNorm(weight, n_power_iterations, slices_dim(module, dim), eps)
    return parametrize.register_parametrization(module, name, made)
