"""Norms of vectors and matrices, and distances between tensors."""

import math

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.dispatch import is_grad_enabled
from imode._core.dtype import as_numpy
from imode._core.out import recorded
from imode._core.promotion import result_type
from imode._core.type_names import scalar_name
from imode.kernels.creation.copy import cast
from imode.kernels.reductions import pairs, renorm_fast, whole
from imode.kernels.reductions import reduce as fast
from imode.kernels.shapes.views import wrap_dim
from imode.ops.pointwise.common import check_sub
from imode.ops.products.linalg import bmm, mm
from imode.ops.reductions import composites_fast, dims, distances_fast
from imode.ops.reductions.dims import FLOATING, accumulate_type, reduced, restore
from imode.ops.schema import Out, composite, conj, op

# ---- vector norms ----


def _no_identity(self, order, dim, axes):
    """Refuse the largest or smallest of nothing."""
    shown = "inf" if order == math.inf else "-inf" if order == -math.inf else f"{order:g}"
    if dim is None or dim == ():
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {shown} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    for axis in axes:
        if self.shape[axis] == 0:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {shown} norm on the dimension {axis} "
                "because this dimension is empty and the operation does not have an identity"
            )


def _order(name, ord):
    if isinstance(ord, complex):
        raise RuntimeError(f"{name}: Expected a non-complex scalar as the order of norm.")
    return float(ord)


def _computing(name, given, dtype):
    """The dtype in which the norm of numbers of the dtype `given` is computed."""
    if given.kind not in FLOATING:
        raise errors.linalg.not_floating(name, given)
    if dtype is None:
        return given
    to = as_numpy(dtype)
    if to.kind not in FLOATING:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {scalar_name(to)}"
        )
    if given.kind == "c" and to.kind != "c":
        raise RuntimeError(
            f"{name}: dtype should be complex for complex inputs, but got {scalar_name(to)}"
        )
    if to.kind == "c" and given.kind != "c":
        raise RuntimeError(
            f"{name}: dtype should be real for real inputs, but got {scalar_name(to)}"
        )
    if result_type(given, to) != to:
        raise RuntimeError(
            f"{name}: the dtype of the input ({scalar_name(given)}) should be convertible without "
            f"narrowing to the specified dtype ({scalar_name(to)})"
        )
    return to


@dims.quiet
def vector_norm(self, ord, dim, keepdim, dtype):
    to = _computing("linalg.vector_norm", self.dtype, dtype)
    ord = _order("linalg.vector_norm", ord)
    axes = dims.wrap_all(dim, self.ndim)
    if (math.isinf(ord) or ord < 0) and self.size == 0:
        _no_identity(self, ord, dim, axes)
    real = np.dtype(to.char.lower()) if to.kind == "c" else to
    x = np.abs(cast(self, accumulate_type(to)))
    keep = {"axis": axes, "keepdims": keepdim}
    if ord == math.inf:
        norm = np.maximum.reduce(x, **keep)
    elif ord == -math.inf:
        norm = np.minimum.reduce(x, **keep)
    elif ord == 0:
        norm = np.add.reduce(x != 0, dtype=x.dtype, **keep)
    elif ord == 1:
        norm = np.add.reduce(x, **keep)
    elif ord == 2:
        norm = np.sqrt(np.add.reduce(x * x, **keep))
    elif all(self.shape[axis] == 1 for axis in axes):
        norm = np.maximum.reduce(x, **keep)  # of one number: the power might overflow
    else:
        power = x.dtype.type(ord)
        norm = np.power(np.add.reduce(np.power(x, power), **keep), 1 / power)
    return reduced(norm, real)


def norm_backward(grad, self, result, ord, dim, keepdim):
    """The gradient of (sum |x|^ord)^(1/ord) along `dim`, 0 where the norm has a kink at 0."""
    grad = restore(grad, dim, keepdim, self.dim())
    norm = restore(result, dim, keepdim, self.dim())
    if ord == 0:
        return None
    if ord == 1:
        return self.sgn() * grad
    if ord == 2:
        return grad * (self / norm).masked_fill_(norm == 0, 0)
    if math.isinf(ord):
        size = self.abs()
        mask = (size == norm).logical_or(size.isnan())
        count = mask.sum(dim, keepdim=True)
        return self.sgn() * ((grad / count) * mask)
    if ord < 1:
        power = self.abs().pow_(ord - 1).masked_fill_(self == 0, 0)
        return self.sgn() * power * grad * norm.pow(1 - ord)
    if ord < 2:
        power = self.abs().pow_(ord - 1)
        scaled = self.sgn() * power
    else:
        scaled = self * self.abs().pow_(ord - 2)
    return scaled * (grad / norm.pow(ord - 1)).masked_fill_(norm == 0, 0)


