"""The tables in which a module keeps its parameters, buffers and child modules.

Note [Mirrored attributes]
PyTorch finds `module.weight` through `Module.__getattr__`, that is, after the ordinary lookup has
failed with an exception: that takes half a microsecond, as long as five small operators here.
Instead each entry of a module's `_parameters`, `_buffers` and `_modules` is also an entry of the
module's `__dict__`, where the interpreter finds it at once. The tables are authoritative, and copy
every change, even a direct one (`module._modules["0"] = other`), to that mirror.
Invariant: for each entry `table[name]` is `module.__dict__[name]`.

A class that has a `__getattr__` of its own is asked for each of its entries, as in PyTorch: it may
note the name, or give something else. There the tables are dicts without a mirror.
"""

import weakref

__all__ = ["Registry"]

_missing = object()


class Registry(dict):
    """One table of one module: a dict from name to tensor, module or None, mirrored."""

    __slots__ = ("_owner",)

    def __init__(self, owner, entries=()):
        self._owner = weakref.ref(owner)  # a strong reference would delay the freeing of modules
        self.update(entries)

    def _mirror(self):
        owner = self._owner()
        return {} if owner is None else owner.__dict__

    def __setitem__(self, name, value):
        dict.__setitem__(self, name, value)
        self._mirror()[name] = value

    def __delitem__(self, name):
        dict.__delitem__(self, name)
        self._mirror().pop(name, None)

    def pop(self, name, default=_missing):
        if name not in self and default is not _missing:
            return default
        value = self[name]
        del self[name]
        return value

    def popitem(self):
        name, value = dict.popitem(self)
        self._mirror().pop(name, None)
        return name, value

    def clear(self):
        for name in list(self):
            del self[name]

    def setdefault(self, name, default=None):
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, *args, **kwargs):
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __ior__(self, other):
        self.update(other)
        return self

    def __reduce__(self):
        # A copy is a dict at first; Module.__setstate__ makes it a Registry of the new module.
        return dict, (dict(self),)

    def __reduce_ex__(self, protocol):
        return self.__reduce__()
