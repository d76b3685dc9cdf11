"""Gamma and Dirichlet numbers, which follow their parameters: samples with a derivative.

What `imode.distributions` samples from. PyTorch has these operators under the same names.
"""

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode._core.parallel import skipping
from imode.kernels.random import gammas
from imode.ops.pointwise.common import no_derivative, not_differentiable
from imode.ops.schema import op


def _refuse(name, dtype):
    if dtype.char not in "fd":
        raise errors.dtypes.not_implemented(name, dtype)


def _drawn(name, draw):
    def kernel(self, generator):
        _refuse(name, self.dtype)
        if skipping() or not self.size:
            return np.empty(self.shape, self.dtype)
        return draw(np.ascontiguousarray(self).reshape(self.shape), generator)

    return kernel


op(
    "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
    _drawn("gamma_cpu", gammas.standard_gamma),
    derivative={"self": lambda grad, self, result: grad * ops._standard_gamma_grad(self, result)},
    variants="function",
    doc="""Return gamma numbers of the shapes that `input` holds, and of scale 1.

    `input` is float32 or float64, as the result, which is above 0. Raises NotImplementedError for
    other dtypes.

    >>> bool(imode._standard_gamma(imode.tensor([0.5, 20.0])).gt(0).all())
    True
    """,
)
op(
    "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
    _drawn("dirichlet", gammas.shares),
    derivative={"self": no_derivative("_sample_dirichlet")},
    name="NotImplemented",
    variants="function",
    doc="""Return shares of 1 along the last axis, of the Dirichlet distribution of `input`.

    As `_standard_gamma`, but the derivative is not the operator's: `_dirichlet_grad`.

    >>> imode._sample_dirichlet(imode.ones(2, 3)).sum(-1).round()
    tensor([1., 1.])
    """,
)


def _of_one_dtype(name, *arrays):
    """The arrays as float64, of their common shape and in row order; the dtype of the result."""
    dtype = arrays[0].dtype
    for array in arrays:
        if array.dtype != dtype:
            raise errors.dtypes.found(array.dtype, dtype)
    shape = broadcast_shape(*(array.shape for array in arrays))
    _refuse(name, dtype)
    wide = (np.broadcast_to(array, shape) for array in arrays)
    return [np.ascontiguousarray(x, np.float64).reshape(shape) for x in wide], dtype


def _standard_gamma_grad(self, output):
    arrays, dtype = _of_one_dtype("_standard_gamma_grad_cpu", self, output)
    made = arrays[0] if skipping() else gammas.standard_gamma_grad(*arrays)
    return made.astype(dtype)


def _dirichlet_grad(x, alpha, total):
    arrays, dtype = _of_one_dtype("_dirichlet_grad_cpu", x, alpha, total)
    made = arrays[0] if skipping() else gammas.dirichlet_grad(*arrays)
    return made.astype(dtype)


op(
    "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
    _standard_gamma_grad,
    derivative={"self": not_differentiable("_standard_gamma_grad")},
    variants="function",
    doc="""Return how fast gamma numbers, `output`, grow with their shapes, `input`.

    To about three digits. Both are float32 or both float64, and broadcast.

    >>> imode._standard_gamma_grad(imode.tensor([1.0]), imode.tensor([1.0]))
    tensor([1.1736])
    """,
)
op(
    "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
    _dirichlet_grad,
    derivative=dict.fromkeys(("x", "alpha", "total"), no_derivative("_dirichlet_grad")),
    name="NotImplemented",
    variants="function",
    doc="""Return how fast shares `x` grow with their parameters `alpha`, divided by 1 - x.

    `total` is the sum of the parameters along the last axis. As `_standard_gamma_grad`.

    >>> imode._dirichlet_grad(*imode.tensor([[0.5], [1.0], [2.0]]))
    tensor([0.6931])
    """,
)
