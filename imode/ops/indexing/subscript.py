"""`tensor[index]` and `tensor[index] = value`, by PyTorch's rules: the general case.

What needs no rule is served by the fast case, `imode/_core/subscript_fast.pyx`, before this runs.

Integers, slices, None and Ellipsis become view operators (select, slice, unsqueeze), one after the
other, so that gradients, versions and strides are theirs. What is left, tensors and sequences, goes
to `_index` or `index_put_` together with the dimension of each.
"""

import operator

import numpy as np

from imode import errors, ops
from imode._core.internals import array_of, wrap_array
from imode._core.numbers import scalar_as
from imode._core.overriding import call_overridden
from imode._core.tensor import Tensor
from imode._core.type_names import class_name
from imode._core.user_frames import warn
from imode.kernels.creation import from_data
from imode.kernels.shapes.views import wrap_dim

_LONG, _BOOL = np.dtype(np.int64), np.dtype(np.bool_)
_LAST = 2**63 - 1  # where a slice ends that does not say it


# ---- reading -------------------------------------------------------------------------------------


def getitem(self, index):
    """Return ``self[index]``: a view for basic indices, a copy where index tensors take part."""
    kind = type(index)
    if kind is int:
        return _select(self, 0, index, 0)
    if kind is slice:
        return _slice(self, 0, index)
    if kind is Tensor:
        array = array_of(index)
        if 0 < array.ndim <= self.ndim and array.dtype in (_LONG, _BOOL):
            return ops._index(self, (index,))
    elif kind is not tuple:
        if index is None:
            return ops.unsqueeze(self, 0)
        if index is Ellipsis:
            return ops.alias(self)
        if hasattr(kind, "__torch_function__"):
            overridden = call_overridden(Tensor.__getitem__, (self, index), {})
            if overridden is not None:
                return overridden[0]
        index = _as_tuple(index)
    if kind is Tensor:
        index = (index,)
    view, indices, dims = _apply(self, index)
    if indices:
        return ops._index(view, indices, dims)
    return ops.alias(view) if view is self else view


def _length(shape, dim):
    """The length of a dimension; a second `...` in an index may lead beyond the last one."""
    return shape[wrap_dim(dim, len(shape))] if shape else 0


def _select(self, dim, index, place):
    """One index of a dimension; `place` is what the message calls that dimension."""
    shape = self.shape
    if not shape and index == 0:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    size = _length(shape, dim)
    if not -size <= index < size:
        if not -(2**63) <= index < 2**63:
            raise errors.numbers.beyond_64_bits()
        raise errors.shapes.index_out_of_bounds(index, place, size)
    return ops.select(self, dim, index)


def _slice(self, dim, index):
    *_, step = index.indices(0)
    if step < 0:
        raise ValueError("step must be greater than zero")
    if not self.ndim:
        raise errors.shapes.scalar_sliced()
    return ops.slice(self, dim, _bound(index.start, 0), _bound(index.stop, _LAST), step)


def _bound(value, default):
    """One end of a slice as its node will show it: as written, within 64 bits."""
    return default if value is None else max(-_LAST - 1, min(operator.index(value), _LAST))


def _is_all(index, size):
    """Whether a slice is written as one of everything; such ones are skipped within a tuple."""
    start, stop, step = index.start, index.stop, index.step
    if step is not None and operator.index(step) != 1:
        return False
    if start is not None and operator.index(start) != 0:
        return False
    return stop is None or operator.index(stop) >= size


def _apply(self, index):
    """Apply the basic indices of a tuple; return (view, index tensors, their dimensions)."""
    wanted = 0
    for item in index:
        if item is None or item is Ellipsis or item is True or item is False:
            continue
        if type(item) is Tensor and array_of(item).dtype in (np.bool_, np.uint8):
            wanted += item.ndim
        else:
            wanted += 1
    nd = self.ndim
    if wanted > nd:
        raise IndexError(f"too many indices for tensor of dimension {nd}")
    view, dim, indices, dims = self, 0, [], []
    for place, item in enumerate(index):
        kind = type(item)
        if kind is int:
            view = _select(view, dim, item, place)
        elif kind is slice:
            try:
                skipped = _is_all(item, _length(view.shape, dim))
            except TypeError:
                skipped = False  # let `slice.indices` say what is wrong
            if not skipped:
                view = _slice(view, dim, item)
            dim += 1
        elif item is Ellipsis:
            dim += nd - wanted
        elif item is None:
            view = ops.unsqueeze(view, dim)
            dim += 1
        elif kind is bool:
            view = ops.unsqueeze(view, dim)
            indices.append(_position(item))
            dims.append(dim)
            dim += 1
        else:
            tensor = item if kind is Tensor else _as_index(item)
            if tensor is None:
                view = _select(view, dim, operator.index(item), place)
                continue
            array = array_of(tensor)
            if array.ndim or array.dtype.kind not in "iub":
                indices.append(tensor)
                dims.append(dim)
                dim += array.ndim if array.dtype in (np.bool_, np.uint8) else 1
            elif array.dtype in (np.bool_, np.uint8):
                view = ops.unsqueeze(view, dim)
                indices.append(_position(bool(array)))
                dims.append(dim)
                dim += 1
            else:
                view = _select(view, dim, int(array), place)
    return view, indices, dims


