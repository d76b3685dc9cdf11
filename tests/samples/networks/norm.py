"""Normalisation."""

from tests.samples import S, T

_MEAN = T(3, requires_grad=False)
_VAR = T(3, low=0.5, high=2, requires_grad=False)


def _channels_last(t):
    return t.permute(0, 3, 1, 2)


def of_torch(name):
    """PyTorch's function without out=: that form writes past the end of expanded tensors."""

    def call(*args):
        import torch

        return getattr(torch, name)(*args)

    return call


_X, _C, _TOL = T(4, 3), T(3), (1e-4, 1e-5)
_NORM = of_torch("native_batch_norm")

SAMPLES = {
    "batch_norm": [
        S(T(4, 3), T(3), T(3), None, None, True, 0.1, 1e-5, False),
        S(T(4, 3, 5, 2), T(3), T(3), _MEAN, _VAR, True, 0.1, 1e-5, False, tol=(1e-4, 1e-5)),
        S(T(4, 3, 5, 2), T(3), T(3), _MEAN, _VAR, False, 0.1, 1e-5, False),
        S(T(4, 3, 5), None, T(3), _MEAN, _VAR, True, 0.5, 1e-3, False),
        S(T(4, 3, 2, 1, 2), T(3), None, _MEAN, _VAR, False, 0.1, 1e-5, False),
        S(T(2, 5, 4, 3, view=_channels_last), T(3), T(3), _MEAN, _VAR, True, 0.1, 1e-5, False),
        S(T(2, 5, 4, 3, view=_channels_last), T(3), T(3), _MEAN, _VAR, False, 0.1, 1e-5, False),
        S(T(2, 3, 5, 4, view="transposed"), None, None, None, None, True, 0.1, 1e-5, False),
        S(T(4, 3), None, None, T(4), T(4), True, 0.1, 1e-5, False, raises=RuntimeError),
        S(T(4, 3), T(4), None, None, None, True, 0.1, 1e-5, False, raises=RuntimeError),
        S(T(4, 3), None, T(4), None, None, True, 0.1, 1e-5, False, raises=RuntimeError),
        S(T(4, 3), None, None, None, None, False, 0.1, 1e-5, False, raises=RuntimeError),
        S(T(4, 3, dtype="int64"), None, None, None, None, True, 0.1, 1e-5, False,
          raises=NotImplementedError),
        S(T(4, 3, dtype="float64"), T(3), T(3), None, None, True, 0.1, 1e-5, False,
          raises=RuntimeError),
    ],
    "layer_norm": [
        S(T(4, 3), (3,), T(3), T(3)),
        S(T(4, 3), [3]),
        S(T(2, 4, 3), (4, 3), T(4, 3)),
        S(T(2, 4, 3), (3,), None, T(3), 1e-2),
        S(T(2, 3, 4, view="transposed"), (4,), T(4), T(4)),
        S(T(5), (5,), T(5), T(5)),
        S(T(0, 3), (3,)),
        S(T(4, 3, dtype="float64"), (3,), weight=T(3, dtype="float64")),
        S(T(4, 3), (4,), raises=RuntimeError),
        S(T(4, 3), (1, 2, 3), raises=RuntimeError),
        S(T(4, 3), (), raises=RuntimeError),
        S(T(4, 3), (3,), T(4), raises=RuntimeError),
        S(T(4, 3), (3,), None, T(4), raises=RuntimeError),
        S(T(4, 3, dtype="int64"), (3,), raises=NotImplementedError),
        S(T(4, 3, dtype="float64"), (3,), T(3), raises=RuntimeError),
    ],
    "group_norm": [
        S(T(2, 4, 3), 2, T(4), T(4)),
        S(T(2, 4, 3, 2), 4, T(4), T(4), 1e-3),
        S(T(2, 4), 1),
        S(T(0, 4), 2, T(4), T(4)),
        S(T(2, 4, 3), 2, weight=T(4)),
        S(T(2, 5, 3, 4, view=_channels_last), 2, T(4), T(4)),
        S(T(2, 4, 3), 3, raises=RuntimeError),
        S(T(2, 4, 3), 0, raises=RuntimeError),
        S(T(4), 2, raises=IndexError),
        S(T(2, 4, 3), 2, T(3), raises=RuntimeError),
        S(T(2, 4, 3, dtype="int64"), 2, raises=NotImplementedError),
    ],
    "native_batch_norm": [
        S(_X, _C, _C, _MEAN, _VAR, True, 0.1, 1e-5, tol=_TOL, torch=_NORM),
        S(_X, _C, _C, _MEAN, _VAR, False, 0.1, 1e-5, torch=_NORM),
        S(T(4, 3, 2), None, None, None, None, True, 0.1, 1e-5, tol=_TOL, torch=_NORM),
        S(T(4, 3, dtype="int64"), None, None, None, None, True, 0.1, 1e-5,
          raises=NotImplementedError),
    ],
    "native_batch_norm_backward": [
        S(_X, _X, _C, _MEAN, _VAR, _MEAN, _VAR, False, 1e-5, (True, True, True), grad=False),
        S(_X, _X, _C, None, None, _MEAN, _VAR, True, 1e-5, [True, True, True], grad=False),
    ],
    "native_layer_norm": [
        S(_X, (3,), _C, _C, 1e-5),
        S(T(2, 4, 3), (4, 3), None, None, 1e-3),
        S(_X, (4,), None, None, 1e-5, raises=RuntimeError),
    ],
    "native_layer_norm_backward": [
        S(_X, _X, (3,), T(4, 1), T(4, 1, low=0.5), _C, _C, (True, True, True), grad=False),
        S(_X, _X, (3,), T(4, 1), T(4, 1, low=0.5), None, None, [True, False, False], grad=False),
    ],
    "native_group_norm": [
        S(T(2, 4, 3), T(4), T(4), 2, 4, 3, 2, 1e-5),
        S(T(2, 4, 3, 2), None, None, 2, 4, 6, 4, 1e-3),
        S(T(24), T(4), T(4), 2, 4, 3, 2, 1e-5),
        S(T(2, 4, 3), None, None, 2, 4, 2, 2, 1e-5, raises=RuntimeError),
        S(T(2, 4, 3), None, None, 2, 4, 3, 3, 1e-5, raises=RuntimeError),
        S(T(2, 4, 3), None, None, 2, 4, 3, 0, 1e-5, raises=RuntimeError),
    ],
    "native_group_norm_backward": [
        S(T(2, 4, 3), T(2, 4, 3), T(2, 2), T(2, 2), T(4), 2, 4, 3, 2, (True, True, True),
          grad=False),
        S(T(2, 4, 3), T(2, 4, 3), T(2, 2), T(2, 2), None, 2, 4, 3, 2, [True, False, False],
          grad=False),
    ],
}  # fmt: skip
