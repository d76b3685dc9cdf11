"""A few eigenvalues of large symmetric matrices, by products with them: `imode.lobpcg`.

The locally optimal block preconditioned conjugate gradient method: A. V. Knyazev, "Toward the
optimal preconditioned eigensolver" (2001), here "basic"; with an orthogonal basis, "ortho": J. A.
Duersch and others, "A robust and efficient implementation of LOBPCG" (2018), whose names the
variables have.
"""

import math

import imode
from imode.autograd import Function

__all__ = ["lobpcg"]


def lobpcg(
    A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None,
    tracker=None, ortho_iparams=None, ortho_fparams=None, ortho_bparams=None,
):  # fmt: skip
    """Return the k largest eigenvalues of A, and their eigenvectors as columns.

    A: a symmetric matrix (*, m, m), strided or sparse; with a positive definite B, those of A x =
    E B x. X: first vectors (*, m, n), at random where there are none, `n` of them. iK: a
    preconditioner. largest=False: the smallest ones. method: "ortho" or "basic". niter: how many
    steps at most, 1000; -1: as many as it takes to reach the tolerance `tol`. tracker: called with
    the solver after each step, which stops once `bvars["force_stop"]` is set.

    m is at least 3 n: raises ValueError otherwise. There is a gradient of a strided, real A without
    B, which is symmetric.

    >>> A = imode.diag(imode.arange(1.0, 31.0))
    >>> _ = imode.manual_seed(0)
    >>> imode.lobpcg(A, 2)[0].round()
    tensor([30., 29.])
    """
    rest = X, n, iK, niter, tol, largest, method, tracker, ortho_iparams, ortho_fparams
    if A.requires_grad or (B is not None and B.requires_grad):
        A = (A + A.mT) / 2
        B = (B + B.mT) / 2 if B is not None else None
        return LOBPCGAutogradFunction.apply(A, k, B, *rest, ortho_bparams)
    return _solve(A, k, B, *rest, ortho_bparams)


# ---- the gradient --------------------------------------------------------------------------------


class LOBPCGAutogradFunction(Function):
    """Eigenpairs, whose gradient knows what is orthogonal to them."""

    @staticmethod
    def forward(ctx, A, k, B, X, n, iK, niter, tol, largest, *rest):
        """Find the eigenpairs."""
        A = A if A.is_sparse else A.contiguous()
        B = B if B is None or B.is_sparse else B.contiguous()
        D, U = _solve(A, k, B, X, n, iK, niter, tol, largest, *rest)
        ctx.save_for_backward(A, B, D, U)
        return D, U

    @staticmethod
    def backward(ctx, D_grad, U_grad):
        """The gradient of A."""
        A, B, D, U = ctx.saved_tensors
        _expect_plain(A, B, ctx.needs_input_grad[2])
        Ut = U.mT
        gaps = D.unsqueeze(-2) - D.unsqueeze(-1)
        gaps.diagonal(dim1=-2, dim2=-1).fill_(math.inf)
        inner = imode.diag_embed(D_grad) + Ut @ U_grad * gaps**-1
        grad = U @ inner @ Ut
        if U.size(-1) < U.size(-2):
            grad = grad + _outside(A, D, U, U_grad) @ Ut
        return grad, *[None] * 13


def _expect_plain(A, B, needs_B):
    for kind, found in (
        ("sparse", A.is_sparse or (B is not None and B.is_sparse and needs_B)),
        ("complex", A.is_complex() or (B is not None and B.is_complex())),
    ):
        if found:
            raise ValueError(
                f"lobpcg.backward does not support {kind} input yet. Note that lobpcg.forward does "
                "though."
            )
    if B is not None:
        raise ValueError("lobpcg.backward does not support backward with B != I yet.")


def _outside(A, D, U, U_grad):
    """(D_i - A)^-1 of each column of a gradient, in the space that is orthogonal to U."""
    along = U @ U.mT
    one = imode.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    across = one - along
    columns = []
    for i in range(D.shape[-1]):
        shifted = D[..., i, None, None] * one - A
        inside = across @ shifted @ across + along  # invertible: outside of that space it is 1
        right = across @ U_grad[..., i : i + 1]
        columns.append(imode.linalg.solve(inside, right))
    return imode.cat(columns, -1)


