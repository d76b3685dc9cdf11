"""Make a batch from a list of samples."""

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence

import numpy as np

from imode import float64, ops
from imode._core.tensor import Tensor

__all__ = ["collate", "default_collate", "default_convert"]

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def collate(batch, *, collate_fn_map=None):
    """Make a batch of samples, also inside lists and dicts, with functions by the samples' class.

    collate_fn_map: class, or classes, -> f(samples, collate_fn_map=...). The first that fits is
    used, the samples' own class before those that it inherits from. Raises TypeError where none
    fits, RuntimeError for lists of different lengths.

    >>> collate = imode.utils.data._utils.collate.collate
    >>> collate([{"a": 1}, {"a": 2}], collate_fn_map={int: lambda x, collate_fn_map: sum(x)})
    {'a': 3}
    """
    first = batch[0]
    kind = type(first)
    known = collate_fn_map or {}
    for fits in (kind, *known):
        if fits in known and isinstance(first, fits):
            return known[fits](batch, collate_fn_map=known)

    def together(samples):
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        collated = {key: together([sample[key] for sample in batch]) for key in first}
        return _of_kind(first, MutableMapping, collated, lambda new: new.update(collated))
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(together(samples) for samples in zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        collated = [together(samples) for samples in zip(*batch)]
        if isinstance(first, tuple):
            return collated
        return _of_kind(first, MutableSequence, collated, lambda new: _replace(new, collated))
    raise TypeError(default_collate_err_msg_format.format(kind))


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Stack tensors. RuntimeError for sparse ones.

    >>> imode.utils.data._utils.collate.collate_tensor_fn([imode.ones(2), imode.zeros(2)])
    tensor([[1., 1.],
            [0., 0.]])
    """
    if batch[0].is_sparse:
        raise RuntimeError(
            "Batches of sparse tensors are not currently supported by the default collate_fn; "
            "please provide a custom collate_fn to handle them appropriately."
        )
    return ops.stack(list(batch), 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Stack arrays as tensors. TypeError for arrays of strings and objects."""
    if batch[0].dtype.kind in "SUOT":
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([ops.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """A tensor of NumPy's numbers."""
    return ops.as_tensor(np.array(batch))


def collate_float_fn(batch, *, collate_fn_map=None):
    """A tensor of float64."""
    return ops.tensor(batch, dtype=float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """A tensor of int64 or bool."""
    return ops.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    """The strings themselves."""
    return batch


default_collate_fn_map = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch):
    """Stack a list of samples along a new first dimension, also inside lists and dicts.

    Arrays and numbers become tensors (floats: float64), strings stay in a list.

    >>> imode.utils.data.default_collate([{"a": 1}, {"a": 2}])
    {'a': tensor([1, 2])}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data):
    """Turn the arrays in a sample into tensors and leave everything else unchanged.

    >>> imode.utils.data.default_convert({"x": imode.ones(2).numpy()})
    {'x': tensor([1., 1.])}
    """
    if isinstance(data, (np.ndarray, np.generic)):
        kept = data.dtype.kind in "SUOT" and not isinstance(data, np.bytes_)
        kept = kept or type(data).__module__ != "numpy"
        return data if kept else ops.as_tensor(data)
    return map_containers(data, default_convert)


def map_containers(data, change):
    """A container of the same kind (a list for a tuple) with `change(value)` for each value."""
    if isinstance(data, Mapping):
        changed = {key: change(value) for key, value in data.items()}
        return _of_kind(data, MutableMapping, changed, lambda new: new.update(changed))
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(change(value) for value in data))
    if isinstance(data, tuple):
        return [change(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        changed = [change(value) for value in data]
        return _of_kind(data, MutableSequence, changed, lambda new: _replace(new, changed))
    return data


def _of_kind(sample, mutable, collated, fill):
    """`collated` in the sample's own type, if that can be copied or built from it."""
    try:
        if isinstance(sample, mutable):
            new = copy.copy(sample)
            fill(new)
            return new
        return type(sample)(collated)
    except TypeError:
        return collated


def _replace(sequence, values):
    for i, value in enumerate(values):
        sequence[i] = value
