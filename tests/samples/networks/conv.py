"""Convolution."""

from tests.samples import S, T


def _channels_last(t):
    return t.permute(0, 3, 1, 2)


def _last_3d(t):
    return t.permute(0, 4, 1, 2, 3)


_IMAGE = T(2, 4, 5, 6)
_BOOLS = T(1, 1, 3, 3, 3, dtype="bool")


SAMPLES = {
    "conv1d": [
        S(T(2, 3, 7), T(4, 3, 3), T(4)),
        S(T(3, 7), T(4, 3, 2), stride=2, padding=1),
        S(T(2, 4, 8), T(6, 2, 3), T(6), dilation=2, groups=2),
        S(T(1, 1, 4), T(1, 1, 1)),
        S(T(2, 7, 3, view="transposed"), T(4, 7, 3), T(4)),
        S(T(1, 2, 5, dtype="float64"), T(2, 2, 3, dtype="float64")),
        S(T(0, 3, 7), T(4, 3, 3), T(4)),
        S(T(2, 3, 7), T(4, 2, 3), raises=RuntimeError),
        S(T(2, 3, 7, 7), T(4, 3, 3), raises=RuntimeError),
        S(T(2, 3, 2), T(4, 3, 3), raises=RuntimeError),
        S(T(2, 3, 7), T(4, 3, 3), T(3), raises=RuntimeError),
        S(T(2, 3, 7), T(4, 3, 3, dtype="float64"), raises=RuntimeError),
    ],
    "conv1d.padding": [
        S(T(2, 3, 7), T(4, 3, 4), T(4), padding="same", dilation=2),
        S(T(2, 3, 7), T(4, 3, 3), T(4), stride=2, padding="valid"),
        S(T(2, 3, 7), T(4, 3, 3), padding="other", raises=RuntimeError),
    ],
    "conv2d": [
        S(_IMAGE, T(3, 4, 3, 3), T(3)),
        S(_IMAGE, T(3, 4, 3, 3), T(3), padding=1),
        S(_IMAGE, T(3, 4, 3, 2), T(3), stride=(2, 1), padding=(1, 2)),
        S(_IMAGE, T(3, 4, 2, 2), dilation=(2, 1)),
        S(_IMAGE, T(6, 2, 3, 3), T(6), stride=2, padding=1, groups=2),
        S(_IMAGE, T(4, 1, 3, 3), groups=4, padding=1),
        S(_IMAGE, T(5, 4, 1, 1), T(5)),
        S(T(4, 5, 6), T(3, 4, 3, 3), T(3)),
        S(T(1, 1, 8, 8), T(1, 1, 3, 3), T(1), padding=1),
        S(T(2, 3, 6, 5, view="transposed"), T(3, 3, 3, 3)),
        S(T(2, 5, 6, 3, view=_channels_last), T(4, 3, 3, 3), T(4)),
        S(_IMAGE, T(3, 3, 3, 4, view=_channels_last)),
        S(T(1, 2, 4, 4, dtype="float64"), T(2, 2, 3, 3, dtype="float64"), stride=3, padding=2),
        S(T(1, 2, 4, 4, dtype="float16"), T(2, 2, 3, 3, dtype="float16"), grad=False),
        S(T(1, 2, 4, 4, dtype="complex64"), T(2, 2, 3, 3, dtype="complex64"), grad=False),
        S(T(1, 2, 4, 4, dtype="int64"), T(2, 2, 3, 3, dtype="int64")),
        S(T(0, 4, 5, 6), T(3, 4, 3, 3), T(3)),
        S(_IMAGE, T(3, 3, 3, 3), raises=RuntimeError),
        S(_IMAGE, T(3, 2, 3, 3), groups=2, raises=RuntimeError),
        S(_IMAGE, T(3, 4, 3, 3), T(4), raises=RuntimeError),
        S(_IMAGE, T(3, 4, 7, 7), raises=RuntimeError),
        S(_IMAGE, T(3, 4, 3), raises=RuntimeError),
        S(T(5, 6), T(3, 4, 3, 3), raises=RuntimeError),
        S(_IMAGE, T(3, 4, 3, 3), stride=0, raises=RuntimeError),
        S(_IMAGE, T(3, 4, 3, 3), padding=-1, raises=RuntimeError),
        S(_IMAGE, T(3, 4, 3, 3), dilation=0, raises=RuntimeError),
        S(_IMAGE, T(3, 4, 3, 3), groups=0, raises=RuntimeError),
        S(_IMAGE, T(3, 4, 3, 3), stride=(1, 2, 3), raises=RuntimeError),
        S(_IMAGE, T(3, 4, 3, 3, dtype="float64"), raises=RuntimeError),
        S(T(1, 2, 4, 4, dtype="bool"), T(2, 2, 3, 3, dtype="bool"), raises=NotImplementedError),
    ],
    "conv2d.padding": [
        S(_IMAGE, T(3, 4, 4, 2), T(3), padding="same"),
        S(_IMAGE, T(3, 4, 3, 3), None, 2, "valid"),
        S(_IMAGE, T(3, 4, 3, 3), padding="same", stride=2, raises=RuntimeError),
        S(_IMAGE, T(3, 4, 3, 3), padding="other", raises=RuntimeError),
    ],
    "conv3d": [
        S(T(2, 2, 4, 3, 5), T(3, 2, 2, 2, 3), T(3)),
        S(T(2, 4, 4, 5), T(4, 1, 2, 2, 2), T(4), (2, 1, 2), (1, 0, 1), (1, 2, 1), 2),
        S(T(2, 3, 4, 5, 2, view=_last_3d), T(2, 2, 2, 2, 2)),
        S(T(1, 1, 3, 3, 3, dtype="float64"), T(1, 1, 3, 3, 3, dtype="float64"), padding=1),
        S(T(1, 1, 3, 3, 3, dtype="float16"), T(1, 1, 2, 2, 2, dtype="float16"), grad=False),
        S(T(1, 1, 3, 3, 3, dtype="int64"), T(1, 1, 2, 2, 2, dtype="int64")),
        S(T(3, 3), T(1, 1, 2, 2, 2), raises=RuntimeError),
        S(T(1, 2, 3, 3, 3), T(1, 1, 2, 2, 2), raises=RuntimeError),
        S(T(1, 1, 3, 3, 3), T(1, 1, 4, 2, 2), raises=RuntimeError),
        S(T(1, 1, 3, 3, 3), T(1, 1, 0, 2, 2), raises=RuntimeError),
        S(T(1, 1, 3, 3, 3), T(1, 1, 2, 2, 2), dilation=0, raises=RuntimeError),
        S(_BOOLS, T(1, 1, 2, 2, 2, dtype="bool"), raises=NotImplementedError),
    ],
    "conv3d.padding": [
        S(T(1, 1, 3, 4, 3), T(1, 1, 2, 3, 1), padding="same"),
        S(T(1, 1, 3, 4, 3), T(1, 1, 2, 3, 1), padding="valid", stride=2),
        S(T(1, 1, 3, 4, 3), T(1, 1, 2, 3, 1), padding="other", raises=RuntimeError),
    ],
    "conv_transpose1d": [
        S(T(2, 3, 5), T(3, 2, 3), T(2)),
        S(T(4, 5), T(4, 2, 3), T(4), 2, 1, 1, 2),
        S(T(1, 2, 4, dtype="int64"), T(2, 1, 2, dtype="int64")),
        S(T(2, 3, 5), T(2, 2, 3), raises=RuntimeError),
        S(T(2, 3, 5), T(3, 2, 3), output_padding=1, raises=RuntimeError),
        S(T(1, 3, 5), T(3, 2, 3), dilation=0, raises=RuntimeError),
        S(T(1, 2, 4, dtype="int32"), T(2, 1, 2, dtype="int32"), raises=NotImplementedError),
    ],
    "conv_transpose2d": [
        S(T(2, 3, 4, 3), T(3, 2, 3, 2), T(2)),
        S(T(1, 4, 3, 4), T(4, 1, 2, 3), None, (2, 3), (0, 1), (1, 2), 2, (1, 2)),
        S(T(2, 3, 4, 2, view=_channels_last), T(2, 3, 2, 2), stride=2),
        S(T(1, 2, 3, 3, dtype="float64"), T(2, 1, 2, 2, dtype="float64"), padding=1),
        S(T(0, 2, 3, 3), T(2, 1, 2, 2)),
        S(T(3, 3), T(2, 1, 2, 2), raises=RuntimeError),
        S(T(1, 2, 3, 3), T(2, 1, 2, 2), T(2), raises=RuntimeError),
        S(T(1, 2, 3, 3), T(2, 1, 2, 2), padding=4, raises=RuntimeError),
        S(T(1, 2, 3, 3), T(2, 1, 2, 2), output_padding=-1, raises=RuntimeError),
        S(T(1, 2, 3, 3), T(2, 1, 2, 2), output_padding=(1, 2, 3), raises=RuntimeError),
        S(T(1, 2, 3, 3), T(2, 1, 0, 2), raises=RuntimeError),
        S(T(1, 2, 0, 3), T(2, 1, 2, 2), raises=RuntimeError),
    ],
    "conv_transpose3d": [
        S(T(1, 2, 2, 3, 2), T(2, 2, 2, 1, 2), T(2)),
        S(T(2, 3, 2, 2), T(2, 1, 2, 2, 2), None, 2, 1, 1, 2),
        S(T(1, 1, 2, 2, 2), T(1, 1, 2, 2, 2), padding=3, raises=RuntimeError),
        S(T(1, 1, 2, 2, 2), T(1, 1, 2, 2, 2), output_padding=2, raises=RuntimeError),
    ],
    "convolution": [
        S(T(1, 2, 5), T(2, 2, 3), T(2), [1], [1], [1], False, [0], 1),
        S(T(1, 2, 3, 3), T(2, 1, 2, 2), T(2), [2], [0], [1], True, [1], 2),
        S(T(1, 2, 5), T(2, 2, 3), None, [1, 1], [1], [1], False, [0], 1, raises=RuntimeError),
    ],
}
