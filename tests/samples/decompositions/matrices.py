"""Matrices that samples of decompositions are made of: well-conditioned ones, definite ones."""

import numpy as np

from tests.samples import T

SAMPLES = {}
DTYPES = ("float32", "float64", "complex64", "complex128")


def _random(seed, shape, dtype):
    rng = np.random.default_rng(seed)
    made = rng.standard_normal(shape)
    return made + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else made


def _adjoint(x):
    return x.conj().swapaxes(-1, -2)


def apart(*shape, dtype="float32", seed=0, view=None):
    """Matrices whose singular values are well apart and not small."""
    u, s, vh = np.linalg.svd(_random(seed, shape, dtype), full_matrices=False)
    return T(
        values=((u * (1.0 + np.arange(s.shape[-1]))) @ vh).tolist(),
        dtype=dtype,
        view=view,
        fixed=True,
    )


def folded(*shape, dims=2, order=None):
    """A matrix of that kind with its first `dims` dimensions, and the others, for rows and columns;
    in another order of dimensions."""
    rows = int(np.prod(shape[:dims]))
    values = np.array(apart(rows, rows).values).reshape(shape)
    return T(values=(values.transpose(order) if order else values).tolist(), fixed=True)


def definite(*shape, dtype="float32", seed=0, view=None):
    """Hermitian positive-definite matrices whose eigenvalues are well apart."""
    q = np.linalg.qr(_random(seed, shape, dtype))[0]
    values = (q * (1.0 + np.arange(shape[-1]))) @ _adjoint(q)
    return T(values=values.tolist(), dtype=dtype, view=view, fixed=True)


def triangular(*shape, dtype="float32", seed=0, upper=False, view=None):
    """Triangular matrices with a diagonal of positive real numbers."""
    factor = np.linalg.cholesky(np.array(definite(*shape, dtype=dtype, seed=seed).values))
    return T(
        values=(_adjoint(factor) if upper else factor).tolist(), dtype=dtype, view=view, fixed=True
    )
