"""The largest and the mean of windows."""

from tests.samples import S, T
from tests.samples.networks.conv import _channels_last

_PLANES = T(1, 2, 6, 7, distinct=True)
_LAST = T(2, 5, 6, 3, view=_channels_last, distinct=True)


def _functional(name):
    """The function of torch.nn.functional where torch itself has one of another signature."""

    def call(*args, **kwargs):
        import torch

        return getattr(torch.nn.functional, name)(*args, **kwargs)

    return call


SAMPLES = {
    "max_pool2d_with_indices": [
        S(_PLANES, 2),
        S(_PLANES, (3, 2), 1, 1),
        S(_LAST, 2),
        S(T(2, 6, 7, distinct=True), 3, (2, 1), (1, 0), 1, True),
        S(T(1, 2, 6, 7, dtype="int64"), 2),
    ],
    "max_pool2d": [
        S(_PLANES, 2),
        S(_PLANES, 3, stride=2, padding=1),
        S(_PLANES, (2, 3), (1, 2), (0, 1), (2, 1)),
        S(_PLANES, 3, 2, ceil_mode=True),
        S(T(2, 6, 7, distinct=True), 2),
        S(_LAST, 2),
        S(T(1, 2, 6, 7, view="transposed", distinct=True), 2),
        S(T(1, 1, 4, 4, dtype="float64", distinct=True), 2),
        S(T(1, 1, 4, 4, dtype="float16"), 2, grad=False),
        S(T(1, 1, 4, 4, dtype="int32"), 2),
        S(T(1, 1, 2, 2, values=[[[[float("nan"), 1.0], [2.0, 3.0]]]]), 2, grad=False),
        S(T(0, 2, 4, 4), 2),
        S(T(4, 4), 2, raises=RuntimeError),
        S(_PLANES, 2, padding=2, raises=RuntimeError),
        S(_PLANES, 2, padding=-1, raises=RuntimeError),
        S(_PLANES, 0, raises=RuntimeError),
        S(_PLANES, 2, 0, raises=RuntimeError),
        S(_PLANES, 2, dilation=0, raises=RuntimeError),
        S(_PLANES, 9, raises=RuntimeError),
        S(_PLANES, (1, 2, 3), raises=RuntimeError),
        S(T(1, 0, 4, 4), 2, raises=RuntimeError),
        S(T(1, 1, 4, 4, dtype="bool"), 2, raises=NotImplementedError),
    ],
    "max_pool1d": [
        S(T(2, 3, 8, distinct=True), 2),
        S(T(3, 8, distinct=True), 3, stride=2, padding=1),
        S(T(2, 3, 8, distinct=True), 2, 1, 0, 2),
        S(T(2, 3, 9, distinct=True), 2, ceil_mode=True),
        S(T(8), 2, raises=RuntimeError),
        S(T(2, 3, 8), 2, padding=2, raises=RuntimeError),
        S(T(2, 3, 2), 3, raises=RuntimeError),
        S(T(2, 3, 8, dtype="int64"), 2, raises=NotImplementedError),
    ],
    "avg_pool2d": [
        S(_PLANES, 2),
        S(_PLANES, 3, stride=2, padding=1),
        S(_PLANES, 3, 2, 1, count_include_pad=False),
        S(_PLANES, 3, 2, 1, True, True),
        S(_PLANES, (2, 3), 1, divisor_override=4),
        S(T(2, 6, 7), 2),
        S(_LAST, 2),
        S(T(1, 1, 4, 4, dtype="float64"), 2),
        S(T(1, 1, 4, 4, dtype="int64", low=0, high=20), 2),
        S(T(0, 2, 4, 4), 2),
        S(T(4, 4), 2, raises=IndexError),
        S(_PLANES, 2, padding=2, raises=RuntimeError),
        S(_PLANES, 9, raises=RuntimeError),
        S(_PLANES, 2, divisor_override=0, raises=RuntimeError),
        S(_PLANES, (1, 2, 3), raises=RuntimeError),
        S(T(1, 1, 4, 4, dtype="int32"), 2, raises=NotImplementedError),
    ],
    "avg_pool1d": [
        S(T(2, 3, 8), 2),
        S(T(3, 8), 3, stride=2, padding=1),
        S(T(2, 3, 8), 3, 2, 1, count_include_pad=False),
        S(T(8), 2, raises=RuntimeError),
    ],
    "adaptive_avg_pool2d": [
        S(_PLANES, 2),
        S(_PLANES, (3, 4)),
        S(_PLANES, (None, 3)),
        S(_PLANES, 1),
        S(T(2, 6, 7), (2, 3)),
        S(_LAST, 2),
        S(T(0, 2, 4, 4), 2),
        S(T(4, 4), (2, 2), raises=ValueError),
        S(_PLANES, (-1, 2), raises=RuntimeError),
        S(T(1, 2, 0, 4), (2, 2), raises=RuntimeError),
        S(T(1, 2, 4, 4, dtype="int64"), (2, 2), raises=NotImplementedError),
    ],
    "adaptive_avg_pool1d": [
        S(T(2, 3, 8), 3),
        S(T(3, 8), 1),
        S(T(8), 2, raises=RuntimeError),
    ],
    "adaptive_max_pool2d": [
        S(_PLANES, 2),
        S(_PLANES, (3, 4)),
        S(T(2, 6, 7, distinct=True), (2, 3)),
        S(_PLANES, 2, return_indices=True),
    ],
    "adaptive_max_pool1d": [
        S(T(2, 3, 8, distinct=True), 3, torch=_functional("adaptive_max_pool1d")),
        S(T(3, 8, distinct=True), 2, torch=_functional("adaptive_max_pool1d")),
    ],
    "max_pool2d_with_indices.nn": [S(_PLANES, 2, return_indices=False)],
    "max_pool1d_with_indices": [
        S(T(2, 3, 8, distinct=True), 2),
        S(T(3, 8, distinct=True), 3, stride=2, padding=1),
        S(T(8), 2, raises=RuntimeError),
    ],
    "adaptive_max_pool1d_with_indices": [
        S(T(2, 3, 8, distinct=True), 3, torch=_functional("adaptive_max_pool1d_with_indices")),
    ],
    "adaptive_max_pool2d_with_indices": [
        S(_PLANES, 3, torch=_functional("adaptive_max_pool2d_with_indices")),
        S(_PLANES, (None, 2), torch=_functional("adaptive_max_pool2d_with_indices")),
    ],
    "avg_pool2d_backward": [
        S(T(1, 2, 2), T(1, 4, 4), (2, 2), (2, 2), (0, 0), False, True, None),
        S(T(2, 1, 3, 3), T(2, 1, 4, 4), 2, 2, 1, False, False, None),
        S(T(1, 2, 2), T(1, 4, 4), (2, 2), (), (0, 0), False, True, 3),
    ],
    "max_pool2d_with_indices_backward": [
        S(T(1, 2, 2), T(1, 4, 4), 2, 2, 0, 1, False, T(values=[[[0, 3], [8, 15]]], dtype="int64")),
        S(T(1, 2, 2), T(1, 4, 4), 2, (), 0, 1, False, T(values=[[[0, 3], [8, 15]]], dtype="int64")),
    ],
}
