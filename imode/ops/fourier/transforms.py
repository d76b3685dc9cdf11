"""The three transforms that all of `imode.fft` is made of, with their derivatives.

`normalization`: 0, as it is; 1, divided by the root of the number of points; 2, by the number.
"""

from imode import ops
from imode.kernels.fourier import transform
from imode.ops.schema import Out, op

_OUT = Out(layout="rows")


# It saves all of what is transformed, as in PyTorch, so that a write to it is noticed.
def _r2c_backward(grad, self, dim, normalization, onesided):
    """Of a transform without its second half: as if that had no gradient."""
    last = dim[-1]
    sizes = list(grad.shape)
    sizes[last] = self.shape[last]
    if onesided and sizes[last] > grad.shape[last]:
        full = grad.new_zeros(sizes)
        ops.slice(full, last, 0, grad.shape[last]).copy_(grad)
        grad = full
    return ops.real(ops._fft_c2c(grad, dim, normalization, False))


def _c2r_backward(grad, dim, normalization):
    """Numbers that stand for their conjugates, too, count twice."""
    last = dim[-1]
    found = ops._fft_r2c(grad, dim, normalization, True)
    doubled = grad.shape[last] - found.shape[last]
    if doubled > 0:
        ops.slice(found, last, 1, 1 + doubled).mul_(2)
    return found


op(
    "_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor",
    transform.c2c,
    fast=transform.c2c_fast,
    derivative={
        "self": lambda grad, dim, normalization, forward: ops._fft_c2c(
            grad, dim, normalization, not forward
        )
    },
    variants="function out",
    out=_OUT,
    doc="""Return the Fourier transform of complex numbers along `dim`, by PyTorch's operator.

    >>> imode._fft_c2c(imode.ones(2, dtype=imode.complex64), [0], 0, True)
    tensor([2.+0.j, 0.+0.j])
    """,
)
op(
    "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    transform.r2c,
    fast=transform.r2c_fast,
    derivative={"self": _r2c_backward},
    variants="function out",
    out=_OUT,
    doc="""Return the Fourier transform of real numbers along `dim`, by PyTorch's operator.

    >>> imode._fft_r2c(imode.ones(2), [0], 0, True)
    tensor([2.+0.j, 0.+0.j])
    """,
)
op(
    "_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor",
    transform.c2r,
    fast=transform.c2r_fast,
    derivative={"self": _c2r_backward},
    variants="function out",
    out=_OUT,
    doc="""Return the inverse transform of half of a line to real numbers, by PyTorch's operator.

    >>> imode._fft_c2r(imode.ones(2, dtype=imode.complex64), [0], 2, 2)
    tensor([1., 0.])
    """,
)
