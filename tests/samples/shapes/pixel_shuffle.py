"""Samples of `imode/ops/shapes/pixel_shuffle.py`: channels as pixels."""

from tests.samples import S, T


def channels_last(tensor):
    return tensor.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)


def channels_last_3d(tensor):
    return tensor.permute(0, 2, 3, 4, 1).contiguous().permute(0, 4, 1, 2, 3)


def _samples(*shapes):
    """Calls by 2, of a shape with and without a batch, one that has channels, and dtypes."""
    batch, image, more, empty = shapes
    return [
        S(T(*batch), 2),
        S(T(*image), 2),
        S(T(*more), 2),
        S(T(*empty), 2, grad=False),
        S(T(*batch, view="transposed"), 2),
        S(T(*batch, view="strided"), 2),
        S(T(*batch, view=channels_last), 2),
        S(T(*more, view=channels_last_3d), 2, raises=RuntimeError),
        S(T(*batch), 1),
        S(T(*image, dtype="int64"), 2),
        S(T(*image, dtype="complex64"), 2),
        S(T(*batch), 0, raises=RuntimeError),
        S(T(*batch), -2, raises=RuntimeError),
        S(T(*batch), 3, raises=RuntimeError),
        S(T(4, 4), 2, raises=RuntimeError),
        S(T(*batch), 2.5, raises=TypeError),
    ]


SAMPLES = {
    "pixel_shuffle": [
        *_samples((2, 8, 3, 4), (4, 1, 2), (2, 2, 4, 2, 3), (0, 4, 2, 2)),
        S(T(1, 4, 2, 2), 1 << 32, raises=ValueError),
    ],
    "pixel_unshuffle": [
        *_samples((2, 2, 4, 4), (1, 2, 4), (2, 2, 2, 4, 2), (0, 1, 2, 2)),
        S(T(1, 1, 4, 3), 2, raises=RuntimeError),
    ],
}
