"""Connectionist temporal classification."""

from tests.samples import S, T

_LOGS = T(5, 2, 4, low=-3, high=-0.5)
_TARGETS = T(values=[[1, 2], [3, 1]], dtype="int64")
_TIMES, _LENGTHS = T(values=[5, 4], dtype="int64"), T(values=[2, 1], dtype="int64")

SAMPLES = {
    "ctc_loss.Tensor": [
        S(_LOGS, _TARGETS, _TIMES, _LENGTHS, reduction=0, smooth=False),
        S(_LOGS, T(2), _TIMES, _LENGTHS, raises=RuntimeError),
    ],
    "ctc_loss.IntList": [
        S(_LOGS, _TARGETS, (5, 4), (2, 1), smooth=False),
        S(_LOGS, T(values=[1, 1, 3], dtype="int64"), (5, 4), (2, 1), reduction=2, smooth=False),
        S(_LOGS, _TARGETS, (1, 4), (2, 1), 0, 0, True, smooth=False),
        S(_LOGS, T(values=[[0, 2], [3, 0]], dtype="int64"), (5, 4), (2, 2), 1, smooth=False),
        S(T(5, 2, 4, dtype="float64", low=-3, high=-0.5), _TARGETS, (5, 4), (2, 1), smooth=False),
        S(_LOGS, _TARGETS, (5, 4), (2, 0), 0, 0, smooth=False),
        S(T(5, 2, 4, dtype="float16"), _TARGETS, (5, 4), (2, 1), raises=NotImplementedError),
        S(_LOGS, _TARGETS, (5, 4), (2, 1), 4, raises=RuntimeError),
        S(_LOGS, _TARGETS, (6, 4), (2, 1), raises=RuntimeError),
        S(_LOGS, _TARGETS, (5,), (2, 1), raises=RuntimeError),
        S(_LOGS, _TARGETS, (5, 4), (3, 1), raises=RuntimeError),
        S(_LOGS, _TARGETS, (5, -4), (2, 1), raises=RuntimeError),
    ],
}
