"""Singular values and vectors, and what is a function of them: condition numbers."""

import math

from imode import errors, ops
from imode._core.out import recorded
from imode.kernels.decompositions import spectral
from imode.ops.composites_fast import where_unrecorded
from imode.ops.decompositions import checks
from imode.ops.decompositions.lu import mh
from imode.ops.schema import Out, composite, conj, op

# ---- singular values ----


def _check_svd(A, driver):
    checks.matrices(A, "linalg.svd")
    checks.floating(A, "linalg.svd")
    if driver is not None:
        raise RuntimeError(
            "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )
    checks.served(A, "linalg_svd_cpu")


def _svd(A, full_matrices, driver):
    _check_svd(A, driver)
    U, S, Vh, info = spectral.svd(A, full_matrices, True)
    checks.completed(info, "linalg.svd", errors.linalg.no_singular_values)
    return U, S, Vh


def _svdvals(A, driver):
    _check_svd(A, driver)
    _, S, _, info = spectral.svd(A, False, False)
    checks.completed(info, "linalg.svd", errors.linalg.no_singular_values)
    return S


def _skew(x):
    return x - mh(x)


def refuse_phase(diagonal, what, name):
    """Refuse a loss that depends on the phase of complex vectors, which is not determined."""
    imaginary = diagonal.detach().imag
    if not ops.allclose(imaginary, ops.zeros_like(imaginary), 1e-2, 1e-2):
        raise RuntimeError(
            f"{name}: The {what} in the complex case are specified up to multiplication by "
            "e^{i phi}. The specified loss function depends on this phase term, making it "
            "ill-defined."
        )


def _svd_backward(grads, A_shape, U, S, Vh, full_matrices):
    gU, gS, gVh = grads
    if gU is None and gS is None and gVh is None:
        return None
    k = min(A_shape[-2:])
    if full_matrices:  # the other columns are determined by these up to a rotation
        U, Vh = U.narrow(-1, 0, k), Vh.narrow(-2, 0, k)
        gU = gU if gU is None else gU.narrow(-1, 0, k)
        gVh = gVh if gVh is None else gVh.narrow(-2, 0, k)
    rows = S.unsqueeze(-2)
    if gU is None and gVh is None:
        return (
            (U * gS.unsqueeze(-2)) @ Vh
            if U.shape[-2] < Vh.shape[-1]
            else U @ (gS.unsqueeze(-1) * Vh)
        )
    uh = None if gU is None else mh(U) @ gU
    vh = None if gVh is None else Vh @ mh(gVh)
    if U.is_complex():
        _refuse_phases(uh, vh)
    inner = _inner_svd_gradient(uh, vh, gS, S)
    if gU is not None and U.shape[-2] > k:
        left = U @ inner + (gU - U @ uh) / rows
    else:
        left = U @ inner
    result = left @ Vh
    if gVh is not None and Vh.shape[-1] > k:
        result = result + (U / rows) @ (gVh - mh(vh) @ Vh)
    return result


def _refuse_phases(uh, vh):
    parts = [x.diagonal(0, -2, -1) for x in (uh, vh) if x is not None]
    refuse_phase(sum(parts[1:], parts[0]), "singular vectors", "svd_backward")


def _inner_svd_gradient(uh, vh, gS, S):
    """The gradient between U and V^H, from the products of these with their gradients."""
    rows, squares = S.unsqueeze(-2), S * S
    apart = squares.unsqueeze(-2) - squares.unsqueeze(-1)
    apart = apart + ops.ones_like(S).diag_embed()
    inner = None
    if uh is not None:
        inner = (_skew(uh) / apart) * rows
    if vh is not None:
        part = S.unsqueeze(-1) * (_skew(vh) / apart)
        inner = part if inner is None else inner + part
    if gS is not None:
        inner = inner + gS.diag_embed()
    if uh is not None and uh.is_complex():
        turned = uh.diagonal(0, -2, -1)
        inner = inner + ((turned - conj(turned)) / (2 * S)).diag_embed()
    return inner


op(
    "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) "
    "-> (Tensor U, Tensor S, Tensor Vh)",
    _svd,
    fast=spectral.svd_fast,
    derivative={"A": _svd_backward},
    shows={
        "A_sym_sizes": None,
        "S_sym_argsize_minus_1": lambda A_shape: min(A_shape[-2:]),
    },
    variants="function out",
    out=Out("same", name="_linalg_svd"),
    doc="""Return U, the singular values and V^H with A = U diag(S) V^H.

    For matrices (*, m, n) of float32, float64 and complex numbers. U is (*, m, m) and V^H
    (*, n, n), or (*, m, k) and (*, k, n) with k = min(m, n) where not `full_matrices`. Raises
    LinAlgError where the algorithm does not converge.

    >>> imode.linalg_svd(imode.tensor([[0.0, 2.0], [1.0, 0.0]])).S
    tensor([2., 1.])
    """,
)

_values_alone = op(
    "_linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
    _svdvals,
    fast=spectral.svdvals_fast,
    differentiable=False,
)


@composite(
    "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
    fast=where_unrecorded(_values_alone),
    variants="function out",
    out=Out("same", name="_linalg_svd"),
)
def linalg_svdvals(A, driver):
    """Return the singular values of matrices, the largest first.

    >>> imode.linalg_svdvals(imode.tensor([[0.0, 2.0], [1.0, 0.0]]))
    tensor([2., 1.])
    """
    if recorded((A,)):
        return ops.linalg_svd(A, False, driver=driver)[1]
    return ops._linalg_svdvals(A, driver=driver)


@composite(
    "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
    variants="function method out",
    named=True,
    out=Out("same", name="_linalg_svd"),
)
def svd(self, some, compute_uv):
    """Return U, the singular values and V with self = U diag(S) V^H; an older name.

    Without `compute_uv` U and V are zeros.

    >>> imode.svd(imode.tensor([[0.0, 2.0], [1.0, 0.0]])).S
    tensor([2., 1.])
    """
    if self.dim() < 2:
        raise RuntimeError(
            "linalg.svd: input should have at least 2 dimensions, but has "
            f"{self.dim()} dimensions instead"
        )
    if compute_uv:
        U, S, Vh = ops.linalg_svd(self, not some)
        return U, S, mh(Vh)
    S = ops.linalg_svdvals(self)
    m, n = self.shape[-2:]
    batch = self.shape[:-2]
    return (
        self.new_empty((*batch, m, m)).zero_(),  # a write that its version tells of
        S,
        self.new_empty((*batch, n, n)).mT.zero_(),
    )


# ---- condition numbers ----


def _no_condition(A):
    """The condition numbers of matrices without elements: zeros, whose version tells of a write."""
    return A.new_empty(A.shape[:-2], dtype=real_of(A)).zero_()


def _extreme(A, order):
    """The quotient of the first and the last singular value."""
    if not A.numel():
        return _no_condition(A)
    values = ops.linalg_svdvals(A)
    first, last = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
    return (first / last if order != -2 else last / first).squeeze(-1)


def _invalid_norm(p):
    return RuntimeError(f"linalg.cond got an invalid norm type: {p}")


def _cond(self, p):
    """Return the condition numbers of matrices: a norm of A times that of its inverse.

    `p`: the order of the norm, as of `linalg.matrix_norm`; None and 2 the quotient of the largest
    and the smallest singular value. Infinite where a matrix is singular.

    >>> imode.linalg_cond(imode.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor(2.)
    """
    if self.dim() < 2 and not isinstance(p, str):
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if isinstance(p, complex):
        raise _invalid_norm(p)
    if p in (None, 2, -2):
        return _extreme(self, p)
    if not isinstance(p, str) and abs(p) not in (1, math.inf):
        raise _invalid_norm(p)
    if not isinstance(p, str) and not self.numel():
        return _no_condition(self)
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise _invalid_norm(p)
    shown = p if isinstance(p, str) else int(p) if not math.isinf(p) else p
    checks.square(checks.of(self), f"linalg.cond(ord={shown})")
    if p == "nuc":
        values = ops.linalg_svdvals(self)
        return values.sum(-1) * values.reciprocal().sum(-1)
    return _cond_by_inverse(self, p)


def _cond_by_inverse(self, p):
    if not self.numel():
        return _no_condition(self)
    inverse, info = ops.linalg_inv_ex(self)
    inverse = inverse.masked_fill((info > 0).unsqueeze(-1).unsqueeze(-1), math.inf)
    norm = ops.linalg_matrix_norm(self, p)
    return (norm * ops.linalg_matrix_norm(inverse, p)).nan_to_num_(math.inf, math.inf, -math.inf)


def real_of(tensor):
    """The dtype of the parts of complex numbers, or of real ones themselves."""
    return tensor.dtype.to_real() if tensor.is_complex() else tensor.dtype


for _form in ("(Tensor self, Scalar? p=None)", ".p_str(Tensor self, str p)"):
    composite(
        f"linalg_cond{_form} -> Tensor", variants="function out", out=checks.castable("linalg.cond")
    )(_cond)
