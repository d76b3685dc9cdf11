"""Cross products of vectors of three."""

import numpy as np

from imode import errors, ops
from imode._core.broadcast import broadcast_shape
from imode.kernels.creation.copy import as_half, cast
from imode.kernels.products.cross_fast import linalg_cross
from imode.kernels.shapes.views import wrap_dim
from imode.ops.reductions import dims
from imode.ops.schema import Out, composite, conj, op


def _crossed_shape(self, other, dim):
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    wrap_dim(dim, self.ndim)
    sizes = [dims.size(x, dim) for x in (self, other)]
    if sizes != [3, 3]:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. "
            f"Got {sizes[0]} and {sizes[1]}"
        )
    return broadcast_shape(self.shape, other.shape)


@dims.quiet
def _cross(self, other, dim):
    shape, axis = _crossed_shape(self, other, dim), wrap_dim(dim, self.ndim)
    if self.dtype.kind == "b":
        raise errors.dtypes.not_implemented("cross", self.dtype)
    if self.dtype != other.dtype:
        raise errors.dtypes.expected_scalar(self.dtype, other.dtype)
    a, b = ([x[(*[slice(None)] * axis, i, ...)] for i in range(3)] for x in (self, other))
    out = np.empty(shape, self.dtype)
    if self.dtype == np.float16:  # rounded after each step, as in PyTorch
        a, b = ([cast(part, np.float32) for part in parts] for parts in (a, b))
        for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
            part = as_half(a[i] * b[j]) - as_half(a[j] * b[i])
            out[(*[slice(None)] * axis, k, ...)] = cast(np.asarray(part), np.float16)
        return out
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        part = out[(*[slice(None)] * axis, k, ...)]
        np.multiply(a[i], b[j], out=part)
        part -= a[j] * b[i]
    return out


op(
    "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    _cross,
    fast=linalg_cross,
    derivative={
        "self": lambda grad, other, dim: ops.linalg_cross(conj(other), grad, dim=dim),
        "other": lambda grad, self, dim: ops.linalg_cross(grad, conj(self), dim=dim),
    },
    variants="function out",
    out=Out("self", overlap="all", shape=_crossed_shape),
    doc="""Return the cross products of vectors of three along `dim`.

    >>> imode.linalg_cross(imode.tensor([1.0, 0.0, 0.0]), imode.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """,
)


@composite(
    "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    variants="function method out",
)
def cross(self, other, dim, out=None):
    """Return the cross products along `dim`, or the first dimension of size 3.

    >>> imode.cross(imode.tensor([1.0, 0.0, 0.0]), imode.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    if dim is None:
        dim = next((i for i, size in enumerate(self.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return ops.linalg_cross(self, other, dim=dim, out=out)
