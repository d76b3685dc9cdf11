"""Embedding, padding, cosine similarity."""

from tests.samples import S, T


def _channels_last(t):
    return t.permute(0, 3, 1, 2)


_TABLE = T(5, 3)
_INDICES = T(values=[[0, 4], [1, 1]], dtype="int64")
_ROWS = T(1, 3, 4)

SAMPLES = {
    "embedding": [
        S(_TABLE, _INDICES),
        S(_TABLE, T(values=2, dtype="int64")),
        S(_TABLE, _INDICES, 1, grad=False),
        S(_TABLE, _INDICES, -1, True, grad=False),
        S(_TABLE, T(values=[0, 4], dtype="int32")),
        S(_TABLE, T(0, 2, dtype="int64")),
        S(T(5, 3, dtype="int64"), _INDICES),
        S(T(5, 3, view="transposed"), _INDICES),
        S(_TABLE, T(values=[5], dtype="int64"), raises=IndexError),
        S(_TABLE, T(values=[-1], dtype="int64"), raises=IndexError),
        S(_TABLE, T(2), raises=RuntimeError),
        S(T(5), _INDICES, raises=RuntimeError),
    ],
    "constant_pad_nd": [
        S(T(3, 4), (1, 2)),
        S(T(3, 4), (1, 2, 0, 1), 3),
        S(T(3, 4), (-1, 2)),
        S(T(3, 4), ()),
        S(T(2, 5, 4, 3, view=_channels_last), (1, 1)),
        S(T(4, dtype="int64"), (1, 1), 2),
        S(T(4, dtype="bool"), (1, 1)),
        S(T(3, 4), (1,), raises=RuntimeError),
        S(T(3, 4), (1, 1, 1, 1, 1, 1), raises=RuntimeError),
        S(T(3, 4), (-3, -3), raises=RuntimeError),
    ],
    "pad": [
        S(T(3, 4), (1, 2)),
        S(T(3, 4), (1, 2, -1, 1), value=2.0),
        S(_ROWS, (1, 2), "reflect"),
        S(_ROWS, (3, 2), "replicate"),
        S(_ROWS, (2, 1), "circular"),
        S(T(3, 4), (-1, 2), "circular"),
        S(T(1, 2, 4, 5), (1, 2, 3, 0), "reflect"),
        S(T(2, 4, 5), (1, 2, 3, 0), "replicate"),
        S(T(1, 2, 4, 5), (1, 2, 3, 0), "circular"),
        S(T(1, 2, 3, 4, 5), (1, 2, 2, 0, 1, 1), "reflect"),
        S(T(1, 2, 3, 4, 5), (1, 2, 2, 0, 1, 1), "replicate"),
        S(_ROWS, (-1, 2), "reflect"),
        S(T(2, 5, 4, 3, view=_channels_last), (1, 1, 1, 1), "replicate"),
        S(T(2, 3, dtype="int64"), (1, 1), "reflect"),
        S(T(3, 4), (1,), raises=RuntimeError),
        S(T(3, 4), (1, 1), "other", raises=NotImplementedError),
        S(T(4), (1, 1), "reflect", raises=NotImplementedError),
        S(_ROWS, (4, 1), "reflect", raises=RuntimeError),
        S(_ROWS, (5, 1), "circular", raises=RuntimeError),
        S(_ROWS, (1, 1), "reflect", 1.0, raises=RuntimeError),
    ],
    "cosine_similarity": [
        S(T(3, 4), T(3, 4)),
        S(T(3, 4), T(3, 4), dim=0),
        S(T(3, 4), T(4), dim=-1),
        S(T(3, 4, dtype="float64"), T(3, 4), tol=(1e-6, 1e-6)),
        S(T(2, 3, values=[[0.0] * 3] * 2), T(2, 3), grad=False),
        S(T(3, 4, dtype="int64"), T(3, 4, dtype="int64"), raises=RuntimeError),
        S(T(3, 4), T(3), dim=-1, raises=RuntimeError),
        S(T(3, 4), T(3, 4), dim=4, raises=IndexError),
    ],
    "embedding_dense_backward": [
        S(T(4, 3), T(values=[0, 1, 0, 4], dtype="int64"), 5, -1, False),
        S(T(2, 2, 3), T(values=[[0, 1], [1, 1]], dtype="int64"), 2, 0, False),
        S(T(4, 3), T(values=[0, 1, 0, 4], dtype="int64"), 5, -1, True, grad=False),
    ],
}


def _borders(n):
    shape = (2, 4, 5, 6)[3 - n :]
    widths = (1, 2, 0, 1, 2, 1)[: 2 * n]
    common = [
        S(T(*shape), widths),
        S(T(1, *shape), (1,) * (2 * n)),
        S(T(*shape, dtype="int64"), (1,) * (2 * n)),
        S(T(*shape), (1,), raises=RuntimeError),
        S(T(3), widths, raises=RuntimeError),
    ]
    gradient = [
        S(T(shape[0], *(size + 2 for size in shape[1:])), T(*shape), (1,) * (2 * n)),
    ]
    return common, gradient


for _n in (1, 2, 3):
    for _mode in ("reflection", "replication"):
        _padded, _back = _borders(_n)
        SAMPLES[f"{_mode}_pad{_n}d"] = _padded
        SAMPLES[f"{_mode}_pad{_n}d_backward"] = _back