op(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
    "dtype? dtype=None) -> Tensor",
    vector_norm,
    fast=fast.vector_norm,
    derivative={"self": norm_backward},
    out=Out("same"),
    variants="function out",
    doc="""Return (sum |x| ** ord) ** (1 / ord), of all elements or along `dim`.

    `ord` inf and -inf give the largest and smallest |x|, 0 the number of elements that are not
    zero. Raises RuntimeError for integers and booleans.

    >>> imode.linalg_vector_norm(imode.tensor([3.0, 4.0]))
    tensor(5.)
    """,
)

# ---- norm, as it is mostly called ----


def _no_order(ord):
    return RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")


def _by_singular_values(self, ord, row, column, keepdim, dtype, out):
    """The sum of the singular values, the largest or the least."""
    rest = [axis for axis in range(self.dim()) if axis not in (row, column)]
    if self.dtype.numpy.char == "e":
        raise errors.linalg.low_precision("linalg.matrix_norm", self.dtype)
    if dtype is not None:
        self = self.to(dtype)
    in_order = (*rest, row, column) == tuple(range(self.dim()))
    if recorded((self,)) or not in_order:  # which the graph shows
        self = self.permute((*rest, row, column))
    values = ops.linalg_svdvals(self)
    if ord == "nuc":
        norm = ops.sum(values, -1, keepdim, out=None if keepdim else out)
    elif ord == 2 and not values.shape[-1]:
        norm = ops.sum(values.detach(), -1, keepdim, out=None if keepdim else out)
    else:
        norm = (ops.amax if ord > 0 else ops.amin)(
            values, (-1,), keepdim, out=None if keepdim else out
        )
    if not keepdim:
        return norm
    order = [*rest, row, column]
    norm = norm.unsqueeze(-1).permute([order.index(axis) for axis in range(self.dim())])
    return norm if out is None else Out().write(norm, out, "linalg_matrix_norm")


def _matrix_norm(self, ord, dim, keepdim, dtype, out=None):
    """Return a norm of matrices.

    `ord`: "fro", or 1, -1, inf, -inf: the extreme sum of |x| of a line, or 2, -2: the extreme
    singular value, or "nuc": the sum of these.

    >>> imode.linalg_matrix_norm(imode.ones(2, 2))
    tensor(2.)
    """
    if ord not in ("fro", "nuc") and (
        isinstance(ord, str) or abs(_order("linalg.matrix_norm", ord)) not in (1, 2, math.inf)
    ):
        raise _no_order(ord)
    if self.dim() < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    _computing("linalg.matrix_norm", self.dtype.numpy, dtype)
    if len(dim) != 2:
        raise RuntimeError("linalg.matrix_norm: dim must be a 2-tuple. Got " + str(dim))
    row, column = (wrap_dim(each, self.dim()) for each in dim)
    if row == column:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {dim}")
    real = dtype or (self.real if self.is_complex() else self).dtype
    if out is not None and out.dtype != real:
        raise RuntimeError(
            f"linalg.matrix_norm expected out tensor dtype {scalar_name(real)} but got: "
            f"{scalar_name(out.dtype)}"
        )
    if ord == "fro":
        return ops.linalg_vector_norm(self, 2, (row, column), keepdim, dtype=dtype, out=out)
    if ord in ("nuc", 2, -2):
        return _by_singular_values(self, ord, row, column, keepdim, dtype, out)
    summed, best = (row, column) if abs(ord) == 1 else (column, row)
    if not keepdim and best > summed:
        best -= 1
    sums = ops.linalg_vector_norm(self, 1.0, (summed,), keepdim, dtype=dtype)
    if ord > 0 and sums.shape[best] == 0:
        return ops.sum(sums.detach(), best, keepdim, out=out)
    return (ops.amax if ord > 0 else ops.amin)(sums, (best,), keepdim, out=out)


for _form, _fast in (
    ("(Tensor self, Scalar ord", None),
    (".str_ord(Tensor self, str ord='fro'", composites_fast.matrix_norm),
):
    composite(
        f"linalg_matrix_norm{_form}, int[] dim=(-2, -1), bool keepdim=False, *, "
        "dtype? dtype=None) -> Tensor",
        fast=_fast,
        variants="function out",
    )(_matrix_norm)


