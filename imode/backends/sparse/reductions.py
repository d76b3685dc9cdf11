"""Sums over dimensions of sparse tensors, and softmax of the elements that are there."""

import numpy as np

import imode
from imode import errors
from imode._core.internals import array_of, wrap_array
from imode._core.sparse import is_sparse, parts
from imode.backends.sparse.calls import kernel
from imode.kernels.shapes.views import wrap_dim
from imode.kernels.sparse.coordinates import (
    add_rows,
    coalesced,
    find,
    linear,
    make,
    sorted_parts,
)


@kernel("sum")
def total(self, dtype):
    return wrap_array(parts(self).values).sum(dtype=dtype)


@kernel("any")
def any_(self):
    return wrap_array(sorted_parts(self)[1]).any()


def _dims(dim, ndim):
    dims = range(ndim) if dim is None else dim
    found = []
    for d in dims:
        d = wrap_dim(d, ndim)
        if d in found:
            raise errors.shapes.repeated_dim(d)
        found.append(d)
    return sorted(found)


@kernel("sum.dim")
def sum_dim(self, dim, keepdim, dtype):
    if dim is not None and not len(dim):
        dim = None
    if dtype is None and not (self.is_floating_point() or self.is_complex()):
        dtype = imode.int64
    result = _summed(self if dtype is None else self.to(dtype), _dims(dim, self.dim()), keepdim)
    if not is_sparse(result) and keepdim:
        return result.reshape((1,) * self.dim()).to_sparse()
    return result


@kernel("_sparse_sum.dim")
def sparse_sum(self, dim, dtype):
    if not is_sparse(self):
        raise errors.sparse.not_sparse("coalesce")
    return _summed(self if dtype is None else self.to(dtype), _dims(dim, self.dim()), False)


def _summed(self, dims, keepdim):
    shape = tuple(self.shape)
    own, values = sorted_parts(self)
    sparse_dim = len(own)
    of_dense = tuple(d - sparse_dim + 1 for d in dims if d >= sparse_dim)
    if of_dense:
        values = array_of(wrap_array(values).sum(of_dense, keepdim, dtype=self.dtype))
    kept = [d for d in range(sparse_dim) if d not in dims]
    left = [n if d not in dims else 1 for d, n in enumerate(shape) if keepdim or d not in dims]
    if not kept and not keepdim:
        summed = wrap_array(values).sum(0, dtype=self.dtype)
        return summed
    indices = own[kept]
    if keepdim:
        indices = own.copy()
        indices[[d for d in dims if d < sparse_dim]] = 0
    if len(kept) == sparse_dim:
        return make(indices, values, left, True)
    return make(*coalesced(np.ascontiguousarray(indices), values, left), left, not keepdim)


@kernel("_sparse_sum_backward")
def sum_backward(grad, self, dims):
    """The gradient at each element of `self`: that of the sum it went into."""
    indices, values = sorted_parts(self)
    sparse_dim, shape = len(indices), tuple(self.shape)
    dims = _dims(dims, len(shape))
    kept = [d for d in range(sparse_dim) if d not in dims]
    rest = [1 if d + sparse_dim in dims else n for d, n in enumerate(shape[sparse_dim:])]
    if is_sparse(grad):
        places, own = sorted_parts(grad)
        sizes = [shape[d] for d in kept]
        at, there = find(linear(places, sizes), linear(np.ascontiguousarray(indices[kept]), sizes))
        taken = np.zeros((indices.shape[1], *own.shape[1:]), own.dtype)
        taken[there] = own[at[there]]
    else:
        own = array_of(grad)
        taken = np.ascontiguousarray(own[tuple(indices[kept])]) if kept else own[None]
        taken = np.broadcast_to(taken, (indices.shape[1], *taken.shape[1:]))
    taken = taken.reshape(indices.shape[1], *rest)
    return make(indices, np.broadcast_to(taken, values.shape).copy(), shape, True)


# ---- softmax ------------------------------------------------------------------------------------


def _groups(indices, shape, dim):
    """Return the number of the group of each element, of those along a sparse dimension."""
    others = [d for d in range(len(indices)) if d != dim]
    places = linear(np.ascontiguousarray(indices[others]), [shape[d] for d in others])
    _, groups = np.unique(places, return_inverse=True)
    return groups.reshape(-1).astype(np.int64, copy=False)


def _softmax(self, dim, log):
    if not is_sparse(self):
        raise errors.sparse.only_sparse("_sparse_log_softmax" if log else "_sparse_softmax")
    dim = wrap_dim(dim, self.dim())
    (indices, values), shape = sorted_parts(self), tuple(self.shape)
    if values.dtype.char not in "fd":
        raise errors.dtypes.not_implemented("log_softmax" if log else "softmax", values.dtype)
    if dim >= len(indices):
        function = imode.log_softmax if log else imode.softmax
        result = array_of(function(wrap_array(values), dim - len(indices) + 1))
        return make(indices, result, shape, True)
    groups = _groups(indices, shape, dim)
    n = int(groups.max(initial=-1)) + 1
    highest = np.full((n, *values.shape[1:]), -np.inf, values.dtype)
    np.maximum.at(highest, groups, values)
    with np.errstate(all="ignore"):
        shifted = values - highest[groups]
        powers = np.exp(shifted)
        sums = np.zeros_like(highest)
        add_rows(sums, groups, powers)
        result = shifted - np.log(sums)[groups] if log else powers / sums[groups]
    return make(indices, result.astype(values.dtype, copy=False), shape, True)


@kernel("_sparse_softmax")
def softmax(self, dim, half_to_float):
    return _softmax(self, dim, False)


@kernel("_sparse_log_softmax")
def log_softmax(self, dim, half_to_float):
    return _softmax(self, dim, True)


def _softmax_backward(grad, output, dim, log):
    dim = wrap_dim(dim, output.dim())
    (indices, values), shape = sorted_parts(output), tuple(output.shape)
    places, given = sorted_parts(grad)
    at, there = find(linear(places, shape), linear(indices, shape))
    grads = np.zeros_like(values)
    grads[there] = given[at[there]]
    weighted = grads if log else grads * values
    if dim >= len(indices):
        sums = weighted.sum(dim - len(indices) + 1, keepdims=True)
    else:
        groups = _groups(indices, shape, dim)
        totals = np.zeros((int(groups.max(initial=-1)) + 1, *values.shape[1:]), values.dtype)
        add_rows(totals, groups, weighted)
        sums = totals[groups]
    result = grads - np.exp(values) * sums if log else (grads - sums) * values
    return make(indices, result, shape, True)


@kernel("_sparse_softmax_backward_data")
def softmax_backward(grad_output, output, dim):
    return _softmax_backward(grad_output, output, dim, False)


@kernel("_sparse_log_softmax_backward_data")
def log_softmax_backward(grad_output, output, dim):
    return _softmax_backward(grad_output, output, dim, True)
