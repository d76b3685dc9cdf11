"""Arrays whose elements nobody computes: what NumPy's functions give for them is shapes and dtypes.

# Note [Hollow arrays]
A kernel in Python is a function over ndarrays, and what it computes first and last is a shape. For
tensors without elements (Note [Shapes without elements], `elsewhere.pyx`) it is called with Hollow
arrays in their place: NumPy hands each call that meets one to the methods below, which make the
result and leave its memory alone. So a kernel needs no second function for shapes, and no test.

What NumPy computes anyway is right, but takes time and memory: functions that are not in `_RULES`,
and what is written into an array that is not Hollow. `np.empty(shape, dtype, like=x)` makes one
that is, where `x` is. A stray read finds zeros; but `all()` is True, so that checks of values,
which no element can fail, pass.
"""

import math

import numpy as np

_ORDINARY = np.ndarray


def hollow(array):
    """The array as a Hollow one, over the same memory."""
    return array.view(Hollow)


def _new(shape, dtype, order="C"):
    return np.empty(shape, dtype, order).view(Hollow)


def _new_like(array, dtype=None, order="K"):
    return np.empty_like(array.view(_ORDINARY), dtype, order).view(Hollow)


def _one(value):
    """An operand as one of the same kind without elements, for the dtype that comes of it."""
    return np.empty(0, value.dtype) if isinstance(value, _ORDINARY) else value


def _plain(value):
    return value.view(_ORDINARY) if isinstance(value, Hollow) else value


def _answer(made, out):
    """NumPy's scalar in place of an array without dimensions, but for out=."""
    return out if out is not None else made if made.ndim else made.view(_ORDINARY)[()]


# ---- universal functions ----


def _called(ufunc, inputs, outs, where=True, casting="same_kind", **words):
    plain = [np.asarray(_plain(x)) for x in inputs]
    tiny = ufunc(*map(_one, inputs), casting=casting, **words)
    dtypes = [np.asarray(one).dtype for one in (tiny if ufunc.nout > 1 else (tiny,))]
    for out, dtype in zip(outs, dtypes, strict=True):
        if out is not None and not np.can_cast(dtype, out.dtype, casting):
            raise TypeError(f"{ufunc.__name__}: cannot cast from {dtype} to {out.dtype}")
    given = [None if out is None else _plain(out) for out in outs]
    reads = [["readonly"]] * len(plain)
    writes = [["writeonly", "allocate", "no_subtype"]] * len(outs)
    walk = np.nditer(
        [*plain, *given],
        ["zerosize_ok", "multi_index"],
        reads + writes,
        [None] * len(plain) + [None if given[i] is not None else d for i, d in enumerate(dtypes)],
        "K",
        "unsafe",
    )
    made = walk.operands[len(plain) :]
    results = [_answer(m.view(Hollow), out) for m, out in zip(made, outs, strict=True)]
    return tuple(results) if ufunc.nout > 1 else results[0]


def _multiplied(ufunc, inputs, outs, **words):
    """Of `matmul`."""
    x, y = inputs
    shape = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    shape += (x.shape[-2:-1] if x.ndim > 1 else ()) + (y.shape[-1:] if y.ndim > 1 else ())
    if x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        raise ValueError(f"matmul: mismatch in the core dimension of {x.shape} and {y.shape}")
    return _answer(_new(shape, np.result_type(x, y)), outs[0])


def _axes(axis, ndim):
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple([np.lib.array_utils.normalize_axis_index(a, ndim) for a in axes])


def _reduced(ufunc, inputs, outs, axis=0, dtype=None, keepdims=False, **words):
    x = inputs[0]
    axes = _axes(axis, x.ndim)
    # NumPy's own answer for the dtype, and its refusal of nothing
    few = np.empty([min(n, 1) if i in axes else 1 for i, n in enumerate(x.shape)], x.dtype)
    few.fill(0)
    words.pop("where", None)
    found = np.asarray(ufunc.reduce(few, axis, dtype, keepdims=True, **words)).dtype
    kept = x[tuple([slice(0, 1) if i in axes else slice(None) for i in range(x.ndim)])]
    if any(x.shape[i] == 0 for i in axes):
        kept = np.empty([1 if i in axes else n for i, n in enumerate(x.shape)], found)
    made = _new_like(kept, found)
    if not keepdims:
        made = made.reshape([n for i, n in enumerate(x.shape) if i not in axes])
    if ufunc is np.logical_and and made.ndim == 0:
        made.view(_ORDINARY)[...] = True
    return _answer(made, outs[0])


def _accumulated(ufunc, inputs, outs, axis=0, dtype=None):
    x = inputs[0]
    found = ufunc.accumulate(np.empty(0, x.dtype), 0, dtype).dtype
    return _answer(_new_like(x, found), outs[0])


_METHODS = {"reduce": _reduced, "accumulate": _accumulated}

# ---- functions ----


def _where(condition, *choices):
    if not choices:
        return np.nonzero(_plain(condition))
    shape = np.broadcast_shapes(*map(np.shape, (condition, *choices)))
    return _new(shape, np.result_type(*map(_one, choices)))


