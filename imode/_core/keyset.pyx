"""DispatchKey and DispatchKeySet: which kernels an operator call may go through."""
cimport cython

import enum


class DispatchKey(enum.IntEnum):
    """A layer or backend that a kernel can be registered for, from low to high priority.

    >>> import imode
    >>> imode.DispatchKey.Autograd > imode.DispatchKey.CPU
    True
    """

    CPU = 0
    Meta = 1
    PrivateUse1 = 2
    SparseCPU = 3
    Stored = 4
    ADInplaceOrView = 5
    Autograd = 6
    Tracer = 7
    Python = 8

    def __repr__(self):
        return f"DispatchKey.{self.name}"

    __str__ = __repr__


cdef tuple _KEYS = tuple(DispatchKey)


cdef object key_object(int key):
    return _KEYS[key]


cdef int key_index(object key) except -1:
    """The bit number of a DispatchKey, or of its name."""
    if isinstance(key, str):
        try:
            key = DispatchKey[key]
        except KeyError:
            names = ", ".join(k.name for k in _KEYS)
            raise ValueError(f"unknown dispatch key {key!r}; the keys are {names}") from None
    if not isinstance(key, DispatchKey):
        raise TypeError(f"expected a DispatchKey, got {type(key).__name__}")
    return key


@cython.binding(False)
cdef class DispatchKeySet:
    """An immutable set of dispatch keys.

    `DispatchKeySet(*keys)` takes keys or their names. Sets combine with ``|``, ``&``, ``-`` and
    ``~``, compare with ``==`` and ``<=``, and iterate from the highest priority to the lowest.

    >>> import imode
    >>> imode.DispatchKeySet("CPU") | imode.DispatchKey.Autograd
    DispatchKeySet(Autograd, CPU)
    """

    def __init__(self, *keys):
        cdef keyset_t bits = 0
        for key in keys:
            if isinstance(key, DispatchKeySet):
                bits |= (<DispatchKeySet>key).bits
            else:
                bits |= <keyset_t>1 << key_index(key)
        self.bits = bits

    @staticmethod
    cdef DispatchKeySet new(keyset_t bits):
        cdef DispatchKeySet self = DispatchKeySet.__new__(DispatchKeySet)
        self.bits = bits
        return self

    @staticmethod
    def full():
        """The set of all keys."""
        return DispatchKeySet.new(ALL_KEYS)

    def has(self, key):
        """Whether `key` is in the set."""
        return bool(self.bits >> key_index(key) & 1)

    def add(self, key):
        """The set with `key` added (a new set)."""
        return DispatchKeySet.new(self.bits | <keyset_t>1 << key_index(key))

    def remove(self, key):
        """The set without `key` (a new set)."""
        return DispatchKeySet.new(self.bits & ~(<keyset_t>1 << key_index(key)))

    def below(self, key):
        """The members of lower priority than `key`: where a kernel for `key` redispatches to."""
        return DispatchKeySet.new(self.bits & below(key_index(key)))

    def highest_priority(self):
        """The member whose kernel runs first; None if the set is empty."""
        return _KEYS[highest_key(self.bits)] if self.bits else None

    def __contains__(self, key):
        return self.has(key)

    def __iter__(self):
        return iter([k for k in reversed(_KEYS) if self.bits >> <int>k & 1])

    def __len__(self):
        return bin(self.bits).count("1")

    def __bool__(self):
        return self.bits != 0

    def __or__(self, other):
        other = _as_set(other)
        if other is None:
            return NotImplemented
        return DispatchKeySet.new(self.bits | (<DispatchKeySet>other).bits)

    def __and__(self, other):
        other = _as_set(other)
        if other is None:
            return NotImplemented
        return DispatchKeySet.new(self.bits & (<DispatchKeySet>other).bits)

    def __sub__(self, other):
        other = _as_set(other)
        if other is None:
            return NotImplemented
        return DispatchKeySet.new(self.bits & ~(<DispatchKeySet>other).bits)

    def __invert__(self):
        return DispatchKeySet.new(~self.bits & ALL_KEYS)

    def __eq__(self, other):
        if not isinstance(other, DispatchKeySet):
            return NotImplemented
        return self.bits == (<DispatchKeySet>other).bits

    def __le__(self, other):
        if not isinstance(other, DispatchKeySet):
            return NotImplemented
        return self.bits & ~(<DispatchKeySet>other).bits == 0

    def __hash__(self):
        return hash(self.bits)

    def __reduce__(self):
        return DispatchKeySet, tuple(self)

    def __repr__(self):
        return f"DispatchKeySet({', '.join(k.name for k in self)})"


cdef DispatchKeySet _as_set(object value):
    """A key or a set as a set; None for anything else."""
    if isinstance(value, DispatchKeySet):
        return value
    if isinstance(value, DispatchKey):
        return DispatchKeySet.new(<keyset_t>1 << <int>value)
    return None
