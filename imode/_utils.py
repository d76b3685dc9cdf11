"""What packages import from PyTorch's private `torch._utils`."""

from collections import defaultdict

from imode import ops
from imode.utils.data._utils.exceptions import ExceptionWrapper, KeyErrorMessage

__all__ = ["ExceptionWrapper", "KeyErrorMessage", "classproperty"]


def _flatten_dense_tensors(tensors):
    """All elements in one dimension: a copy, unless there is one tensor of one dimension."""
    flat = [tensor.contiguous().view(-1) for tensor in tensors]
    return flat[0] if len(flat) == 1 else ops.cat(flat)


def _unflatten_dense_tensors(flat, tensors):
    """Views of `flat` with the shapes of the tensors."""
    parts = flat.split_with_sizes([tensor.numel() for tensor in tensors])
    return tuple(part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True))


def _take_tensors(tensors, size_limit):
    """Yield lists of tensors of one type, each of at most so many bytes, or of one tensor."""
    waiting = defaultdict(lambda: [[], 0])
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        held = waiting[tensor.type()]
        if held[0] and held[1] + size > size_limit:
            yield held[0]
            held[:] = [], 0
        held[0].append(tensor)
        held[1] += size
    yield from (some for some, _ in waiting.values() if some)


def _reorder_tensors_as(tensors, ordered_tensors):
    """The tensors in the order of the others, which are of the same types in turn."""
    by_type = defaultdict(list)
    for tensor in tensors:
        by_type[tensor.type()].append(tensor)
    iterators = {name: iter(some) for name, some in by_type.items()}
    return tuple(next(iterators[tensor.type()]) for tensor in ordered_tensors)


class classproperty:
    """A property of a class, which needs no object.

    >>> class Named:
    ...     @imode._utils.classproperty
    ...     def name(cls):
    ...         return cls.__name__
    >>> Named.name
    'Named'
    """

    def __init__(self, func):
        self.fget = func if isinstance(func, (classmethod, staticmethod)) else classmethod(func)

    def __get__(self, instance, owner=None):
        return self.fget.__get__(instance, owner or type(instance))()