# ---- the arguments -------------------------------------------------------------------------------


def _solve(
    A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None,
    tracker=None, ortho_iparams=None, ortho_fparams=None, ortho_bparams=None,
):  # fmt: skip
    if A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and A.shape != B.shape:
        raise AssertionError(f"A and B must have same shape, got {A.shape} vs {B.shape}")
    if tol is None:
        tol = {imode.float32: 1.2e-07, imode.float64: 2.23e-16}[_float_dtype(A)] ** 0.5
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X.shape[-1]
    if m < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than "
            f"3 x the number of requested eigenpairs (={n})"
        )
    iparams = {"m": m, "n": n, "k": k, "niter": 1000 if niter is None else niter}
    fparams, bparams = {"tol": tol}, {"largest": True if largest is None else largest}
    method = "ortho" if method is None else method
    if method == "ortho":
        names = "ortho_tol", "ortho_tol_drop", "ortho_tol_replace"
        iparams |= {"ortho_i_max": 3, "ortho_j_max": 3} | (ortho_iparams or {})
        fparams |= dict.fromkeys(names, tol) | (ortho_fparams or {})
        bparams |= {"ortho_use_drop": False} | (ortho_bparams or {})
    params = iK, iparams, fparams, bparams, method, tracker
    if A.dim() > 2:
        return _solve_each(A, B, X, *params)
    return _solve_one(A, B, X, *params)


def _float_dtype(A):
    kinds = imode.float16, imode.float32, imode.float64
    return A.dtype if A.dtype in kinds else imode.float32


def _solve_one(A, B, X, iK, iparams, *rest):
    m, n, k = (iparams[name] for name in "mnk")
    if X is None:
        X = imode.randn((m, n), dtype=_float_dtype(A), device=A.device)
    if X.dim() != 2 or X.shape != (m, n):
        raise AssertionError(f"X shape mismatch: got {X.shape}, expected {(m, n)}")
    worker = LOBPCG(A, B, X, iK, iparams, *rest)
    worker.run()
    return worker.E[:k], worker.X[:, :k]


def _solve_each(A, B, X, iK, iparams, *rest):
    """Of a batch, one matrix after the other."""
    batch, (m, k) = A.shape[:-2], (iparams["m"], iparams["k"])
    flat = [None if t is None else t.reshape(-1, *t.shape[-2:]) for t in (A, B, X)]
    E = imode.empty((len(flat[0]), k), dtype=_float_dtype(A), device=A.device)
    vectors = imode.empty((len(flat[0]), m, k), dtype=E.dtype, device=A.device)
    for i in range(len(E)):
        iparams["batch_index"] = i
        one = (None if t is None else t[i] for t in flat)
        E[i], vectors[i] = _solve_one(*one, iK, iparams, *rest)
    return E.reshape(*batch, k), vectors.reshape(*batch, m, k)


# ---- the solver ----------------------------------------------------------------------------------


def _times(A, X):
    """A @ X; None is the identity."""
    if A is None:
        return X
    return imode.sparse.mm(A, X) if A.is_sparse else A @ X


def _form(A, S):
    return S.mT @ _times(A, S)


def _eigenpairs(A, largest=False):
    E, Z = imode.linalg.eigh(A, UPLO="U")
    return (E.flip(-1), Z.flip(-1)) if largest else (E, Z)


