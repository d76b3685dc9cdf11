"""The Transformer: encoder and decoder layers, their stacks, and both together."""

import copy

from imode import ops
from imode._core.dispatch import is_grad_enabled
from imode.ops.sequences.multi_head import added_mask, dtype_of

from .. import functional as F
from .. import init
from ._attention import MultiheadAttention
from .activation import GELU, ReLU
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .norm import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


def _get_activation_fn(activation):
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def _get_clones(module, N):
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _generate_square_subsequent_mask(sz, device=None, dtype=None):
    mask = ops.full((sz, sz), float("-inf"), dtype=dtype, device=device)
    return ops.triu(mask, diagonal=1)


def _detect_is_causal_mask(mask, is_causal=None, size=None):
    """Whether a mask is the causal one: by the hint `is_causal`, else by looking at it."""
    if is_causal is not None or mask is None:
        return bool(is_causal)
    size = mask.size(-2) if size is None else size
    if tuple(mask.shape) != (size, size):
        return False
    return bool((mask == _generate_square_subsequent_mask(size, dtype=mask.dtype)).all())


def _get_seq_len(src, batch_first):
    return src.shape[1] if src.dim() == 3 and batch_first else src.shape[0]


class _Block(Module):
    """What both layers have: attention to themselves, and two Linear layers."""

    def _make(
        self, d_model, nhead, dim_feedforward, dropout, eps, batch_first, norm_first, bias, made
    ):
        attention = {"dropout": dropout, "bias": bias, "batch_first": batch_first} | made
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        if self._norms == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **made)
        self.norm_first = norm_first
        for i in range(1, self._norms + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=eps, bias=bias, **made))
        for i in range(1, self._norms + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))

    def __setstate__(self, state):
        state.setdefault("activation", F.relu)
        super().__setstate__(state)

    # Subclasses that define forward call these by PyTorch's names and arguments.

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        attended = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )
        return self.dropout1(attended[0])

    def _ff_block(self, x):
        dropout = self.dropout3 if self._norms == 3 else self.dropout2
        return dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Block):
    """Attention of a sequence to itself and two Linear layers, each with a norm and what was given.

    (length, batch, d_model), or batch first, to the same shape. Masks as of MultiheadAttention.

    >>> imode.nn.TransformerEncoderLayer(8, 2)(imode.ones(5, 3, 8)).shape
    imode.Size([5, 3, 8])
    """

    _norms = 2

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        made = {"device": device, "dtype": dtype}
        rest = layer_norm_eps, batch_first, norm_first, bias, made
        self._make(d_model, nhead, dim_feedforward, dropout, *rest)
        self.activation = (
            _get_activation_fn(activation) if isinstance(activation, str) else activation
        )
        known = ((F.relu, ReLU), (F.gelu, GELU))
        self.activation_relu_or_gelu = next(
            (
                i
                for i, (function, module) in enumerate(known, 1)
                if self.activation is function or isinstance(self.activation, module)
            ),
            0,
        )

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        other = dtype_of(src_mask), "src_mask"
        padding = added_mask(src_key_padding_mask, "src_key_padding_mask", src.dtype, *other)
        mask = added_mask(src_mask, "src_mask", src.dtype)
        if self.norm_first:
            x = src + self._sa_block(self.norm1(src), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(src + self._sa_block(src, mask, padding, is_causal))
        return self.norm2(x + self._ff_block(x))


class TransformerDecoderLayer(_Block):
    """As the encoder's layer, with attention to the encoder's output, `memory`, in between.

    >>> memory = imode.ones(4, 3, 8)
    >>> imode.nn.TransformerDecoderLayer(8, 2)(imode.ones(5, 3, 8), memory).shape
    imode.Size([5, 3, 8])
    """

    _norms = 3

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        made = {"device": device, "dtype": dtype}
        rest = layer_norm_eps, batch_first, norm_first, bias, made
        self._make(d_model, nhead, dim_feedforward, dropout, *rest)
        self.activation = (
            _get_activation_fn(activation) if isinstance(activation, str) else activation
        )

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        own = tgt_mask, tgt_key_padding_mask, tgt_is_causal
        others = memory, memory_mask, memory_key_padding_mask, memory_is_causal
        if self.norm_first:
            x = tgt + self._sa_block(self.norm1(tgt), *own)
            x = x + self._mha_block(self.norm2(x), *others)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(tgt + self._sa_block(tgt, *own))
        x = self.norm2(x + self._mha_block(x, *others))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        attended = self.multihead_attn(
            x,
            mem,
            mem,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )
        return self.dropout2(attended[0])


class TransformerEncoder(Module):
    """Several copies of an encoder layer, one after another, and perhaps a norm.

    In evaluation without gradients, rows that `src_key_padding_mask` hides at the end of sequences
    come out as zeros (of the norm, if any), as in PyTorch, where its layers allow that.

    >>> layer = imode.nn.TransformerEncoderLayer(8, 2, batch_first=True)
    >>> imode.nn.TransformerEncoder(layer, 2)(imode.ones(3, 5, 8)).shape
    imode.Size([3, 5, 8])
    """

    def __init__(
        self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True
    ):
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers, self.norm, self.mask_check = num_layers, norm, mask_check
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor and _drops_padding(encoder_layer)

    def _hidden_rows(self, src, mask, padding):
        """Which rows PyTorch leaves out, and gives as zeros; None where it computes all."""
        layer = self.layers[0]
        if not self.use_nested_tensor or layer.training or src.dim() != 3:
            return None
        if padding is None or mask is not None:
            return None
        given = (src, *layer.parameters())
        if is_grad_enabled() and any(tensor.requires_grad for tensor in given):
            return None
        hidden = padding == float("-inf") if padding.is_floating_point() else padding
        # Of each row, nothing is seen after what is hidden.
        if self.mask_check and bool((hidden[:, :-1] & ~hidden[:, 1:]).any()):
            return None
        return hidden.unsqueeze(-1)

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        other = dtype_of(mask), "mask"
        padding = added_mask(src_key_padding_mask, "src_key_padding_mask", src.dtype, *other)
        mask = added_mask(mask, "mask", src.dtype)
        hidden = self._hidden_rows(src, mask, padding)
        length = _get_seq_len(src, self.layers[0].self_attn.batch_first)
        causal = _detect_is_causal_mask(mask, is_causal, length)
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if hidden is not None:
            output = output.masked_fill(hidden, 0.0)
        return output if self.norm is None else self.norm(output)


def _drops_padding(layer):
    """Whether PyTorch leaves padding out of what a layer computes, in evaluation."""
    if not isinstance(layer, TransformerEncoderLayer) or layer.norm_first:
        return False
    attention = layer.self_attn
    return (
        attention.batch_first
        and attention._qkv_same_embed_dim
        and attention.in_proj_bias is not None
        and layer.activation_relu_or_gelu != 0
        and layer.norm1.eps == layer.norm2.eps
        and attention.num_heads % 2 == 0
    )


class TransformerDecoder(Module):
    """Several copies of a decoder layer, one after another, and perhaps a norm.

    >>> layer = imode.nn.TransformerDecoderLayer(8, 2)
    >>> imode.nn.TransformerDecoder(layer, 2)(imode.ones(5, 3, 8), imode.ones(4, 3, 8)).shape
    imode.Size([5, 3, 8])
    """

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        length = _get_seq_len(tgt, self.layers[0].self_attn.batch_first)
        causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, length)
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder of a sequence, and a decoder that attends to it.

    >>> model = imode.nn.Transformer(8, 2, 1, 1, 16)
    >>> model(imode.ones(4, 3, 8), imode.ones(5, 3, 8)).shape
    imode.Size([5, 3, 8])
    """

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        made = {"device": device, "dtype": dtype}
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        layer += (batch_first, norm_first, bias)
        norm = {"eps": layer_norm_eps, "bias": bias} | made
        self.encoder = custom_encoder
        if custom_encoder is None:
            each = TransformerEncoderLayer(*layer, **made)
            self.encoder = TransformerEncoder(each, num_encoder_layers, LayerNorm(d_model, **norm))
        self.decoder = custom_decoder
        if custom_decoder is None:
            each = TransformerDecoderLayer(*layer, **made)
            self.decoder = TransformerDecoder(each, num_decoder_layers, LayerNorm(d_model, **norm))
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self):
        for weight in self.parameters():
            if weight.dim() > 1:
                init.xavier_uniform_(weight)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """The mask under which each place sees itself and what came before: (sz, sz), added.

        >>> imode.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return _generate_square_subsequent_mask(sz, device, dtype)

    def forward(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        if (
            src.dim() == 3
            and src.shape[int(not self.batch_first)] != tgt.shape[int(not self.batch_first)]
        ):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
