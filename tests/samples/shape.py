"""Samples of `imode/ops/shape.py`: joining, repeating and reordering."""

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
ROLL = [
    S(T(3, 4), 1),
    S(T(3, 4), -2, 1),
    S(T(3, 4), (1, 2), (0, 1)),
    S(T(3, 4), (1, 1), (0, 0)),
    S(T(3, 4, view="transposed"), 1, 0),
    S(T(3, dtype="bool"), shifts=1, dims=0),
    S(T(0), 1),
    S(T(), 1),
    S(T(3, 4), (1, 2), raises=RuntimeError),
    S(T(3, 4), 1, 2, raises=IndexError),
    S(T(), 1, 0, raises=IndexError),
]

SAMPLES = {
    "cat": CAT,
    "stack": STACK,
    "hstack": [*LISTS, S([T(2, 3), T(2, 1)])],
    "vstack": [*LISTS, S([T(2, 3), T(3)])],
    "dstack": [*LISTS, S([T(2, 3), T(2, 3, 1)])],
    "column_stack": [*LISTS[:3], S([T(2, 3), T(2)])],
    "clone": [
        S(T(2, 3)),
        S(T(2, 3, view="transposed")),
        S(T(2, 3, 4, view="permuted")),
        S(T(2, 3, view="strided")),
        S(T(2, 3, view="expanded")),
        S(T()),
        S(T(0, 2)),
        S(T(2, dtype="bool")),
        S(T(2, dtype="complex64")),
        S(T(2, dtype="float16")),
    ],
    "contiguous": [S(T(2, 3)), S(T(2, 3, view="transposed")), S(T(3, view="strided")), S(T())],
    "repeat": [
        S(T(2, 3), 2, 1),
        S(T(2, 3), (2, 1, 2)),
        S(T(2, 3), repeats=(0, 1)),
        S(T(2, 3, view="transposed"), 1, 2),
        S(T(), 2),
        S(T(2, dtype="int64"), 3),
        S(T(2, 3), 1, 1),
        S(T(2, 3), 2, raises=RuntimeError),
        S(T(2, 3), -1, 1, raises=RuntimeError),
    ],
    "tile": [
        S(T(2, 3), (2,)),
        S(T(2, 3), (2, 1, 2)),
        S(T(2, 3), ()),
        S(T(2, dtype="bool"), dims=(2, 2)),
        S(T(2, 3), (-1,), raises=RuntimeError),
    ],
    "repeat_interleave.Tensor": [
        S(T(values=[1, 0, 2], dtype="int64")),
        S(T(values=[1, 2], dtype="int32")),
        S(T(values=[1, 2], dtype="int64"), output_size=3),
        S(T(values=[1, -2], dtype="int64"), raises=RuntimeError),
        S(T(2), raises=NotImplementedError),
        S(T(values=[1, 2], dtype="int64"), output_size=4, raises=RuntimeError),
    ],
    "repeat_interleave.self_int": [
        S(T(2, 3), 2),
        S(T(2, 3), 2, 0),
        S(T(2, 3), 3, dim=-1),
        S(T(), 2),
        S(T(2, dtype="int64"), 2, 0, output_size=4),
        S(T(2, 3), -1, 0, raises=RuntimeError),
        S(T(2, 3), 2, 2, raises=IndexError),
    ],
    "repeat_interleave.self_Tensor": [
        S(T(2, 3), T(values=[1, 2], dtype="int64"), 0),
        S(T(2, 3), T(values=[2], dtype="int64"), 1),
        S(T(2), T(values=2, dtype="int64")),
        S(T(2, 3), T(values=[1, 2, 3], dtype="int64"), 0, raises=RuntimeError),
        S(T(2, 3), T(values=[[1, 2]], dtype="int64"), 0, raises=RuntimeError),
    ],
    "flip": [
        S(T(2, 3), (0,)),
        S(T(2, 3), [0, -1]),
        S(T(2, 3), ()),
        S(T(2, 3, view="transposed"), (0,)),
        S(T(), (0,)),
        S(T(0, 2), (1,)),
        S(T(3, dtype="complex64"), dims=(0,)),
        S(T(2, 3), (0, 0), raises=RuntimeError),
        S(T(2, 3), (2,), raises=IndexError),
    ],
    "fliplr": [S(T(2, 3)), S(T(3), raises=RuntimeError)],
    "flipud": [S(T(2, 3)), S(T(3)), S(T(), raises=RuntimeError)],
    "roll": ROLL,
    "rot90": [
        *(S(T(2, 3), k) for k in range(-1, 5)),
        S(T(2, 3, 4), 1, (1, 2)),
        S(T(2, 3, 4, view="permuted"), 1, (2, 0)),
        S(T(2, 3, dtype="int64"), k=1, dims=(1, 0)),
        S(T(2, 3), 1, (0,), raises=RuntimeError),
        S(T(2, 3), 1, (0, 0), raises=RuntimeError),
        S(T(2, 3), 1, (0, 2), raises=IndexError),
        S(T(3), raises=RuntimeError),
    ],
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
    "diff": [
        S(T(4)),
        S(T(3, 4), 2),
        S(T(3, 4), dim=0),
        S(T(3, 4), 1, 1, T(3, 1), T(3, 2)),
        S(T(4, dtype="int64")),
        S(T(4, dtype="bool")),
        S(T(3), 5),
        S(T(), raises=RuntimeError),
        S(T(3), -1, raises=RuntimeError),
        S(T(3), prepend=T(), raises=RuntimeError),
    ],
}
