"""Attention of scaled dot products."""

import math

import numpy as np

from imode import errors, ops
from imode._core.dispatch import is_grad_enabled
from imode._core.type_names import c_name
from imode.kernels.creation.copy import cast
from imode.kernels.sequences import attention as kernels
from imode.ops.schema import composite, op
from imode.ops.sequences import composites_fast
from imode.ops.sequences.again import gradients_again

# ---- scaled dot products ------------------------------------------------------------------------


def _flash_backward(
    grads, query, key, value, attn_mask, is_causal, scale, output, logsumexp, needs
):
    if grads[0] is None:
        return [None] * 3
    if is_grad_enabled():
        again = gradients_again(
            lambda query, key, value: [
                _by_scores(query, *_grouped(query, key, value), attn_mask, 0.0, is_causal, scale)
            ],
            (query, key, value),
            grads[:1],
            needs,
        )
        return again
    by = ops._flash_attention_backward(
        grads[0], query, key, value, attn_mask, output, logsumexp, is_causal, scale
    )
    return [found if need else None for found, need in zip(by, needs, strict=True)]


op(
    "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask, bool is_causal, float? scale) -> (Tensor output, Tensor logsumexp)",
    kernels.attention,
    derivative={("query", "key", "value"): _flash_backward},
    shows={"dropout_p": lambda: 0.0},
)
op(
    "_flash_attention_backward(Tensor grad_output, Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask, Tensor output, Tensor logsumexp, bool is_causal, float? scale) "
    "-> (Tensor, Tensor, Tensor)",
    kernels.attention_back,
    differentiable=False,
)


@op(
    "_safe_softmax(Tensor self, int dim) -> Tensor",
    fast=kernels.safe_softmax,
    derivative={"self": lambda grad, result, dim: ops._softmax_backward_data(grad, result, dim)},
    variants="function",
)
def _safe_softmax(self, dim):
    """Return the softmax along `dim`, of rows of nothing but minus infinity zeros.

    >>> imode._safe_softmax(imode.tensor([[-imode.inf, -imode.inf], [0.0, 0.0]]), 1).tolist()
    [[0.0, 0.0], [0.5, 0.5]]
    """
    if self.dtype.kind != "f":
        raise errors.dtypes.not_implemented("softmax_lastdim_kernel_impl", self.dtype)
    wide = cast(self, np.float32) if self.dtype == np.float16 else self
    most = wide.max(dim, keepdims=True, initial=-np.inf)
    powers = np.exp(wide - np.where(np.isneginf(most), 0, most))
    sums = powers.sum(dim, keepdims=True)
    return (powers / np.where(sums == 0, 1, sums)).astype(self.dtype, copy=False)


def _check(query, key, value, attn_mask):
    if not query.dtype == key.dtype == value.dtype:
        names = [c_name(each.dtype) for each in (query, key, value)]
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{names[0]} key.dtype: {names[1]} and value.dtype: {names[2]} instead."
        )
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )
    if attn_mask is not None and attn_mask.dtype != query.dtype:
        kind = c_name(attn_mask.dtype)
        if kind not in ("bool", "float"):
            raise RuntimeError(
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                f"attn_mask.dtype: {kind} and  query.dtype: {c_name(query.dtype)} instead."
            )


