"""The pseudoinverse and the rank: what of singular values counts as zero."""

import numpy as np

from imode import errors, ops
from imode._core.out import recorded
from imode._core.parallel import skipping
from imode._core.tensor import Tensor
from imode.kernels.decompositions import spectral
from imode.kernels.products.multiply import OneThread
from imode.ops.decompositions import checks, composites_fast
from imode.ops.decompositions.lu import mh
from imode.ops.reductions.dims import quiet
from imode.ops.schema import composite, op

_OF_RANK = checks.castable("imode.linalg.matrix_rank")
_OF_PINV = checks.castable("linalg.pinv")

_EPSILON = {char: float(np.finfo(char).eps) for char in checks.SERVED}

# ---- tolerances ----


def _tolerances(self, atol, rtol, name):
    """(atol, rtol): numbers or tensors, with the default where they are None."""
    for given, word in ((atol, "atol"), (rtol, "rtol")):
        if isinstance(given, Tensor) and given.is_complex():
            raise RuntimeError(
                f"{name}: {word} tensor of complex type is not supported. "
                f"Got {errors.linalg.scalar_name(given.dtype)}"
            )
    if rtol is None:
        if self.dtype.numpy.char not in checks.SERVED:
            raise errors.linalg.not_served(self.dtype)
        rtol = _EPSILON[self.dtype.numpy.char] * max(self.shape[-2:])
        if isinstance(atol, Tensor):
            rtol = ops.where(atol > 0, 0.0, rtol)
        elif atol is not None and atol > 0:
            rtol = 0.0
    return 0.0 if atol is None else atol, rtol


def _threshold(values, atol, rtol):
    """The larger of atol and rtol times the largest value, beside each matrix's values."""
    largest = values.amax(-1)
    if isinstance(atol, Tensor) or isinstance(rtol, Tensor):
        if not isinstance(atol, Tensor):
            atol = ops.full_like(largest, atol)
        return ops.maximum(atol.to(values.dtype), rtol * largest).unsqueeze(-1)
    return (rtol * largest).clamp(min=atol).unsqueeze(-1)


# ---- the rank ----


@op("_linalg_matrix_rank(Tensor self) -> Tensor", fast=spectral.rank, differentiable=False)
def _linalg_matrix_rank(self):
    checks.matrices(self, "imode.linalg.matrix_rank", "input")
    checks.served(self, "linalg_svd_cpu")
    _, values, _, info = spectral.svd(self, False, False)
    checks.completed(info, "linalg.svd", errors.linalg.no_singular_values)
    if not values.shape[-1]:
        return np.zeros(self.shape[:-2], np.int64)
    rtol = np.finfo(values.dtype).eps * max(self.shape[-2:])
    return (values > values.dtype.type(rtol) * values[..., :1]).sum(-1)


def _rank(self, atol, rtol, hermitian):
    name = "imode.linalg.matrix_rank"
    checks.matrices(checks.of(self), name, "input")
    if atol is rtol is None and not hermitian and self.dtype.numpy.char in checks.SERVED:
        return ops._linalg_matrix_rank(self)
    atol, rtol = _tolerances(self, atol, rtol, name)
    if not self.shape[-1] or not self.shape[-2]:
        return self.new_zeros(self.shape[:-2], dtype=ops.arange(0).dtype)
    values = ops.linalg_eigvalsh(self).abs() if hermitian else ops.linalg_svdvals(self)
    return (values.detach() > _threshold(values.detach(), atol, rtol)).sum(-1)


def _rank_by_both(self, atol, rtol, hermitian):
    """Return the ranks of matrices: how many singular values are above a threshold.

    It is the larger of `atol` and `rtol` times the largest singular value; where neither is given
    `rtol` is the larger size times the precision of the dtype. `hermitian`: of Hermitian matrices,
    which have eigenvalues.

    >>> imode.linalg_matrix_rank(imode.ones(2, 3))
    tensor(1)
    """
    return _rank(self, atol, rtol, hermitian)


def _rank_by_tolerance(self, tol, hermitian):
    """Return how many singular values are above `tol`."""
    return _rank(self, tol, 0.0, hermitian)


for _schema in (
    "linalg_matrix_rank.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, ",
    "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, ",
):
    composite(f"{_schema}bool hermitian=False) -> Tensor", variants="function out", out=_OF_RANK)(
        _rank_by_both
    )
for _schema in (
    "linalg_matrix_rank(Tensor self, float tol, ",
    "linalg_matrix_rank.tol_tensor(Tensor self, Tensor tol, ",
):
    composite(f"{_schema}bool hermitian=False) -> Tensor", variants="function out", out=_OF_RANK)(
        _rank_by_tolerance
    )

