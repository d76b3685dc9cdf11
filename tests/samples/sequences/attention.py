"""Attention of scaled dot products."""

from tests.samples import S, T


def _attention(*args, **kwargs):
    import torch

    return torch.nn.functional.scaled_dot_product_attention(*args, **kwargs)


_Q, _K, _V = T(1, 2, 3, 4, low=-1, high=1), T(1, 2, 5, 4), T(1, 2, 5, 4, low=0)
_ROWS = {"view": lambda t: t.transpose(1, 2)}
_SEEN = T(values=[[True, True, False, True, False]] * 2 + [[False] * 5], dtype="bool")
_ADDED = T(1, 2, 3, 5, requires_grad=False)


def _call(*args, **kwargs):
    return S(*args, torch=_attention, **kwargs)


SAMPLES = {
    "scaled_dot_product_attention": [
        _call(_Q, _K, _V),
        _call(_Q, _K, _V, is_causal=True),
        _call(_Q, _K, _V, _SEEN),
        _call(_Q, _K, _V, _ADDED, scale=0.3),
        _call(_Q, T(1, 1, 5, 4), T(1, 1, 5, 4), enable_gqa=True),
        _call(T(1, 70, 2, 8, **_ROWS), T(1, 300, 2, 8, **_ROWS), T(1, 300, 2, 8, **_ROWS),
              grad=False),
        _call(T(2, 3, 4), T(2, 5, 4), T(2, 5, 4)),
        _call(T(3, 4), T(5, 4), T(5, 7)),
        _call(_Q, _K, T(1, 2, 5, 3), is_causal=True),
        _call(_Q, _K, _V, T(3, 5)),
        _call(_Q, _K, _V, None, 0.5, grad=False),
        _call(T(1, 2, 3, 4, dtype="float64"), T(1, 2, 5, 4, dtype="float64"),
              T(1, 2, 5, 4, dtype="float64")),
        _call(T(1, 2, 3, 4, dtype="float16"), T(1, 2, 5, 4, dtype="float16"),
              T(1, 2, 5, 4, dtype="float16"), grad=False, tol=(5e-3, 5e-3)),
        _call(T(0, 2, 3, 4), T(0, 2, 5, 4), T(0, 2, 5, 4)),
        _call(_Q, T(1, 2, 0, 4), T(1, 2, 0, 4)),
        _call(T(4), _K, _V, raises=RuntimeError),
        _call(_Q, T(1, 2, 5, 4, dtype="float64"), _V, raises=RuntimeError),
        _call(_Q, _K, _V, T(3, 5, dtype="int64"), raises=RuntimeError),
        _call(_Q, T(1, 3, 5, 4), T(1, 3, 5, 4), enable_gqa=True, raises=RuntimeError),
        _call(_Q, _K, _V, None, 1.5, raises=RuntimeError),
    ],
}  # fmt: skip
