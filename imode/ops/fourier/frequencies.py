"""Where the numbers of a transform belong: frequencies, and the order with 0 in the middle."""

import numpy as np

from imode import ops
from imode._core.dtype import as_numpy
from imode.kernels.fourier import windows
from imode.ops.creation.create import OPTIONS, allocate, default_float, factory
from imode.ops.creation.ranges import _checked_arange
from imode.ops.fourier import composites_fast
from imode.ops.schema import composite


def _scaled(name, places, n, d, dtype):
    """Integers in a floating point dtype, divided by n * d."""
    dtype = as_numpy(dtype) or default_float()
    if dtype.kind in "biu":
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if dtype.kind == "c":
        _checked_arange(0, 1, 1, dtype)
    with np.errstate(all="ignore"):
        step = np.float64(1.0) / (np.float64(n) * d)
        return (places() * step).astype(dtype)


def _fftfreq(n, d, dtype, *options):
    def places():
        found = allocate((n,), np.dtype(np.float64), np.zeros)
        found[: (n + 1) // 2] = np.arange((n + 1) // 2)
        found[(n + 1) // 2 :] = np.arange(-(n // 2), 0)
        return found

    return _scaled("fftfreq", places, n, d, dtype)


def _rfftfreq(n, d, dtype, *options):
    def places():
        count = (n + (n < 0)) // 2 + 1  # of a negative n, as C divides
        return allocate((count,), np.dtype(np.float64)) if count < 1 else np.arange(float(count))

    return _scaled("rfftfreq", places, n, d, dtype)


_DOC = """

    n: of so many samples, each `d` after the one before. dtype: of floating point, the default one
    unless given. Raises RuntimeError for integers.

    >>> imode.fft.{name}(4)
    tensor({shown})
    """
factory(
    f"fft_fftfreq(int n, float d=1.0, *, {OPTIONS}) -> Tensor",
    _fftfreq,
    fast=windows.fftfreq,
    out="shaped",
    doc="Return the frequencies of the numbers that `fft` gives."
    + _DOC.format(name="fftfreq", shown="[ 0.0000,  0.2500, -0.5000, -0.2500]"),
)
factory(
    f"fft_rfftfreq(int n, float d=1.0, *, {OPTIONS}) -> Tensor",
    _rfftfreq,
    fast=windows.rfftfreq,
    out="shaped",
    doc="Return the frequencies of the numbers that `rfft` gives."
    + _DOC.format(name="rfftfreq", shown="[0.0000, 0.2500, 0.5000]"),
)


def _rolled(self, dim, extra):
    nd = self.dim()
    dims = list(range(nd)) if dim is None else [d + nd if -nd <= d < 0 else d for d in dim]
    # Of a dimension that there is not, `roll` says what is wrong with it.
    shifts = [(self.shape[d] + extra) // 2 if 0 <= d < nd else 0 for d in dims]
    return ops.roll(self, tuple(shifts), tuple(dims))


@composite(
    "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
    fast=composites_fast.fftshift,
    variants="function",
)
def fft_fftshift(self, dim):
    """Return the numbers with frequency 0 in the middle, along all dimensions or `dim`.

    >>> imode.fft.fftshift(imode.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _rolled(self, dim, 0)


@composite(
    "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
    fast=composites_fast.ifftshift,
    variants="function",
)
def fft_ifftshift(self, dim):
    """Return the numbers in the order of `fft` again: the inverse of `fftshift`.

    >>> imode.fft.ifftshift(imode.tensor([-1, 0, 1]))
    tensor([ 0,  1, -1])
    """
    return _rolled(self, dim, 1)