@composite(
    "norm(Tensor self, any p='fro', any dim=None, bool keepdim=False, dtype? dtype=None) -> Tensor",
    variants="function method out",
)
def norm(self, p, dim, keepdim, dtype, out=None):
    """Return the norm of order `p` of all elements or along `dim`; "fro" and None mean 2.

    >>> imode.norm(imode.tensor([3.0, 4.0]))
    tensor(5.)
    """
    axes = (dim,) if isinstance(dim, int) else None if dim is None else tuple(dim)
    if p is None or p == "fro":
        p = 2
    elif isinstance(p, str):
        return ops.linalg_matrix_norm(self, p, axes or (-2, -1), keepdim, dtype=dtype, out=out)
    return ops.linalg_vector_norm(self, p, axes, keepdim, dtype=dtype, out=out)


def _norm_of_either(self, ord, dim, keepdim, dtype):
    """Return a vector norm, or a matrix norm of a matrix or of two dimensions with an order.

    >>> imode.linalg_norm(imode.tensor([3.0, 4.0]))
    tensor(5.)
    """
    if ord is not None:
        if dim is not None and len(dim) not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
            )
        if dim is None and self.dim() not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
                f"Got {self.dim()}D."
            )
        if isinstance(ord, str) or (len(dim) if dim is not None else self.dim()) == 2:
            return ops.linalg_matrix_norm(self, ord, dim or (0, 1), keepdim, dtype=dtype)
        return ops.linalg_vector_norm(self, ord, dim, keepdim, dtype=dtype)
    return ops.linalg_vector_norm(self, 2.0, dim, keepdim, dtype=dtype)


for _form in ("(Tensor self, Scalar? ord=None", ".ord_str(Tensor self, str ord"):
    composite(
        f"linalg_norm{_form}, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None) "
        "-> Tensor",
        variants="function out",
    )(_norm_of_either)


# ---- distances ----


def _dist_backward(grad, self, other, result, p, needs):
    def slope():
        return norm_backward(grad, self - other, result, p, None, False)

    if p == 0:
        return None, None
    if is_grad_enabled():  # recorded apart, as in PyTorch
        to_other = -slope() if needs[1] else None
        return slope() if needs[0] else None, to_other
    part = slope()
    return part, -part if needs[1] else None


@op(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    fast=whole.dist,
    derivative={("self", "other"): _dist_backward},
)
@dims.quiet
def _dist(self, other, p):
    """Return the norm of order `p` of self - other.

    >>> imode.dist(imode.tensor([1.0, 1.0]), imode.tensor([4.0, 5.0]))
    tensor(5.)
    """
    check_sub(self, other)
    broadcast_shape(self.shape, other.shape)
    to = result_type(self, other)
    if to.kind not in dims.FLOATING:
        raise errors.dtypes.norm_of(to)
    self, other = self.astype(to, copy=False), other.astype(to, copy=False)
    return vector_norm(self - other, p, None, False, None)


def _check_cdist(dtype1, dtype2, p):
    for name, dtype in (("X1", dtype1), ("X2", dtype2)):
        if dtype.kind != "f":
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {scalar_name(dtype)}"
            )
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")


def _cdist_backward(grad, x1, x2, result, p, needs):
    if not result.numel():
        return ops.zeros_like(x1), ops.zeros_like(x2)
    if p == 0:
        return grad.new_zeros(x1.shape), grad.new_zeros(x2.shape)
    away = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if p == math.inf:  # each of several largest distances gets all of it
        largest = away.abs() == result.unsqueeze(-1)
        part = grad.unsqueeze(-1) * away.sgn() * largest
    else:
        part = norm_backward(grad, away, result, p, (-1,), False)
    if p == 1:  # whose slope, a sign, would not tell
        part = part.masked_fill(away.isnan(), math.nan)
    return part.sum(-2) if needs[0] else None, -part.sum(-3) if needs[1] else None


@op(
    "_cdist_forward(Tensor x1, Tensor x2, float p, str? compute_mode) -> Tensor",
    fast=pairs.cdist_forward,
    derivative={("x1", "x2"): _cdist_backward},
    shows={"p": lambda p: float(p)},
    name="CdistBackward0",
)
@dims.quiet
def _cdist(x1, x2, p, compute_mode):
    _check_cdist(x1.dtype, x2.dtype, p)
    if x1.dtype != x2.dtype and x1.size and x2.size:
        raise errors.dtypes.expected_scalar(x1.dtype, x2.dtype)
    away = x1[..., :, None, :] - x2[..., None, :, :]
    if away.size == 0:
        return np.zeros(away.shape[:-1], x1.dtype)
    if x1.dtype == np.float16:
        raise NotImplementedError("\"cdist\" not implemented for 'Half'")
    return vector_norm(away, p, (-1,), False, None)


