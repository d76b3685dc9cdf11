"""Memory that out= may not share with the arguments, which `apart=` of an operator says."""

from itertools import chain

import numpy as np

from .._core.internals import array_of
from .._core.overlap import refuse_overlaps, refuse_shared
from .._core.tensor import Tensor


def check_apart(apart, functional, arguments, out):
    """Raise RuntimeError where out= shares what `apart` rules out (see `op`)."""
    word, shape_of = apart if type(apart) is tuple else (apart, None)
    read = [_arrays_in(argument) for argument in arguments]
    targets = _arrays_in(out)
    if shape_of is not None:
        shape = shape_of(*arguments)
        made = [target if shape is None else np.empty(shape, target.dtype) for target in targets]
        _refuse(word, read, map(_resized, targets, made))
        return
    try:
        _refuse(word, read, targets)
        settled = all(target.flags.forc for target in targets)  # one with gaps may lose them
    except RuntimeError:
        settled = False
    if not settled:
        # What is wrong with the arguments comes first, and a target is judged as it will be.
        _refuse(word, read, map(_resized, targets, _results(functional, arguments)))


def _arrays_in(argument):
    tensors = argument if isinstance(argument, tuple) else (argument,)
    return [array_of(t) for t in tensors if isinstance(t, Tensor)]


def _refuse(apart, read, targets):
    wholly = {"part": [], "first": read[:1], "rest": read[1:], "all": read}[apart]
    partly = read[1:] if apart == "first" else read[:1]
    for target in targets:
        for array in chain(*wholly):
            refuse_shared(target, array)
        for array in chain(*partly):
            if array.ndim >= target.ndim:  # one that is expanded may lie anywhere
                refuse_overlaps(target, array)


def _results(functional, arguments):
    """The results' arrays, for their shapes: of zeros in the place of integers, since an index that
    is out of bounds is found after memory that is shared."""
    given = [
        t.new_zeros(t.shape) if isinstance(t, Tensor) and array_of(t).dtype.kind == "i" else t
        for t in arguments
    ]
    n = functional.n_positional
    return _arrays_in(functional(*given[:n], **dict(zip(functional.names[n:], given[n:]))))


def _resized(target, result):
    """The target in the shape of the result, for its range alone: its memory may end before."""
    if target.shape == result.shape:
        return target
    steps = [n * target.itemsize // result.itemsize for n in result.strides]
    return np.lib.stride_tricks.as_strided(target, result.shape, steps)
