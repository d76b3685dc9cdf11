"""Samples of advanced indices."""

from tests.samples import S, T, inplace


def L(*values, **options):
    """An int64 tensor of these values."""
    nested = len(values) == 1 and isinstance(values[0], list)
    return T(values=values[0] if nested else list(values), dtype="int64", **options)


def N(*values):
    """An int32 tensor of these values."""
    return T(values=list(values), dtype="int32")


def M(*values):
    """A boolean tensor of these values."""
    return T(values=list(values), dtype="bool")


def both(samples):
    """The samples of each operator, and the first of them for its in-place form, its own entry."""
    found = {}
    for name, calls in samples.items():
        base, dot, overload = name.partition(".")
        found[name] = calls
        found[f"{base}_{dot}{overload}"] = [inplace(s) for s in calls if not s.raises][:4]
    return found


GRID = L([[0, 1], [1, 2]])  # two rows of indices, with one that comes twice

INDEX_PUT = [
    S(T(3, 4), (L(0, 2),), T(4)),
    S(T(3, 4), (L(0, 2),), T(2, 1)),
    S(T(3, 4), [L(0, 0)], T(2, 4), True),
    S(T(3, 4), [L(0, -1), L(1, 3)], T(2)),
    S(T(3, 4), [L(0, 0), L(1, 1)], T(2), accumulate=True),
    S(T(3, 4), [M(True, False, True)], T(2, 4)),
    S(T(2, 2), [M([True, False], [True, True])], T()),
    S(T(3, 4, view="transposed"), [L(0, 2)], T()),
    S(T(3, dtype="int64"), [L(1)], T(dtype="int64")),
    S(T(3, dtype="int64"), [L(1, 1)], T(2, dtype="int64"), True),
    S(T(3, dtype="complex64"), [L(1)], T(1, dtype="complex64")),
    S(T(3), [L(1)], T(2), raises=RuntimeError),
    S(T(3), [L(1)], T(dtype="int64"), raises=RuntimeError),
    S(T(3), [L(3)], T(), raises=IndexError),
    S(T(3), [T(1)], T(), raises=IndexError),
    S(T(3), [L(0), L(0)], T(), raises=IndexError),
]

SAMPLES = both({"index_put": INDEX_PUT})


def _index(self, indices):
    """PyTorch's operator, which none of its functions is."""
    import torch

    return torch.ops.aten.index(self, indices)


SAMPLES["index.Tensor"] = [
    S(T(3, 4), [L(0, 2)], torch=_index),
    S(T(3, 4), [None, L(0, 3)], torch=_index),
    S(T(3, 4, 2), [L(0, 2), None, L(0, 1)], torch=_index),
    S(T(3, 4, 2), [GRID, L(0, 1)], torch=_index),
    S(T(3, 4), [M(True, False, True), None], torch=_index),
    S(T(3, 4), [N(1, -1)], torch=_index),
    S(T(3, 4), [], raises=IndexError, torch=_index),
    S(T(3, 4), [None, None, L(0)], raises=IndexError, torch=_index),
    S(T(3, 4), [L(0, 3)], raises=IndexError, torch=_index),
    S(T(3, 4), [M(True, False)], raises=IndexError, torch=_index),
    S(T(3, 4), [T(2)], raises=IndexError, torch=_index),
]
