"""The largest and the mean of windows of volumes.

PyTorch writes outside of an out= of avg_pool3d that does not lie as the result would: that form is
in `tests/test_pool.py`.
"""

from tests.samples import S, T
from tests.samples.networks.conv import _last_3d

_VOLUME = T(1, 2, 4, 3, 5, distinct=True)
_LAST = T(2, 4, 3, 5, 2, view=_last_3d, distinct=True)

SAMPLES = {
    "max_pool3d_with_indices": [
        S(_VOLUME, 2),
        S(_VOLUME, (3, 2, 2), 1, 1, 1, True),
        S(_LAST, 2),
        S(T(1, 2, 4, 3, 5, dtype="int64"), 2),
    ],
    "max_pool3d": [
        S(_VOLUME, 2),
        S(_VOLUME, (2, 1, 3), (1, 2, 1), (1, 0, 1), (2, 1, 1)),
        S(T(2, 4, 3, 5, distinct=True), 2, ceil_mode=True),
        S(T(1, 1, 2, 2, 2, dtype="float16"), 2, grad=False),
        S(T(1, 1, 2, 2, 2, dtype="uint8"), 2),
        S(T(0, 2, 4, 3, 5), 2),
        S(T(4, 4), 2, raises=RuntimeError),
        S(_VOLUME, (2, 2), raises=RuntimeError),
        S(_VOLUME, 2, 0, raises=RuntimeError),
        S(_VOLUME, 2, -1, raises=RuntimeError),
        S(_VOLUME, 2, padding=2, raises=RuntimeError),
        S(_VOLUME, 2, dilation=0, raises=RuntimeError),
        S(_VOLUME, 9, raises=RuntimeError),
        S(T(1, 0, 4, 4, 4), 2, raises=RuntimeError),
        S(T(1, 1, 2, 2, 2, dtype="bool"), 2, raises=NotImplementedError),
    ],
    "avg_pool3d": [
        S(_VOLUME, 2, variants=False),
        S(_VOLUME, (2, 3, 2), (1, 2, 2), 1, True, False, variants=False),
        S(_VOLUME, 3, 2, 1, True, True, variants=False),
        S(_VOLUME, 2, divisor_override=3, variants=False),
        S(T(2, 4, 3, 5), 2, variants=False),
        S(_LAST, 2, variants=False),
        S(T(1, 1, 2, 2, 2, dtype="int64", low=0, high=20), 2, variants=False),
        S(T(4, 4), 2, raises=RuntimeError),
        S(_VOLUME, (2, 2), raises=RuntimeError),
        S(_VOLUME, 9, raises=RuntimeError),
        S(_VOLUME, 2, divisor_override=0, raises=RuntimeError),
        S(T(1, 1, 2, 2, 2, dtype="float16"), 2, raises=NotImplementedError),
    ],
    "adaptive_avg_pool3d": [
        S(_VOLUME, 2),
        S(_VOLUME, (None, 2, 3)),
        S(_VOLUME, 1),
        S(T(2, 4, 3, 5), (3, 2, 2)),
        S(_LAST, 2),
        S(T(4, 4), 2, raises=RuntimeError),
        S(_VOLUME, (2, 2), raises=RuntimeError),
        S(_VOLUME, (2, -1, 2), raises=RuntimeError),
        S(T(1, 2, 0, 4, 4), 2, raises=RuntimeError),
        S(T(1, 1, 2, 2, 2, dtype="int64"), 2, raises=NotImplementedError),
    ],
    "adaptive_max_pool3d": [
        S(_VOLUME, 2),
        S(_VOLUME, (None, 2, 3), return_indices=True),
        S(T(2, 4, 3, 5, distinct=True), (3, 2, 2)),
        S(T(4, 4), 2, raises=RuntimeError),
        S(_VOLUME, (2, -1, 2), raises=RuntimeError),
    ],
    "max_pool3d_with_indices.nn": [S(_VOLUME, 2, return_indices=True)],
    "adaptive_max_pool3d_with_indices": [S(_VOLUME, 2), S(_VOLUME, (None, 2, 2))],
}