def _grouped(query, key, value):
    """Keys and values repeated for the heads of queries that share them."""
    if query.dim() < 3 or key.dim() < 3 or value.dim() < 3:
        raise RuntimeError("enable_gqa: expected at least 3 dimensions")
    heads = query.shape[-3]
    if not (key.shape[-3] and value.shape[-3]) or heads % key.shape[-3] or heads % value.shape[-3]:
        raise RuntimeError(
            "Number of heads in key and value must divide the number of heads in\nquery"
        )
    return [
        each.repeat_interleave(heads // each.shape[-3], -3) if each.shape[-3] != heads else each
        for each in (key, value)
    ]


def _by_scores(query, key, value, attn_mask, dropout_p, is_causal, scale):
    """Attention in operators, for all shapes; the whole score matrix is held."""
    root = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else abs(scale))
    turned = (-root if scale is not None and scale < 0 else root) * key.transpose(-2, -1)
    scores = (query * root).matmul(turned)
    if is_causal:
        seen = ops.ones(scores.shape[-2:], dtype=bool, device=scores.device).tril()
        scores = scores + ops.zeros_like(seen, dtype=query.dtype).masked_fill_(~seen, -math.inf)
    if attn_mask is not None:
        if attn_mask.dtype.numpy.kind == "b":
            attn_mask = ops.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(
                ~attn_mask, -math.inf
            )
        scores = scores + attn_mask
    weights = ops._safe_softmax(scores, -1)
    if dropout_p:
        weights = ops.dropout(weights, dropout_p, True)
    return weights.matmul(value)


def _served(query, key, value, attn_mask, enable_gqa):
    """Whether the compiled operator serves the shapes."""
    if not (query.dim() == key.dim() == value.dim() == 4 and query.is_floating_point()):
        return False
    (b, heads, rows, d), (kb, kv, n, kd), (vb, vv, vn, vd) = query.shape, key.shape, value.shape
    if not (b == kb == vb and kv == vv and n == vn and d == kd == vd and b * heads * rows * n * d):
        return False
    if heads != kv and not (enable_gqa and kv and heads % kv == 0):
        return False
    if not query.stride(3) == key.stride(3) == value.stride(3) == 1:
        return False
    if attn_mask is None:
        return True
    if attn_mask.requires_grad and is_grad_enabled():
        return False
    wanted = (b, heads, rows, n)
    shape = tuple(attn_mask.shape)
    return len(shape) in (2, 4) and all(
        size in (1, want) for size, want in zip(shape[::-1], wanted[::-1], strict=False)
    )


@composite(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, "
    "bool enable_gqa=False) -> Tensor",
    fast=composites_fast.scaled_dot_product_attention,
    variants="nn",
    compiled=True,
)
def scaled_dot_product_attention(
    query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa
):
    """Return softmax(query @ key.T * scale + mask) @ value, without holding the scores.

    `query` is (..., heads, queries, size), `key` and `value` (..., heads, keys, size). `attn_mask`
    broadcasts to (..., queries, keys): added, or, of bools, True where a key is seen; with
    `is_causal` a query sees the keys up to its own place. `scale` is 1 / sqrt(size) unless given.
    With `enable_gqa` several heads of queries share one of keys. Raises RuntimeError where dtypes
    or shapes do not fit.

    >>> query = imode.ones(1, 1, 2, 4)
    >>> value = imode.tensor([[[[1.0] * 4, [3.0] * 4]]])
    >>> imode.nn.functional.scaled_dot_product_attention(query, query, value)[0, 0, :, 0].tolist()
    [2.0, 2.0]
    """
    _check(query, key, value, attn_mask)
    if not dropout_p and _served(query, key, value, attn_mask, enable_gqa):
        if attn_mask is not None and attn_mask.is_floating_point():
            attn_mask = attn_mask.to(query.dtype)  # of float beside other dtypes
        return ops._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, attn_mask, is_causal, scale
        )[0]
    if enable_gqa:
        key, value = _grouped(query, key, value)
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True"
        )
    if not 0 <= dropout_p <= 1:
        raise errors.numbers.dropout_probability(f"{dropout_p:g}", RuntimeError)
    if query.dim() > 2 and not (query.numel() and key.numel() and value.numel()):
        sums = query.sum() + key.sum() + value.sum()
        return query.new_zeros((*query.shape[:-1], value.shape[-1])) + sums * 0
    if not (query.is_floating_point() or query.is_complex()):
        raise errors.dtypes.expected_scalar(np.dtype(np.float32), query.dtype.numpy)
    return _by_scores(query, key, value, attn_mask, dropout_p, is_causal, scale)
