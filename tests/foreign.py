"""NumPy's arrays and scalars of every dtype and layout, and the public ways in for them.

Two tables by name: `ARRAYS`, functions that make one anew, and `WAYS`, functions of the library
(imode or torch) and of what `ARRAYS` made. `tests/crash.py` takes each array through each way in a
process of its own, `tests/conformance/test_foreign.py` in both libraries.
"""

import array
import importlib

import numpy as np


class Subclass(np.ndarray):
    pass


class ArrayLike:
    """What NumPy makes an array of, and nothing else."""

    def __init__(self, values, dtype):
        self.array = np.array(values, dtype)

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)

    def __repr__(self):  # without an address: two that were made alike read alike
        return f"{type(self).__name__}({self.array!r})"


class Series(ArrayLike):
    """As pandas.Series: NumPy's scalars by index or by label, Python's numbers by iteration."""

    def __init__(self, values, dtype, labels=None):
        super().__init__(values, dtype)
        self.dtype = self.array.dtype
        self.labels = list(labels or range(len(values)))

    def __len__(self):
        return len(self.array)

    def __getitem__(self, label):
        if label not in self.labels:
            raise KeyError(label)
        return self.array[self.labels.index(label)]

    def __iter__(self):
        return iter(self.array.tolist())

    def keys(self):
        return self.labels


class Samples:
    """A data set of the same sample twice."""

    def __init__(self, sample):
        self.sample = sample

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.sample


# ---- arrays -------------------------------------------------------------------------------------

NUMBERS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
    "uint32": "I", "int64": "l", "uint64": "L", "longlong": "q", "ulonglong": "Q",
    "float16": "e", "float32": "f", "float64": "d", "longdouble": "g",
    "complex64": "F", "complex128": "D", "clongdouble": "G",
}  # fmt: skip
OTHERS = {
    "datetime64": "M8[s]", "timedelta64": "m8[s]", "text": "U2", "bytes": "S2", "no text": "U",
    "object": "O", "void": "V3", "no bytes": "V", "fields": "i4,f4",
}  # fmt: skip


def _read_only(made):
    made.flags.writeable = False
    return made


def _unaligned(dtype):
    dtype = np.dtype(dtype)
    made = np.zeros(2 * dtype.itemsize + 1, np.uint8)[1:].view(dtype)
    made[...] = 1
    return made


def _laid(name, code):
    """The arrays of one dtype by name: of each number of dimensions, each byte order, a scalar."""
    swapped = np.dtype(code).newbyteorder()
    return {
        f"{name} line": lambda: np.ones(2, code),
        f"{name} point": lambda: np.ones((), code),
        f"{name} scalar": lambda: np.ones((), code)[()],
        f"{name} nothing": lambda: np.ones((0,), code),
        f"{name} swapped": lambda: np.ones(2, swapped),
        f"{name} swapped point": lambda: np.ones((), swapped),
        f"{name} listed": lambda: [np.ones((), code)[()]] * 2,
        f"{name} points": lambda: [np.ones((), code)] * 2,
    }


def _other(name, code):
    return {
        f"{name} line": lambda: np.zeros(2, code),
        f"{name} point": lambda: np.zeros((), code),
        f"{name} scalar": lambda: np.zeros((), code)[()],
        f"{name} nothing": lambda: np.zeros((0,), code),
    }


ARRAYS = {
    "backwards": lambda: np.arange(4.0)[::-1],
    "backwards rows": lambda: np.arange(4.0).reshape(1, 4)[::-1],
    "float32 unaligned": lambda: _unaligned("f4"),
    "int64 unaligned": lambda: _unaligned("i8"),
    "uint16 unaligned": lambda: _unaligned("u2"),
    "packed field": lambda: np.zeros(3, [("a", "u1"), ("b", "f4")])["b"],
    "field": lambda: np.zeros(3, [("a", "f4"), ("b", "f4")])["b"],
    "read-only": lambda: _read_only(np.ones(2)),
    "broadcast": lambda: np.broadcast_to(np.ones(1), (3,)),
    "with gaps": lambda: np.arange(12.0).reshape(3, 4)[:, ::2],
    "columns": lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "subclass": lambda: np.ones(2).view(Subclass),
    "uint16 subclass": lambda: np.ones(2, np.uint16).view(Subclass),
    "masked": lambda: np.ma.array([1.0, 2.0], mask=[0, 1]),
    "uint16 masked": lambda: np.ma.array([1, 2], mask=[0, 1], dtype=np.uint16),
    "records": lambda: np.rec.array([(1, 2.0)]),
    "texts": lambda: np.char.array(["a", "b"]),
    "64 dimensions": lambda: np.ones((1,) * 64),
    "bytes": lambda: b"ab",
    "uint16 memoryview": lambda: memoryview(np.ones(2, np.uint16)),
    "float32 memoryview": lambda: memoryview(np.ones(2, np.float32)),
    "float64 series": lambda: Series([0.1, 1], np.float64),
    "int32 series": lambda: Series([1, 2], np.int32),
    "empty series": lambda: Series([], np.int32),
    "labelled series": lambda: Series([1, 2], np.int32, labels=[5, 6]),
    "list of series": lambda: [Series([1, 2], np.int16), Series([1, 2], np.int16)],
    "array-like": lambda: ArrayLike([1, 2], np.int32),
    "mixed": lambda: [np.int32(1), 2.5],
    "lines": lambda: [np.ones(2, np.int32), np.ones(2, np.int32)],
}
for _name, _code in NUMBERS.items():
    ARRAYS |= _laid(_name, _code)
