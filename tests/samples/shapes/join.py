"""Samples of `imode/ops/shapes/join.py`: joining tensors, broadcasting them, grids."""

from tests.samples import S, T


def _torch():
    import torch

    return torch


EMPTY = T(0, requires_grad=False)

CAT = [
    S([T(2, 3), T(1, 3)]),
    S([T(2, 3), T(2, 2), T(2, 0)], 1),
    S([T(2, 3), T(2, 3)], dim=-1),
    S([T(2, 3, view="transposed"), T(2, 3)], 0),
    S([T(2, dtype="int64"), T(3)]),
    S([T(2, dtype="float16"), T(3, dtype="float64")]),
    S([T(2, dtype="bool"), T(1, dtype="int32")]),
    S([T(2, dtype="complex64"), T(1)]),
    S([T(2, 3), EMPTY]),
    S([EMPTY, EMPTY]),
    S([T(2, 3)]),
    S([], raises=ValueError),
    S([T(2, 3), T(2, 2)], raises=RuntimeError),
    S([T(2, 3), T(3)], raises=RuntimeError),
    S([T(), T()], raises=RuntimeError),
    S([T(2, 3), T(2, 3)], 2, raises=IndexError),
    S(T(2, 3), raises=TypeError),
]
STACK = [
    S([T(2, 3), T(2, 3)]),
    S([T(2, 3), T(2, 3)], 1),
    S([T(2, 3), T(2, 3), T(2, 3)], dim=-1),
    S([T(), T()]),
    S([T(2, 0), T(2, 0)], 2),
    S([T(2, dtype="int64"), T(2)]),
    S([T(2, 3, view="transposed"), T(2, 3)], 1),
    S([], raises=RuntimeError),
    S([T(2), T(3)], raises=RuntimeError),
    S([T(2), T(2)], 2, raises=IndexError),
]
LISTS = [
    S([T(2, 3), T(2, 3)]),
    S([T(3), T(3)]),
    S([T(), T()]),
    S([T(2, 3, 2, dtype="int64")]),
    S([], raises=RuntimeError),
]
AT_LEAST = [
    *(S(T(*shape)) for shape in ((), (2,), (2, 3), (1, 2, 3))),
    S(T(2, dtype="int64")),
    S(2, raises=TypeError),
]
AT_LEAST_ALL = [S([T(), T(2)]), S(T(), T(2, 3), T(1, 2, 3)), S([])]

SAMPLES = {
    "cat": CAT,
    "stack": STACK,
    "hstack": [*LISTS, S([T(2, 3), T(2, 1)])],
    "vstack": [*LISTS, S([T(2, 3), T(3)])],
    "dstack": [*LISTS, S([T(2, 3), T(2, 3, 1)])],
    "column_stack": [*LISTS[:3], S([T(2, 3), T(2)])],
    "broadcast_tensors": [
        S([T(2, 1), T(3)], torch=lambda ts: _torch().broadcast_tensors(*ts)),
        S([T(2), T()], torch=lambda ts: _torch().broadcast_tensors(*ts)),
        S([T(2), T(3)], raises=RuntimeError, torch=lambda ts: _torch().broadcast_tensors(*ts)),
    ],
    "meshgrid": [
        S([T(2), T(3)], indexing="ij"),
        S([T(2), T(3), T(1)], indexing="xy"),
        S([T(2), T()], indexing="ij"),
        S([T(2), T(3, dtype="int64")], indexing="ij", raises=RuntimeError),
        S([T(2), T(3)], indexing="yx", raises=RuntimeError),
    ],
    "atleast_1d": AT_LEAST,
    "atleast_1d.Sequence": AT_LEAST_ALL,
    "atleast_2d": AT_LEAST,
    "atleast_2d.Sequence": AT_LEAST_ALL,
    "atleast_3d": AT_LEAST,
    "atleast_3d.Sequence": AT_LEAST_ALL,
    "block_diag": [
        S(T(2, 2), T(1, 3), T(), T(2)),
        S(T(2, 3, view="transposed")),
        S(T(2, 2), T(1, dtype="int64")),
        S(T(2, 2), T(1, 1, dtype="complex64")),
        S(T(2, 2, dtype="float64"), T(1, dtype="float32")),
        S(T(2, 2), T(0, 3)),
        S(T(2, 2), T(2, 2, 2), raises=RuntimeError),
        S([T(2, 2)], raises=TypeError),
        S(2, raises=TypeError),
    ],
    "cartesian_prod": [
        S(T(2), T(3)),
        S(T(2), T(3), T(1)),
        S(T(2, dtype="int64"), T(2, dtype="int64")),
        S(T(2), T(0)),
        S(T(2, 2), T(2), raises=RuntimeError),
        S(T(), raises=RuntimeError),
        S(T(2), T(3, dtype="int64"), raises=RuntimeError),
    ],
    "combinations": [
        S(T(3)),
        S(T(4), 3),
        S(T(3), r=2, with_replacement=True),
        S(T(3), 0, grad=False),
        S(T(3), 1),
        S(T(3), 5),
        S(T(0)),
        S(T(4, dtype="int64"), 2),
        S(T(3, view="strided"), 2),
        S(T(3, 3), raises=RuntimeError),
        S(T(3), -1, raises=RuntimeError),
    ],
}
