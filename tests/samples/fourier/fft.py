"""Samples of `imode/ops/fourier/fft.py`: the transforms of `imode.fft`."""

from tests.samples import S, T


def _sizes(dtype):
    """Calls that all transforms along one dimension take, of elements of a dtype."""
    return [
        S(T(4, dtype=dtype)),
        S(T(5, dtype=dtype)),
        S(T(2, 3, 8, dtype=dtype)),
        S(T(6, 3, dtype=dtype), dim=0),
        S(T(4, 3, dtype=dtype, view="transposed")),
        S(T(2, 3, 4, dtype=dtype, view="permuted"), None, 1),
        S(T(3, 5, dtype=dtype, view="strided"), norm="ortho"),
        S(T(7, dtype=dtype), norm="forward"),
        S(T(7, dtype=dtype), norm="backward"),
        S(T(2, 3, dtype=dtype), n=6),
        S(T(2, 7, dtype=dtype), 4, -1, "ortho"),
        S(T(2, 0, dtype=dtype), n=2),
        S(T(37, dtype=dtype)),
        S(T(3, 64, dtype=dtype), tol=(1e-4, 1e-4)),
        S(T(4, dtype=dtype), n=0, raises=RuntimeError),
        S(T(4, dtype=dtype), norm="bad", raises=RuntimeError),
        S(T(4, dtype=dtype), dim=1, raises=IndexError),
        S(T(dtype=dtype), raises=IndexError),
        S(T(2, 0, dtype=dtype), raises=RuntimeError),
        S(T(4, dtype=dtype), 2.5, raises=TypeError),
    ]


_INTEGERS = [S(T(4, dtype="int64")), S(T(4, dtype="bool")), S(T(2, 3, dtype="uint8"), n=4)]
_HALF = [S(T(4, dtype="float16"), raises=RuntimeError)]
_REAL = [*_sizes("float32"), S(T(6, dtype="float64")), *_INTEGERS, *_HALF]
_COMPLEX = [*_sizes("complex64"), S(T(6, dtype="complex128"))]
_REFUSED = [S(T(4, dtype="complex64"), raises=RuntimeError)]


def _shapes(dtype):
    """Calls that all transforms along several dimensions take."""
    return [
        S(T(3, 4, dtype=dtype)),
        S(T(2, 3, 4, dtype=dtype)),
        S(T(2, 3, 4, dtype=dtype, view="permuted"), norm="ortho"),
        S(T(2, 3, 4, dtype=dtype), dim=(0, 2)),
        S(T(2, 3, 4, dtype=dtype), dim=(1, 0), norm="forward"),
        S(T(2, 3, 4, dtype=dtype), s=(5, 2)),
        S(T(2, 3, 4, dtype=dtype), (-1, 3), (0, 1)),
        S(T(4, dtype=dtype), dim=0),
        S(T(2, 3, 4, dtype=dtype), s=(3,), dim=(0, 1), raises=RuntimeError),
        S(T(2, 3, dtype=dtype), dim=(0, 0), raises=RuntimeError),
        S(T(2, 3, dtype=dtype), dim=(0, 2), raises=IndexError),
        S(T(2, 3, dtype=dtype), s=(0, 2), raises=RuntimeError),
        S(T(3, 0, dtype=dtype), raises=RuntimeError),
        S(T(2, 3, dtype=dtype), norm="bad", raises=RuntimeError),
    ]


_SHAPES = [*_shapes("float32"), S(T(2, 3, dtype="int64"))]
_COMPLEX_SHAPES = _shapes("complex64")
_ALL = [
    S(T(2, 2, 2, 2, 2)),
    S(T(3), s=(2, 2), raises=RuntimeError),
    S(T(2, 3, dtype="float16"), raises=RuntimeError),
]
# Of one dimension PyTorch's ihfftn leaves out= as it was.
_INVERSE_HALF = [
    S(T(4), dim=0, variants=False) if sample.kwargs == {"dim": 0} else sample for sample in _SHAPES
]
_REFUSED_SHAPES = [S(T(2, 3, dtype="complex64"), raises=RuntimeError)]
_NONE = [S(T(), raises=RuntimeError), S(T(2, 3), dim=(), raises=RuntimeError)]
_FLAT = [S(T(3), raises=IndexError), S(T(2, 3, 4), (2, 3))]

SAMPLES = {
    "fft_fft": [*_REAL, *_COMPLEX],
    "fft_ifft": [*_REAL, *_COMPLEX],
    "fft_rfft": [*_REAL, *_REFUSED],
    "fft_irfft": [*_REAL, *_COMPLEX, S(T(1), raises=RuntimeError)],
    "fft_hfft": [*_REAL, *_COMPLEX],
    "fft_ihfft": [*_REAL, *_REFUSED],
    "fft_fft2": [*_SHAPES, *_COMPLEX_SHAPES, *_FLAT],
    "fft_ifft2": [*_SHAPES, *_COMPLEX_SHAPES, *_FLAT],
    "fft_rfft2": [*_SHAPES, *_REFUSED_SHAPES, *_FLAT],
    "fft_irfft2": [*_SHAPES, *_COMPLEX_SHAPES, *_FLAT],
    "fft_hfft2": [*_SHAPES, *_COMPLEX_SHAPES, *_FLAT],
    "fft_ihfft2": [*_INVERSE_HALF, *_REFUSED_SHAPES, *_FLAT],
    "fft_fftn": [*_SHAPES, *_COMPLEX_SHAPES, *_ALL, S(T()), S(T(2), dim=())],
    "fft_ifftn": [*_SHAPES, *_COMPLEX_SHAPES, *_ALL],
    "fft_rfftn": [*_SHAPES, *_REFUSED_SHAPES, *_ALL, *_NONE],
    "fft_irfftn": [*_SHAPES, *_COMPLEX_SHAPES, *_ALL, *_NONE],
    "fft_hfftn": [*_SHAPES, *_COMPLEX_SHAPES, *_ALL, *_NONE],
    "fft_ihfftn": [*_INVERSE_HALF, *_REFUSED_SHAPES, *_ALL, *_NONE],
}