# ---- the pseudoinverse ----


def pinv_backward(grad, self, result):
    A, inverse, adjoint = self, result, mh(result)
    turned = mh(grad)
    if A.shape[-2] <= A.shape[-1]:
        K = turned @ inverse
        both = K @ adjoint
        return (
            -mh(inverse @ K) + both - (A @ inverse) @ both + (adjoint @ inverse) @ (turned - K @ A)
        )
    K = inverse @ turned
    both = adjoint @ K
    return -mh(K @ inverse) + (turned - A @ K) @ inverse @ adjoint + both - (both @ inverse) @ A


def _inverted(values, size, atol, rtol):
    """The reciprocals of the values whose size is above the threshold, 0 for the others."""
    threshold = np.maximum(atol, rtol * size.max(-1))[..., None]
    kept = size > threshold.astype(values.dtype)
    return np.where(kept, 1 / np.where(kept, values, 1), values.dtype.type(0))


@op(
    "_linalg_pinv(Tensor self, any atol, any rtol, bool hermitian=False) -> Tensor",
    fast=spectral.pinv,
    derivative={"self": pinv_backward},
    name="LinalgPinvBackward0",
)
@quiet
def _linalg_pinv(self, atol, rtol, hermitian):
    checks.matrices(self, "linalg.pinv")
    checks.served(self, "linalg_svd_cpu")
    if hermitian:
        checks.square(self, "linalg.eigh")
    if not self.size:
        return np.empty((*self.shape[:-2], self.shape[-1], self.shape[-2]), self.dtype)
    if hermitian:
        values, U, info = spectral.eigh(self, False, True)
        checks.completed(info, "linalg.eigh", errors.linalg.no_eigenvalues)
        V, size = U, np.abs(values)
    else:
        U, values, Vh, info = spectral.svd(self, False, True)
        checks.completed(info, "linalg.svd", errors.linalg.no_singular_values)
        V, size = Vh.swapaxes(-1, -2).conj(), values
    if skipping():
        return np.empty((*self.shape[:-2], self.shape[-1], self.shape[-2]), self.dtype)
    with OneThread():
        return (V * _inverted(values, size, atol, rtol)[..., None, :]) @ U.swapaxes(-1, -2).conj()


def _check_pinv(self):
    if self.dim() < 2 or self.dtype.numpy.char not in checks.SERVED:
        shape = ", ".join(map(str, self.shape))
        raise RuntimeError(
            f"linalg.pinv({errors.linalg.scalar_name(self.dtype)}{{[{shape}]}}): expected a tensor "
            "with 2 or more dimensions of float, double, cfloat or cdouble types"
        )


def _pinv(self, atol, rtol, hermitian):
    for given, word in ((atol, "atol"), (rtol, "rtol")) if atol is not rtol else ():
        if isinstance(given, Tensor) and recorded((given,)):
            raise errors.graph.constant_argument("linalg_pinv", word)
    if atol is None or rtol is not None:
        _check_pinv(self)
    limits = _tolerances(self, atol, rtol, "imode.linalg.pinv")
    plain = (checks.array(t) if isinstance(t, Tensor) else t for t in limits)
    return ops._linalg_pinv(self, *plain, hermitian)


def _pinv_by_both(self, atol, rtol, hermitian):
    """Return the pseudoinverses of matrices (*, m, n), (*, n, m).

    Singular values that are not above a threshold count as 0: the larger of `atol` and `rtol` times
    the largest one; where neither is given `rtol` is the larger size times the precision of the
    dtype. `hermitian`: of Hermitian matrices, which have eigenvalues.

    >>> imode.linalg_pinv(imode.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    return _pinv(self, atol, rtol, hermitian)


def _pinv_by_rcond(self, rcond, hermitian):
    """Return the pseudoinverses; `rcond` is `rtol`."""
    return _pinv(self, 0.0, rcond, hermitian)


for _schema in (
    "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, ",
    "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, ",
):
    composite(
        f"{_schema}bool hermitian=False) -> Tensor",
        fast=composites_fast.pinv,
        variants="function out",
        out=_OF_PINV,
    )(_pinv_by_both)
for _schema in (
    "linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
    "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
):
    composite(_schema, variants="function out", out=_OF_PINV)(_pinv_by_rcond)


@composite("pinverse(Tensor self, float rcond=1e-15) -> Tensor")
def pinverse(self, rcond):
    """Return the pseudoinverses; an older name.

    >>> imode.pinverse(imode.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return ops.linalg_pinv(self, rcond, False)
