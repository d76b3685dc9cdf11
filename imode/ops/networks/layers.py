"""Embeddings, padding, and what is made of norms.

Operators whose signature in `imode.nn.functional` is not that of `imode.<name>` have a function of
their own for it, as in PyTorch.
"""

import numpy as np

from imode import errors, ops
from imode._core import layout
from imode._core.numbers import number_as
from imode._core.promotion import promote_types
from imode._core.type_names import scalar_name
from imode.kernels.networks import embedding as kernels
from imode.kernels.networks import pad as borders
from imode.kernels.shapes import rearrange
from imode.ops.gradient_checks import expect
from imode.ops.pointwise.common import zeros
from imode.ops.schema import Out, composite, functional, op

# ---- embedding ----------------------------------------------------------------------------------


def _embedding_again(grad, indices, padding_idx, scale_grad_by_freq):
    if scale_grad_by_freq:
        raise RuntimeError("embedding: no second derivative with scale_grad_by_freq=True")
    rows = grad.index_select(0, indices.reshape(-1))
    if padding_idx >= 0:
        rows.masked_fill_((indices == padding_idx).reshape((-1, 1)), 0)
    return rows.view((*indices.shape, grad.size(1)))


def sparse_rows(grad, indices, weight_shape, padding_idx, scale_grad_by_freq):
    """The gradient of the rows that were taken, each as often as it was."""
    if scale_grad_by_freq:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
        )
    rows, places = grad.reshape((-1, weight_shape[1])), indices.reshape((1, -1)).long()
    if padding_idx >= 0:
        kept = places[0] != padding_idx
        rows, places = rows[kept], places[:, kept]
    return ops._sparse_coo_tensor_with_dims_and_tensors(1, 1, weight_shape, places, rows)


op(
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, "
    "bool sparse=False) -> Tensor",
    kernels.embedding,
    derivative={
        "weight": lambda grad, weight_shape, indices, padding_idx, scale_grad_by_freq, sparse: (
            sparse_rows(grad, indices, weight_shape, padding_idx, scale_grad_by_freq)
            if sparse
            else ops.embedding_dense_backward(
                grad, indices, weight_shape[0], padding_idx, scale_grad_by_freq
            )
        ),
    },
    real_only="embedding",
    shows={
        "weight_sym_sizes": None,
        "weight_sym_argsize_0": lambda weight_shape: weight_shape[0],
    },
    variants="function",
    doc="""Return the rows of `weight` at `indices`, int64 or int32 of any shape.

    The row `padding_idx` gets no gradient; with `scale_grad_by_freq` each gradient is divided by
    how often its row was taken. With `sparse` the gradient is a sparse tensor, of the rows that
    were taken. Raises IndexError for an index that is no row.

    >>> imode.embedding(imode.tensor([[1.0], [2.0]]), imode.tensor([1, 1])).tolist()
    [[2.0], [2.0]]
    """,
)


@op(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, "
    "int padding_idx, bool scale_grad_by_freq) -> Tensor",
    derivative={"grad_output": _embedding_again},
    variants="out",
)
def embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    """The gradient of the table of an embedding, of `num_weights` rows.

    >>> grad, indices = imode.ones(2, 1), imode.tensor([1, 1])
    >>> imode.ops.embedding_dense_backward(grad, indices, 2, -1, False).tolist()
    [[0.0], [2.0]]
    """
    name = "embedding_dense_backward"
    expect(name, "grad_output", grad, indices.shape + grad.shape[indices.ndim :])
    if grad.ndim != indices.ndim + 1 or num_weights < 0:
        raise RuntimeError(
            f"{name}(): expected one row of gradients per index and a number of rows, but got the "
            f"shape {list(grad.shape)} and {num_weights}"
        )
    return kernels.embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


def renorm_rows(weight, indices, max_norm, norm_type):
    """Scale the rows that are about to be taken down to max_norm, in place, unrecorded."""
    table = weight.detach()
    if table.dim() != 2:
        raise RuntimeError(
            f"Expected 2-dimensional tensor, but got {table.dim()}-dimensional tensor for argument "
            "#1 'self' (while checking arguments for embedding_renorm_)"
        )
    if indices.dtype.numpy not in (np.int64, np.int32):
        raise kernels.wrong_indices(indices.dtype, 2, "embedding_renorm_")
    taken = ops.unique(indices.flatten()).long()
    outside = taken[(taken < -len(table)) | (taken >= len(table))]
    if outside.numel():
        table.select(0, outside[0].item())  # raises
    if not (table.is_floating_point() or table.is_complex()):
        raise errors.dtypes.norm_of(table.dtype.numpy)
    rows = table.index_select(0, taken)
    norms = rows.norm(norm_type, 1, True)
    factor = ops.where(norms > max_norm, max_norm / (norms + 1e-7), ops.ones_like(norms))
    table.index_copy_(0, taken, rows * factor)


