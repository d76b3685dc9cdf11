"""Sums, means and maxima of embeddings, by bags."""

from tests.samples import S, T

_TABLE = T(6, 3, distinct=True)
_INDICES = T(values=[0, 2, 5, 1, 1], dtype="int64")
_OFFSETS = T(values=[0, 2, 2], dtype="int64")


def _call(*args, **kwargs):
    return S(_TABLE, *args, **kwargs)


SAMPLES = {
    "embedding_bag.padding_idx": [
        _call(_INDICES, _OFFSETS, False, 1, False, None, False, 1),
        _call(_INDICES, _OFFSETS, False, 1, False, None, False, 9, raises=RuntimeError),
    ],
    "embedding_bag": [
        _call(_INDICES, _OFFSETS),
        _call(_INDICES, _OFFSETS, mode=1),
        _call(_INDICES, _OFFSETS, mode=2),
        _call(_INDICES, _OFFSETS, per_sample_weights=T(5)),
        _call(_INDICES, T(values=[0, 2, 5], dtype="int64"), mode=1, include_last_offset=True),
        _call(_INDICES, T(values=[0, 2, 2], dtype="int32"), mode=1),
        S(T(6, 3, dtype="float16"), _INDICES, _OFFSETS, mode=1, grad=False),
        _call(T(0, dtype="int64"), T(values=[0, 0], dtype="int64"), mode=1),
        _call(T(values=[7], dtype="int64"), T(values=[0], dtype="int64"), raises=RuntimeError),
        _call(_INDICES, T(values=[1, 2], dtype="int64"), raises=RuntimeError),
        _call(_INDICES, T(values=[0, 9], dtype="int64"), raises=RuntimeError),
        _call(T(5), _OFFSETS, raises=RuntimeError),
        S(T(6, 3, dtype="int64"), _INDICES, _OFFSETS, raises=RuntimeError),
    ],
}