def _position(flag):
    """True and False as indices of a dimension of length 1: its element, or none."""
    return wrap_array(np.zeros(1 if flag else 0, np.int64))


def _as_index(item):
    """An index tensor of a sequence or array; None for what stands for an integer."""
    if isinstance(item, np.ndarray):
        return _of_array(item)
    if isinstance(item, np.generic):
        if item.dtype.kind in "SUV":
            raise errors.dtypes.unsupported_array(item.dtype)
        if isinstance(item, np.integer):
            return None
    elif from_data.is_sequence(item):
        return wrap_array(from_data.index_from_data(item))
    elif hasattr(item, "__index__"):
        return None
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        f"indices (got {class_name(item)})"
    )


def _of_array(array):
    array = from_data.check_array(array)
    if array.dtype.kind == "c":
        array = array.real
    kept = array.dtype.kind == "b" or array.dtype == np.uint8
    return wrap_array(np.array(array, array.dtype if kept else np.int64, order="C"))


def _as_tuple(index):
    """The tuple that an index outside a tuple stands for; PyTorch still unpacks short lists."""
    if type(index) in (Tensor, np.ndarray):
        return (index,)
    if from_data.is_sequence(index) and len(index) < 32:
        for i in range(len(index)):
            item = index[i]
            nested = isinstance(item, slice) or from_data.is_sequence(item)
            if nested or item is None or item is Ellipsis:
                if isinstance(index, tuple):
                    return tuple(index)
                if not isinstance(index, (str, bytes)):
                    warn(
                        "Using a non-tuple sequence for multidimensional indexing is deprecated "
                        "and will be changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq].",
                    )
                return tuple(index)
    return tuple(index) if isinstance(index, tuple) else (index,)


# ---- writing -------------------------------------------------------------------------------------


def setitem(self, index, value):
    """``self[index] = value``: a number, or a tensor that broadcasts to the place."""
    if isinstance(value, np.integer) and value.dtype.kind in "iu":
        value = int(value)
    if type(value) is not Tensor:
        _check_value(self, value)
    kind = type(index)
    if kind is Tensor:
        array = array_of(index)
        if 0 < array.ndim <= self.ndim and array.dtype in (_LONG, _BOOL):
            ops.index_put_(self, (index,), _as_values(self, value))
            return
    if kind is int:
        _copy_to(_select(self, 0, index, 0), value)
        return
    if kind is slice:
        index = (index,) if self.ndim else _slice(self, 0, index)
    elif kind is not tuple:
        if index is None or index is True:
            _copy_to(ops.unsqueeze(self, 0), value)
            return
        if index is Ellipsis:
            _copy_to(self, value)
            return
        if index is False:
            return
        index = _as_tuple(index)
    view, indices, dims = _apply(self, index)
    if not indices:
        _copy_to(view, value)
        return
    ops.index_put_(view, indices, _as_values(self, value), dims=dims)


def _check_value(self, value):
    """Refuse what is neither a tensor nor a number of 64 bits."""
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise errors.numbers.beyond_64_bits()
    elif not isinstance(value, (float, complex, Tensor)):
        raise TypeError(f"can't assign a {class_name(value)} to a {self.type()}")


def check_value(self, value):
    """Refuse what cannot be written into the tensor, wherever."""
    if not isinstance(value, Tensor):
        _check_value(self, value)
        _as_tensor(self, value)


def _as_tensor(self, value):
    """A number as a 0-dim tensor of the tensor's dtype."""
    return wrap_array(scalar_as(value, array_of(self).dtype))


def _as_values(self, value):
    """What index_put_ is given: without the dimensions of length 1 in front."""
    if not isinstance(value, Tensor):
        return _as_tensor(self, value)
    shape = value.shape
    return value.view(_without_ones(shape)) if shape and shape[0] == 1 else value


def _without_ones(shape):
    """The shape without the ones it begins with."""
    at = 0
    while at < len(shape) and shape[at] == 1:
        at += 1
    return shape[at:]


def _copy_to(view, value):
    shape = view.shape
    if not isinstance(value, Tensor):
        if (
            shape
            and array_of(view).dtype != np.float16  # what is too large for it becomes infinite
            and not view.requires_grad
            and 0 not in view.stride()
        ):
            view.fill_(value)
            return
        value = _as_tensor(view, value)  # as PyTorch records it
    if shape != value.shape:
        if value.ndim == 0:
            view.fill_(value)
            return
        value = value.view(_without_ones(value.shape))
        if shape != value.shape:
            value = value.expand(shape)
    view.copy_(value)