@functional("embedding")
def embedding_functional(
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """Return the rows of `weight` at the indices `input`.

    As `imode.embedding`; `max_norm` scales the rows that are taken down to that norm, in place.
    Raises AssertionError for a `padding_idx` that is no row.

    >>> table = imode.tensor([[1.0], [2.0]])
    >>> imode.nn.functional.embedding(imode.tensor([1, 0]), table).tolist()
    [[2.0], [1.0]]
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        n = weight.shape[0]
        if not -n <= padding_idx < max(n, 1):
            raise errors.arguments.padding_index()
        padding_idx = padding_idx + n if padding_idx < 0 else padding_idx
    if max_norm is not None:
        renorm_rows(weight, input, max_norm, norm_type)
    return ops.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


# ---- padding ------------------------------------------------------------------------------------


def _check_lengths(name, pad, dim):
    if len(pad) % 2:
        raise RuntimeError(
            "Padding length must be divisible by 2"
            if name == "pad"
            else f"Length of pad must be even but instead it equals {len(pad)}"
        )
    if len(pad) > 2 * dim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {dim}"
            if name == "pad"
            else "Length of pad should be no more than twice the number of dimensions of the input."
            f" Pad length is {len(pad)} while the input has {dim} dimensions."
        )


def _constant_pad(self, pad, value):
    _check_lengths("constant_pad_nd", pad, self.ndim)
    if any(n > 0 for n in pad):
        return borders.constant(self, pad, number_as(value, self.dtype))
    return _laid_out(self, pad, borders.constant(self, pad, 0))


def _laid_out(self, pad, cropped):
    """What is only cropped keeps the memory order of the part that is left."""
    part = [slice(None)] * self.ndim
    for k in range(len(pad) // 2):
        low, high = -pad[2 * k], self.shape[-1 - k] + pad[2 * k + 1]
        part[-1 - k] = slice(low, high)
    made = layout.empty_like(self[(..., *part)])
    made[...] = cropped
    return made


op(
    "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
    _constant_pad,
    fast=rearrange.constant_pad,
    derivative={"self": lambda grad, pad: ops.constant_pad_nd(grad, [-n for n in pad], 0)},
    variants="function",
    doc="""Put `value` around the last dimensions; negative widths crop.

    `pad` holds (before, after) for the last dimension, then for the one before it, and so on.
    Raises RuntimeError for more pairs than dimensions.

    >>> imode.constant_pad_nd(imode.ones(2), (1, 2)).tolist()
    [0.0, 1.0, 1.0, 0.0, 0.0]
    """,
)


def _check_border(n, x, padding, mirrored):
    if len(padding) != 2 * n:
        found = f", but got: {len(padding)}" if mirrored else ""
        raise RuntimeError(f"padding size is expected to be {2 * n}{found}")
    if x.ndim not in (n + 1, n + 2):
        raise errors.shapes.not_to_pad(n, x.shape)


_HOW = {
    "reflection": "mirrored at the borders, which are not repeated",
    "replication": "repeated from the borders",
}
_DIMS = {1: "the last dimension", 2: "the last two dimensions", 3: "the last three dimensions"}
_BORDERED = """Pad {dims} by elements {how}.

    `padding` holds (before, after) for the last dimension, then for the one before it, and so on.
    What `nn.functional.pad` ends in. Raises RuntimeError for widths that do not fit.
    """


def _declare_borders(mode, n):
    """Two operators: padding by one of the border modes, and its gradient."""
    mirrored = mode == "reflection"
    forward, backward = f"{mode}_pad{n}d", f"{mode}_pad{n}d_backward"

    def pad(x, padding):
        _check_border(n, x, padding, mirrored)
        if x.dtype.kind == "b":
            last = "_channels_last" if n > 1 and layout.is_channels_last(x) else ""
            raise errors.dtypes.not_implemented(f"{forward}{last}", x.dtype)
        return borders.border(x, padding, mirrored)

    def pad_backward(grad, x, padding):
        _check_border(n, x, padding, mirrored)
        added = [before + after for before, after in zip(padding[::2], padding[1::2], strict=True)]
        wide = [size + more for size, more in zip(x.shape[-n:], reversed(added), strict=True)]
        expect(backward, "grad_output", grad, [*x.shape[:-n], *wide])
        return borders.border_backward(grad, x, padding, mirrored)

    again = op(
        f"{forward}(Tensor self, int[] padding) -> Tensor",
        pad,
        derivative={
            "self": lambda grad, self, padding: getattr(ops, backward)(grad, self, padding),
        },
        out=Out("same"),
        variants="out",
        doc=_BORDERED.format(how=_HOW[mode], dims=_DIMS[n], name=forward),
    )
    op(
        f"{backward}(Tensor grad_output, Tensor self, int[] padding) -> Tensor",
        pad_backward,
        derivative={
            "grad_output": lambda grad, padding: getattr(ops, forward)(grad, padding),
            "self": zeros,
        },
        variants="",
        doc=f"""The gradient of `{forward}`, from that of its result and what was padded.""",
    )
    return again


_BORDERS = {
    (name, n): _declare_borders(mode, n)
    for name, mode in (("reflect", "reflection"), ("replicate", "replication"))
    for n in (1, 2, 3)
}


def _pad_circular(self, pad):
    """Copy the tensor into the middle of a larger one, then each side from the opposite one."""
    shape, n = list(self.shape), len(pad) // 2
    for k in range(n):
        dim, low, high = self.dim() - 1 - k, pad[2 * k], pad[2 * k + 1]
        if low > shape[dim] or high > shape[dim]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        shape[dim] += low + high
        if shape[dim] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    result = self.new_empty(shape)
    inner, source = result, self
    for k in range(n):
        dim, low, high = self.dim() - 1 - k, pad[2 * k], pad[2 * k + 1]
        kept = shape[dim] - max(low, 0) - max(high, 0)
        inner = inner.narrow(dim, max(low, 0), kept)
        source = source.narrow(dim, max(-low, 0), kept)
    inner.copy_(source)
    for k in range(n):
        dim, low, high = self.dim() - 1 - k, pad[2 * k], pad[2 * k + 1]
        if low > 0:
            start = shape[dim] - low - max(high, 0)
            result.narrow(dim, 0, low).copy_(result.narrow(dim, start, low))
        if high > 0:
            opposite = result.narrow(dim, max(low, 0), high)
            result.narrow(dim, shape[dim] - high, high).copy_(opposite)
    return result


@composite(
    "pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> Tensor", variants="nn"
)
def pad(self, pad, mode, value):
    """Pad the last dimensions: with `value`, or by mode "reflect", "replicate" or "circular".

    `pad` holds (before, after) for the last dimension, then for the one before it, and so on;
    negative widths crop. Modes other than "constant" take the last one to three dimensions of a
    tensor with channels before them. Raises RuntimeError or NotImplementedError otherwise.

    >>> imode.nn.functional.pad(imode.arange(3.0).view(1, 3), (1, 1), "reflect").tolist()
    [[1.0, 0.0, 1.0, 2.0, 1.0]]
    """
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    _check_lengths("pad", pad, self.dim())
    if mode == "constant":
        return ops.constant_pad_nd(self, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    n = len(pad) // 2
    if n not in (1, 2, 3) or self.dim() not in (n + 1, n + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {self.dim()}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "circular":
        return _pad_circular(self, pad)
    return _BORDERS[mode, n](self, pad)


# ---- what is made of norms ----------------------------------------------------------------------


@functional("normalize")
def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divide by the `p`-norms along `dim`, or by `eps` where they are smaller.

    >>> imode.nn.functional.normalize(imode.tensor([[3.0, 4.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    norms = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norms if out is None else ops.div(input, norms, out=out)


def _clamped_norm(x, dim, eps):
    """The norms along dim, at least eps; the bound passes gradients on, as in PyTorch."""
    norm = x.norm(2, dim, True).clone()
    norm.detach().clamp_min_(eps)
    return norm


@composite(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    variants="function nn",
)
def cosine_similarity(x1, x2, dim, eps):
    """Return the cosines of the angles between vectors along `dim`; the tensors broadcast.

    Norms below `eps` count as `eps`. Raises RuntimeError for tensors of integers.

    >>> imode.cosine_similarity(imode.tensor([[1.0, 0.0]]), imode.tensor([[2.0, 0.0]])).tolist()
    [1.0]
    """
    common = promote_types(x1.dtype, x2.dtype)
    if not common.is_floating_point:
        raise RuntimeError(
            "expected common dtype to be floating point, yet common dtype is "
            f"{scalar_name((x1 if x1.dtype == common else x2).dtype)}"
        )
    if x1.shape != x2.shape:
        shape = ops.broadcast_tensors([x1.detach(), x2.detach()])[0].shape
        x2 = x2.expand(shape)
        x1 = x1.expand(shape)
    x1, x2 = (x if x.is_floating_point() else x.to(common) for x in (x1, x2))
    length = _clamped_norm(x1, dim, eps)
    second = x2 / _clamped_norm(x2, dim, eps)  # first, as its node's number tells
    return (x1 / length * second).sum(dim)
