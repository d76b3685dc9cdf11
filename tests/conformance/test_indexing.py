"""Random reads and writes by index, here and in PyTorch: values, strides, graph, gradients."""

import random

import numpy as np
import pytest

DTYPES = ("float32", "float64", "int64", "bool", "complex64", "int32", "float16")


# ---- random cases, as plain data -----------------------------------------------------------------


class Case:
    """A base array, a view of it, an index, and what to write there (None: only read)."""

    def __init__(self, rng):
        shape = [rng.choice((0, 1, 2, 3)) if rng.random() < 0.1 else rng.randint(1, 4)
                 for _ in range(rng.randrange(5))]  # fmt: skip
        dtype = rng.choice(DTYPES) if rng.random() < 0.4 else "float32"
        values = np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape)
        self.array = np.asarray(values % 2 == 0 if dtype == "bool" else values.astype(dtype))
        self.view = rng.choice(("whole", "whole", "transposed", "strided", "permuted", "offset"))
        self.grad = dtype.startswith(("float", "complex")) and rng.random() < 0.6
        shape = np.shape(view_of(self.array, self.view))
        self.items, self.single = random_index(rng, shape), rng.random() < 0.6
        self.value = None
        if rng.random() < 0.5:
            self.value = rng.choice((0, 1, 2.5, True, -3))
            if rng.random() < 0.6:
                shape = [rng.choice((1, 2, 3, 4)) for _ in range(rng.randrange(3))]
                shape = self.result_shape(rng) or shape
                kind = dtype if rng.random() < 0.9 else rng.choice(DTYPES)
                self.value = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)

    def result_shape(self, rng):
        """The shape that NumPy gives the read, with some lengths made 1; None where it refuses."""
        try:
            key = tuple(part(None, *item) for item in self.items)
            shape = list(view_of(self.array, self.view)[key].shape)
        except (IndexError, ValueError, TypeError):
            return None
        return [1 if rng.random() < 0.2 else n for n in shape]

    def run(self, lib):
        """All that is to be compared, or the error."""
        x = lib.from_numpy(self.array.copy())
        leaf = x.requires_grad_() if self.grad else None
        x = x.clone() if self.grad else x
        key = tuple(part(lib, *item) for item in self.items)
        key = key[0] if self.single and len(key) == 1 else key
        try:
            if self.value is None:
                seen = target = view_of(x, self.view)[key]
            else:
                value = self.value
                if isinstance(value, np.ndarray):
                    value = lib.from_numpy(value.copy())
                view_of(x, self.view)[key] = value
                seen = target = x
        except Exception as error:
            first = str(error).split("\n")[0].split(". ")[0].split(" (")[0]
            return type(error).__name__, first.replace("torch.", "imode.")
        facts = [listed(seen), strides(seen), x._version, seen._is_view(), names(seen)]
        if leaf is not None:
            weights = np.arange(1, target.numel() + 1).reshape(tuple(target.shape))
            target.backward(lib.from_numpy(weights.astype(self.array.dtype)))
            facts.append(listed(leaf.grad))
        return facts


def random_index(rng, shape):
    items, dim = [], 0
    for _ in range(rng.randint(0, len(shape) + 1)):
        n = shape[dim] if dim < len(shape) else 2
        wide = rng.random() < 0.04

        def one(n=n, wide=wide):
            return rng.randint(-n - wide, n - 1 + wide) if n else 0

        kind = rng.choice(("int", "slice", "slice", "new", "all", "flag", "tensor", "mask", "list"))
        if kind == "all" and ("all", None) in items:
            continue
        content = None
        if kind == "int":
            content = one()
        elif kind == "slice":
            bound = [rng.choice((None, rng.randint(-n - 1, n + 1))) for _ in range(2)]
            content = (*bound, rng.choice((None, 1, 2, 3) if rng.random() < 0.97 else (0, -1)))
        elif kind == "flag":
            content = rng.random() < 0.6
        elif kind == "list":
            content = [one() for _ in range(rng.randint(0, 3))]
        elif kind == "tensor":
            size = rng.choice(((), (1,), (2,), (3,), (2, 1), (1, 3), (0,)))
            content = np.array([one() for _ in range(np.prod(size, dtype=int))], np.int64)
            content = content.reshape(size)
        elif kind == "mask":
            size = tuple(shape[dim : dim + rng.choice((1, 1, 2))])
            size = (rng.randint(0, 3),) if wide else size
            content = np.array([rng.random() < 0.5 for _ in range(np.prod(size, dtype=int))], bool)
            content = content.reshape(size)
        items.append((kind, content))
        if kind == "mask":
            dim += content.ndim
        elif kind in ("int", "slice", "tensor", "list"):
            dim += 1
    return items


def part(lib, kind, content):
    """One item of an index, for a library (None: NumPy)."""
    if kind in ("tensor", "mask"):
        return content if lib is None else lib.from_numpy(content.copy())
    if kind == "slice":
        return slice(*content)
    return {"new": None, "all": Ellipsis}.get(kind, content)


def view_of(x, name):
    nd = len(x.shape)
    if nd == 0 or name == "whole":
        return x
    if name == "transposed":
        return x.swapaxes(0, nd - 1)
    if name == "permuted":
        return x.transpose() if isinstance(x, np.ndarray) else x.permute(*range(nd - 1, -1, -1))
    return x[..., ::2] if name == "strided" else x[1:]


# ---- observations --------------------------------------------------------------------------------


def listed(t):
    return str(t.dtype).rpartition(".")[2], tuple(t.shape), t.detach().tolist()


def strides(t):
    return tuple(s for s, n in zip(t.stride(), t.shape) if n > 1) if t.numel() else None


def names(t):
    found, node = [], t.grad_fn
    while node is not None:
        found.append(node.name().rpartition("::")[2])
        following = [edge[0] for edge in node.next_functions if edge[0] is not None]
        node = following[0] if following else None
    return found


@pytest.mark.parametrize("seed", range(10))
def test_indexing(lib, torch, seed):
    rng = random.Random(seed)
    for number in range(120):
        case = Case(rng)
        ours, theirs = case.run(lib), case.run(torch)
        assert ours == theirs, (number, case.array.dtype, case.array.shape, case.view, case.items)
