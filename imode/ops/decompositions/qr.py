"""QR, and products of Householder's reflections."""

import numpy as np

from imode import errors, ops
from imode.kernels.decompositions import orthogonal
from imode.ops.decompositions import checks
from imode.ops.decompositions.lu import mh
from imode.ops.schema import Out, composite, conj, op

# ---- QR ----


def _check_mode(mode):
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            "or 'complete'"
        )


def _qr(A, mode):
    _check_mode(mode)
    checks.matrices(A, "linalg.qr")
    checks.floating(A, "linalg.qr")
    checks.served(A, "geqrf_cpu")
    Q, R = orthogonal.qr(A, mode == "complete", mode == "r")
    return np.empty(0, A.dtype) if Q is None else Q, R


def _qr_backward(grads, Q, R, mode):
    gQ, gR = grads
    if gQ is None and gR is None:
        return None
    m, n = Q.shape[-2] if mode != "r" else R.shape[-2], R.shape[-1]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
            "use linalg.qr(A, mode='reduced') if you are going to differentiate through "
            "linalg.qr."
        )
    if mode == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    gQ = ops.zeros_like(Q) if gQ is None else gQ
    gR = ops.zeros_like(R) if gR is None else gR
    if m >= n:
        return _tall_qr_backward(gQ, gR, Q, R)
    # The columns from m on are Q times those of R.
    rest = R.narrow(-1, m, n - m)
    of_rest = gR.narrow(-1, m, n - m)
    gQ = gQ + Q @ (rest @ mh(of_rest))
    first = _tall_qr_backward(gQ, gR.narrow(-1, 0, m), Q, R.narrow(-1, 0, m))
    return ops.cat((first, Q @ of_rest), -1)


def _tall_qr_backward(gQ, gR, Q, R):
    """(gQ + Q S) R^-H, where S is Hermitian, with the upper triangle of gR R^H - Q^H gQ."""
    inner = (gR @ mh(R) - mh(Q) @ gQ).triu()
    both = inner + mh(inner)
    both = both - 0.5 * both.diagonal(0, -2, -1).diag_embed()
    return ops.linalg_solve_triangular(mh(R), gQ + Q @ both, upper=False, left=False)


op(
    "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    _qr,
    fast=orthogonal.qr_fast,
    derivative={"A": _qr_backward},
    variants="function out",
    out=Out("same"),
    doc="""Return Q, whose columns are orthonormal, and an upper triangular R with A = Q R.

    For matrices (*, m, n). `mode`: "reduced", Q has min(m, n) columns; "complete", m; "r", Q is
    empty, and nothing can be differentiated.

    >>> imode.linalg_qr(imode.ones(3, 2)).R.shape
    imode.Size([2, 2])
    """,
)


@composite(
    "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    variants="function method out",
    named=True,
)
def qr(self, some, out=None):
    """Return Q and R with self = Q R; an older name of `linalg.qr`.

    >>> imode.qr(imode.ones(3, 2)).Q.shape
    imode.Size([3, 2])
    """
    return ops.linalg_qr(self, "reduced" if some else "complete", out=out)


# ---- reflections ----


@op(
    "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    derivative={"self": lambda grads: _no_derivative("geqrf")},
    real_only="geqrf",
    variants="function method out",
    out=checks.castable("imode.geqrf", "a", "tau"),
)
def _geqrf(self):
    """Return R with the reflections that make Q, and their factors.

    >>> imode.geqrf(imode.ones(3, 2)).tau.shape
    imode.Size([2])
    """
    if self.ndim < 2:
        raise errors.linalg.no_matrix("imode.geqrf")
    checks.served(self, "geqrf_cpu")
    return orthogonal.geqrf(self)


def _no_derivative(name):
    raise errors.graph.no_derivative(name)


def _check_reflections(input, tau, name):
    if input.ndim < 2:
        raise errors.linalg.no_matrix(name)
    return input.shape[-2:]


def _check_stack(input, tau, name):
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal "
            f"to {tau.ndim} and input.ndim is equal to {input.ndim}"
        )
    if input.shape[:-2] != tau.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )
    if input.dtype != tau.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {errors.dtypes.scalar_name(tau.dtype)} does not match input dtype "
            f"{errors.dtypes.scalar_name(input.dtype)}"
        )


def _householder_product(input, tau):
    name = "imode.linalg.householder_product"
    m, n = _check_reflections(input, tau, name)
    if m < n:
        raise RuntimeError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if tau.ndim and n < tau.shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    _check_stack(input, tau, name)
    checks.served(input, "orgqr_cpu")
    return orthogonal.householder_product(input, tau)


def _reflection(input, tau, i, adjoint):
    """The vector of a reflection, a column with a one, and its factor."""
    below = input.narrow(-1, i, 1).tril(-1 - i)
    one = input.new_zeros(input.shape[-2], 1)
    one[i] = 1
    factor = tau.narrow(-1, i, 1).unsqueeze(-1)
    return below + one, conj(factor) if adjoint else factor


