"""Steps of `multi_head_attention_forward` by PyTorch's private names, which copies of it call."""

from imode._checks import _check_with
from imode._core.tensor import Tensor
from imode.ops.sequences import multi_head

_mha_shape_check = multi_head.is_batch


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as what is added to scores."""
    other_type = other_type if check_other else None
    return multi_head.added_mask(mask, mask_name, target_type, other_type, other_name)


def _none_or_dtype(input):
    if input is not None and not isinstance(input, Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def _in_projection_packed(q, k, v, w, b=None):
    """Queries, keys and values by one weight."""
    return tuple(multi_head.projected(q, k, v, w, b))


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """Queries, keys and values, each by a weight and a bias of its own."""
    weights, biases = (w_q, w_k, w_v), (b_q, b_k, b_v)
    return tuple(multi_head.projected_each((q, k, v), weights, biases))


def _check_key_padding_mask(key_padding_mask, src_len, bsz):
    for dim, wanted in enumerate((bsz, src_len)):
        found = key_padding_mask.shape[dim]
        text = f"Expected key_padded_mask.shape[{dim}] to be {wanted}, but got {found}"
        _check_with(AssertionError, found == wanted, lambda text=text: text)
