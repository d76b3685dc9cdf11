"""Samples of `imode/ops/fourier/transforms.py`: the operators behind `imode.fft`."""

import importlib

from tests.samples import S, T


def _in_pytorch(name):
    """The call there, apart: with bad arguments it ends the process."""
    return lambda *args: getattr(importlib.import_module("torch"), name)(*args)


_C2C, _R2C, _C2R = map(_in_pytorch, ("_fft_c2c", "_fft_r2c", "_fft_c2r"))

SAMPLES = {
    "_fft_c2c": [
        S(T(4, dtype="complex64"), [0], 0, True, variants=False, torch=_C2C),
        S(T(2, 3, 4, dtype="complex128"), [2, 0], 1, False, variants=False, torch=_C2C),
        S(T(3, 4, dtype="complex64", view="transposed"), [0], 2, True, variants=False, torch=_C2C),
        S(T(2, 3, dtype="complex64"), [], 0, True, variants=False, torch=_C2C),
        S(T(2, 3, dtype="complex64", view="strided"), [], 0, True, variants=False, torch=_C2C),
        S(T(2, 3), [1], 0, True, raises=RuntimeError),
    ],
    "_fft_r2c": [
        S(T(4), [0], 0, True, variants=False, torch=_R2C),
        S(T(5, dtype="float64"), [0], 0, True, variants=False, torch=_R2C),
        S(T(2, 3, 4), [1, 2], 1, True, variants=False, torch=_R2C),
        S(T(2, 3, 5), [1, 2], 0, False, variants=False, torch=_R2C),
        S(T(3, 4, view="transposed"), [0], 2, True, variants=False, torch=_R2C),
        S(T(2, 3, dtype="complex64"), [1], 0, True, raises=RuntimeError),
    ],
    "_fft_c2r": [
        S(T(3, dtype="complex64"), [0], 0, 4, variants=False, torch=_C2R),
        S(T(3, dtype="complex64"), [0], 0, 5, variants=False, torch=_C2R),
        S(T(2, 3, 4, dtype="complex128"), [0, 2], 2, 6, variants=False, torch=_C2R),
        S(T(3, 4, dtype="complex64", view="transposed"), [1], 1, 6, variants=False, torch=_C2R),
        S(T(2, 3), [1], 0, 4, raises=RuntimeError),
        S(T(3, dtype="complex64"), [0], 0, 0, raises=RuntimeError),
    ],
}
