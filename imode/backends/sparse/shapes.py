"""Dimensions of sparse tensors exchanged, added and dropped; tensors joined; parts."""

import numpy as np

from imode import errors
from imode._core.internals import array_of, wrap_array
from imode._core.promotion import promote_types
from imode._core.sparse import is_sparse, parts, rewrite
from imode.backends.sparse.calls import kernel
from imode.kernels.shapes import views
from imode.kernels.shapes.views import wrap_dim
from imode.kernels.sparse.coordinates import make
from imode.ops.shapes.slicing import check_end, first_of


def _permuted(self, order):
    """Return what `make` takes, of dimensions in another order; sparse ones stay in front."""
    found, shape = parts(self), tuple(self.shape)
    sparse_dim = len(found.indices)
    if sorted(order[:sparse_dim]) != list(range(sparse_dim)):
        raise errors.sparse.transposed(sparse_dim, 0, sparse_dim)
    rest = [0, *(d - sparse_dim + 1 for d in order[sparse_dim:])]
    same = list(order[:sparse_dim]) == list(range(sparse_dim))
    indices = found.indices if same else found.indices[list(order[:sparse_dim])]
    coalesced = found.coalesced and same
    return indices, found.values.transpose(rest), [shape[d] for d in order], coalesced


def _exchanged(self, dim0, dim1):
    """The order of dimensions in which two are exchanged."""
    ndim, sparse_dim = self.dim(), len(parts(self).indices)
    dim0, dim1 = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    if max(dim0, dim1) >= sparse_dim and dim0 != dim1:
        raise errors.sparse.transposed(sparse_dim, dim0, dim1)
    order = list(range(ndim))
    order[dim0], order[dim1] = dim1, dim0
    return order


def _matrix_order(self):
    sparse_dim = len(parts(self).indices)
    dense_dim = self.dim() - sparse_dim
    if sparse_dim > 2 or dense_dim:
        raise RuntimeError(
            "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
            f"{sparse_dim} sparse and {dense_dim} dense dimensions"
        )
    return list(range(self.dim()))[::-1]


@kernel("permute")
def permute(self, dims):
    views.apply(views.permute, array_of(self), dims)  # looks at them
    return make(*_permuted(self, [wrap_dim(d, self.dim()) for d in dims]))


@kernel("transpose")
def transpose(self, dim0, dim1):
    return make(*_permuted(self, _exchanged(self, dim0, dim1)))


@kernel("t")
def t(self):
    return make(*_permuted(self, _matrix_order(self)))


@kernel("transpose_")
def transpose_(self, dim0, dim1):
    return _rewritten(self, _exchanged(self, dim0, dim1))


@kernel("t_")
def t_(self):
    return _rewritten(self, _matrix_order(self))


def _rewritten(self, order):
    indices, values, shape, coalesced = _permuted(self, order)
    rewrite(self, indices, np.ascontiguousarray(values), tuple(shape), coalesced)
    return self


@kernel("unsqueeze")
def unsqueeze(self, dim):
    found, shape = parts(self), list(self.shape)
    dim = wrap_dim(dim, len(shape) + 1)
    shape.insert(dim, 1)
    if dim <= len(found.indices):
        indices = np.insert(found.indices, dim, 0, 0)
        return make(indices, found.values, shape, found.coalesced)
    at = dim - len(found.indices) + 1
    return make(found.indices, np.expand_dims(found.values, at), shape, found.coalesced)


@kernel("select")
def select(self, dim, index):
    found, shape = parts(self), list(self.shape)
    sparse_dim = len(found.indices)
    views.apply(views.select, array_of(self), dim, index)  # looks at them
    dim = wrap_dim(dim, len(shape))
    index %= shape.pop(dim)
    if dim >= sparse_dim:
        values = np.take(found.values, index, dim - sparse_dim + 1)
        return make(found.indices, values, shape, found.coalesced)
    here = found.indices[dim] == index
    if sparse_dim == 1:
        values = found.values[here]
        return wrap_array(np.asarray(values.sum(0, dtype=values.dtype)))
    indices = np.delete(found.indices, dim, 0)[:, here]
    coalesced = found.coalesced
    return make(indices, found.values[here], shape, coalesced)


