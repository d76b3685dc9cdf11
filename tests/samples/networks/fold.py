"""Windows of images as columns and back, grouped channels in turn."""

from tests.samples import S, T
from tests.samples.networks.conv import _channels_last


def _compiled(name):
    """The operator that PyTorch keeps for its own functions."""

    def call(*args, **kwargs):
        import torch

        return getattr(torch._C._nn, name)(*args, **kwargs)

    return call


_IM2COL, _COL2IM = _compiled("im2col"), _compiled("col2im")
_WINDOW = ((2, 3), (1, 1), (0, 0), (1, 1))

SAMPLES = {
    "im2col": [
        S(T(2, 3, 4, 5), *_WINDOW, torch=_IM2COL),
        S(T(3, 4, 5), (2, 2), (2, 1), (1, 0), (1, 2), torch=_IM2COL),
        S(T(2, 4, 5, 3, view=_channels_last), *_WINDOW, torch=_IM2COL),
        S(T(1, 1, 4, 5, dtype="complex64"), *_WINDOW, torch=_IM2COL),
        S(T(1, 1, 4, 5, dtype="float16"), *_WINDOW, torch=_IM2COL, grad=False),
        S(T(1, 1, 4, 5, dtype="bool"), *_WINDOW, torch=_IM2COL),
        S(T(0, 1, 4, 5), *_WINDOW, torch=_IM2COL),
        S(T(1, 0, 4, 5), *_WINDOW, torch=_IM2COL, raises=RuntimeError),
        S(T(1, 1, 4, 5), (0, 2), *_WINDOW[1:], torch=_IM2COL, raises=RuntimeError),
        S(T(1, 1, 4, 5), (5, 2), *_WINDOW[1:], torch=_IM2COL, raises=RuntimeError),
        S(T(1, 1, 4, 5), (2, 2), (1, 1), (-1, 0), (1, 1), torch=_IM2COL, raises=RuntimeError),
        S(T(1, 1, 4, 5, dtype="int64"), *_WINDOW, torch=_IM2COL, raises=NotImplementedError),
    ],
    "col2im": [
        S(T(2, 12, 9), (4, 5), *_WINDOW, torch=_COL2IM),
        S(T(12, 10), (4, 6), (2, 2), (2, 1), (1, 0), (1, 2), torch=_COL2IM, raises=RuntimeError),
        S(T(8, 12), (4, 6), (2, 2), (2, 1), (1, 0), (1, 2), torch=_COL2IM),
        S(T(1, 6, 9, dtype="complex64"), (4, 5), *_WINDOW, torch=_COL2IM),
        S(T(8), (4, 5), *_WINDOW, torch=_COL2IM, raises=RuntimeError),
        S(T(1, 7, 9), (4, 5), *_WINDOW, torch=_COL2IM, raises=RuntimeError),
        S(T(1, 6, 8), (4, 5), *_WINDOW, torch=_COL2IM, raises=RuntimeError),
        S(T(1, 6, 9, dtype="int64"), (4, 5), *_WINDOW, torch=_COL2IM, raises=NotImplementedError),
    ],
    "channel_shuffle": [
        S(T(2, 6, 3), 2),
        S(T(2, 3, 4, 6, view=_channels_last), 3),
        S(T(1, 4, 2, 2, dtype="int64"), 2),
        S(T(4), 2, raises=RuntimeError),
        S(T(1, 4, 2), 3, raises=RuntimeError),
        S(T(1, 4, 2), 0, raises=RuntimeError),
    ],
    "native_channel_shuffle": [S(T(2, 6, 3), 2, grad=False)],
}
