"""Sums, products and functions that keep zeros, of sparse tensors."""

import numpy as np

import imode
from imode import errors
from imode._core.internals import array_of, wrap_array
from imode._core.sparse import is_sparse, parts, rewrite
from imode._core.tensor import Tensor
from imode._core.type_names import scalar_name
from imode.backends.sparse.calls import KERNELS, assign, kernel
from imode.kernels.sparse import loops
from imode.kernels.sparse.coordinates import (
    add_rows,
    find,
    linear,
    make,
    rows_at,
    sorted_parts,
)

# ---- functions of one tensor that give 0 for 0 ---------------------------------------------------

_KEEPING_ZEROS = """
abs absolute asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac isinf isnan isneginf
isposinf log1p nan_to_num rad2deg relu round round.decimals sgn sign signbit sin sinh sqrt square
tan tanh trunc pow"""


def _of_values(name):
    """The kernel of a function of each element, which is not a sum's: of coalesced values."""

    def function(self, *rest):
        if not isinstance(self, Tensor) or not is_sparse(self):
            raise errors.sparse.no_kernel(name)
        indices, values = sorted_parts(self)
        result = getattr(imode.ops, name.partition(".")[0])(wrap_array(values), *rest)
        return make(indices, array_of(result), self.shape, True)

    return function


def _written(name):
    """The in-place form: refused where a place may have several values."""

    def inplace(self, *rest):
        found = parts(self)
        if not found.coalesced:
            raise errors.sparse.inplace_uncoalesced(f"{name}_")
        values = getattr(wrap_array(found.values.copy()), f"{name}_")(*rest)
        rewrite(self, found.indices, array_of(values), tuple(self.shape), True)
        return self

    return inplace


for _name in _KEEPING_ZEROS.split():
    KERNELS[_name] = _of_values(_name)
    if "." not in _name:
        KERNELS[f"{_name}_"] = _written(_name)


def _linear(self, function):
    """A function of each value, which a sum goes through."""
    found = parts(self)
    result = function(wrap_array(found.values))
    return make(found.indices, array_of(result), self.shape, found.coalesced)


@kernel("neg")
def neg(self):
    return _linear(self, lambda values: -values)


@kernel("_conj", "_conj_physical", "conj_physical")
def conj(self):
    return _linear(self, lambda values: values.conj_physical())


@kernel("_threshold_backward")
def threshold_backward(self, grad_output, threshold):
    """The gradient of relu: where `self` is above the threshold."""
    indices, values = sorted_parts(self)
    keep = array_of((wrap_array(values) > threshold).to(self.dtype))
    return mul(grad_output, make(indices, keep, self.shape, True))


# ---- sums ---------------------------------------------------------------------------------------


@kernel("add")
def add(self, other, alpha):
    if not isinstance(self, Tensor) or not isinstance(other, Tensor):
        raise errors.sparse.sparse_plus_dense()
    if is_sparse(self) and not is_sparse(other):
        raise errors.sparse.sparse_plus_dense()
    dtype = imode.result_type(self, other)
    scaled = _scaled(other, alpha, dtype)
    if is_sparse(self):
        return _both(self, scaled, dtype)
    if self.shape != other.shape:
        raise errors.sparse.added_to_dense(self.shape, other.shape)
    result = self.to(dtype, copy=True).contiguous()
    _add_into(result, scaled)
    return result


@kernel("sub")
def sub(self, other, alpha):
    return add(self, other, -alpha)


@kernel("add_")
def add_(self, other, alpha):
    if is_sparse(self) or not array_of(self).flags.c_contiguous or not isinstance(other, Tensor):
        return assign("add", self, add(self, other, alpha))
    dtype = imode.result_type(self, other)
    if not imode.can_cast(dtype, self.dtype):
        raise errors.sparse.added_dtype(*map(scalar_name, (dtype.numpy, self.dtype.numpy)))
    if self.shape != other.shape:
        raise errors.sparse.added_to_dense(self.shape, other.shape)
    _add_into(self, _scaled(other, alpha, self.dtype))
    return self


@kernel("sub_")
def sub_(self, other, alpha):
    return add_(self, other, -alpha)


