"""The tables in which a module keeps its parameters, buffers and child modules.

Note [Mirrored attributes]
PyTorch finds `module.weight` through `Module.__getattr__`, that is, after the ordinary lookup has
failed and made an exception: about half a microsecond, as much as five small operators cost here.
Instead each entry of a module's `_parameters`, `_buffers` and `_modules` stands a second time in
the module's `__dict__`, where the interpreter finds it at once. The tables are the truth; they
carry every change (also a direct one: `module._modules["0"] = other`) over to the mirror.
Invariant: for each entry `table[name]` is `module.__dict__[name]`.
"""

import weakref

__all__ = ["Registry"]

_missing = object()


class Registry(dict):
    """One table of one module: a dict from name to tensor, module or None, mirrored."""

    __slots__ = ("_owner",)

    def __init__(self, owner, entries=()):
        self._owner = weakref.ref(owner)  # strong would be a cycle: modules freed late
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
        # A copy starts as a plain dict; Module.__setstate__ ties it to the new module.
        return dict, (dict(self),)

    def __reduce_ex__(self, protocol):
        return self.__reduce__()
