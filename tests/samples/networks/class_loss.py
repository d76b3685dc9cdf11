"""Losses of classes."""

from tests.samples import S, T
from tests.samples.networks.loss import _PROBABILITIES


def _classes(*values):
    return T(values=list(values), dtype="int64")


_LOGITS = T(3, 4)
_TARGET = _classes(0, 3, 1)
_WEIGHT = T(4, low=0.1, high=2, requires_grad=False)
_MAP = T(values=[[[0, 1], [2, 0]], [[1, 1], [0, 2]]], dtype="int64")
_CLASSES = [
    S(_LOGITS, _TARGET),
    S(_LOGITS, _TARGET, reduction="sum"),
    S(_LOGITS, _TARGET, reduction="none"),
    S(_LOGITS, _TARGET, _WEIGHT),
    S(_LOGITS, _TARGET, _WEIGHT, reduction="none"),
    S(_LOGITS, _classes(0, -100, 1)),
    S(_LOGITS, _classes(0, 2, 1), ignore_index=2),
    S(T(4), T(values=2, dtype="int64")),
    S(T(2, 3, 2, 2), _MAP),
    S(T(2, 3, 2, 2), _MAP, T(3, low=0.1, high=2, requires_grad=False), reduction="none"),
    S(T(2, 3, 2), T(values=[[0, 1], [2, 0]], dtype="int64")),
    S(T(3, 4, dtype="float64"), _TARGET),
    S(T(3, 4, dtype="float16"), _TARGET, grad=False),
    S(_LOGITS, T(values=[0, 3, 1], dtype="uint8")),
    S(_LOGITS, _classes(0, 1), raises=ValueError),
    S(_LOGITS, _classes(0, 1, 7), raises=IndexError),
    S(_LOGITS, _classes(0, 1, -1), raises=IndexError),
    S(_LOGITS, T(3), raises=RuntimeError),
    S(_LOGITS, T(values=[0, 3, 1], dtype="int32"), raises=RuntimeError),
    S(_LOGITS, _TARGET, T(3), raises=RuntimeError),
    S(T(2, 3, 2), T(values=[[0, 1, 1], [2, 0, 0]], dtype="int64"), raises=RuntimeError),
    S(_LOGITS, _TARGET, reduction="other", raises=ValueError),
    S(T(3, 4, dtype="int64"), _TARGET, raises=NotImplementedError),
]

SAMPLES = {
    "nll_loss": _CLASSES,
    "cross_entropy": [
        *_CLASSES,
        S(_LOGITS, _TARGET, label_smoothing=0.1),
        S(_LOGITS, _TARGET, _WEIGHT, label_smoothing=0.1),
        S(_LOGITS, _classes(0, -100, 1), label_smoothing=0.1, reduction="none"),
        S(T(2, 3, 2, 2), _MAP, label_smoothing=0.2),
        S(_LOGITS, _PROBABILITIES),
        S(_LOGITS, _PROBABILITIES, _WEIGHT, reduction="none"),
        S(_LOGITS, _PROBABILITIES, reduction="sum", label_smoothing=0.3),
        S(T(4), T(4)),
        S(_LOGITS, _PROBABILITIES, ignore_index=0, raises=RuntimeError),
        S(_LOGITS, T(3, 4, dtype="int64"), raises=RuntimeError),
        S(_LOGITS, _TARGET, label_smoothing=1.5, raises=RuntimeError),
    ],
    "linear_cross_entropy": [
        S(T(4, 3), T(5, 3), _classes(0, 4, 1, 2)),
        S(T(4, 3), T(5, 3), _classes(0, 4, 1, 2), linear_bias=T(5), reduction="sum"),
        S(
            T(4, 3),
            T(5, 3),
            _classes(0, 4, 1, 2),
            weight=T(5, low=0, requires_grad=False),
            ignore_index=1,
        ),
        S(T(4, 3), T(5, 3), T(4, 5, low=0), label_smoothing=0.1),
        S(T(3), T(5, 3), T(values=1, dtype="int64")),
        S(T(4, 3), T(5, 2, 3), T(4, 2, dtype="int64", low=0, high=4), linear_bias=T(5, 2)),
        S(T(2, 4, 3), T(5, 3), _classes(0, 1), raises=RuntimeError),
        S(T(4, 3), T(3), _classes(0, 1), raises=RuntimeError),
        S(T(4, 3), T(5, 2), _classes(0, 1), raises=RuntimeError),
        S(T(4, 3), T(5, 3), _classes(0, 1), linear_bias=T(4), raises=RuntimeError),
        S(T(3), T(5, 2, 3), _classes(0, 1), raises=RuntimeError),
        S(T(4, 3), T(5, 3), T(4, 5), ignore_index=1, raises=RuntimeError),
    ],
}