@kernel("unbind")
def unbind(self, dim):
    return tuple(select(self, dim, i) for i in range(self.shape[wrap_dim(dim, self.dim())]))


@kernel("index_select")
def index_select(self, dim, index):
    found, shape = parts(self), list(self.shape)
    if not shape:
        raise IndexError("index_select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, len(shape))
    chosen = array_of(index).astype(np.int64, copy=False).reshape(-1)
    size = shape[dim]
    for i in chosen:
        if not -size <= i < size:
            raise errors.sparse.selected(i, self.shape, dim)
    chosen = chosen % max(size, 1)
    shape[dim] = len(chosen)
    sparse_dim = len(found.indices)
    if dim >= sparse_dim:
        return make(
            found.indices, np.take(found.values, chosen, dim - sparse_dim + 1), shape,
            found.coalesced,
        )  # fmt: skip
    # For each chosen index, the elements that have it, in the order of both.
    order = np.argsort(found.indices[dim], kind="stable")
    have = found.indices[dim][order]
    first, last = np.searchsorted(have, chosen), np.searchsorted(have, chosen, "right")
    counts = last - first
    total = int(counts.sum())
    starts = np.cumsum(counts) - counts
    at = order[np.arange(total) - np.repeat(starts - first, counts)]
    indices = found.indices[:, at]
    indices[dim] = np.repeat(np.arange(len(chosen)), counts)
    return make(indices, found.values[at], shape)


@kernel("narrow_copy")
def narrow_copy(self, dim, start, length):
    found, shape = parts(self), list(self.shape)
    start, size = first_of(shape, dim, start)
    check_end(start, length, size)
    dim = wrap_dim(dim, len(shape))
    shape[dim] = length
    sparse_dim = len(found.indices)
    if dim >= sparse_dim:
        part = [slice(None)] * found.values.ndim
        part[dim - sparse_dim + 1] = slice(start, start + length)
        return make(found.indices, found.values[tuple(part)].copy(), shape, found.coalesced)
    here = (found.indices[dim] >= start) & (found.indices[dim] < start + length)
    indices = found.indices[:, here]
    indices[dim] -= start
    return make(indices, found.values[here], shape, found.coalesced)


@kernel("cat")
def cat(tensors, dim):
    for i, tensor in enumerate(tensors):
        if not is_sparse(tensor):
            raise RuntimeError(
                f"Concatenating sparse tensors, but a dense tensor was found at position {i}."
            )
    first = tensors[0]
    shape, sparse_dim = list(first.shape), len(parts(first).indices)
    dim = wrap_dim(dim, len(shape))
    dims = first.sparse_dim(), first.dense_dim()
    for i, tensor in enumerate(tensors):
        other = list(tensor.shape)
        rest, rest_of_first = other[:dim] + other[dim + 1 :], shape[:dim] + shape[dim + 1 :]
        if len(other) != len(shape) or rest != rest_of_first:
            raise errors.sparse.joined(shape, other, i)
        own = tensor.sparse_dim(), tensor.dense_dim()
        if own != dims:
            raise errors.sparse.joined_dims(dims, own, i)
    dtype = first.dtype
    for tensor in tensors[1:]:
        dtype = promote_types(dtype, tensor.dtype)
    all_indices, all_values, start = [], [], 0
    for tensor in tensors:
        found = parts(tensor)
        indices, values = found.indices, found.values.astype(dtype.numpy, copy=False)
        if dim < sparse_dim:
            indices = indices.copy()
            indices[dim] += start
        else:  # a part of a wider row of zeros
            width = sum(other.shape[dim] for other in tensors)
            wide = list(values.shape)
            wide[dim - sparse_dim + 1] = width
            padded = np.zeros(wide, values.dtype)
            part = [slice(None)] * values.ndim
            part[dim - sparse_dim + 1] = slice(start, start + tensor.shape[dim])
            padded[tuple(part)] = values
            values = padded
        start += tensor.shape[dim]
        all_indices.append(indices)
        all_values.append(values)
    shape[dim] = start
    return make(np.concatenate(all_indices, 1), np.concatenate(all_values), shape)


@kernel("stack")
def stack(tensors, dim):
    if not is_sparse(tensors[0]):
        raise errors.sparse.no_kernel("stack")
    return cat([unsqueeze(tensor, dim) for tensor in tensors], dim)
