"""Functions of square matrices: powers and the exponential; and names that are only in linalg."""

import numpy as np

from imode import errors, ops
from imode._core.parallel import skipping
from imode.kernels.creation.copy import cast
from imode.kernels.decompositions import exponential, factor
from imode.kernels.products.multiply import OneThread
from imode.ops.composites_fast import passed_on
from imode.ops.decompositions import checks, composites_fast
from imode.ops.decompositions.lu import mh
from imode.ops.reductions.dims import quiet
from imode.ops.schema import composite, conj, op

# ---- powers ----


def _power(self, n):
    if n == 0:
        one = ops.eye(self.shape[-1], dtype=self.dtype, device=self.device)
        return self.clone(memory_format="contiguous_format").copy_(one)
    if n < 0:
        self, n = ops.linalg_inv(self), -n
        if n == 1:
            return self
    elif n == 1:
        return self.clone(memory_format="contiguous_format")
    if n == 3:
        return ops.matmul(ops.matmul(self, self), self)
    square = result = None
    while n:
        square = self if square is None else ops.matmul(square, square)
        if n % 2:
            result = square if result is None else ops.matmul(result, square)
        n //= 2
    return result


def _matrix_power(self, n):
    """Return the n-th power of square matrices; of their inverses where n is negative.

    >>> imode.matrix_power(imode.tensor([[1, 1], [0, 1]]), 3)
    tensor([[1, 3],
            [0, 1]])
    """
    checks.square(checks.of(self), "linalg.matrix_power")
    return _power(self, n)


for _name, _variants in (
    ("linalg_matrix_power", "function out"),
    ("matrix_power", "function method out"),
):
    composite(
        f"{_name}(Tensor self, int n) -> Tensor",
        fast=composites_fast.matrix_power,
        variants=_variants,
        out=checks.castable("matrix_power", layout="rows", name="matmul"),
    )(_matrix_power)

# ---- the exponential ----

# Coefficients of the Padé approximant of order 13 (Higham, 2005); the norm up to which it serves.
_PADE = (
    *(64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000),
    *(10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1),
)
_RADIUS = 5.371920351148152


def _exponential(A):
    """exp(A) by scaling and squaring, of a stack of matrices of float32 upwards."""
    n = A.shape[-1]
    norm = np.abs(A).sum(-2).max(-1) if A.size else np.zeros(A.shape[:-2])
    with np.errstate(all="ignore"):
        halvings = np.ceil(np.log2(np.maximum(norm / _RADIUS, 1)))
    halvings = np.where(np.isfinite(halvings), halvings, 0).astype(int)
    A = A * np.ldexp(A.real.dtype.type(1), -halvings)[..., None, None]
    A2 = A @ A
    A4 = A2 @ A2
    A6 = A4 @ A2
    eye = np.eye(n, dtype=A.dtype, like=A)
    b = [A.real.dtype.type(c / _PADE[0]) for c in _PADE]
    odd = (
        A6 @ (b[13] * A6 + b[11] * A4 + b[9] * A2) + b[7] * A6 + b[5] * A4 + b[3] * A2 + b[1] * eye
    )
    U = A @ odd
    V = A6 @ (b[12] * A6 + b[10] * A4 + b[8] * A2) + b[6] * A6 + b[4] * A4 + b[2] * A2 + eye
    result = factor.solve(V - U, V + U, True, False)[0]
    if skipping():
        return np.empty(A.shape, A.dtype)
    for i in range(int(halvings.max()) if halvings.size else 0):
        again = (halvings > i)[..., None, None]
        result = np.where(again, result @ result, result)
    return np.ascontiguousarray(result)


@quiet
def _matrix_exp(self):
    checks.square(self, "linalg.matrix_exp")
    checks.floating(self, "linalg.matrix_exp")
    wide = cast(self, np.float32) if self.dtype == np.float16 else self
    if not self.size:
        return np.empty(self.shape, self.dtype)
    with OneThread():
        return _exponential(wide).astype(self.dtype, copy=False)


def _matrix_exp_backward(grad, self):
    """The derivative of exp at A^H in the direction of the gradient: a block of exp of a matrix."""
    A, n = mh(self), self.shape[-1]
    upper = ops.cat((A, grad), -1)
    lower = ops.cat((ops.zeros_like(A), A), -1)
    return ops.linalg_matrix_exp(ops.cat((upper, lower), -2)).narrow(-2, 0, n).narrow(-1, n, n)


op(
    "linalg_matrix_exp(Tensor self) -> Tensor",
    _matrix_exp,
    fast=exponential.matrix_exp,
    derivative={"self": _matrix_exp_backward},
    variants="function",
    doc="""Return the exponential of square matrices (*, n, n): the sum of A^k / k!.

    >>> imode.linalg_matrix_exp(imode.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """,
)


@composite("matrix_exp(Tensor self) -> Tensor", fast=passed_on("linalg_matrix_exp"))
def matrix_exp(self):
    """Return the exponential of square matrices; another name of `linalg.matrix_exp`.

    >>> imode.matrix_exp(imode.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return ops.linalg_matrix_exp(self)


# ---- names that are only in linalg ----


@composite("linalg_vander(Tensor x, *, int? N=None) -> Tensor", variants="function")
def linalg_vander(x, N):
    """Return the matrices whose columns are the powers of vectors, the lowest first.

    N: how many columns, else as many as elements.

    >>> imode.linalg_vander(imode.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [1, 2, 4],
            [1, 3, 9]])
    """
    if x.dtype.numpy.kind not in "fciu" or x.dtype.numpy.char == "e":
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{errors.linalg.scalar_name(x.dtype)}"
        )
    x = x.reshape(1, 1) if x.dim() == 0 else x.unsqueeze(-1)
    count = x.shape[-2] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = x.expand((*x.shape[:-1], count - 1)).cumprod(-1)
    return ops.cat((ops.ones_like(x), powers), -1)


@composite(
    "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    fast=composites_fast.vecdot,
    variants="function out",
)
def linalg_vecdot(x, y, dim, out=None):
    """Return the dot products of vectors along `dim`, those of `x` conjugated.

    >>> imode.linalg_vecdot(imode.ones(2, 3), imode.ones(2, 3))
    tensor([3., 3.])
    """
    checks.floating(checks.of(x), "linalg.vecdot")
    checks.same_dtype(x, y, "linalg.vecdot", "x and y")
    if x.dim() == 1 and y.dim() == 1:
        return ops.vdot(x, y, out=out)
    if out is not None and out.dtype != x.dtype:
        found = errors.linalg.scalar_name(out.dtype)
        raise RuntimeError(
            f"linalg.vecdot: Expected out of dtype{errors.linalg.scalar_name(x.dtype)} but found "
            f"{found}"
        )
    return ops.sum(conj(x) * y, dim, out=out)


composite(
    "linalg_matmul(Tensor self, Tensor other) -> Tensor",
    fast=passed_on("matmul"),
    variants="function out",
    doc="""Return the matrix product of two tensors; another name of `matmul`.

    >>> imode.linalg_matmul(imode.ones(2, 3), imode.ones(3, 1))
    tensor([[3.],
            [3.]])
    """,
)(lambda self, other, out=None: ops.matmul(self, other, out=out))
composite(
    "linalg_diagonal(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    variants="function",
    doc="""Return the diagonals of matrices, as a view.

    >>> imode.linalg_diagonal(imode.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """,
)(lambda A, offset, dim1, dim2: A.diagonal(offset, dim1, dim2))
