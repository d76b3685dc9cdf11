"""Cross products."""

from tests.samples import S, T


def _cross(self, other, *, dim=-1):
    import torch

    return torch.linalg.cross(self, other, dim=dim)


SAMPLES = {
    "linalg_cross": [
        S(T(3), T(3), torch=_cross),
        S(T(2, 3), T(2, 3), torch=_cross),
        S(T(3, 2), T(3, 2), dim=0, torch=_cross),
        S(T(2, 3), T(1, 3), torch=_cross),
        S(T(2, 3, dtype="complex64"), T(2, 3, dtype="complex64"), torch=_cross),
        S(T(2, 3, dtype="int64"), T(2, 3, dtype="int64"), torch=_cross),
        S(T(2, 3), T(2, 4), torch=_cross, raises=RuntimeError),
    ],
    "cross": [
        S(T(3), T(3)),
        S(T(2, 3), T(2, 3)),
        S(T(3, 2), T(3, 2), 0),
        S(T(4, 2), T(4, 2), raises=RuntimeError),
    ],
}