def _concatenate(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    few = [np.empty([1] * np.ndim(a), getattr(a, "dtype", None)) for a in arrays]
    found = np.concatenate(few, axis, dtype=dtype, casting=casting).dtype
    shape = list(np.shape(arrays[0]))
    axis = _axes(axis, len(shape))[0]
    shape[axis] = sum([np.shape(a)[axis] for a in arrays])
    return out if out is not None else _new(shape, found)


def _copyto(dst, src, casting="same_kind", where=True):
    np.broadcast_to(np.empty((), bool), np.shape(src))
    if np.broadcast_shapes(dst.shape, np.shape(src)) != dst.shape:
        raise ValueError(f"could not broadcast input array from {np.shape(src)} into {dst.shape}")


def _empty_like(prototype, dtype=None, order="K", subok=True, shape=None, **words):
    if shape is not None:
        return _new(shape, dtype or prototype.dtype)
    return _new_like(prototype, dtype, order)


def _sorted(a, axis=-1, kind=None, order=None, **words):
    return _new_like(a) if axis is not None else _new(a.size, a.dtype)


def _sorting(a, axis=-1, kind=None, order=None, **words):
    return _new_like(a, np.intp) if axis is not None else _new(a.size, np.intp)


def _place(a, axis=None, out=None, *, keepdims=False):
    shape = [1 if axis is None or i == axis % a.ndim else n for i, n in enumerate(a.shape)]
    if not keepdims:
        shape = [n for i, n in enumerate(a.shape) if axis is not None and i != axis % a.ndim]
    return _answer(_new(shape, np.intp), out)


def _taken(a, indices, axis=None, out=None, mode="raise"):
    shape = np.shape(indices)
    if axis is not None:
        axis = _axes(axis, a.ndim)[0]
        shape = a.shape[:axis] + shape + a.shape[axis + 1 :]
    return _answer(_new(shape, a.dtype), out)


def _searched(a, v, side="left", sorter=None):
    return _answer(_new(np.shape(v), np.intp), None)


def _running(ufunc):
    def run(a, axis=None, dtype=None, out=None):
        return ufunc.accumulate(a if axis is not None else a.ravel(), axis or 0, dtype)

    return run


def _repeated(a, repeats, axis=None):
    if np.size(repeats) != 1:
        return np.repeat(_plain(a), repeats, axis)
    shape = [a.size] if axis is None else list(a.shape)
    shape[axis or 0] *= int(repeats)
    return _new(shape, a.dtype)


def _traced(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return np.add.reduce(a.diagonal(offset, axis1, axis2), -1, dtype)


def _within(element, test_elements, **words):
    return _new(np.shape(element), np.bool_)


def _dotted(a, b, out=None):
    return a @ b if np.ndim(a) and np.ndim(b) else a * b


def _full(shape, value, dtype=None, order="C", **words):
    return _new(shape, np.asarray(value).dtype if dtype is None else dtype, order)


_RULES = {
    np.argmax: _place,
    np.argmin: _place,
    np.argsort: _sorting,
    np.broadcast_to: lambda a, shape, **words: hollow(np.broadcast_to(_plain(a), shape)),
    np.concatenate: _concatenate,
    np.copyto: _copyto,
    np.cumprod: _running(np.multiply),
    np.cumsum: _running(np.add),
    np.dot: _dotted,
    np.empty: lambda shape, dtype=float, order="C", **words: _new(shape, dtype, order),
    np.zeros: lambda shape, dtype=float, order="C", **words: _new(shape, dtype, order),
    np.eye: lambda N, M=None, k=0, dtype=float, **words: _new((N, N if M is None else M), dtype),
    np.full: _full,
    np.asarray: lambda a, dtype=None, order=None, **words: _as(a, dtype, order),
    np.ascontiguousarray: lambda a, dtype=None, **words: _as(a, dtype, "C"),
    np.empty_like: _empty_like,
    np.zeros_like: _empty_like,
    np.ones_like: _empty_like,
    np.full_like: lambda a, value, dtype=None, order="K", **words: _new_like(a, dtype, order),
    np.isin: _within,
    np.lexsort: lambda keys, axis=-1: _new(np.shape(keys[0]), np.intp),
    np.put_along_axis: lambda *a, **words: None,
    np.repeat: _repeated,
    np.searchsorted: _searched,
    np.sort: _sorted,
    np.take: _taken,
    np.trace: _traced,
    np.tril: lambda a, k=0: _new_like(a, order="C"),
    np.triu: lambda a, k=0: _new_like(a, order="C"),
    np.where: _where,
}


def _as(a, dtype=None, order=None):
    """An array itself where it is of the dtype and order, else a new one."""
    a = a if isinstance(a, Hollow) else hollow(np.asarray(a))
    return a.astype(a.dtype if dtype is None else dtype, order or "K", copy=False)


def _picked(shape, index, arrays):
    """The shape of an array of `shape` at an index with arrays of integers."""
    spread = np.broadcast_shapes(*map(np.shape, arrays))
    used = sum([i is not None and i is not Ellipsis for i in index])
    parts = []
    for i in index:
        parts += [slice(None)] * (len(shape) - used) if i is Ellipsis else [i]
    picks = [i is not None and not isinstance(i, slice) for i in parts]
    kept = np.broadcast_to(np.empty((), bool), shape)[
        tuple([slice(0, 1) if pick else i for i, pick in zip(parts, picks, strict=True)])
    ].shape
    first, last = picks.index(True), len(picks) - 1 - picks[::-1].index(True)
    at = first if all(picks[first : last + 1]) else 0  # apart, they come first
    rest = [n for n, pick in zip(kept, picks + [False] * len(kept), strict=False) if not pick]
    return (*rest[:at], *spread, *rest[at:])


class Hollow(np.ndarray):
    """An ndarray whose elements nobody computes; made by `hollow`."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **words):
        outs = out or (None,) * ufunc.nout
        if method == "at":
            return None
        if method == "__call__" and ufunc.signature is None:
            return _called(ufunc, inputs, outs, **words)
        if method == "__call__" and ufunc is np.matmul:
            return _multiplied(ufunc, inputs, outs, **words)
        if method == "outer":
            first = np.asarray(inputs[0])
            spread = first.reshape(first.shape + (1,) * np.ndim(inputs[1]))
            return _called(ufunc, (hollow(spread), inputs[1]), outs, **words)
        if method in _METHODS:
            return _METHODS[method](ufunc, inputs, outs, **words)
        words |= {"out": tuple(map(_plain, out))} if out else {}
        return getattr(ufunc, method)(*map(_plain, inputs), **words)

    def __array_function__(self, function, types, args, words):
        rule = _RULES.get(function)
        if rule is not None:
            return rule(*args, **words)
        return super().__array_function__(function, types, args, words)

    def __getitem__(self, index):
        parts = index if isinstance(index, tuple) else (index,)
        arrays = [i for i in parts if isinstance(i, (list, _ORDINARY)) and np.ndim(i)]
        if not arrays:
            return super().__getitem__(index)
        if any(np.asarray(i).dtype.kind == "b" for i in arrays):
            return _plain(self)[_plain(index) if index is not parts else tuple(map(_plain, parts))]
        return _new(_picked(self.shape, parts, arrays), self.dtype)

    def __setitem__(self, index, value):
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(i, (list, _ORDINARY)) and np.ndim(i) for i in parts):
            return
        target = self[index]
        if isinstance(target, _ORDINARY) and np.ndim(value):
            shape = np.shape(value)
            while len(shape) > target.ndim and shape[0] == 1:
                shape = shape[1:]
            if np.broadcast_shapes(target.shape, shape) != target.shape:
                raise ValueError(
                    f"could not broadcast input array from shape {shape} into {target.shape}"
                )

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """A new array of a dtype; itself where it is one and `copy` is False."""
        dtype = np.dtype(dtype)
        fits = order == "K" or self.flags[f"{order}_CONTIGUOUS"]
        return self if not copy and dtype == self.dtype and fits else _new_like(self, dtype, order)

    def copy(self, order="C"):
        """A new array."""
        return _new_like(self, order=order)

    def reshape(self, *shape, order="C", **words):
        """A view where there is one, else a new array."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        shape = list(shape) if not isinstance(shape, int) else [shape]
        if -1 in shape:
            shape[shape.index(-1)] = self.size // max(-math.prod(shape), 1)
        try:
            return super().reshape(tuple(shape), copy=False)
        except ValueError:
            if math.prod(shape) != self.size:
                raise
            return _new(shape, self.dtype)

    def ravel(self, order="C"):
        """In one dimension."""
        return self.reshape(-1)

    def flatten(self, order="C"):
        """In one dimension, new."""
        return _new(self.size, self.dtype)

    def fill(self, value):
        """Nothing."""

    def sort(self, axis=-1, kind=None, order=None, **words):
        """Nothing."""

    def put(self, indices, values, mode="raise"):
        """Nothing."""

    def argsort(self, axis=-1, kind=None, order=None, **words):
        """Indices."""
        return _sorting(self, axis)

    def argmax(self, axis=None, out=None, *, keepdims=False):
        """Indices."""
        return _place(self, axis, out, keepdims=keepdims)

    argmin = argmax

    def take(self, indices, axis=None, out=None, mode="raise"):
        """As np.take."""
        return _taken(self, indices, axis, out)

    def cumsum(self, axis=None, dtype=None, out=None):
        """As np.cumsum."""
        return np.cumsum(self, axis, dtype)

    def cumprod(self, axis=None, dtype=None, out=None):
        """As np.cumprod."""
        return np.cumprod(self, axis, dtype)

    def repeat(self, repeats, axis=None):
        """As np.repeat."""
        return _repeated(self, repeats, axis)

    def dot(self, other, out=None):
        """As np.dot."""
        return _dotted(self, other)

    def searchsorted(self, v, side="left", sorter=None):
        """Indices."""
        return _searched(self, v)