for _name, _code in OTHERS.items():
    ARRAYS |= _other(_name, _code)
for _code in "bBhHiIlLqQfd":
    ARRAYS[f"array.array {_code}"] = lambda code=_code: array.array(code, [1, 2])


# ---- ways in ------------------------------------------------------------------------------------


def _into(write):
    """A way that writes to a tensor, which is then what it gives."""

    def way(lib, a):
        tensor = lib.arange(4.0)
        write(tensor, a)
        return tensor

    return way


def _floats(lib):
    return lib.ones(2)


def _ints(lib):
    return lib.ones(2, dtype=lib.int64)


def _bools(lib):
    return lib.ones(2, dtype=lib.bool)


def _square(lib):
    return lib.arange(16.0).view(4, 4)


def _data(lib):
    return importlib.import_module(f"{lib.__name__}.utils.data")


def _hooked(lib, a):
    x = lib.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: a)
    y.sum().backward()
    return x.grad


MAKING = {
    "from_numpy": lambda lib, a: lib.from_numpy(a),
    "tensor": lambda lib, a: lib.tensor(a),
    "tensor float32": lambda lib, a: lib.tensor(a, dtype=lib.float32),
    "tensor int64": lambda lib, a: lib.tensor(a, dtype=lib.int64),
    "tensor of two": lambda lib, a: lib.tensor([a, a]),
    "tensor of it and a float": lambda lib, a: lib.tensor([a, 1.5]),
    "as_tensor": lambda lib, a: lib.as_tensor(a),
    "as_tensor float32": lambda lib, a: lib.as_tensor(a, dtype=lib.float32),
    "asarray": lambda lib, a: lib.asarray(a),
    "asarray float32": lambda lib, a: lib.asarray(a, dtype=lib.float32),
    "asarray copy": lambda lib, a: lib.asarray(a, copy=True),
    "asarray no copy": lambda lib, a: lib.asarray(a, copy=False),
    "from_dlpack": lambda lib, a: lib.from_dlpack(a),
    "from_dlpack capsule": lambda lib, a: lib.from_dlpack(a.__dlpack__()),
    "new_tensor": lambda lib, a: _floats(lib).new_tensor(a),
    "Tensor": lambda lib, a: lib.Tensor(a).shape,
    "LongTensor": lambda lib, a: lib.LongTensor(a).shape,
    "collate": lambda lib, a: _data(lib).default_collate([a, a]),
    "collate dicts": lambda lib, a: _data(lib).default_collate([{"a": a}, {"a": a}]),
    "convert": lambda lib, a: _data(lib).default_convert(a),
    "DataLoader": lambda lib, a: list(_data(lib).DataLoader(Samples(a), batch_size=2)),
    "DataLoader unbatched": lambda lib, a: list(_data(lib).DataLoader(Samples(a), batch_size=None)),
    "set_rng_state": lambda lib, a: lib.set_rng_state(a),
    "weights": lambda lib, a: len(_data(lib).WeightedRandomSampler(a, 2)),
}
INDEXING = {
    "index": lambda lib, a: lib.arange(4.0)[a],
    "index twice": lambda lib, a: _square(lib)[a, a],
    "index columns": lambda lib, a: _square(lib)[:, a],
    "index in a list": lambda lib, a: _square(lib)[[a]],
    "slice": lambda lib, a: lib.arange(4.0)[a:],
    "write there": _into(lambda x, a: x.__setitem__(a, 7.0)),
    "write it": _into(lambda x, a: x.__setitem__(0, a)),
    "write it everywhere": _into(lambda x, a: x.__setitem__(slice(None), a)),
    "write it by a mask": _into(lambda x, a: x.__setitem__(x > 1, a)),
    "gather": lambda lib, a: _floats(lib).gather(0, a),
    "index_put": lambda lib, a: _floats(lib).index_put((a,), lib.ones(1)),
    "in": lambda lib, a: a in _floats(lib),
}
OPERATORS = {
    "+": lambda lib, a: _floats(lib) + a,
    "+ ints": lambda lib, a: a + _ints(lib),
    "bools +": lambda lib, a: _bools(lib) + a,
    "-": lambda lib, a: a - _floats(lib),
    "*": lambda lib, a: _floats(lib) * a,
    "/": lambda lib, a: _ints(lib) / a,
    "/ floats": lambda lib, a: a / _floats(lib),
    "/ ints": lambda lib, a: a / _ints(lib),
    "**": lambda lib, a: _floats(lib) ** a,
    "%": lambda lib, a: _ints(lib) % a,
    "//": lambda lib, a: _ints(lib) // a,
    "&": lambda lib, a: _ints(lib) & a,
    "@": lambda lib, a: _floats(lib) @ a,
    "==": lambda lib, a: _floats(lib) == a,
    "== floats": lambda lib, a: a == _floats(lib),
    "<": lambda lib, a: _floats(lib) < a,
    "+=": _into(lambda x, a: x.__iadd__(a)),
    "numpy.add": lambda lib, a: np.add(_floats(lib), a),
    "numpy.multiply": lambda lib, a: np.multiply(a, _ints(lib)),
    "numpy.sum out": lambda lib, a: np.sum(_floats(lib), out=a),
    "numpy.copyto": lambda lib, a: np.copyto(a, _floats(lib)),
    "numpy.asarray dtype": lambda lib, a: np.asarray(_floats(lib), dtype=a.dtype),
    "__array__": lambda lib, a: _floats(lib).__array__(a.dtype),
}
ARGUMENTS = {
    "add": lambda lib, a: lib.add(_floats(lib), a),
    "add to": lambda lib, a: lib.add(a, _floats(lib)),
    "alpha": lambda lib, a: lib.add(_floats(lib), _floats(lib), alpha=a),
    "out": lambda lib, a: lib.sum(_floats(lib), 0, out=a),
    "sin": lambda lib, a: lib.sin(a),
    "cat": lambda lib, a: lib.cat([_floats(lib), a]),
    "where": lambda lib, a: lib.where(_bools(lib), a, 0.0),
    "full": lambda lib, a: lib.full((2,), a),
    "full int32": lambda lib, a: lib.full((2,), a, dtype=lib.int32),
    "fill_": _into(lambda x, a: x.fill_(a)),
    "copy_": _into(lambda x, a: x.copy_(a)),
    "masked_fill": lambda lib, a: _floats(lib).masked_fill(_bools(lib), a),
    "clamp": lambda lib, a: _floats(lib).clamp(a),
    "zeros": lambda lib, a: lib.zeros(a),
    "ones": lambda lib, a: lib.ones((a, 2)),
    "arange": lambda lib, a: lib.arange(a),
    "sum": lambda lib, a: lib.ones(2, 3).sum((a,)),
    "view": lambda lib, a: _floats(lib).view(a),
    "repeat": lambda lib, a: _floats(lib).repeat(a),
    "topk": lambda lib, a: _floats(lib).topk(a),
    "data": _into(lambda x, a: setattr(x, "data", a)),
    "grad": _into(lambda x, a: setattr(x, "grad", a)),
    "set_": _into(lambda x, a: x.set_(a)),
    "backward": lambda lib, a: lib.ones(2, requires_grad=True).mul(2).backward(a),
    "hook": _hooked,
    "linear": lambda lib, a: lib.nn.functional.linear(_floats(lib), a),
    "Linear": lambda lib, a: lib.nn.Linear(a, a).weight.shape,
    "load_state_dict": lambda lib, a: lib.nn.Linear(2, 1, bias=False).load_state_dict(
        {"weight": a}
    ),
    "register_buffer": lambda lib, a: lib.nn.Linear(2, 1).register_buffer("b", a),
    "result_type": lambda lib, a: lib.result_type(_floats(lib), a),
    "numel": lambda lib, a: lib.numel(a),
    "allclose": lambda lib, a: lib.allclose(_floats(lib), a),
}
WAYS = {**MAKING, **INDEXING, **OPERATORS, **ARGUMENTS}
