"""What a program can see of a tensor or of an error, as plain data of either library."""

import math
import re

import numpy as np

# Relative and absolute tolerance of values, by dtype; everything else is compared exactly.
TOLERANCE = {
    "float16": (2e-3, 2e-3),
    "bfloat16": (2**-7, 1e-30),  # one unit in the last place
    "float32": (2e-5, 2e-6),
    "float64": (1e-9, 1e-10),
    "complex64": (2e-5, 2e-6),
    "complex128": (1e-9, 1e-10),
}
DEPTH = 3  # how far down the graph the names of the nodes are compared
MOST = 40  # and of how many edges


def dtype_name(tensor):
    """Return the dtype without the library's name."""
    return str(tensor.dtype).rpartition(".")[2]


def sentence(error):
    """Return the first sentence of an error, in the same words for both libraries."""
    text = re.sub(r"\b(torch|imode)\b[.:]*", "lib:", str(error))
    text = text.removeprefix("lib:").strip().replace("'lib:Tensor'", "'Tensor'")
    first = re.split(r"(?<!\.)\.(?=[\sA-Z])|\n", text)[0]
    return first.strip().rstrip(".")


def failure(error):
    """Return what is compared of an exception."""
    return f"{type(error).__name__}: {sentence(error)}"


def attempt(read):
    """Return read(), or what it raises."""
    try:
        return read()
    except Exception as error:
        return failure(error)


def node_name(node):
    """Return the name of a graph node without namespaces."""
    return None if node is None else node.name().rpartition("::")[2]


def graph(node, depth=DEPTH):
    """Return the names of the nodes under `node`, nested, and which of its results each edge is."""
    if node is None:
        return None
    if depth == 0:
        return node_name(node)
    below = []
    for parent, number in node.next_functions[:MOST]:
        name = graph(parent, depth - 1)
        below.append((name, number) if number else name)
    return (node_name(node), *below) if below else node_name(node)


def saved(node):
    """Return the names under which a node has saved tensors."""
    if node is None:
        return ()
    names = [name for name in dir(node) if name.startswith("_saved_")]
    return tuple(n for n in names if type(getattr(node, n)).__name__ in ("Tensor", "Parameter"))


# Of these, NumPy reads the memory; in doubles, as Python's numbers are.
READ_AS = dict.fromkeys(("float16", "float32", "float64"), np.float64)
READ_AS |= dict.fromkeys(("complex64", "complex128"), np.complex128)
READ_AS |= dict.fromkeys(("int8", "int16", "int32", "int64", "uint8"), np.int64) | {"bool": bool}


def numbers_of(tensor):
    """Return the contents of a tensor as an array, the same as of its `tolist()`."""
    if isinstance(tensor, np.ndarray):
        return tensor
    if tensor.numel() < 64 or dtype_name(tensor) not in READ_AS or str(tensor.device) != "cpu":
        return np.array(tensor.tolist())
    if str(tensor.layout).endswith("sparse_coo"):
        return np.array(tensor.tolist())
    plain = tensor.detach().resolve_conj().resolve_neg()
    return plain.numpy().astype(READ_AS[dtype_name(tensor)])


class Values:
    """The contents of a tensor; equal within the dtype's tolerance, NaN to NaN."""

    def __init__(self, tensor, tol=None):
        self.dtype = dtype_name(tensor)
        self.data = numbers_of(tensor)
        self.tol = tol or TOLERANCE.get(self.dtype)

    def __eq__(self, other):
        if self.data.shape != other.data.shape:
            return False
        if self.tol is None:
            return bool(np.array_equal(self.data, other.data))
        with np.errstate(all="ignore"):
            rtol, atol = self.tol
            return bool(np.allclose(self.data, other.data, rtol, atol, equal_nan=True))

    def __repr__(self):
        return np.array2string(self.data, precision=9, separator=", ", threshold=50)


def layout(tensor):
    """Return the strides of the dimensions longer than 1; none where there are no elements."""
    if tensor.numel() == 0:
        return ()
    return tuple(s for s, n in zip(tensor.stride(), tensor.shape) if n > 1)


def observe(tensor, values=True, tol=None):
    """Return every observable of a tensor by name."""
    node = attempt(lambda: tensor.grad_fn)
    seen = {
        "dtype": dtype_name(tensor),
        "shape": tuple(tensor.shape),
        "strides": layout(tensor),
        "storage_offset": tensor.storage_offset() if tensor.numel() else 0,
        "requires_grad": attempt(lambda: tensor.requires_grad),
        "is_leaf": attempt(lambda: tensor.is_leaf),
        "is_inference": tensor.is_inference(),
        "is_view": tensor._is_view(),
        "based": attempt(lambda: tensor._base is not None),
        "version": attempt(lambda: tensor._version),
        "output_nr": attempt(lambda: tensor.output_nr),
        "retains_grad": attempt(lambda: tensor.retains_grad),
        "grad_fn": node if isinstance(node, str) else attempt(lambda: graph(node)),
    }
    if values:
        seen["values"] = attempt(lambda: Values(tensor.detach(), tol))
    if seen["is_leaf"] is True or seen["retains_grad"] is True:
        grad = attempt(lambda: tensor.grad)
        known = grad is None or isinstance(grad, str)
        seen["grad"] = grad if known else observe(grad, values, tol)
    return seen


def differences(ours, theirs, path=""):
    """Yield (observable, ours, theirs) wherever two observations differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in theirs:
            yield from differences(
                ours.get(name, "missing"), theirs[name], f"{path}.{name}" if path else name
            )
    elif isinstance(ours, Values) != isinstance(theirs, Values) or not _same(ours, theirs):
        yield path, ours, theirs


def _same(ours, theirs):
    if isinstance(ours, float) and isinstance(theirs, float):
        return ours == theirs or (math.isnan(ours) and math.isnan(theirs))
    return type(ours) is type(theirs) and ours == theirs
