"""What the names in a file of PyTorch's stand for, and which of them may be called."""

import argparse
import functools
import pickle
import re
from collections import Counter, OrderedDict, defaultdict
from types import FunctionType

import numpy as np

from imode._core.device import device
from imode._core.dtype import dtype
from imode._core.formats import layout
from imode._core.size import Size
from imode._core.tensor import Tensor
from imode.serialization import allowed
from imode.serialization.pytorch import rebuild
from imode.serialization.pytorch.storages import STORAGE_TYPES

UNSUPPORTED = "Unsupported global"
_FACTORIES = (list, dict, set, int, float, str, bool, tuple, OrderedDict)  # of defaultdict
_MAKE_TENSORS = frozenset(rebuild.FUNCTIONS.values())
_NUMBERS = re.compile(r"[<>=|]?[?biufcSUV]\d{0,9}")


def _encode(machine, text, encoding):
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise TypeError("only latin-1 text stands for bytes")
    machine.spend(len(text))
    return text.encode("latin1")


def _set(kind):
    def make(machine, items=()):
        if type(items) not in (list, tuple, set):
            raise TypeError(f"a {kind.__name__} of a {type(items).__name__}")
        machine.spend(len(items))
        return kind(machine.keys(items))

    return make


def _mapping(kind):
    def make(machine, items=()):
        if isinstance(items, dict):
            machine.spend(len(items))
            return kind(items)
        if type(items) not in (list, tuple):
            raise TypeError(f"an {kind.__name__} of a {type(items).__name__}")
        found = kind()
        machine.spend(len(items))
        for key, value in items:
            found[machine.key(key)] = value
        return found

    return make


def _counter(machine, counts=()):
    if type(counts) is not dict and counts != ():
        raise TypeError("a Counter of something else than a dict")
    machine.spend(len(counts))
    found = Counter()
    dict.update(found, counts)
    return found


def _default(machine, factory=None, items=()):
    if factory is not None and all(factory is not kind for kind in _FACTORIES):
        raise TypeError(f"a defaultdict of {factory!r}")
    return _mapping(lambda: defaultdict(factory))(machine, items)


def _bytes(machine, data=b"", encoding=None):
    if encoding is not None:
        data = _encode(machine, data, encoding)
    if type(data) is not bytes:
        raise TypeError("bytes of something else")
    machine.spend(len(data))
    return bytearray(data)


def _size(machine, sizes=()):
    if type(sizes) not in (tuple, list):
        raise TypeError("a Size of something else than a tuple")
    machine.spend(len(sizes))
    return Size(sizes)


def _complex(machine, *parts):
    if any(type(part) not in (int, float) for part in parts):
        raise TypeError("a complex number of something else than numbers")
    return complex(*parts)


# ---- NumPy's ----


def _dtype(machine, kind, align=False, copy=False):
    if type(kind) is not str or not _NUMBERS.fullmatch(kind):
        raise TypeError(f"NumPy's dtype {str(kind)[:40]!r} is not one of numbers, bytes and text")
    return np.dtype(kind, copy=True)  # a new one, whose byte order is set by its state


def _dtype_state(made, state):
    if type(state) is not tuple or len(state) != 8 or state[0] != 3 or state[1] not in "<>=|":
        raise TypeError("the state of a dtype of NumPy's")
    if state[2:5] != (None, None, None) or state[5:] not in (
        (-1, -1, 0),
        (made.itemsize, made.alignment, made.flags),
    ):
        raise TypeError("a dtype of NumPy's with fields")
    made.__setstate__(state)


def _blank_array(machine, cls, shape=(0,), kind=b"b"):
    if cls is not np.ndarray or shape != (0,):
        raise TypeError("an array of another class than NumPy's own")
    return np.empty(0, np.int8)


