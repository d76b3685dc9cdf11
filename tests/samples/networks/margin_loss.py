"""Losses of margins."""

from tests.samples import S, T

_SIGNS = T(values=[1.0, -1.0, 1.0], requires_grad=False)
_X = T(3, 4, distinct=True)
_CLASSES = T(values=[0, 3, 1], dtype="int64")
_LABELS = T(values=[[0, 2, -1, 1], [3, -1, 0, 0], [-1, 0, 0, 0]], dtype="int64")


def _functional(name):
    def call(*args, **kwargs):
        import torch

        return getattr(torch.nn.functional, name)(*args, **kwargs)

    return call


_SOFT = {"torch": _functional("soft_margin_loss")}
_MULTI = {"torch": _functional("multi_margin_loss")}
_LISTED = {"torch": _functional("multilabel_margin_loss")}

SAMPLES = {
    "margin_ranking_loss": [
        S(T(3, low=0), T(3, low=-1, high=1), _SIGNS, 3.0),
        S(T(3), T(3), _SIGNS, reduction=0),
        S(T(2, 3), T(3), _SIGNS, 0.5, 2, smooth=False),
    ],
    "hinge_embedding_loss": [
        S(T(3), _SIGNS),
        S(T(3), _SIGNS, 0.5, 0, smooth=False),
        S(T(3, dtype="float64"), T(values=[1, -1, 1], dtype="int64"), reduction=2),
    ],
    "soft_margin_loss": [
        S(_X, T(3, 4, requires_grad=False), **_SOFT),
        S(_X, T(3, 4, requires_grad=False), reduction="none", **_SOFT),
        S(_X, T(3, 4, requires_grad=False), reduction="sum", **_SOFT),
        S(T(3, dtype="int64"), T(3, dtype="int64"), raises=RuntimeError, **_SOFT),
    ],
    "multi_margin_loss": [
        S(_X, _CLASSES, **_MULTI),
        S(_X, _CLASSES, 2, 0.7, reduction="sum", **_MULTI),
        S(_X, _CLASSES, weight=T(4, requires_grad=False), reduction="none", **_MULTI),
        S(T(4, distinct=True), T(values=1, dtype="int64"), reduction="none", **_MULTI),
        S(_X, _CLASSES, 3, raises=ValueError, **_MULTI),
        S(_X, _CLASSES, weight=T(2, 2), raises=ValueError, **_MULTI),
        S(_X, T(values=[0, 4, 1], dtype="int64"), raises=RuntimeError, **_MULTI),
        S(_X, T(values=[0, 1], dtype="int64"), raises=RuntimeError, **_MULTI),
        S(_X, _CLASSES, weight=T(3, requires_grad=False), raises=RuntimeError, **_MULTI),
        S(_X, T(3), raises=RuntimeError, **_MULTI),
    ],
    "multilabel_margin_loss": [
        S(_X, _LABELS, **_LISTED),
        S(_X, _LABELS, reduction="sum", **_LISTED),
        S(_X, _LABELS, reduction="none", **_LISTED),
        S(T(4, distinct=True), T(values=[3, 0, -1, 1], dtype="int64"), reduction="none", **_LISTED),
        S(_X, T(values=[[0, 2, -1, 7]] * 3, dtype="int64"), raises=RuntimeError, **_LISTED),
        S(_X, T(values=[[0, 2, -1]] * 3, dtype="int64"), raises=RuntimeError, **_LISTED),
        S(_X, T(3, 4), raises=RuntimeError, **_LISTED),
    ],
}