class LOBPCG:
    """The solver: what a tracker sees.

    iparams, fparams, bparams: what was asked. ivars, fvars, bvars, tvars: numbers and tensors of
    the steps. X and E: the eigenpairs; R: what is left of A X - B X E; S: the space searched next.
    """

    def __init__(self, A, B, X, iK, iparams, fparams, bparams, method, tracker):
        self.A, self.B, self.X, self.iK = A, B, X, iK
        self.iparams, self.fparams, self.bparams = iparams, fparams, bparams
        self.method, self.tracker = method, tracker
        m, n = iparams["m"], iparams["n"]
        self.E, self.R = X.new_zeros(n), X.new_zeros(m, n)
        self.S = X.new_zeros(m, 3 * n)
        self.tvars, self.ivars = {}, {"istep": 0}
        self.fvars, self.bvars = {"_": 0.0}, {"_": False}

    def run(self):
        """Step until enough pairs have converged, or the steps are used up."""
        self.update()
        self.call_tracker()
        while not self.stop_iteration():
            self.update()
            self.call_tracker()

    def call_tracker(self):
        """Show a step to the tracker, if there is one."""
        if self.tracker is not None:
            self.tracker(self)

    def stop_iteration(self):
        """Whether no step follows."""
        stopped = self.bvars.get("force_stop", False)
        converged = self.ivars["converged_count"] >= self.iparams["k"]
        return stopped or self.ivars["iterations_left"] == 0 or converged

    def update(self):
        """Make a step."""
        first = self.ivars["istep"] == 0
        if first:
            X_norm = float(self.X.norm())
            for name, matrix in (("A_norm", self.A), ("B_norm", self.B)):
                self.fvars[name] = float(_times(matrix, self.X).norm()) * X_norm**-1
            self.fvars["X_norm"] = X_norm
            self.ivars["iterations_left"] = self.iparams["niter"]
            self.ivars["converged_count"] = self.ivars["converged_end"] = 0
        if self.method == "ortho":
            self._begin_ortho() if first else self._step_ortho()
        else:
            self._begin_basic() if first else self._step_basic()
        self.ivars["iterations_left"] -= 1
        self.ivars["istep"] += 1

    def update_residual(self):
        """Compute R."""
        self.R = _times(self.A, self.X) - _times(self.B, self.X) * self.E

    def update_converged_count(self):
        """Count the first pairs whose relative residual is below the tolerance."""
        E, X, R = self.E, self.X, self.R
        scale = self.fvars["A_norm"] + E[: X.shape[-1]].abs() * self.fvars["B_norm"]
        error = R.norm(2, (0,)) / (X.norm(2, (0,)) * scale)
        count = int((error < self.fparams["tol"]).long().cumprod(0).sum())
        before = self.ivars["converged_count"]
        if count < before:
            raise AssertionError(
                f"the number of converged eigenpairs (was {before}, got {count}) cannot decrease"
            )
        self.ivars["converged_count"], self.tvars["rerr"] = count, error
        return count

    def _search(self, P, find):
        """Set the space that is searched next: X, P and what `find` gives for the new residual."""
        n = self.iparams["n"]
        self.update_residual()
        converged = self.update_converged_count()
        self.S[:, :n] = self.X
        at = n
        if P is not None:
            at += P.shape[-1]
            self.S[:, n:at] = P
        W = find(self.R if P is None else self.R[:, converged:], at)
        self.ivars["converged_end"] = at + W.shape[-1]
        self.S[:, at : at + W.shape[-1]] = W

    def _searched(self):
        return self.S[:, self.ivars["converged_count"] : self.ivars["converged_end"]]

    # ---- basic

    def _pairs_in(self, S):
        """The eigenpairs in a space, by Rayleigh and Ritz: E and, as S @ Ri @ Z, the vectors."""
        Ri = self._get_rayleigh_ritz_transform(S)
        return *_eigenpairs(_form(_form(self.A, S), Ri), self.bparams["largest"]), Ri

    def _begin_basic(self):
        self.E[:], Z, Ri = self._pairs_in(self.X)
        self.X[:] = self.X @ (Ri @ Z)
        self._search(None, lambda R, at: _times(self.iK, R))

    def _step_basic(self):
        n, converged, S = self.iparams["n"], self.ivars["converged_count"], self._searched()
        E, Z, Ri = self._pairs_in(S)
        self.X[:, converged:] = S @ (Ri @ Z[:, : n - converged])
        self.E[converged:] = E[: n - converged]
        P = S @ (Ri @ Z[:, n : 2 * n - converged])
        self._search(P, lambda R, at: _times(self.iK, R))

    def _get_rayleigh_ritz_transform(self, S):
        """The triangular Ri by which S^T A S C = S^T B S C E becomes one without S^T B S."""
        SBS = _form(self.B, S)
        scale = SBS.diagonal(0, -2, -1) ** -0.5
        R = imode.linalg.cholesky(SBS * scale * scale[:, None], upper=True)
        return imode.linalg.solve_triangular(R, scale.diag_embed(), upper=True, left=False)

    # ---- ortho

    def _begin_ortho(self):
        _, Z, Ri = self._pairs_in(self.X)
        self.X = self.X @ (Ri @ Z)
        self._search(None, lambda R, at: self._get_ortho(R, self.X))

    def _step_ortho(self):
        n, converged, S = self.iparams["n"], self.ivars["converged_count"], self._searched()
        E, Z = _eigenpairs(_form(self.A, S), self.bparams["largest"])
        new = n - converged
        self.X[:, converged:] = S @ Z[:, :new]
        self.E[converged:] = E[:new]
        basis = imode.linalg.qr(Z[:new, new:].mT).Q
        P = S @ (Z[:, new:] @ basis)
        self._search(P, lambda R, at: self._get_ortho(R, self.S[:, :at]))

    def _get_svqb(self, U, drop, tau):
        """The columns of U made orthonormal by B; `drop`: without those that add too little."""
        if U.numel() == 0:
            return U
        UBU = _form(self.B, U)
        d = UBU.diagonal(0, -2, -1)
        kept = imode.where(d.abs() != 0.0)[0]
        if len(kept) < len(d):  # columns of zeros
            U = U[:, kept]
            if U.numel() == 0:
                return U
            UBU = _form(self.B, U)
            d = UBU.diagonal(0, -2, -1)
        scale = d**-0.5
        E, Z = _eigenpairs(UBU * scale[:, None] * scale)
        least = tau * E.abs().max()
        if drop:
            kept = imode.where(least < E)[0]
            E, Z, scale = E[kept], Z[:, kept], scale[kept]
        else:
            E.clamp_(min=least)
        return (U * scale) @ (Z * E**-0.5)

    def _get_ortho(self, U, V):
        """U made orthonormal and orthogonal to V, by B: of no columns where V has them all."""
        self.fvars = {key: value for key, value in self.fvars.items() if key[:6] != "ortho_"}
        self.ivars.pop("ortho_i", 0)
        self.ivars.pop("ortho_j", 0)
        tolerance, i, j = self.fparams["ortho_tol"], 0, 0
        BV_norm = float(_times(self.B, V).norm())
        VBU = V.mT @ _times(self.B, U)
        for i in range(self.iparams["ortho_i_max"]):
            U, BU, j = self._orthonormal(U - V @ VBU, i)
            if U.numel() == 0:
                break
            VBU = V.mT @ BU
            error = float(VBU.norm()) * (BV_norm * float(U.norm())) ** -1
            self.fvars[f"ortho_VBU_rerr[{i}]"] = error
            if error < tolerance:
                break
            if self.iparams["m"] < U.shape[-1] + V.shape[-1]:
                raise ValueError(
                    f"Overdetermined shape of U: #B-cols(={self.iparams['m']}) >= "
                    f"#U-cols(={U.shape[-1]}) + #V-cols(={V.shape[-1]}) must hold"
                )
        self.ivars["ortho_i"], self.ivars["ortho_j"] = i, j
        return U

    def _orthonormal(self, U, i):
        """Repeat `_get_svqb` until U is orthonormal enough: (U, B U, how often)."""
        drops, j, BU = self.bparams["ortho_use_drop"], 0, None
        for j in range(self.iparams["ortho_j_max"]):
            tau = self.fparams["ortho_tol_drop" if drops and j == 0 else "ortho_tol_replace"]
            U = self._get_svqb(U, drops and j > 0, tau)
            if U.numel() == 0:
                break
            BU = _times(self.B, U)
            R = U.mT @ BU - imode.eye(U.shape[-1], dtype=U.dtype, device=U.device)
            error = float(R.norm()) * float(BU.norm() * U.norm()) ** -1
            self.fvars[f"ortho_UBUmI_rerr[{i}, {j}]"] = error
            if error < self.fparams["ortho_tol"]:
                break
        return U, BU, j
