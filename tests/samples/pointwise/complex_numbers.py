"""Samples of complex numbers."""

from tests.samples import S, T

from .compare import test
from .functions import unary

SAMPLES = {
    "view_as_real": [
        S(T(2, 3, dtype="complex64")),
        S(T(dtype="complex128")),
        S(T(2, 3), raises=RuntimeError),
    ],
    "view_as_complex": [
        S(T(3, 2)),
        S(T(3, 2, dtype="float64")),
        S(T(2)),
        S(T(3, 4, view=lambda t: t[:, 2:])),
        S(T(3, 3), raises=RuntimeError),
        S(T(), raises=RuntimeError),
        S(T(3, 2, dtype="int32"), raises=RuntimeError),
        S(T(2, 3, view="transposed"), raises=RuntimeError),
        S(T(3, 3, view=lambda t: t[:, :2]), raises=RuntimeError),
        S(T(5, view=lambda t: t[1:3]), raises=RuntimeError),
    ],
    "real": [S(T(2, 3)), S(T(2, 3, dtype="complex64")), S(T(2, dtype="int64"))],
    "imag": [S(T(2, 3, dtype="complex64")), S(T(2, 3), raises=RuntimeError)],
    "angle": unary(low=0.5),
    "isreal": test(),
    "conj": [S(T(2, 3)), S(T(2, dtype="int64"))],
    "conj_physical": [
        S(T(2, 3), variants=False),
        S(T(2, 3, dtype="complex64"), variants=False),
        S(T(2, dtype="int64"), variants=False),
    ],
    "conj_physical_": [S(T(2, 3)), S(T(2, 3, dtype="complex64")), S(T(2, dtype="int64"))],
    "resolve_conj": [S(T(2, 3)), S(T(2, 3, dtype="complex64"))],
    "resolve_neg": [S(T(2, 3)), S(T(2, 3, dtype="complex64"))],
    "complex": [
        S(T(2, 3), T(2, 3)),
        S(T(2, 1), T(3)),
        S(T(), T()),
        S(T(0), T(0)),
        S(T(2, dtype="float64"), T(2, dtype="float64")),
        S(T(2, 3, view="transposed"), T(2, 3)),
        S(T(2), T(2, dtype="float64"), raises=RuntimeError),
        S(T(2, dtype="int64"), T(2, dtype="int64"), raises=RuntimeError),
        S(T(2), T(3), raises=RuntimeError),
        S(1.0, 2.0, raises=TypeError),
    ],
    "polar": [
        S(T(2, 3, low=0.5), T(2, 3)),
        S(T(2, 1, low=0.5), T(3)),
        S(T(0), T(0)),
        S(T(2, dtype="float64", low=0.5), T(2, dtype="float64")),
        S(T(2), T(2, dtype="float64"), raises=RuntimeError),
        S(T(2, dtype="int64"), T(2, dtype="int64"), raises=RuntimeError),
        S(T(2, dtype="float16"), T(2, dtype="float16"), raises=NotImplementedError),
    ],
}
SAMPLES["angle"][4].variants = False  # out= becomes contiguous here