def _check_array(data, kind, shape):
    if not isinstance(kind, np.dtype) or kind.hasobject or type(data) is not bytes:
        raise TypeError("an array of Python objects")
    if type(shape) is not tuple or len(shape) > 64 or any(type(n) is not int for n in shape):
        raise TypeError("the shape of an array")
    if any(n < 0 for n in shape) or rebuild.count_of(shape) * kind.itemsize != len(data):
        raise ValueError(f"an array of shape {list(shape)} and {kind} in {len(data)} bytes")


def _array_state(made, state, machine):
    if type(state) is not tuple or len(state) != 5 or type(state[3]) not in (bool, int):
        raise TypeError("the state of an array")
    _, shape, kind, fortran, data = state
    _check_array(data, kind, shape)
    machine.spend(len(data))
    made.__setstate__((1, shape, kind, bool(fortran), data))


def _from_buffer(machine, data, kind, shape, order):
    data = bytes(data) if type(data) is bytearray else data
    _check_array(data, kind, shape)
    if order not in ("C", "F"):
        raise ValueError(f"the order {order!r}")
    machine.spend(len(data))
    return np.frombuffer(data, kind).reshape(shape, order=order).copy(order="K")


def _scalar(machine, kind, data=b""):
    _check_array(data, kind, ())
    return np.frombuffer(data, kind)[0] if kind.itemsize else kind.type()


# What is called, and by which function. Only these run.
_CALLS = {
    dict: _mapping(dict),
    OrderedDict: _mapping(OrderedDict),
    defaultdict: _default,
    Counter: _counter,
    set: _set(set),
    frozenset: _set(frozenset),
    bytearray: _bytes,
    complex: _complex,
    Size: _size,
    device: lambda machine, *args: device(*args),
    argparse.Namespace: lambda machine: argparse.Namespace(),
    **{
        function: lambda machine, *args, function=function: function(*args)
        for function in rebuild.FUNCTIONS.values()
    },
}
_NUMPY = {
    "dtype": (np.dtype, _dtype),
    "core.multiarray._reconstruct": (np._core.multiarray._reconstruct, _blank_array),
    "core.multiarray.scalar": (np._core.multiarray.scalar, _scalar),
    "core.numeric._frombuffer": (np._core.numeric._frombuffer, _from_buffer),
}
_CALLS.update(dict(_NUMPY.values()))


def _encoded():
    import codecs

    return codecs.encode


@functools.cache
def _table():
    """Every name that is known without being asked for; nobody changes it."""
    import imode
    from imode._tensor import legacy
    from imode.nn.parameter import Parameter

    found = {
        "collections.OrderedDict": OrderedDict,
        "collections.defaultdict": defaultdict,
        "collections.Counter": Counter,
        "argparse.Namespace": argparse.Namespace,
        "_codecs.encode": _encoded(),
        "numpy.ndarray": np.ndarray,
        "torch.Tensor": Tensor,
        "torch.Size": Size,
        "torch.device": device,
        "torch.nn.parameter.Parameter": Parameter,
    }
    for place in ("builtins", "__builtin__"):
        for kind in (set, frozenset, bytearray, complex, list, dict, int, float, str, bool, tuple):
            found[f"{place}.{kind.__name__}"] = kind
    for name, (value, _) in _NUMPY.items():
        found[f"numpy.{name}"] = value
        found[f"numpy.{name.replace('core', '_core', 1)}"] = value
    for name, function in rebuild.FUNCTIONS.items():
        found[f"torch.{name}"] = function
    for name, kind in STORAGE_TYPES.items():
        found[f"torch.{name}"] = kind
        found[f"torch.cuda.{name}"] = kind
        tensor = name.replace("Storage", "Tensor")  # in a tar, the type it had; nothing calls it
        if hasattr(legacy, tensor):
            found[f"torch.{tensor}"] = getattr(legacy, tensor)
    found["torch.storage.UntypedStorage"] = STORAGE_TYPES["UntypedStorage"]
    found["torch.storage.TypedStorage"] = STORAGE_TYPES["UntypedStorage"]
    for name, value in vars(imode).items():
        if isinstance(value, (dtype, layout)):
            found[f"torch.{name}"] = value
    return found


