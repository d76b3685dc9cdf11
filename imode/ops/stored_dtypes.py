"""How operators treat the dtypes that no loop computes in: Note [Stored dtypes] in _core/stored.

Operators that stand nowhere here compute on bfloat16 in float32, and refuse the other dtypes.
"""

from imode._core.dispatch import CKernel
from imode._core.loops import Ints, ints_of, loops_of


def _names(text):
    return frozenset(text.split())


# Their kernels take any dtype: nothing stands in for it.
_OWN = _names("""
    copy_ _to_copy zero_ _resize_ _set_ _assign_ empty tensor new_tensor from_numpy frombuffer
    from_dlpack empty_strided _undefined_grad detach_ as_strided_ squeeze_ unsqueeze_ t_ transpose_
    fill_ fill zeros ones full eye scalar_tensor empty_like zeros_like ones_like full_like new_empty
    new_zeros new_ones new_full new_empty_strided uniform_ normal_ random_ exponential_ cauchy_
    log_normal_ geometric_ bernoulli_ rand randn randint rand_like randn_like randint_like
    multinomial normal nan_to_num nextafter _standard_gamma _standard_gamma_grad _sample_dirichlet
    _dirichlet_grad hash_tensor _grouped_mm _scaled_mm_v2 _scaled_grouped_mm_v2
    _scaled_dot_product_flash_attention_for_cpu _flash_attention_backward constant_pad_nd
""")

# Elements change places, or are left as zeros.
_MOVES = _names("""
    clone repeat flip roll rot90 cat stack diag_embed gather index_select take masked_select tril
    triu index_copy masked_scatter slice_scatter select_scatter diagonal_scatter as_strided_scatter
    pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle _index im2col
    embedding reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d
    replication_pad3d as_strided_copy diagonal_copy expand_copy permute_copy squeeze_copy t_copy
    transpose_copy unfold_copy unsqueeze_copy select_copy slice_copy view_copy alias_copy
    detach_copy narrow_copy split_copy split_with_sizes_copy unbind_copy block_diag _select_backward
    _slice_backward _diagonal_backward _masked_scatter_backward _zeros_met
""")

# Their compiled kernels take bfloat16, a block or a row at a time.
_SERVED = _names(
    "mm bmm mv dot addmm baddbmm sum mean linalg_vector_norm logsumexp softmax log_softmax max min "
    "argmax argmin glu _rrelu_with_noise"
)

# Likewise, and parameters in float32, indices, or a mask may stand beside it.
_BESIDE = _names("""
    native_batch_norm native_layer_norm native_group_norm native_batch_norm_backward
    native_layer_norm_backward native_group_norm_backward _nll_loss _nll_loss2d
    _nll_loss_backward _nll_loss2d_backward masked_fill _embedding_bag scatter_add
""")

# Families that refuse float16 refuse bfloat16 in the same words.
_PROBED = ("imode.ops.decompositions.", "imode.ops.fourier.", "imode.ops.pointwise.special_")
_PROBED_NAMES = _names("""
    bincount view_as_complex_copy view_as_real_copy avg_pool3d _cdist_forward
    _pdist_forward _multi_margin_loss _multilabel_margin_loss _ctc_loss
    _upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa linalg_vander
""")

# There are no complex numbers of two bfloat16.
_REFUSED = _names("complex polar")

_UNSIGNED = _names("uint16 uint32 uint64")
_EIGHT = _names("float8_e4m3fn float8_e5m2")
_BOTH = _names("""
    clone cat stack roll repeat diag_embed as_strided_copy diagonal_copy expand_copy permute_copy
    squeeze_copy t_copy transpose_copy unfold_copy unsqueeze_copy select_copy slice_copy view_copy
    alias_copy detach_copy narrow_copy split_copy split_with_sizes_copy unbind_copy slice_scatter
    select_scatter diagonal_scatter as_strided_scatter any all
""")
_TAKES = {
    _UNSIGNED: _BOTH
    | _names("""
        mul eq ne bitwise_and bitwise_or bitwise_xor where floor ceil trunc round isnan isinf
        _isfinite isposinf isneginf signbit equal sum nansum prod cumsum cumprod
    """),
    _EIGHT: _BOTH | _names("index_select masked_select _index"),
}


def _has_loops(kernel):
    return isinstance(kernel, CKernel) and loops_of(kernel) is not None


def how_stored(name, kernel, where):
    """One of own, refused, moves, loops, served, beside, probed and widened; see the Note."""
    if name in _OWN:
        return "own"
    if name in _REFUSED:
        return "refused"
    if name.removesuffix("_") in _MOVES:
        return "moves"
    if _has_loops(kernel):
        return "loops"
    if name in _SERVED:
        return "served"
    if name in _BESIDE:
        return "beside"
    probed = where.startswith(_PROBED) or name in _PROBED_NAMES
    return "probed" if probed else "widened"


def dtypes_taken(name, kernel):
    """The dtypes besides bfloat16 that an operator takes, by their names."""
    if _has_loops(kernel) and ints_of(kernel) == Ints.FLOAT:
        return _UNSIGNED
    name = name.removesuffix("_")
    return frozenset().union(*(dtypes for dtypes, names in _TAKES.items() if name in names))
