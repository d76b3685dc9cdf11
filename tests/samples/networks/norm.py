"""Normalisation."""

from tests.samples import S, T

_MEAN = T(3, requires_grad=False)
_VAR = T(3, low=0.5, high=2, requires_grad=False)


def _channels_last(t):
    return t.permute(0, 3, 1, 2)


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
}  # fmt: skip
