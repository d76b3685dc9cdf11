"""Attention with several heads: projections into them, attention in each, and one back."""

import math

from imode import errors, ops
from imode._core.overriding import seen
from imode._core.user_frames import warn
from imode.ops.schema import functional


def is_batch(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the inputs have a batch dimension. Raises AssertionError where they do not agree."""
    n = query.dim()
    if n not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor"
        )
    start = f"For {'batched' if n == 3 else 'unbatched'} ({n}-D) `query`, expected "
    if key.dim() != n or value.dim() != n:
        raise AssertionError(
            f"{start}`key` and `value` to be {n}-D but found {key.dim()}-D and {value.dim()}-D "
            "tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != n - 1:
        raise AssertionError(
            f"{start}`key_padding_mask` to be `None` or {n - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is None:
        return n == 3
    if attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"{start}`attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor "
            "instead"
        )
    wanted = (num_heads, query.shape[0], key.shape[0])
    if n == 2 and attn_mask.dim() == 3 and tuple(attn_mask.shape) != wanted:
        raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got {attn_mask.shape}")
    return n == 3


def dtype_of(mask):
    return None if mask is None else mask.dtype


def added_mask(mask, name, dtype, other_dtype=None, other_name=""):
    """A mask as what is added to scores: True, which hides, becomes minus infinity."""
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    if not is_float and mask.dtype.numpy.kind != "b":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other_dtype is not None and mask.dtype != other_dtype:
        warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for "
            "both instead.",
        )
    if is_float:
        return mask
    return ops.zeros_like(mask, dtype=dtype).masked_fill_(mask, -math.inf)


# ---- projections --------------------------------------------------------------------------------


def _parts(projected, count):
    """(..., count * size) as `count` tensors (..., size), each contiguous."""
    apart = projected.unflatten(-1, (count, -1)).unsqueeze(0).transpose(0, -2).squeeze(-2)
    return apart.contiguous().unbind(0)


def projected(query, key, value, weight, bias):
    """Queries, keys and values by one weight, in as few products as they are distinct."""
    size = query.shape[-1]
    if key is value and query is key:
        return _parts(ops.linear(query, weight, bias), 3)
    if key is value:
        weights = weight.split([size, 2 * size])
        biases = (None, None) if bias is None else bias.split([size, 2 * size])
        queries = ops.linear(query, weights[0], biases[0])
        return (queries, *_parts(ops.linear(key, weights[1], biases[1]), 2))
    biases = [None] * 3 if bias is None else bias.chunk(3)
    return [
        ops.linear(*each) for each in zip((query, key, value), weight.chunk(3), biases, strict=True)
    ]


def projected_each(inputs, weights, biases):
    """Queries, keys and values, each by a weight and a bias of its own."""
    size = inputs[0].shape[-1]
    made = []
    for name, given, weight, its_bias in zip(
        ("query", "key", "value"), inputs, weights, biases, strict=True
    ):
        if weight is None:
            raise AssertionError(
                f"use_separate_proj_weight is True but {name[0]}_proj_weight is None"
            )
        wanted = (size, given.shape[-1])
        if tuple(weight.shape) != wanted:
            raise AssertionError(
                f"expecting {name} weights shape of {wanted}, but got {weight.shape}"
            )
        if its_bias is not None and tuple(its_bias.shape) != (size,):
            raise AssertionError(
                f"expecting {name} bias shape of {(size,)}, but got {its_bias.shape}"
            )
        made.append(ops.linear(given, weight, its_bias))
    return made


# ---- heads --------------------------------------------------------------------------------------


def _checked_mask(mask, heads, queries, keys):
    """An added mask as (1, queries, keys) or (batch * heads, queries, keys)."""
    if mask is None:
        return None
    wanted = (heads, queries, keys)[-mask.dim() :]
    if mask.dim() not in (2, 3):
        raise RuntimeError(f"attn_mask's dimension {mask.dim()} is not supported")
    if tuple(mask.shape) != wanted:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {wanted}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _in_heads(projected, static, name, heads, size):
    """(length, batch, heads * size) as (batch * heads, length, size); or `static`, checked."""
    if static is None:
        return projected.view(projected.shape[0], heads, size).transpose(0, 1)
    for dim, wanted in ((0, heads), (2, size)):
        if static.shape[dim] != wanted:
            raise AssertionError(
                f"expecting static_{name}.size({dim}) of {wanted}, but got {static.shape[dim]}"
            )
    return static


def _merged_mask(mask, padding, batch, num_heads, keys):
    """The mask of scores with that of keys added."""
    if padding is None:
        return mask
    for dim, wanted in ((0, batch), (1, keys)):
        if padding.shape[dim] != wanted:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{dim}] to be {wanted}, but got "
                f"{padding.shape[dim]}"
            )
    spread = padding.view(batch, 1, 1, keys).expand(-1, num_heads, -1, -1)
    spread = spread.reshape(batch * num_heads, 1, keys)
    return spread if mask is None else mask + spread


def _weights(q, k, mask, dropout_p):
    scaled = q * math.sqrt(1.0 / q.shape[-1])
    turned = k.transpose(-2, -1)
    scores = ops.bmm(scaled, turned) if mask is None else ops.baddbmm(mask, scaled, turned)
    weights = scores.softmax(-1)
    return ops.dropout(weights, dropout_p, True) if dropout_p > 0 else weights


def _one_more(mask):
    return None if mask is None else ops.constant_pad_nd(mask, (0, 1))


def _check_sizes(query, key, value, expected, num_heads, separate):
    size = query.shape[2]
    if size != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {size}")
    if size // num_heads * num_heads != size:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _with_bias(k, v, bias_k, bias_v, static_k, static_v):
    for name, given, other in (("k", bias_k, "v"), ("v", bias_v, "k")):
        if given is not None and (bias_k is None or bias_v is None):
            raise AssertionError(f"bias_{name} is set but bias_{other} is None")
    for name, static in (("key", static_k), ("value", static_v)):
        if static is not None:
            raise AssertionError(f"bias cannot be added to static {name}.")
    batch = k.shape[1]
    return ops.cat([k, bias_k.repeat(1, batch, 1)]), ops.cat([v, bias_v.repeat(1, batch, 1)])


@functional("multi_head_attention_forward")
@seen
def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """Attend with several heads; returns the output and the weights, None unless they are needed.

    `query` is (queries, batch, size), `key` and `value` (keys, batch, size), or all without the
    batch. Masks hide where they are True, or are added; see `imode.nn.MultiheadAttention`. Raises
    AssertionError or RuntimeError where shapes do not fit.

    >>> w, x = imode.eye(2), imode.ones(1, 2)
    >>> imode.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 2, 1, imode.cat([w, w, w]), None, None, None, False, 0.0, w, None
    ... )[0].tolist()
    [[1.0, 1.0]]
    """
    batched = is_batch(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        if key is value:
            same = query is key
            key = value = key.unsqueeze(1)
            query = key if same else query.unsqueeze(1)
        else:
            query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    queries, batch, size = query.shape
    other = dtype_of(attn_mask), "attn_mask"
    padding = added_mask(key_padding_mask, "key_padding_mask", query.dtype, *other)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and padding is None and not need_weights:
        mask = None  # by the hint
    else:
        mask = added_mask(attn_mask, "attn_mask", query.dtype)
        is_causal = is_causal and padding is None
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        biases = [None] * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = projected_each((query, key, value), weights, biases)
    elif in_proj_weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    else:
        q, k, v = projected(query, key, value, in_proj_weight, in_proj_bias)
    heads = batch * num_heads
    mask = _checked_mask(mask, heads, queries, key.shape[0])
    if bias_k is not None or bias_v is not None:
        k, v = _with_bias(k, v, bias_k, bias_v, static_k, static_v)
        mask, padding = _one_more(mask), _one_more(padding)
    q = _in_heads(q, None, "q", heads, size // num_heads)
    k = _in_heads(k, static_k, "k", heads, size // num_heads)
    v = _in_heads(v, static_v, "v", heads, size // num_heads)
    if add_zero_attn:
        k, v = (ops.cat([x, x.new_zeros((heads, 1, size // num_heads))], 1) for x in (k, v))
        mask, padding = _one_more(mask), _one_more(padding)
    mask = _merged_mask(mask, padding, batch, num_heads, k.shape[1])
    given = q, k, v, mask, dropout_p if training else 0.0
    if need_weights:
        output, weights = _with_weights(*given, is_causal)
        weights = weights.view(batch, num_heads, queries, k.shape[1])
        if average_attn_weights:
            weights = weights.mean(1)
        weights = weights if batched else weights.squeeze(0)
    else:
        output, weights = _without_weights(*given, is_causal, batch), None
    output = ops.linear(output.reshape(queries * batch, size), out_proj_weight, out_proj_bias)
    output = output.view(queries, batch, output.shape[1])
    return output if batched else output.squeeze(1), weights


def _with_weights(q, k, v, mask, dropout_p, is_causal):
    """(queries, batch * heads, size) and the weights of all heads."""
    if is_causal and mask is None:
        raise AssertionError("is_causal needs a mask where the weights are needed")
    weights = _weights(q, k, mask, dropout_p)
    return ops.bmm(weights, v).transpose(0, 1), weights


def _without_weights(q, k, v, mask, dropout_p, is_causal, batch):
    """(queries, batch, heads, size)"""
    if not 0 <= dropout_p <= 1:
        raise errors.numbers.dropout_probability(f"{dropout_p:g}", RuntimeError)
    if mask is not None:
        whole = mask.shape[0] == 1
        mask = mask.unsqueeze(0) if whole else mask.view(batch, -1, *mask.shape[1:])
    q, k, v = (x.view(batch, x.shape[0] // batch, *x.shape[1:]) for x in (q, k, v))
    output = ops.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
    return output.permute(2, 0, 1, 3)
