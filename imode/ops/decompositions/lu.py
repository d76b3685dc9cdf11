"""LU with pivots: A = P L U, and systems that are solved by it."""

import numpy as np

from imode import errors, ops
from imode._core.parallel import skipping
from imode.kernels.decompositions import factor
from imode.ops.decompositions import checks
from imode.ops.decompositions.composites_fast import leading
from imode.ops.schema import Out, composite, conj, op


def mh(x):
    """The adjoint of each matrix."""
    return conj(x.transpose(-2, -1))


def _check(A, pivot, name):
    if A.ndim < 2:
        size = list(A.shape)
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {size} instead"
        )
    checks.served(A, "lu_cpu")
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def _lu_factor_ex(A, pivot, check_errors):
    _check(A, pivot, "imode.lu_factor")
    LU, pivots, info = factor.lu(A)
    if check_errors:
        checks.completed(info, "imode.linalg.lu_factor_ex", errors.linalg.zero_pivot)
    return LU, pivots, info


# ---- derivatives ----


def _solve_lower(L, B, unitriangular=True):
    return ops.linalg_solve_triangular(L, B, upper=False, unitriangular=unitriangular)


def _times_inverse_adjoint(X, U):
    """X U^-H for an upper triangular U."""
    return ops.linalg_solve_triangular(mh(U), X, upper=False, left=False)


def _lower_adjoint_solve(L, B):
    return ops.linalg_solve_triangular(mh(L), B, upper=True, unitriangular=True)


def lu_backward(gL, gU, P, L, U):
    """The gradient of A = P L U, given those of L and U, either of which may be None."""
    if gL is None and gU is None:
        return None
    m, n, k = L.shape[-2], U.shape[-1], L.shape[-1]
    gL = ops.zeros_like(L) if gL is None else gL
    gU = ops.zeros_like(U) if gU is None else gU
    L1, U1 = L.narrow(-2, 0, k), U.narrow(-1, 0, k)
    below = mh(L1) @ gL.narrow(-2, 0, k)
    above = gU.narrow(-1, 0, k) @ mh(U1)
    if n > k:
        U2, gU2 = U.narrow(-1, k, n - k), gU.narrow(-1, k, n - k)
        below = below - gU2 @ mh(U2)
    if m > k:
        L2, gL2 = L.narrow(-2, k, m - k), gL.narrow(-2, k, m - k)
        above = above - mh(L2) @ gL2
    inner = below.tril(-1) + above.triu()
    if m > k:
        inner = ops.cat((_lower_adjoint_solve(L1, inner), gL2), -2)
        return P @ _times_inverse_adjoint(inner, U1)
    inner = _times_inverse_adjoint(inner, U1)
    if n > k:
        inner = ops.cat((inner, gU2), -1)
    return P @ _lower_adjoint_solve(L1, inner)


def _lu_factor_backward(grad, LU, pivots, pivot):
    P, L, U = ops.lu_unpack(LU, pivots, unpack_pivots=pivot)
    k = L.shape[-1]
    return lu_backward(grad.narrow(-1, 0, k), grad.narrow(-2, 0, k), P, L, U)


op(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    _lu_factor_ex,
    fast=factor.lu_factor_ex,
    derivative={"A": _lu_factor_backward},
    variants="function out",
    out=Out("same"),
    doc="""Return L and U in one matrix, the exchanges of rows, and where U has a zero.

    For matrices (*, m, n) of float32, float64 and complex numbers; `pivots` counts rows from 1, in
    int32. `info` is 0, or the place of the first zero on the diagonal of U.

    >>> imode.linalg_lu_factor_ex(imode.tensor([[0.0, 1.0], [2.0, 3.0]])).pivots
    tensor([2, 2], dtype=imode.int32)
    """,
)


@composite(
    "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
    fast=leading("linalg_lu_factor_ex", 2, 2),
    variants="function out",
    out=Out("same", name="linalg_lu_factor_ex"),
    named=True,
)
def linalg_lu_factor(A, pivot):
    """Return L and U in one matrix, and the exchanges of rows, counted from 1.

    Raises RuntimeError where U has a zero on its diagonal.

    >>> imode.linalg_lu_factor(imode.tensor([[0.0, 1.0], [2.0, 3.0]])).LU
    tensor([[2., 3.],
            [0., 1.]])
    """
    LU, pivots, info = ops.linalg_lu_factor_ex(A, pivot=pivot)
    checks.completed(checks.array(info), "imode.linalg.lu_factor", errors.linalg.zero_pivot)
    return LU, pivots