def _euclidean_dist_backward(grad, x1, x2, result, needs):
    ratio = (grad / result).masked_fill(result == 0, 0)
    return (
        x1 * ratio.sum(-1, True) - ratio.matmul(x2) if needs[0] else None,
        x2 * ratio.sum(-2, False).unsqueeze(-1) - ratio.mT.matmul(x1) if needs[1] else None,
    )


@op(
    "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
    derivative={("x1", "x2"): _euclidean_dist_backward},
    fast=pairs.euclidean_dist,
)
def _euclidean_dist(x1, x2):
    """By |x|^2 + |y|^2 - 2 xy, all at once as one product of matrices."""
    square1, square2 = ((x * x).sum(-1, keepdims=True, dtype=x.dtype) for x in (x1, x2))
    left = np.concatenate([x1 * x1.dtype.type(-2), square1, np.ones_like(square1)], -1)
    right = np.concatenate([x2, np.ones_like(square2), square2], -1)
    stacks = [x.reshape(-1, *x.shape[-2:]) for x in (left, right.swapaxes(-1, -2))]
    squares = bmm(*stacks) if x1.ndim > 2 else mm(left, right.T)
    return np.sqrt(np.maximum(squares, 0)).reshape(*x1.shape[:-1], x2.shape[-2])


_MM = "use_mm_for_euclid_dist"
_COMPUTE_MODES = (f"{_MM}_if_necessary", _MM, f"donot_{_MM}")


@composite(
    f"cdist(Tensor x1, Tensor x2, float p=2.0, str? compute_mode='{_MM}_if_necessary') -> Tensor",
    fast=distances_fast.cdist,
    variants="function",
)
def cdist(x1, x2, p, compute_mode):
    """Return the distances of order `p` between the rows of two matrices, or stacks of them.

    >>> imode.cdist(imode.zeros(1, 2), imode.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    if compute_mode not in _COMPUTE_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.dim() < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.dim()}D")
    if x1.size(-1) != x2.size(-1):
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.size(-1)} X2: {x2.size(-1)}"
        )
    by_product = compute_mode == _MM or (
        compute_mode != f"donot_{_MM}" and max(x1.size(-2), x2.size(-2)) > 25
    )
    if p != 2 or not by_product or not x1.numel() or not x2.numel():
        return ops._cdist_forward(x1, x2, p, compute_mode)
    _check_cdist(x1.dtype.numpy, x2.dtype.numpy, p)
    batch = broadcast_shape(x1.shape[:-2], x2.shape[:-2])
    n = math.prod(batch)
    stacks = [x.expand(*batch, *x.shape[-2:]).contiguous().view(n, *x.shape[-2:]) for x in (x1, x2)]
    away = ops._euclidean_dist(*((x1, x2) if n == 1 else stacks))
    return away.view(*batch, x1.size(-2), x2.size(-2))


# ---- slices of bounded norm ---------------------------------------------------------------------


def _check_renorm(self, p, dim, maxnorm):
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    axis = wrap_dim(dim, self.ndim)
    return tuple([d for d in range(self.ndim) if d != axis])


@dims.quiet
def _renorm(self, p, dim, maxnorm):
    axes = _check_renorm(self, p, dim, maxnorm)
    if self.size == 0 and self.dtype.kind in dims.FLOATING:
        return np.empty(self.shape, self.dtype)
    wide = np.dtype(np.float32) if self.dtype == np.float16 else None
    norm = vector_norm(self, p, axes, True, wide)
    one = norm.dtype.type(1)
    factor = np.where(norm > maxnorm, norm.dtype.type(maxnorm) / (norm + 1e-7 * one), one)
    return reduced(self * factor, self.dtype)


def _renorm_backward(grad, self, p, dim, maxnorm):
    axes = [d for d in range(self.dim()) if d != wrap_dim(dim, self.dim())]
    p = float(p)
    norm = ops.linalg_vector_norm(self, p, axes, True)
    along = conj(self) * grad
    along = (along.real if along.is_complex() else along).sum(axes, keepdim=True)
    by_norm = norm_backward(along, self, norm, p, axes, True)
    inverse = (norm + 1e-7).reciprocal()
    scaled = maxnorm * inverse * (grad - inverse * by_norm)
    return ops.where(norm > maxnorm, scaled.to(grad.dtype), grad)


op(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    _renorm,
    fast=renorm_fast.renorm,
    derivative={"self": _renorm_backward},
    variants="function method inplace out",
    out=Out("self", errors.out.EXPECTED),
    doc="""Return the slices along `dim` with those scaled down whose `p`-norm exceeds `maxnorm`.

    Raises RuntimeError for integers, for fewer than two dimensions and for a `p` that is not
    positive.

    >>> imode.renorm(imode.tensor([[3.0, 4.0], [0.0, 1.0]]), 2, 0, 1)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """,
)
