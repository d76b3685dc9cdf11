"""Layers as programs that were taken apart call them."""

from tests.samples import S, T
from tests.samples.networks.norm import of_torch

_X, _C, _MASK = T(4, 3), T(3), T(4, 3, dtype="bool")
_FIXED = T(3, requires_grad=False)
_VAR = T(3, low=0.5, high=2, requires_grad=False)
_TOL = (1e-4, 1e-5)


_LEGIT = of_torch("_native_batch_norm_legit")
_RUNNING = of_torch("_native_batch_norm_legit_no_training")


def _softmax(name, last):
    call = of_torch(name)
    return [
        S(T(2, 3), 1, False, torch=call),
        S(T(2, 3, dtype="float64"), -2, False, torch=call),
        S(T(), 0, False, torch=call),
        S(T(2, 3), 1, True, raises=RuntimeError),
        S(T(2, 3), 2, False, raises=IndexError),
        S(T(2, 3, dtype="int64"), last, False, raises=NotImplementedError),
    ]


SAMPLES = {
    "_softmax": _softmax("_softmax", 1),
    "_log_softmax": _softmax("_log_softmax", 0),
    "_native_batch_norm_legit": [
        S(_X, _C, _C, _FIXED, _VAR, True, 0.1, 1e-5, tol=_TOL, torch=_LEGIT),
        S(_X, _C, _C, _FIXED, _VAR, False, 0.1, 1e-5, torch=_LEGIT),
        S(T(4, 3, 2), None, None, _FIXED, _VAR, True, 0.1, 1e-5, tol=_TOL, torch=_LEGIT),
    ],
    "_native_batch_norm_legit.no_stats": [
        S(_X, _C, _C, True, 0.1, 1e-5, tol=_TOL, torch=_LEGIT),
        S(T(4, 3, 2), None, _C, True, 0.1, 1e-5, tol=_TOL, torch=_LEGIT),
    ],
    "_native_batch_norm_legit_no_training": [
        S(_X, _C, _C, _FIXED, _VAR, 0.1, 1e-5, torch=_RUNNING),
        S(T(4, 3, 2), None, None, _FIXED, _VAR, 0.1, 1e-5, torch=_RUNNING),
    ],
    "native_dropout": [
        S(T(4, 3), 0.5, False, smooth=False),  # the mask is no number that differences could move
        S(T(4, 3), 0.0, True, smooth=False),
        S(T(4, 3), 1.0, None, smooth=False),
        S(T(40, 3), 0.4, True, smooth=False),
        S(T(4, 3, view="transposed"), 0.25, True, smooth=False),
        S(T(40, dtype="float16"), 0.4, True, grad=False),
        S(T(3, dtype="int64"), 0.5, False),
        S(T(3, dtype="int64"), 0.5, True, raises=RuntimeError),
        S(T(4, 3), 1.5, True, raises=RuntimeError),
    ],
    "native_dropout_backward": [S(_X, _MASK, 2.0), S(T(4, 3, dtype="float64"), _MASK, 0.5)],
}  # fmt: skip
