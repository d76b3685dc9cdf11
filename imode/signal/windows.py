"""The windows of torch.signal.windows.

Each takes its length `M`, and by name: `sym`, False for one whose last value is left out, as it is
the first of the next period; `dtype`, float32 or float64, the default one unless given;
`layout`, `device` and `requires_grad`. They raise ValueError for a negative length, another dtype
or parameters out of range.

>>> imode.signal.windows.hann(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

import imode
from imode.errors import names_of as _names_of

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _checked(name, M, dtype, layout):
    """The dtype of a window of length M."""
    dtype = imode.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not imode.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (imode.float32, imode.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def _made(shape, M, last, parameters, dtype, device, requires_grad):
    """A window that ends at `last`; one of fewer than two values has no shape."""
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return imode.ones((M,), **options)
    return imode.ops._window(shape, M, last, parameters, **options)


def exponential(
    M,
    *,
    center=None,
    tau=1.0,
    sym=True,
    dtype=None,
    layout=imode.strided,
    device=None,
    requires_grad=False,
):
    """Return a window that falls by e each `tau` values from `center`, the middle unless given.

    >>> imode.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    dtype = _checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if center is None:
        center = (M - bool(sym)) / 2.0
    elif M == 1:
        return imode.exp(imode.full((1,), -abs(center) / tau, dtype=dtype))
    return _made("exponential", M, M, (center, tau), dtype, device, requires_grad)


def cosine(M, *, sym=True, dtype=None, layout=imode.strided, device=None, requires_grad=False):
    """Return half a wave of a sine.

    >>> imode.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    dtype = _checked("cosine", M, dtype, layout)
    return _made("sine", M, M + (not sym), (), dtype, device, requires_grad)


def gaussian(
    M, *, std=1.0, sym=True, dtype=None, layout=imode.strided, device=None, requires_grad=False
):
    """Return the bell of Gauss of the standard deviation `std`, 1 in the middle.

    >>> imode.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    dtype = _checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _made("gaussian", M, M - bool(sym), (std,), dtype, device, requires_grad)


def kaiser(
    M, *, beta=12.0, sym=True, dtype=None, layout=imode.strided, device=None, requires_grad=False
):
    """Return the window of Kaiser: a Bessel function of a half ellipse of height `beta`.

    >>> imode.signal.windows.kaiser(3, beta=0.0)
    tensor([1., 1., 1.])
    """
    dtype = _checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _made("kaiser", M, M - bool(sym), (beta,), dtype, device, requires_grad)


def general_cosine(
    M, *, a, sym=True, dtype=None, layout=imode.strided, device=None, requires_grad=False
):
    """Return a sum of cosines of whole waves, `a[i]` of the i-th, each second one subtracted.

    >>> imode.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    dtype = _checked("general_cosine", M, dtype, layout)
    if M > 1 and not hasattr(a, "__iter__"):
        raise TypeError("Coefficients must be a list/tuple")
    if M > 1 and not a:
        raise ValueError("Coefficients cannot be empty")
    return _made("waves", M, M - bool(sym), a, dtype, device, requires_grad)


def general_hamming(
    M, *, alpha=0.54, sym=True, dtype=None, layout=imode.strided, device=None, requires_grad=False
):
    """Return alpha - (1 - alpha) * cos(t), t one turn.

    >>> imode.signal.windows.general_hamming(3, alpha=0.5)
    tensor([0., 1., 0.])
    """
    return general_cosine(
        M,
        a=[alpha, 1.0 - alpha],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def hamming(M, *, sym=True, dtype=None, layout=imode.strided, device=None, requires_grad=False):
    """Return the window of Hamming: 0.54 - 0.46 * cos(t), t one turn.

    >>> imode.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(
        M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def hann(M, *, sym=True, dtype=None, layout=imode.strided, device=None, requires_grad=False):
    """Return the window of Hann: half of 1 - cos(t), t one turn.

    >>> imode.signal.windows.hann(3)
    tensor([0., 1., 0.])
    """
    return general_hamming(
        M,
        alpha=0.5,
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def blackman(M, *, sym=True, dtype=None, layout=imode.strided, device=None, requires_grad=False):
    """Return the window of Blackman: 0.42 - 0.5 * cos(t) + 0.08 * cos(2 * t), t one turn.

    >>> imode.signal.windows.blackman(1)
    tensor([1.])
    """
    dtype = _checked("blackman", M, dtype, layout)
    return _made("waves", M, M - bool(sym), (0.42, 0.5, 0.08), dtype, device, requires_grad)


def bartlett(M, *, sym=True, dtype=None, layout=imode.strided, device=None, requires_grad=False):
    """Return a triangle: from 0 up to 1 in the middle, and back.

    >>> imode.signal.windows.bartlett(3)
    tensor([0., 1., 0.])
    """
    dtype = _checked("bartlett", M, dtype, layout)
    return _made("triangle", M, M - bool(sym), (), dtype, device, requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=imode.strided, device=None, requires_grad=False):
    """Return the window of Nuttall, of four cosines, whose side lobes are small.

    >>> imode.signal.windows.nuttall(1)
    tensor([1.])
    """
    return general_cosine(
        M,
        a=[0.3635819, 0.4891775, 0.1365995, 0.0106411],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


__getattr__ = _names_of(__name__)