def _lu_of(grads, P, L, U, pivot):
    return lu_backward(*grads, P, L, U)


def _linalg_lu(A, pivot):
    _check(A, pivot, "linalg.lu")
    return factor.lu_parts(A)


op(
    "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    _linalg_lu,
    fast=factor.lu_fast,
    derivative={"A": _lu_of},
    constant="P",
    variants="function out",
    out=Out("same"),
    doc="""Return a permutation, a lower and an upper triangular matrix whose product is A.

    For matrices (*, m, n) of float32, float64 and complex numbers.

    >>> imode.linalg_lu(imode.tensor([[0.0, 1.0], [2.0, 3.0]])).P
    tensor([[0., 1.],
            [1., 0.]])
    """,
)


@composite(
    "_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    named=True,
)
def _lu_with_info(self, pivot, check_errors):
    return ops.linalg_lu_factor_ex(self, pivot=pivot)  # checked by no one, as in PyTorch


@composite(
    "lu(Tensor A, bool pivot=True, bool get_infos=False) -> Tensor[]",
    variants="function method out",
)
def lu(A, pivot, get_infos, out=None):
    """Return L and U in one matrix, and the exchanges of rows; an older name.

    With `get_infos` also where U has a zero, which is no error.

    >>> imode.lu(imode.tensor([[0.0, 1.0], [2.0, 3.0]]))[1]
    tensor([2, 2], dtype=imode.int32)
    """
    found = ops._lu_with_info(A, pivot, not get_infos)
    if not get_infos:
        found = found[:2]
    if out is None:
        return found if get_infos else tuple(found)
    if len(out) != len(found):
        raise TypeError(f"expected tuple of {len(found)} elements but got {len(out)}")
    return tuple(
        [Out("same", layout="rows").write(result, to, "lu") for result, to in zip(found, out)]
    )


# ---- L, U and P from what lu_factor gives ----


def _check_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots):
    if LU_data.ndim < 2:
        size = list(LU_data.shape)
        raise RuntimeError(
            f"imode.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {size} instead"
        )
    if unpack_pivots and LU_pivots.dtype != np.int32:
        raise RuntimeError(
            "imode.lu_unpack: LU_pivots is expected to be a contiguous tensor of imode.int32 dtype."
            "\nNote: this function is intended to be used with the output produced by "
            "imode.linalg.lu_factor"
        )
    m = LU_data.shape[-2]
    fit = LU_pivots.shape[-1] == min(LU_data.shape[-2:]) if LU_pivots.ndim else False
    if (
        unpack_pivots
        and LU_pivots.size
        and LU_data.size
        and not skipping()
        and not (fit and ((LU_pivots >= 1) & (LU_pivots <= m)).all())
    ):
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )


def _lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots):
    _check_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots)
    m, n = LU_data.shape[-2:]
    k, batch, dtype = min(m, n), LU_data.shape[:-2], LU_data.dtype
    P = L = U = np.empty(0, dtype)
    if unpack_pivots and skipping():
        P = np.empty((*batch, m, m), dtype)
    elif unpack_pivots:
        order = factor.permutation(LU_pivots, m)
        order = np.broadcast_to(order, (*batch, m)) if order.shape[:-1] != batch else order
        P = np.zeros((*batch, m, m), dtype)
        np.put_along_axis(P, order[..., None, :], 1, -2)
    if unpack_data:
        L = np.tril(LU_data[..., :k], -1)
        L[..., np.arange(k), np.arange(k)] = 1
        U = np.triu(LU_data[..., :k, :])
    return P, L, U


def _lu_unpack_backward(grads, LU_data_shape):
    gL, gU = grads
    if gL is None and gU is None:
        return None
    if gU is not None:
        gU = gU.triu()
    (m, n), k = LU_data_shape[-2:], min(LU_data_shape[-2:])
    like = gU if gL is None else gL
    parts = []
    if gL is not None:
        lower = gL.tril(-1)
        rest = like.new_zeros((*LU_data_shape[:-1], n - k))
        parts.append(ops.cat((lower, rest), -1) if n > k else lower)
    if gU is not None:
        rest = like.new_zeros((*LU_data_shape[:-2], m - k, n))
        parts.append(ops.cat((gU, rest), -2) if m > k else gU)
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


