"""Sequential, ModuleList and ModuleDict."""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import chain

from .module import Module, straight_call

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


def position(index, size):
    """`index` counted from the front; raises if a list of `size` has no such index."""
    index = operator.index(index)
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range")
    return index % size


def pairs(items, kind, taker):
    """The (key, value) pairs of a mapping or of an iterable of pairs."""
    if not isinstance(items, Iterable):
        raise TypeError(
            f"{taker}.update should be called with an iterable of key/value pairs, "
            f"but got {type(items).__name__}"
        )
    if isinstance(items, (Mapping, kind)):
        yield from items.items()
        return
    for i, item in enumerate(items):
        where = f"{kind.__name__} update sequence element #{i}"
        if not isinstance(item, Iterable):
            raise TypeError(f"{where} should be Iterable; is{type(item).__name__}")
        if len(item) != 2:
            raise ValueError(f"{where} has length {len(item)}; 2 is required")
        yield item[0], item[1]


class _Numbered(Module):
    # The base of Sequential and ModuleList: children are named by their position.

    def _key(self, index):
        return list(self._modules)[position(index, len(self))]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        keys = list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]
        for key in keys:
            del self._modules[key]
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules):
        self._modules.clear()
        self._modules.update((str(i), module) for i, module in enumerate(modules))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def append(self, module):
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Remove a module, or a slice of modules, and return it."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Numbered):
    """Modules that are called one after the other, each with the output of the previous one.

    The arguments are the modules, or one OrderedDict from name to module.

    >>> model = imode.nn.Sequential(imode.nn.Linear(2, 3), imode.nn.ReLU())
    >>> model(imode.ones(1, 2)).shape
    imode.Size([1, 3])
    """

    def __init__(self, *args):
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(name if named else str(name), module)

    def forward(self, input):
        straight = Module.__call__ is straight_call  # See Note [Straight calls]
        for module in self._modules.values():
            if straight and module._hooks is None:
                input = module.forward(input)
            else:
                input = module(input)
        return input

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def _require_sequential(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, "
                f"but {type(other)} is given."
            )

    def __add__(self, other):
        self._require_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other):
        self._require_sequential(other)
        return self.extend(list(other))

    def _require_factor(self, factor):
        if not isinstance(factor, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(factor)}")
        if factor <= 0:
            raise ValueError(f"Non-positive multiplication factor {factor} for {type(self)}")

    def __mul__(self, factor):
        self._require_factor(factor)
        return Sequential(*list(self) * factor)

    __rmul__ = __mul__

    def __imul__(self, factor):
        self._require_factor(factor)
        return self.extend(list(self) * (factor - 1))

    def insert(self, index, module):
        """Insert a module before position `index`; returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential):
        """Add modules at the end; returns self."""
        for module in sequential:
            self.append(module)
        return self


class ModuleList(_Numbered):
    """A list that registers its modules; it has no forward.

    >>> len(imode.nn.ModuleList(imode.nn.Linear(3, 3) for _ in range(4)))
    4
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[str(position(index, len(self)))]

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList(chain(self, other))

    def insert(self, index, module):
        """Insert a module before position `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules):
        """Add modules at the end; returns self."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, "
                f"but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self):
        # Adjacent modules with the same text are printed once: "(0-2): 3 x Linear(...)".
        runs = []  # [first, last, text]
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return f"{self._get_name()}()"
        lines = []
        for first, last, text in runs:
            text = text.replace("\n", "\n  ")
            if first == last:
                lines.append(f"({first}): {text}")
            else:
                lines.append(f"({first}-{last}): {last - first + 1} x {text}")
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class Named(Module):
    """The base of ModuleDict and ParameterDict: the methods that need only `_keys`, a dict."""

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        """The names."""
        return self._keys.keys()

    def clear(self):
        """Remove everything."""
        for key in list(self):
            del self[key]

    def pop(self, key):
        """Remove a value and return it."""
        value = self[key]
        del self[key]
        return value


class ModuleDict(Named):
    """A dict that registers its modules; it has no forward.

    >>> imode.nn.ModuleDict({"act": imode.nn.ReLU()})["act"]
    ReLU()
    """

    _keys = property(lambda self: self._modules)

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def values(self):
        """The modules."""
        return self._modules.values()

    def items(self):
        """The (name, module) pairs."""
        return self._modules.items()

    def update(self, modules):
        """Add or replace modules from a mapping or from (name, module) pairs."""
        for key, module in pairs(modules, ModuleDict, "ModuleDict"):
            self[key] = module