def _reflect_backward(grad, input, tau, other, adjoint):
    """Gradients of `input` and `tau` of the reflections applied to `other`: of H_1 ... H_k other,
    or, with `adjoint`, of H_k^H ... H_1^H other."""
    k = tau.shape[-1]
    if not k or not input.numel():
        return None, None
    order = range(k) if adjoint else range(k - 1, -1, -1)
    states, state = [], other
    for i in order:
        states.append(state)
        v, factor = _reflection(input, tau, i, adjoint)
        state = state - factor * (v @ (mh(v) @ state))
    columns, factors = [None] * k, [None] * k
    for i, state in zip(reversed(order), reversed(states), strict=True):
        v, factor = _reflection(input, tau, i, adjoint)
        row, turned = mh(v) @ state, mh(v) @ grad
        by_factor = -(turned @ mh(row)).squeeze(-1)
        factors[i] = conj(by_factor) if adjoint else by_factor
        by_v = -(conj(factor) * (grad @ mh(row)) + factor * (state @ mh(turned)))
        columns[i] = by_v.tril(-1 - i)
        grad = grad - conj(factor) * (v @ turned)
    rest = input.shape[-1] - k
    if rest:
        columns.append(ops.zeros_like(input.narrow(-1, k, rest)))
    return ops.cat(columns, -1), ops.cat(factors, -1)


def _householder_backward(grad, input, tau, result, needs):
    start = ops.eye(*input.shape[-2:], dtype=input.dtype, device=input.device).expand(input.shape)
    return _reflect_backward(grad, input, tau, start, False)


op(
    "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    _householder_product,
    derivative={("input", "tau"): _householder_backward},
    variants="function out",
    out=checks.castable("imode.linalg.householder_product"),
    doc="""Return the first columns of a product of reflections, as `geqrf` gives them.

    >>> imode.linalg_householder_product(*imode.geqrf(imode.ones(3, 2))).shape
    imode.Size([3, 2])
    """,
)


@composite("orgqr(Tensor self, Tensor input2) -> Tensor", variants="function method out")
def orgqr(self, input2, out=None):
    """Return the first columns of a product of reflections; an older name.

    >>> imode.orgqr(*imode.geqrf(imode.ones(3, 2))).shape
    imode.Size([3, 2])
    """
    return ops.linalg_householder_product(self, input2, out=out)


def _check_ormqr(self, input2, input3, left):
    name = "imode.ormqr"
    _check_reflections(self, input2, name)
    if input3.ndim < 2:
        raise errors.linalg.no_matrix(name, "other")
    side = -2 if left else -1
    if input3.shape[side] < (input2.shape[-1] if input2.ndim else 0):
        raise RuntimeError(
            f"{name}: other.shape[{side}] must be greater than or equal to tau.shape[-1]"
        )
    if input3.shape[side] != self.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{side}] must be equal to input.shape[-2]")
    if input2.ndim and input2.shape[-1] != min(input3.shape[side], self.shape[-1]):
        raise RuntimeError(
            f"{name}: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"
        )
    _check_stack(self, input2, name)
    if self.ndim != input3.ndim:
        raise RuntimeError(
            f"{name}: Expected other to have the same number of dimensions as input, but got "
            f"other.ndim equal to {input3.ndim} and input.ndim is equal to {self.ndim}"
        )
    if self.shape[:-2] != input3.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(input3.shape[:-2])}"
        )
    if self.dtype != input3.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but input has dtype"
            f"{errors.dtypes.scalar_name(self.dtype)} and other has dtype "
            f"{errors.dtypes.scalar_name(input3.dtype)}"
        )


def _ormqr(self, input2, input3, left, transpose):
    _check_ormqr(self, input2, input3, left)
    checks.served(self, "ormqr_cpu")
    return orthogonal.ormqr(self, input2, input3, left, transpose)


def _ormqr_backward(grad, self, input2, input3, left, transpose, result, needs):
    of_other = ops.ormqr(self, input2, grad, left, not transpose) if needs[2] else None
    if not needs[0] and not needs[1]:
        return None, None, of_other
    if left:
        found = _reflect_backward(grad, self, input2, input3, transpose)
    else:
        found = _reflect_backward(mh(grad), self, input2, mh(input3), not transpose)
    return *found, of_other


op(
    "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) "
    "-> Tensor",
    _ormqr,
    derivative={("self", "input2", "input3"): _ormqr_backward},
    variants="function method out",
    out=Out(
        "same",
        "imode.ormqr: Expected input and result to have the same dtype, but input has dtype"
        "{Wanted} and result has dtype {Found}",
    ),
    doc="""Return Q input3, or input3 Q where not `left`; with the adjoint of Q where `transpose`.

    Q has all its columns, and is given by reflections and their factors, as `geqrf` does.

    >>> imode.ormqr(*imode.geqrf(imode.ones(3, 2)), imode.eye(3)).shape
    imode.Size([3, 3])
    """,
)
