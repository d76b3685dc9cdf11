"""A few eigenvalues of large matrices: the same values, steps, gradients and errors."""

import numpy as np
import pytest

from .side_by_side import agrees, error

pytestmark = pytest.mark.filterwarnings("ignore")


def matrix(lib, m, seed=0, batch=(), dtype="float64"):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((*batch, m, m)))[0]
    values = np.linspace(1, 3, m) ** 3
    made = Q * values @ Q.swapaxes(-2, -1)
    return lib.from_numpy((made + made.swapaxes(-2, -1)) / 2).to(getattr(lib, dtype))


def shown(pairs):
    """Eigenvalues, and vectors whatever their signs: each LAPACK has its own."""
    E, X = pairs
    return [E, X.abs(), list(X.stride())]


@agrees
def test_eigenpairs(lib):
    seen = []
    for method in ("ortho", "basic", None):
        for options in (
            {}, {"largest": False}, {"k": 3}, {"k": 2, "n": 4}, {"k": 3, "niter": 4}, {"tol": 1e-3},
            {"B": matrix(lib, 40, 5)}, {"iK": matrix(lib, 40, 2).inverse(), "largest": False},
        ):  # fmt: skip
            lib.manual_seed(3)
            seen += [shown(lib.lobpcg(matrix(lib, 40), method=method, **options)), lib.rand(1)]
    first = matrix(lib, 40, 7)[:, :3].contiguous()
    seen += [shown(lib.lobpcg(matrix(lib, 40), X=first)), first]
    single = matrix(lib, 30, 1, dtype="float32")
    return [*seen, [lib.lobpcg(single, 2, tol=1e-3)[0]]]


@agrees
def test_batches_and_sparse(lib):
    seen = []
    for method in ("ortho", "basic"):
        lib.manual_seed(1)
        seen.append(shown(lib.lobpcg(matrix(lib, 20, 3, (2, 3)), 2, method=method)))
        X = matrix(lib, 20, 4, (2,))[..., :2]
        seen.append(shown(lib.lobpcg(matrix(lib, 20, 5, (2,)), X=X, method=method, niter=5)))
    band = lib.diag(lib.arange(1.0, 31.0).double()) + lib.diag(lib.ones(29).double(), 1)
    band = (band + band.mT) / 2
    for options in ({}, {"B": lib.eye(30, dtype=lib.float64).to_sparse()}):
        seen.append(shown(lib.lobpcg(band.to_sparse(), 2, tol=1e-10, **options)))
    return seen


@agrees
def test_trackers(lib):
    seen = []

    def tracker(worker):
        keys = sorted(key for key in worker.fvars if key[0] != "_")
        seen.append([dict(worker.ivars), sorted(worker.tvars), keys, worker.E.clone()])
        seen.append([worker.X.abs(), list(worker.R.shape), list(worker.S.shape)])
        if worker.ivars["istep"] == 3:
            worker.bvars["force_stop"] = True

    for options in (
        {}, {"method": "basic"}, {"ortho_bparams": {"ortho_use_drop": True}},
        {"ortho_iparams": {"ortho_i_max": 1}, "ortho_fparams": {"ortho_tol": 1e-3}},
    ):  # fmt: skip
        lib.manual_seed(3)
        seen.append(shown(lib.lobpcg(matrix(lib, 30), 2, tracker=tracker, **options)))
    parameters = []
    lib.lobpcg(matrix(lib, 9, 1, (2,)), 1, tracker=lambda w: parameters.append(
        [dict(w.iparams), dict(w.fparams), dict(w.bparams), w.method]))  # fmt: skip
    return [*seen, parameters]


@agrees
def test_gradients(lib):
    seen = []
    for m, k, batch, largest in ((12, 1, (), True), (12, 3, (), False), (9, 3, (2,), True)):
        lib.manual_seed(2)
        A = matrix(lib, m, 6, batch).requires_grad_()
        E, X = lib.lobpcg(A, k, largest=largest, tol=1e-13)
        seen += [E.grad_fn.name(), E.requires_grad]
        weights = matrix(lib, m, 8, batch)
        loss = (E * E).sum() + (X.mT @ weights @ X).diagonal(dim1=-2, dim2=-1).sin().sum()
        (grad,) = lib.autograd.grad(loss, A, create_graph=True)
        (second,) = lib.autograd.grad((grad * weights).sum(), A)
        seen += [grad.detach().round(decimals=6), second.round(decimals=3)]
    with lib.no_grad():
        seen.append(lib.lobpcg(matrix(lib, 9).requires_grad_(), 1)[0].requires_grad)
    return seen


@agrees
def test_refused(lib):
    A, one = matrix(lib, 9), matrix(lib, 9).requires_grad_()

    def back(*args, **options):
        E, _ = lib.lobpcg(*args, **options)
        E.sum().backward()

    return [
        error(lambda: lib.lobpcg(A, 4)), error(lambda: lib.lobpcg(A[:5]))[0],
        error(lambda: lib.lobpcg(A, B=matrix(lib, 8)))[0], error(lambda: back(one, B=A)),
        error(lambda: lib.lobpcg(A, X=A[:8, :2]))[0], error(lambda: lib.lobpcg(A[0]))[0],
        error(lambda: back(A.to_sparse().requires_grad_()))[0],
        error(lambda: lib.lobpcg(A.to(lib.complex64)))[0], error(lambda: lib.lobpcg(A.half()))[0],
    ]  # fmt: skip
