"""Losses of pairs."""

from tests.samples import S, T


def _functional(name):
    """The function of torch.nn.functional where torch itself has one of another signature."""

    def call(*args, **kwargs):
        import torch

        return getattr(torch.nn.functional, name)(*args, **kwargs)

    return call


_PROBABILITIES = T(3, 4, low=0.05, high=0.95)
_KL = _functional("kl_div")
_BCE = _functional("binary_cross_entropy_with_logits")


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
