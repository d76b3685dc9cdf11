"""MultiheadAttention; PyTorch has it beside the activations."""

from imode import ops
from imode.ops.sequences.multi_head import added_mask, dtype_of

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .linear import Linear
from .module import Module

__all__ = ["MultiheadAttention", "NonDynamicallyQuantizableLinear"]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, under the name that PyTorch has for the projection of MultiheadAttention."""


class MultiheadAttention(Module):
    """Attention of several heads, each in a part of the features, joined by a projection.

    (queries, batch, embed_dim) and twice (keys, batch, ...), batch first with `batch_first`, or
    without a batch, to the output and the weights (None with `need_weights=False`). Masks hide what
    is True, or are added: `key_padding_mask` is (batch, keys), `attn_mask` (queries, keys) or
    (batch * heads, queries, keys).

    >>> x = imode.ones(3, 2, 8)
    >>> output, weights = imode.nn.MultiheadAttention(8, 2)(x, x, x)
    >>> output.shape, weights.shape
    (imode.Size([3, 2, 8]), imode.Size([2, 3, 3]))
    """

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.batch_first, self.head_dim = batch_first, embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        made = {"device": device, "dtype": dtype}
        together = {"in_proj_weight": (3 * embed_dim, embed_dim)}
        apart = {
            "q_proj_weight": (embed_dim, embed_dim),
            "k_proj_weight": (embed_dim, self.kdim),
            "v_proj_weight": (embed_dim, self.vdim),
        }
        one, other = (together, apart) if self._qkv_same_embed_dim else (apart, together)
        for name, shape in one.items():
            setattr(self, name, Parameter(ops.empty(shape, **made)))
        for name in other:
            self.register_parameter(name, None)
        if bias:
            self.in_proj_bias = Parameter(ops.empty(3 * embed_dim, **made))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **made)
        for name in ("bias_k", "bias_v"):
            shape = (1, 1, embed_dim)
            its = Parameter(ops.empty(shape, **made)) if add_bias_kv else None
            setattr(self, name, its)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state):
        state.setdefault("_qkv_same_embed_dim", True)  # files of older versions
        super().__setstate__(state)

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        other = dtype_of(attn_mask), "attn_mask"
        padding = added_mask(key_padding_mask, "key_padding_mask", query.dtype, *other)
        mask = added_mask(attn_mask, "attn_mask", query.dtype)
        swapped = self.batch_first and query.dim() == 3
        if swapped:
            query, key, value = _swapped(query, key, value)
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=padding,
            need_weights=need_weights,
            attn_mask=mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return output.transpose(1, 0) if swapped else output, weights


def _swapped(query, key, value):
    """Each with its first two dimensions swapped; what is one tensor stays one."""
    turned = query.transpose(1, 0)
    keys = turned if key is query else key.transpose(1, 0)
    if value is key:
        return turned, keys, keys
    return turned, keys, value.transpose(1, 0)
