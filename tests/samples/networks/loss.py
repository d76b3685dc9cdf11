"""Losses."""

from tests.samples import S, T


def _functional(name):
    """The function of torch.nn.functional where torch itself has one of another signature."""

    def call(*args, **kwargs):
        import torch

        return getattr(torch.nn.functional, name)(*args, **kwargs)

    return call


def _classes(*values):
    return T(values=list(values), dtype="int64")


_LOGITS = T(3, 4)
_TARGET = _classes(0, 3, 1)
_WEIGHT = T(4, low=0.1, high=2, requires_grad=False)
_PROBABILITIES = T(3, 4, low=0.05, high=0.95)
_MAP = T(values=[[[0, 1], [2, 0]], [[1, 1], [0, 2]]], dtype="int64")
_KL = _functional("kl_div")
_BCE = _functional("binary_cross_entropy_with_logits")

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

_PAIRS = [
    S(T(3, 4), T(3, 4)),
    S(T(3, 4), T(3, 4), reduction="sum"),
    S(T(3, 4), T(3, 4), reduction="none"),
    S(T(), T()),
    S(T(3, 4, dtype="float64"), T(3, 4, dtype="float64")),
    S(T(4, 3, view="transposed"), T(4, 3, view="transposed")),
    S(T(3, 4, dtype="float16"), T(3, 4, dtype="float16"), grad=False),
    S(T(3, 4), T(3, 4), reduction="other", raises=ValueError),
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
    "mse_loss": [
        *_PAIRS,
        S(T(3, 4), T(3, 4), weight=T(3, 4, requires_grad=False)),
        S(T(3, 4), T(3, 4, dtype="float64")),
        S(T(3, 4), T(3, 4, dtype="int64")),
        S(T(3, 4, dtype="int64"), T(3, 4, dtype="int64"), raises=NotImplementedError),
    ],
    "l1_loss": [
        *_PAIRS,
        S(T(3, 4), T(3, 4), weight=T(3, 4, requires_grad=False)),
        S(T(3, 4), T(3, 4, dtype="float64")),
    ],
    "smooth_l1_loss": [
        *_PAIRS,
        S(T(3, 4), T(3, 4), beta=0.5),
        S(T(3, 4), T(3, 4), beta=0),
        S(T(3, 4), T(3, 4), beta=-1, raises=RuntimeError),
        S(T(3, 4, dtype="int64"), T(3, 4, dtype="int64"), raises=NotImplementedError),
    ],
    "huber_loss": [
        *_PAIRS,
        S(T(3, 4), T(3, 4), delta=0.5),
        S(T(3, 4), T(3, 4), weight=T(3, 4, requires_grad=False)),
        S(T(3, 4), T(3, 4), delta=0, raises=RuntimeError),
        S(T(3, 4, dtype="int64"), T(3, 4, dtype="int64"), raises=NotImplementedError),
    ],
    "kl_div": [
        S(T(3, 4), _PROBABILITIES, reduction="sum", torch=_KL),
        S(T(3, 4), _PROBABILITIES, reduction="none", torch=_KL),
        S(T(3, 4), _PROBABILITIES, reduction="batchmean", torch=_KL),
        S(T(3, 4), T(3, 4), reduction="sum", log_target=True, torch=_KL),
        S(T(3, 4, dtype="int64"), T(3, 4), reduction="sum", raises=RuntimeError, torch=_KL),
    ],
    "binary_cross_entropy": [
        S(_PROBABILITIES, T(3, 4, low=0, high=1)),
        S(_PROBABILITIES, T(3, 4, low=0, high=1), reduction="sum"),
        S(_PROBABILITIES, T(3, 4, low=0, high=1), reduction="none"),
        S(_PROBABILITIES, T(3, 4, low=0, high=1), T(4, requires_grad=False)),
        S(T(values=[0.0, 1.0, 0.0, 1.0]), T(values=[0.0, 0.0, 1.0, 1.0]), reduction="none",
          grad=False),
        S(_PROBABILITIES, T(4, low=0, high=1), raises=ValueError),
        S(T(3, low=2, high=3), T(3, low=0, high=1), raises=RuntimeError),
        S(_PROBABILITIES, T(3, 4, low=0, high=1, dtype="float64"), raises=RuntimeError),
    ],
    "binary_cross_entropy_with_logits": [
        S(T(3, 4), T(3, 4, low=0, high=1), torch=_BCE),
        S(T(3, 4), T(3, 4, low=0, high=1), reduction="sum", torch=_BCE),
        S(T(3, 4), T(3, 4, low=0, high=1), reduction="none", torch=_BCE),
        S(T(3, 4), T(3, 4, low=0, high=1), T(4, requires_grad=False), torch=_BCE),
        S(T(3, 4), T(3, 4, low=0, high=1), pos_weight=T(4, low=0, requires_grad=False),
          torch=_BCE),
        S(T(values=[-1000.0, 1000.0]), T(values=[0.0, 0.0]), reduction="none", torch=_BCE,
          grad=False),
        S(T(3, 4), T(4, low=0, high=1), raises=ValueError, torch=_BCE),
    ],
}  # fmt: skip
