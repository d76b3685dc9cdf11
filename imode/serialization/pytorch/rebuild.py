"""The functions by which a file describes its tensors, checked against the bytes that are there."""

from types import FunctionType

import numpy as np

from imode._core.device import device
from imode._core.dtype import dtype, from_numpy_dtype
from imode._core.formats import layout
from imode._core.internals import array_of, is_parameter, make_parameter
from imode._core.tensor import Tensor
from imode._tensor.copying import rebuild_elsewhere, rebuild_sparse, rebuild_tensor
from imode._tensor.subclass import make
from imode.serialization.pytorch.storages import Storage

_LIMIT = 1 << 62


def count_of(sizes):
    """The number of elements; raises where sizes are none."""
    if type(sizes) not in (tuple, list) and not isinstance(sizes, tuple):
        raise TypeError(f"sizes are a {type(sizes).__name__}")
    if len(sizes) > 64:
        raise ValueError(f"{len(sizes)} dimensions, more than 64")
    total, span = 1, 1
    for size in sizes:
        if type(size) is not int or not 0 <= size < _LIMIT:
            raise ValueError(f"the size {str(size)[:40]}")
        total *= size
        span *= max(size, 1)
        if span >= _LIMIT:
            raise ValueError(f"too many elements: {list(sizes)}")
    return total


def _tensor(storage, offset, size, stride, requires_grad=False, kind=None, metadata=None):
    """A tensor in a storage; offset and strides in elements."""
    if not isinstance(storage, Storage):
        raise TypeError(f"a tensor in a {type(storage).__name__}")
    if type(requires_grad) is not bool:
        raise TypeError(f"requires_grad is {requires_grad!r}")
    kind = storage.kind if kind is None else kind
    count = count_of(size)
    count_of(stride)
    if type(offset) is not int or not 0 <= offset < _LIMIT or len(stride) != len(size):
        raise ValueError(f"sizes {size}, strides {stride}, offset {str(offset)[:40]}")
    last = offset + sum((n - 1) * s for n, s in zip(size, stride)) + 1
    if count and last * kind.itemsize > storage.bytes.nbytes:
        raise ValueError(
            f"sizes {tuple(size)}, strides {tuple(stride)} and offset {offset} of {kind} reach "
            f"out of a storage of {storage.bytes.nbytes} bytes"
        )
    start = min(offset * kind.itemsize, storage.bytes.nbytes) if count else 0
    steps = tuple(s * kind.itemsize for s in stride)
    if storage.bytes.ctypes.data % kind.alignment:  # of a file that is mapped to memory
        storage.bytes = storage.bytes.copy()
    array = np.ndarray(tuple(size), kind, storage.bytes, start, steps)
    if kind.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ValueError("a byte of a bool tensor is neither true nor false")
    if metadata:
        array = _resolved(array, metadata)
    target = storage.target
    if target.type != "cpu":
        source = from_numpy_dtype(kind) if target.type == "meta" else rebuild_tensor(array)
        return rebuild_elsewhere(source, tuple(size), tuple(stride), target, requires_grad, False)
    return rebuild_tensor(array, requires_grad)


def _resolved(array, metadata):
    """The values of a tensor that was saved with the bit that it is conjugated, or negated."""
    if type(metadata) is not dict or not metadata.keys() <= {"conj", "neg"}:
        raise TypeError(f"metadata {str(metadata)[:80]}")
    if metadata.get("conj"):
        array = np.conjugate(array)
    return np.negative(array) if metadata.get("neg") else array


def tensor_v1(storage, storage_offset, size, stride):
    """A tensor, as PyTorch wrote it before version 0.4."""
    return _tensor(storage, storage_offset, size, stride)


def tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    """A tensor of the dtype of its storage."""
    return _tensor(storage, storage_offset, size, stride, requires_grad, None, metadata)


def tensor_v3(
    storage, storage_offset, size, stride, requires_grad, backward_hooks, kind, metadata=None
):
    """A tensor of a dtype that its storage does not tell."""
    _expect(kind, dtype)
    return _tensor(storage, storage_offset, size, stride, requires_grad, kind.numpy, metadata)


def parameter(data, requires_grad, backward_hooks):
    """A parameter that shares the memory of a tensor."""
    _expect(data, Tensor)
    if type(requires_grad) is not bool or is_parameter(data):
        raise TypeError(
            f"a parameter of {type(data).__name__} with requires_grad={requires_grad!r}"
        )
    return make_parameter(data.detach(), requires_grad)


