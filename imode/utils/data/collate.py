"""Make a batch from a list of samples."""

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence

import numpy as np

from imode import float64, ops
from imode._core.tensor import Tensor

__all__ = ["default_collate", "default_convert"]


def _refuse(found):
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {found}"
    )


def default_collate(batch):
    """Stack a list of samples along a new first dimension, also inside lists and dicts.

    Arrays and numbers become tensors (floats: float64), strings stay in a list.

    >>> imode.utils.data.default_collate([{"a": 1}, {"a": 2}])
    {'a': tensor([1, 2])}
    """
    first = batch[0]
    kind = type(first)
    if isinstance(first, Tensor):
        return ops.stack(list(batch), 0)
    if isinstance(first, np.ndarray):
        if first.dtype.kind in "SUOT":
            _refuse(first.dtype)
        return ops.stack([ops.as_tensor(sample) for sample in batch], 0)
    if isinstance(first, (np.bool_, np.number)):
        return ops.as_tensor(np.array(batch))
    if isinstance(first, float):
        return ops.tensor(batch, dtype=float64)
    if isinstance(first, int):
        return ops.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        collated = {key: default_collate([sample[key] for sample in batch]) for key in first}
        return _of_kind(first, MutableMapping, collated, lambda new: new.update(collated))
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(default_collate(samples) for samples in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        collated = [default_collate(samples) for samples in zip(*batch, strict=True)]
        if isinstance(first, tuple):
            return collated
        return _of_kind(first, MutableSequence, collated, lambda new: _replace(new, collated))
    return _refuse(kind)


def default_convert(data):
    """Turn the arrays in a sample into tensors and leave everything else unchanged.

    >>> imode.utils.data.default_convert({"x": imode.ones(2).numpy()})
    {'x': tensor([1., 1.])}
    """
    if isinstance(data, (np.ndarray, np.generic)):
        kept = data.dtype.kind in "SUOT" and not isinstance(data, np.bytes_)
        kept = kept or type(data).__module__ != "numpy"
        return data if kept else ops.as_tensor(data)
    if isinstance(data, Mapping):
        converted = {key: default_convert(value) for key, value in data.items()}
        return _of_kind(data, MutableMapping, converted, lambda new: new.update(converted))
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        converted = [default_convert(value) for value in data]
        return _of_kind(data, MutableSequence, converted, lambda new: _replace(new, converted))
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
