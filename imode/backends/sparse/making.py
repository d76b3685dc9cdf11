"""Sparse tensors made, converted, copied, resized."""

import numpy as np

from imode import errors
from imode._core import formats as layouts
from imode._core.dtype import get_default_dtype
from imode._core.internals import array_of, wrap_array
from imode._core.sparse import is_sparse, part_of, parts, rewrite
from imode._core.type_names import class_name
from imode.backends.sparse.calls import assign, kernel
from imode.kernels.sparse.coordinates import (
    checked,
    dense,
    find,
    from_dense,
    linear,
    make,
    rows_at,
    sorted_parts,
)
from imode.kernels.sparse.coordinates import coalesced as coalesced_parts


@kernel("_sparse_coo_tensor_with_dims_and_tensors")
def made(sparse_dim, dense_dim, size, indices, values, is_coalesced):
    """A sparse tensor of indices and values, whose memory it takes as it is."""
    for name, tensor in (("indices", indices), ("values", values)):
        if is_sparse(tensor):
            raise errors.sparse.parts_not_dense(name)
    places, numbers = array_of(indices), array_of(values)
    if places.flags.writeable:
        places = places.copy()
    if len(size) != sparse_dim + dense_dim or sparse_dim != len(places):
        raise errors.sparse.dimensions(len(size), sparse_dim, dense_dim)
    checked(places, numbers, size, is_coalesced)
    return make(places, numbers, size, bool(is_coalesced))


@kernel("_values_at")
def values_at(source, indices):
    places = array_of(indices)
    if not is_sparse(source):
        return wrap_array(rows_at(array_of(source), places))
    own, values = sorted_parts(source)
    at, there = find(linear(own, source.shape), linear(places, source.shape))
    taken = np.zeros((places.shape[1], *values.shape[1:]), values.dtype)
    taken[there] = values[at[there]]
    return wrap_array(taken)


@kernel("_coalesce")
def coalesced(self):
    found, shape = parts(self), tuple(self.shape)
    return make(*coalesced_parts(found.indices, found.values, shape), shape, True)


def _named(name, of_coalesced):
    def part(self):
        if not is_sparse(self):
            what = "sparse tensor" if name == "values" else "sparse coordinate tensor"
            raise (
                errors.sparse.not_sparse(name, what)
                if of_coalesced
                else errors.sparse.only_sparse(f"_{name}")
            )
        found = parts(self)
        if of_coalesced and not found.coalesced:
            raise errors.sparse.uncoalesced(name)
        return part_of(self, getattr(found, name))

    return part


for _name in ("indices", "values"):
    kernel(_name)(_named(_name, True))
    kernel(f"_{_name}")(_named(_name, False))


@kernel("_to_dense")
def to_dense(self, dtype, masked_grad):
    result = wrap_array(dense(self))
    return result if dtype is None else result.to(dtype)


@kernel("_to_sparse", "_to_sparse.sparse_dim")
def to_sparse(self, sparse_dim=None):
    array = array_of(self)
    sparse_dim = array.ndim if sparse_dim is None else sparse_dim
    if not 0 <= sparse_dim <= array.ndim:
        raise errors.shapes.dim_out_of_range(sparse_dim, array.ndim)
    return make(*from_dense(array, sparse_dim), array.shape, True)


@kernel("sparse_mask")
def sparse_mask(self, mask):
    """The elements of a tensor where another one has some."""
    if not is_sparse(mask):
        raise errors.sparse.only_sparse("sparse_mask")
    if self.shape != mask.shape:
        raise errors.sparse.masked_sizes(self.shape, mask.shape)
    wanted = parts(mask)
    if self is mask:
        return make(wanted.indices, wanted.values, self.shape, wanted.coalesced)
    if not is_sparse(self):
        values = rows_at(array_of(self), wanted.indices)
        return make(wanted.indices, values, self.shape, wanted.coalesced)
    indices, own = sorted_parts(self)
    at, there = find(linear(indices, self.shape), linear(wanted.indices, self.shape))
    values = np.zeros((wanted.indices.shape[1], *own.shape[1:]), own.dtype)
    values[there] = own[at[there]]
    return make(wanted.indices, values, self.shape, wanted.coalesced)


# ---- copies -------------------------------------------------------------------------------------


@kernel("detach", "alias")
def detach(self):
    return self


@kernel("clone")
def clone(self, memory_format):
    if memory_format not in (None, "preserve_format") and "preserve" not in str(memory_format):
        raise RuntimeError(f"unsupported memory format option {_option(memory_format)}")
    found = parts(self)
    return make(found.indices.copy(), found.values.copy(), self.shape, found.coalesced)


def _option(memory_format):
    """PyTorch's word for a memory format."""
    words = str(memory_format).rpartition(".")[2].removesuffix("_format").split("_")
    return "".join(word.capitalize() for word in words)


@kernel("_to_copy")
def to_copy(self, dtype, memory_format, device):
    _refuse_device(device)
    found = parts(self)
    values = wrap_array(found.values)
    values = values.clone() if dtype is None else values.to(dtype, copy=True)
    return make(found.indices.copy(), array_of(values), self.shape, found.coalesced)