def _with_attributes(tensor, state):
    """The tensor, with the attributes of a file: a dict, or that and one of what is in slots."""
    for names in state if type(state) is tuple else (state,):
        if names is not None and not (
            type(names) is dict and all(type(name) is str for name in names)
        ):
            raise TypeError(f"attributes in a {type(names).__name__}")
        for name in (names or {}).keys() - dir(Tensor) - {"_lazy", "materialize"}:
            vars(tensor)[name] = names[name]
    return tensor


def parameter_with_state(data, requires_grad, backward_hooks, state):
    """A parameter with attributes of its own."""
    return _with_attributes(parameter(data, requires_grad, backward_hooks), state)


def from_type(function, cls, args, state):
    """A tensor with attributes of its own, or an object of a subclass."""
    if (
        not isinstance(function, FunctionType)
        or function not in FUNCTIONS.values()
        or type(args) is not tuple
    ):
        raise TypeError("a tensor made by a function that makes none")
    made = function(*args)
    from imode.nn.parameter import Parameter

    if cls is Tensor or cls is Parameter:
        return _with_attributes(made, state)
    if not isinstance(cls, type):
        raise TypeError(f"a tensor of the class {cls!r}")
    if issubclass(cls, Tensor):
        state = dict(state) if isinstance(state, dict) else {}
        if state.pop("_is_param", False):
            made = make_parameter(made.detach(), made.requires_grad)
        made = make(cls, made)
        made.__setstate__(state)
    return made


def sparse_tensor(kind, data):
    """A sparse tensor of the coordinate layout."""
    _expect(kind, layout)
    if str(kind) != "torch.sparse_coo" and not str(kind).endswith("sparse_coo"):
        raise ValueError(f"a tensor of the layout {kind}; imode has sparse_coo alone")
    indices, values, size, *coalesced = data
    _expect(indices, Tensor)
    _expect(values, Tensor)
    count_of(size)
    try:
        return rebuild_sparse(
            array_of(indices).copy(), array_of(values).copy(), tuple(size), bool(*coalesced)
        )
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def meta_tensor(kind, size, stride, requires_grad):
    """A tensor without elements."""
    _expect(kind, dtype)
    count_of(size)
    count_of(stride)
    if type(requires_grad) is not bool or len(stride) != len(size):
        raise ValueError(f"sizes {size}, strides {stride}, requires_grad {requires_grad!r}")
    return rebuild_elsewhere(kind, tuple(size), tuple(stride), device("meta"), requires_grad, False)


def device_tensor_from_numpy(array, kind, place, requires_grad):
    """A tensor of a device that has no storages in PyTorch, from an array; here on the CPU."""
    _expect(array, np.ndarray)
    _expect(kind, dtype)
    return rebuild_tensor(array.astype(kind.numpy, copy=False), bool(requires_grad))


def device_tensor_from_cpu_tensor(tensor, kind, place, requires_grad):
    """The same, from a tensor."""
    _expect(tensor, Tensor)
    _expect(kind, dtype)
    return tensor.detach().to(kind).requires_grad_(bool(requires_grad))


def layout_of(name):
    """The layout of a name."""
    import imode

    found = getattr(imode, str(name).removeprefix("torch."), None)
    _expect(found, layout)
    return found


def _missing(what):
    def refuse(*args):
        raise TypeError(f"{what}, which imode does not have")

    return refuse


def _expect(value, kind):
    if not isinstance(value, kind):
        raise TypeError(f"expected a {kind.__name__}, got a {type(value).__name__}")


# By PyTorch's names, which begin with "torch.".
FUNCTIONS = {
    "_utils._rebuild_tensor": tensor_v1,
    "_utils._rebuild_tensor_v2": tensor_v2,
    "_utils._rebuild_tensor_v3": tensor_v3,
    "_utils._rebuild_parameter": parameter,
    "_utils._rebuild_parameter_with_state": parameter_with_state,
    "_utils._rebuild_sparse_tensor": sparse_tensor,
    "_utils._rebuild_meta_tensor_no_storage": meta_tensor,
    "_utils._rebuild_device_tensor_from_numpy": device_tensor_from_numpy,
    "_utils._rebuild_device_tensor_from_cpu_tensor": device_tensor_from_cpu_tensor,
    "_utils._rebuild_qtensor": _missing("a quantised tensor"),
    "_utils._rebuild_nested_tensor": _missing("a nested tensor"),
    "_utils._rebuild_wrapper_subclass": _missing("a tensor that wraps others"),
    "_tensor._rebuild_from_type_v2": from_type,
    "serialization._get_layout": layout_of,
}