op(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) "
    "-> (Tensor P, Tensor L, Tensor U)",
    _lu_unpack,
    fast=factor.lu_unpack,
    derivative={"LU_data": _lu_unpack_backward},
    shows={
        "LU_data_sym_sizes": None,
        "LU_data_sym_argsize_minus_1": lambda LU_data_shape: LU_data_shape[-1],
        "LU_data_sym_argsize_minus_2": lambda LU_data_shape: LU_data_shape[-2],
    },
    constant="P",
    variants="function out",
    out=Out("same"),
    doc="""Return P, L and U of what `linalg.lu_factor` gives.

    Without `unpack_data` L and U are empty, without `unpack_pivots` P is.

    >>> imode.lu_unpack(*imode.linalg.lu_factor(imode.tensor([[0.0, 1.0], [2.0, 3.0]]))).L
    tensor([[1., 0.],
            [0., 1.]])
    """,
)

# ---- systems ----


def incompatible(name, A, B, left):
    """An error where B does not have as many rows (or columns) as A."""
    equation = "AX = B" if left else "XA = B"
    shapes = [f"{x.shape[-2]}x{x.shape[-1]}" for x in (A, B)]
    return RuntimeError(
        f"{name}: Incompatible shapes of A and B for the equation {equation} "
        f"({shapes[0]} and {shapes[1]})"
    )


def check_system(A, B, left, name):
    """Refuse right-hand sides that do not fit."""
    checks.matrices(B, name, "B")
    if A.shape[-2] != B.shape[-2 if left else -1]:
        raise incompatible(name, A, B, left)


def _check_lu_solve(LU, pivots, B, left):
    checks.floating(LU, "imode.linalg.lu_solve")
    checks.same_dtype(LU, B, "linalg.lu_solve", "LU and B")
    if pivots.dtype != np.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type imode.int32")
    checks.square(LU, "imode.linalg.lu_solve")
    check_system(LU, B, left, "linalg.lu_solve")
    if LU.shape[:-1] != pivots.shape:
        raise RuntimeError(
            "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got "
            f"pivots with shape {list(pivots.shape)} instead"
        )
    checks.served(LU, "linalg.lu_solve_cpu")


def solve_by_lu(LU, pivots, B, left, adjoint):
    """The solutions by factors, each of matrices that are broadcast."""
    B, LU = checks.spread(B, LU)
    pivots = np.broadcast_to(pivots, LU.shape[:-1])
    return factor.lu_solve(LU, np.ascontiguousarray(pivots), B, left, adjoint)


def _lu_solve(LU, pivots, B, left, adjoint):
    _check_lu_solve(LU, pivots, B, left)
    return solve_by_lu(LU, pivots, B, left, adjoint)


def _lu_solve_by_matrix(grad, LU, pivots, result, left, adjoint):
    """The gradient of LU: that of A = P L U, brought back to L and U."""
    gB = ops.linalg_lu_solve(LU, pivots, grad, left=left, adjoint=not adjoint)
    X = result
    if left:
        gA = X @ mh(gB) if adjoint else gB @ mh(X)
    else:
        gA = mh(gB) @ X if adjoint else mh(X) @ gB
    P, L, U = ops.lu_unpack(LU, pivots)
    of_product = -(P.mT @ gA)
    return (of_product @ mh(U)).tril(-1) + (mh(L) @ of_product).triu()


op(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) "
    "-> Tensor",
    _lu_solve,
    fast=factor.lu_solve_fast,
    derivative={
        "LU": _lu_solve_by_matrix,
        "B": lambda grad, LU, pivots, left, adjoint: ops.linalg_lu_solve(
            LU, pivots, grad, left=left, adjoint=not adjoint
        ),
    },
    variants="function out",
    out=Out("same"),
    doc="""Solve A X = B, or X A = B where not `left`, given what `linalg.lu_factor` gives of A.

    With `adjoint`, the adjoint of A takes its place.

    >>> factors = imode.linalg.lu_factor(imode.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> imode.linalg_lu_solve(*factors, imode.ones(2, 1))
    tensor([[0.5000],
            [0.2500]])
    """,
)


@composite(
    "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
    variants="function method out",
)
def lu_solve(self, LU_data, LU_pivots, out=None):
    """Solve A X = self, given what `linalg.lu_factor` gives of A; an older name.

    >>> factors = imode.linalg.lu_factor(imode.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> imode.ones(2, 1).lu_solve(*factors)
    tensor([[0.5000],
            [0.2500]])
    """
    return ops.linalg_lu_solve(LU_data, LU_pivots, self, out=out)