def _refuse_device(device):
    if device is not None and device.type != "cpu":
        raise errors.sparse.elsewhere(device)


@kernel("copy_")
def copy_(self, other, non_blocking):
    if not hasattr(other, "layout") or is_sparse(self) != is_sparse(other):
        raise errors.sparse.copied(_type_of(self), _type_of(other))
    return assign("copy_", self, other.clone())


def _type_of(tensor):
    return tensor.type().partition(".")[2] if hasattr(tensor, "layout") else "FloatTensor"


@kernel("zero_")
def zero_(self):
    found = parts(self)
    rewrite(self, *_nothing(len(found.indices), tuple(self.shape), found.values.dtype))
    return self


def _nothing(sparse_dim, shape, dtype):
    """Return what `rewrite` takes, of no elements."""
    indices = np.zeros((sparse_dim, 0), np.int64)
    return indices, np.zeros((0, *shape[sparse_dim:]), dtype), shape, True


def empty(sparse_dim, shape, dtype):
    """Return a sparse tensor without elements."""
    indices, values, shape, _ = _nothing(sparse_dim, tuple(shape), dtype)
    return make(indices, values, shape, True)


@kernel("zeros_like", "empty_like")
def zeros_like(self, dtype, layout, device, requires_grad, pin_memory, memory_format):
    _refuse_device(device)
    dtype = self.dtype if dtype is None else dtype
    if layout is not None and str(layout).endswith("strided"):
        return wrap_array(np.zeros(self.shape, dtype.numpy))
    return empty(len(parts(self).indices), self.shape, dtype.numpy)


@kernel("new_zeros", "new_empty")
def new_zeros(self, size, dtype, layout, device, requires_grad, pin_memory):
    _refuse_device(device)
    dtype = self.dtype if dtype is None else dtype
    return empty(len(size), size, dtype.numpy)


_IN_LAYOUT = ("zeros", "empty", "zeros_like", "empty_like", "new_zeros", "new_empty")


def in_layout(operator, args):
    """Call a factory with a `layout=` that is not strided: a sparse tensor without elements."""
    values = dict(zip(operator.names, args, strict=True))
    like, wanted = values.get("self"), values["layout"]
    if not isinstance(wanted, layouts.layout):
        raise TypeError(
            f"{operator.name}(): argument 'layout' must be imode.layout, not {class_name(wanted)}"
        )
    if wanted is not layouts.sparse_coo:
        raise errors.sparse.layout(wanted)
    if operator.name not in _IN_LAYOUT:
        raise errors.sparse.no_kernel(operator.qualified_name)
    _refuse_device(values["device"])
    size = values.get("size", like.shape if like is not None else None)
    default = get_default_dtype() if like is None else like.dtype
    dtype = default if values["dtype"] is None else values["dtype"]
    return empty(len(size), size, dtype.numpy)


# ---- resizing -----------------------------------------------------------------------------------


def _check_sizes(name, self, size, sparse_dim, dense_dim):
    if not is_sparse(self):
        raise errors.sparse.only_sparse(name)
    if sparse_dim + dense_dim != len(size):
        raise RuntimeError(
            "number of dimensions must be sparse_dim "
            f"({sparse_dim}) + dense_dim ({dense_dim}), but got {len(size)}"
        )
    if min(size, default=0) < 0:
        raise errors.shapes.negative_dimension(min(size), size)


@kernel("sparse_resize_")
def sparse_resize_(self, size, sparse_dim, dense_dim):
    _check_sizes("sparse_resize_", self, size, sparse_dim, dense_dim)
    found, before = parts(self), tuple(self.shape)
    n, own = found.indices.shape[1], len(found.indices)
    if not n:
        return sparse_resize_and_clear_(self, size, sparse_dim, dense_dim)
    if sparse_dim != own or dense_dim != len(before) - own:
        kind, a, b = (
            ("sparse", own, sparse_dim)
            if sparse_dim != own
            else ("dense", len(before) - own, dense_dim)
        )
        raise errors.sparse.resized_dims(kind, a, b)
    if any(a < b for a, b in zip(size[:own], before[:own])):
        raise errors.sparse.shrunk("sparse", before[:own], size[:own])
    if any(a < b for a, b in zip(size[own:], before[own:])):
        raise errors.sparse.shrunk("dense", before[own:], size[own:])
    values = np.zeros((n, *size[own:]), found.values.dtype)
    values[tuple(slice(k) for k in found.values.shape)] = found.values
    rewrite(self, found.indices, values, tuple(size), found.coalesced)
    return self


@kernel("sparse_resize_and_clear_")
def sparse_resize_and_clear_(self, size, sparse_dim, dense_dim):
    _check_sizes("sparse_resize_and_clear_", self, size, sparse_dim, dense_dim)
    rewrite(self, *_nothing(sparse_dim, tuple(size), self.dtype.numpy))
    return self