class Names:
    """The table, and what the user has added by `add_safe_globals`."""

    def __init__(self):
        self.table = _table()
        self.added = allowed.by_name()
        self.calls = {**_CALLS, _encoded(): _encode}

    def find(self, module, name):
        """Return what a name stands for."""
        full = f"{module}.{name}"
        found = self.added.get(full)
        if found is None:
            found = self.table.get(full)
        if found is None:
            raise refused(full)
        return found

    def is_key(self, obj):
        """Whether an object that is no plain value may be hashed."""
        kinds = (dtype, device, Size, layout, np.generic, Tensor, *self._classes())
        return isinstance(obj, kinds)

    def call(self, function, args, machine):
        """Call what a name stood for."""
        try:
            run = self.calls.get(function)
        except TypeError:
            run = None
        if run is not None:
            return _named(function, run, machine, *args)
        if self.is_added(function):
            return function(*args)
        raise machine.error(f"a call of {_name_of(function)}, which a file may not call")

    def new(self, cls, args, machine):
        """Make an object of a class."""
        if isinstance(cls, type) and cls in self._classes():
            return cls.__new__(cls, *args)
        return self.call(cls, args, machine)

    def build(self, obj, state, machine):
        """Give an object its state."""
        if isinstance(obj, np.dtype):
            _named(np.dtype, _dtype_state, obj, state)
        elif type(obj) is np.ndarray:
            _named(np.ndarray, _array_state, obj, state, machine)
        elif type(obj) in (OrderedDict, argparse.Namespace):
            self._set_attributes(obj, state, machine)
        elif type(obj) in self._classes():
            if hasattr(obj, "__setstate__"):
                obj.__setstate__(state)
            else:
                self._set_attributes(obj, state, machine)
        else:
            raise machine.error(f"a state for a {type(obj).__name__}")

    def _set_attributes(self, obj, state, machine):
        if type(state) is not dict:
            raise machine.error(f"attributes of a {type(obj).__name__} in a {type(state).__name__}")
        machine.spend(len(state))
        for name, value in state.items():
            if type(name) is not str or hasattr(type(obj), name):
                raise machine.error(f"{name!r} is no attribute that a file may set")
            obj.__dict__[name] = value

    def is_added(self, function):
        """Whether the user has allowed it."""
        return any(function is value for value in self.added.values())

    def _classes(self):
        return {cls for cls in self.added.values() if isinstance(cls, type)}


class Outline(Names):
    """For reading a pickle before its storages are there: no tensor is made."""

    def call(self, function, args, machine):
        makes = isinstance(function, FunctionType) and function in _MAKE_TENSORS
        if makes or self.is_added(function):
            return None
        return super().call(function, args, machine)

    def new(self, cls, args, machine):
        return self.call(cls, args, machine)

    def build(self, obj, state, machine):
        if obj is not None:
            super().build(obj, state, machine)


def _name_of(function):
    return getattr(function, "__qualname__", None) or repr(function)[:80]


def _named(function, run, *args):
    """Run a function of the table; what it refuses is an error about the file."""
    try:
        return run(*args)
    except (TypeError, ValueError, OverflowError, AttributeError, RuntimeError) as error:
        text = f"bad arguments of {_name_of(function)}: {error}"
        raise pickle.UnpicklingError(text) from None


def refused(full):
    """The error of a name that is not in the table."""
    name = full.replace("torch.", "imode.", 1) if full.startswith("torch.nn.") else full
    return pickle.UnpicklingError(
        f"{UNSUPPORTED}: GLOBAL {full} was not an allowed global by default. If you trust it, "
        f"add it by `imode.serialization.add_safe_globals([{name}])`, or with a name, "
        f"`[({name}, {full!r})]`"
    )