def _scaled(sparse, alpha, dtype):
    """The tensor times alpha, in a dtype."""
    return _linear(sparse, lambda v: v.to(dtype) if alpha == 1 else v.to(dtype) * alpha)


def _add_into(dense, sparse):
    found, shape = parts(sparse), tuple(dense.shape)
    sparse_dim = len(found.indices)
    rows = int(np.prod(shape[:sparse_dim], dtype=np.int64))
    target = array_of(dense).reshape(rows, *shape[sparse_dim:])
    if len(target):
        add_rows(target, linear(found.indices, shape), found.values)


def _both(self, other, dtype):
    if self.shape != other.shape:
        raise errors.sparse.added_sizes(self.shape, other.shape)
    a, b, shape = parts(self), parts(other), tuple(self.shape)
    if len(a.indices) != len(b.indices):
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same number of sparse dimensions, but "
            f"{len(a.indices)} != {len(b.indices)}"
        )
    values = a.values.astype(dtype.numpy, copy=False)
    from_a, from_b = loops.merged(linear(a.indices, shape), linear(b.indices, shape))
    of_a, of_b = from_a >= 0, from_b >= 0
    indices = np.empty((len(a.indices), len(from_a)), np.int64)
    indices[:, of_b] = b.indices[:, from_b[of_b]]
    indices[:, of_a] = a.indices[:, from_a[of_a]]
    total = np.zeros((len(from_a), *values.shape[1:]), values.dtype)
    total[of_a] = values[from_a[of_a]]
    total[of_b] += b.values[from_b[of_b]]
    return make(indices, total, shape, a.coalesced and b.coalesced)


# ---- products -----------------------------------------------------------------------------------


def _is_number(value):
    return not isinstance(value, Tensor) or (not is_sparse(value) and value.dim() == 0)


@kernel("mul")
def mul(self, other):
    if _is_number(other):
        return _linear(self, lambda values: values * other)
    if _is_number(self):
        return _linear(other, lambda values: self * values)
    if not is_sparse(other):
        return _times_dense(self, other)
    if not is_sparse(self):
        return _times_dense(other, self)
    return _times_sparse(self, other)


def _times_dense(sparse, dense):
    found, shape = parts(sparse), tuple(sparse.shape)
    if np.broadcast_shapes(tuple(dense.shape), shape) != shape:
        raise errors.sparse.no_kernel("mul")
    factors = rows_at(np.broadcast_to(array_of(dense), shape), found.indices)
    return _linear(sparse, lambda values: values * wrap_array(factors))


def _times_sparse(self, other):
    """The places that both have; all of one that may have some more than once, in its order."""
    a, b = parts(self), parts(other)
    if self.shape != other.shape or len(a.indices) != len(b.indices):
        raise errors.sparse.multiplied_sizes()
    if a.coalesced and not b.coalesced:
        self, other, a = other, self, b
    indices, values = sorted_parts(other)
    if a.coalesced:
        of_a, of_b = loops.merged(linear(a.indices, self.shape), linear(indices, self.shape))
        both = (of_a >= 0) & (of_b >= 0)
        of_a, of_b = of_a[both], of_b[both]
        result = wrap_array(a.values[of_a]) * wrap_array(values[of_b])
        return make(a.indices[:, of_a], array_of(result), self.shape, True)
    at, there = find(linear(indices, self.shape), linear(a.indices, self.shape))
    factors = np.zeros((len(there), *values.shape[1:]), values.dtype)
    factors[there] = values[at[there]]
    result = wrap_array(a.values) * wrap_array(factors)
    return make(a.indices, array_of(result), self.shape, False)


@kernel("div")
def div(self, other):
    _check_divisor(self, other)
    return _linear(self, lambda values: values / other)


@kernel("div.mode", "floor_divide")
def div_mode(self, other, rounding_mode="floor"):
    _check_divisor(self, other)
    if rounding_mode is None:
        return div(self, other)
    indices, values = sorted_parts(self)
    result = imode.div(wrap_array(values), other, rounding_mode=rounding_mode)
    return make(indices, array_of(result), self.shape, True)


def _check_divisor(self, other):
    if not _is_number(other):
        raise errors.sparse.divisor(other.shape)
    if _is_number(self) or not is_sparse(self):
        raise errors.sparse.no_kernel("div")
