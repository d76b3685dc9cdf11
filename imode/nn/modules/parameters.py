"""ParameterList and ParameterDict."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from imode._core.internals import is_parameter
from imode._core.tensor import Tensor

from ..parameter import Parameter
from .container import Named, pairs, position
from .module import Module

__all__ = ["ParameterDict", "ParameterList"]


def _as_parameter(value):
    return Parameter(value) if isinstance(value, Tensor) and not is_parameter(value) else value


def _line(key, value, what):
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    kind = "Parameter" if is_parameter(value) else "Tensor"
    size = "x".join(str(n) for n in value.size())
    return f"  ({key}): {kind} containing: [{what(value)} of size {size}]"


class ParameterList(Module):
    """A list whose tensors become registered parameters; other values are kept as they are.

    >>> len(imode.nn.ParameterList([imode.ones(2), imode.ones(3)]))
    2
    """

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(self[i] for i in range(*index.indices(len(self))))
        return getattr(self, str(position(index, len(self))))

    def __setitem__(self, index, value):
        setattr(self, str(position(index, len(self))), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __iadd__(self, values):
        return self.extend(values)

    def append(self, value):
        """Add a value at the end; returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Add values at the end; returns self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, "
                f"but got {type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self):
        return "\n".join(_line(i, value, lambda t: t.dtype) for i, value in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Named):
    """A dict whose tensors become registered parameters; other values are kept as they are.

    >>> list(imode.nn.ParameterDict({"a": imode.ones(2)}))
    ['a']
    """

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}  # an ordered set of all keys, whether parameters or other values
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return getattr(self, self._checked(key))

    def __setitem__(self, key, value):
        setattr(self, self._checked(key), _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, key)

    def _checked(self, key):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}')."
            )
        return key

    def __reversed__(self):
        return reversed(self._keys)

    def values(self):
        """The values, in order."""
        return (self[key] for key in self._keys)

    def items(self):
        """The (name, value) pairs, in order."""
        return ((key, self[key]) for key in self._keys)

    def copy(self):
        """Another ParameterDict with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def get(self, key, default=None):
        """The value under `key`, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401

    def setdefault(self, key, default=None):
        """The value under `key`, which is set to `default` first if it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def fromkeys(self, keys, default=None):
        """A new ParameterDict with the same value under every key."""
        return ParameterDict((key, default) for key in keys)

    def popitem(self):
        """Remove the last pair and return it."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def update(self, parameters):
        """Add or replace values from a mapping (an unordered one in sorted order) or from pairs."""
        entries = pairs(parameters, ParameterDict, "ParametersDict")
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            entries = sorted(entries, key=lambda pair: pair[0])
        for key, value in entries:
            self[key] = value

    def extra_repr(self):
        return "\n".join(_line(key, value, lambda t: t.type()) for key, value in self.items())

    def __or__(self, other):
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other):
        both = other.copy()
        both.update(self)
        return both

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterDict should not be called.")
