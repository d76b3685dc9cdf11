"""Weak references and dictionaries by identity: tensors compare by their elements."""

import weakref
from collections.abc import MutableMapping

__all__ = [
    "TensorWeakRef",
    "WeakIdKeyDictionary",
    "WeakIdRef",
    "WeakTensorKeyDictionary",
]


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to others of the same object.

    >>> x = imode.ones(2)
    >>> imode.utils.weak.WeakIdRef(x) == imode.utils.weak.WeakIdRef(x)
    True
    """

    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        self._id = id(key)
        super().__init__(key, callback)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        mine, others = self(), other()
        if mine is None or others is None:
            return self is other
        return mine is others


class _WeakHashRef(WeakIdRef):
    """The same for objects that are the same if their hashes are."""

    __slots__ = ()

    def __init__(self, key, callback=None):
        super().__init__(key, callback)
        self._id = hash(key)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        mine, others = self(), other()
        if mine is None or others is None:
            return self is other
        return hash(mine) == hash(others)


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary that finds keys by identity and drops what belongs to a key that dies.

    >>> table = imode.utils.weak.WeakIdKeyDictionary()
    >>> x = imode.ones(2)
    >>> table[x] = "mine"
    >>> imode.ones(2) in table, x in table
    (False, True)
    >>> del x
    >>> len(table)
    0
    """

    def __init__(self, dict=None, ref_type=WeakIdRef):
        self.data = {}
        self.ref_type = ref_type
        self._remove = _remover(weakref.ref(self))
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value):
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __contains__(self, key):
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # it cannot be referred to weakly
            return False

    def __iter__(self):
        for reference in list(self.data):  # a key may die meanwhile
            key = reference()
            if key is not None:
                yield key

    def __len__(self):
        return sum(reference() is not None for reference in list(self.data))

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self):
        """The weak references to the keys."""
        return list(self.data)

    def copy(self):
        """A dictionary of the same class with the same keys and values."""
        made = type(self)()
        made.ref_type = self.ref_type
        made.update(self)
        return made

    __copy__ = copy

    def __deepcopy__(self, memo):
        from copy import deepcopy

        made = type(self)()
        made.ref_type = self.ref_type
        for key, value in self.items():
            made[key] = deepcopy(value, memo)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def __or__(self, other):
        if not isinstance(other, MutableMapping | dict):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other):
        if not isinstance(other, MutableMapping | dict):
            return NotImplemented
        made = type(self)(other)
        made.update(self)
        return made

    def __eq__(self, other):
        if not isinstance(other, MutableMapping | dict):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    __hash__ = None


def _remover(weak_dictionary):
    """The callback of the references to keys, which does not keep the dictionary alive."""

    def remove(reference):
        dictionary = weak_dictionary()
        if dictionary is not None:
            dictionary.data.pop(reference, None)

    return remove


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: called, it gives the tensor, or None once that has died.

    >>> x = imode.ones(2)
    >>> reference = imode.utils.weak.TensorWeakRef(x)
    >>> reference() is x
    True
    """

    def __init__(self, tensor):
        import imode

        if not isinstance(tensor, imode.Tensor):
            raise AssertionError(f"expected imode.Tensor, got {type(tensor)}")
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()
