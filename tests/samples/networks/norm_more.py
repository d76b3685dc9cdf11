"""Normalisation of each sample's channels, and by the root mean square."""

from tests.samples import S, T
from tests.samples.networks.conv import _channels_last

_X, _C = T(2, 3, 4), T(3)
_FIXED = T(3, requires_grad=False)
_VAR = T(3, low=0.5, high=2, requires_grad=False)
_OWN = (None, None, True, 0.1, 1e-5, False)

SAMPLES = {
    "instance_norm": [
        S(_X, None, None, *_OWN),
        S(_X, _C, _C, *_OWN),
        S(T(2, 4, 5, 3, view=_channels_last), _C, None, *_OWN),
        S(_X, _C, _C, _FIXED, _VAR, False, 0.1, 1e-5, False),
        S(_X, None, None, None, None, False, 0.1, 1e-5, False, raises=RuntimeError),
    ],
    "rms_norm": [
        S(_X, (4,)),
        S(_X, (3, 4), T(3, 4), 0.1),
        S(T(2, 3, dtype="float64"), (3,), T(3, dtype="float64")),
        S(T(2, 3, dtype="float16"), (3,), grad=False),
        S(_X, (3,), raises=RuntimeError),
        S(_X, (), raises=RuntimeError),
        S(_X, (4,), T(3), raises=RuntimeError),
        S(T(3), (2, 3), raises=ValueError),
        S(T(2, 3, dtype="int64"), (3,), raises=NotImplementedError),
    ],
}
