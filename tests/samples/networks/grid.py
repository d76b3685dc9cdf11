"""Images and volumes sampled at any places, and grids of places."""

from tests.samples import S, T

_PLANE, _GRID = T(2, 2, 3, 4), T(2, 3, 2, 2, low=-1.3, high=1.3)
_VOLUME, _GRID3 = T(1, 2, 3, 2, 4), T(1, 2, 2, 3, 3, low=-1.3, high=1.3)
_HALVES = T(1, 2, 2, 2, dtype="float16", low=-1, high=1)

SAMPLES = {
    "grid_sampler_2d": [
        *[S(_PLANE, _GRID, m, p, c) for m in (0, 1, 2) for p in (0, 1, 2) for c in (True, False)],
        S(T(1, 1, 3, 3, dtype="float16"), _HALVES, 0, 0, False, grad=False),
        S(_PLANE, T(2, 3, 2, 3), 0, 0, False, raises=RuntimeError),
        S(_PLANE, T(1, 3, 2, 2), 0, 0, False, raises=RuntimeError),
        S(T(1, 2, 0, 4), T(1, 3, 2, 2), 0, 0, False, raises=RuntimeError),
        S(_PLANE, T(2, 3, 2, 2, dtype="float64"), 0, 0, False, raises=RuntimeError),
    ],
    "grid_sampler_3d": [
        *[S(_VOLUME, _GRID3, m, p, c) for m in (0, 1) for p in (0, 1, 2) for c in (True, False)],
        S(_VOLUME, _GRID3, 2, 0, False, raises=RuntimeError),
    ],
    "grid_sampler": [S(_PLANE, _GRID, 0, 0, True), S(_VOLUME, _GRID3, 0, 1, False)],
    "grid_sample": [
        *[S(_PLANE, _GRID, mode, align_corners=True) for mode in ("bilinear", "bicubic")],
        S(_PLANE, _GRID, "nearest", "border", False),
        S(_PLANE, T(2, 9, 9, 2, low=-1, high=1), "bilinear", "reflection", False),
        S(_VOLUME, _GRID3, align_corners=True),
        S(_PLANE, _GRID, "linear", raises=ValueError),
    ],
    "affine_grid": [
        S(T(2, 2, 3), (2, 1, 3, 4), align_corners=True),
        S(T(1, 3, 4), (1, 1, 2, 3, 4), align_corners=False),
        S(T(1, 2, 3), [1, 1, 2, 3], align_corners=False),
        S(T(1, 2, 4), (1, 1, 2, 3), align_corners=False, raises=ValueError),
    ],
    "affine_grid_generator": [
        S(T(2, 2, 3), (2, 1, 3, 4), True),
        S(T(2, 2, 3), (2, 1, 2, 4), False),
        S(T(1, 3, 4), (1, 1, 2, 3, 4), False),
        S(T(1, 2, 3, dtype="float64"), (1, 1, 2, 3), True),
        S(T(0, 2, 3), (0, 1, 2, 3), True),
    ],
}
