"""Tensors over memory that others own: NumPy arrays, buffers, DLPack.

Such a tensor shares the memory: a write on either side shows on the other, and no version counter
sees those of the other side. Read-only memory gives a tensor that refuses to be written to. While
tensors look at the memory already, it is of their kind: see Note [No memory of both kinds].
"""

import numpy as np

from imode import errors, ops
from imode._core.dtype import as_numpy
from imode._core.internals import has_node, install
from imode._core.lending import lend
from imode._core.overriding import held
from imode._core.storage import BYTE, UntypedStorage
from imode._core.tensor import Tensor
from imode._core.type_names import scalar_name
from imode.kernels.creation import from_data, from_data_fast
from imode.ops.creation.create import default_float
from imode.ops.schema import composite, op

# ---- NumPy and buffers --------------------------------------------------------------------------


def _from_numpy(array):
    checked = from_data.check_array(array)
    if not checked.flags.aligned:
        raise errors.arguments.array_order("given numpy array is not aligned to its element size")
    return checked, checked


op(
    "from_numpy(any ndarray) -> Tensor",
    from_data_fast.borrowing(_from_numpy),
    fast=from_data_fast.from_numpy,
    differentiable=False,
    variants="function",
    doc="""Return a tensor that shares the memory of a NumPy array.

    Raises TypeError for what is not an ndarray of a supported dtype, ValueError for negative
    strides and foreign byte orders.

    >>> import numpy as np
    >>> imode.from_numpy(np.arange(3))
    tensor([0, 1, 2])
    """,
)


def _frombuffer(buffer, dtype, count, offset, requires_grad):
    if dtype is None:
        raise TypeError("frombuffer(): argument 'dtype' must be imode.dtype, not NoneType")
    dtype = as_numpy(dtype)
    try:
        memory = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, item = memory.nbytes, dtype.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count > 0:
        if offset + count * item > length:
            raise ValueError(
                f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) "
                f"must not be greater than actual buffer length ({length} bytes)"
            )
    elif (length - offset) % item:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({item})"
        )
    found = np.frombuffer(buffer, dtype, count if count > 0 else -1, offset)
    if not found.flags.aligned:
        raise ValueError(
            f"frombuffer(): the memory at offset {offset} is not aligned for {dtype}; copy it into "
            "a buffer of its own first"
        )
    return found, found


op(
    "frombuffer(any buffer, *, dtype dtype, int count=-1, int offset=0, "
    "bool requires_grad=False) -> Tensor",
    from_data_fast.borrowing(_frombuffer),
    differentiable=False,
    variants="function",
    doc="""Return a one-dimensional tensor over the memory of a buffer.

    `offset` is in bytes, `count` in elements (negative: all). Raises ValueError where they do not
    fit the buffer.

    >>> imode.frombuffer(bytearray(8), dtype=imode.int32)
    tensor([0, 0], dtype=imode.int32)
    """,
)


# ---- DLPack -------------------------------------------------------------------------------------


def _dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """Export the tensor as a DLPack capsule (see the array API standard).

    Raises BufferError for a tensor that requires grad.
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream not in (None, -1):
        if not isinstance(stream, int):
            raise TypeError("stream must be ``int`` or ``none``")
        raise AssertionError("stream should be None on cpu.")
    array = lend(self)
    if copy:
        array, copy = array.copy(), None
    return array.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)


def _dlpack_device(self):
    """The DLPack device: (1, 0), the CPU."""
    return 1, 0


install("__dlpack__", _dlpack)
install("__dlpack_device__", _dlpack_device)


def _is_capsule(value):
    return type(value).__name__ == "PyCapsule"


def _from_dlpack(ext_tensor, device, copy):
    capsule = ext_tensor
    if not _is_capsule(ext_tensor):
        if not hasattr(ext_tensor, "__dlpack__"):
            raise errors.arguments.dlpack_capsule(
                "It takes an object with __dlpack__ or a DLPack capsule, got "
                f"{type(ext_tensor).__name__}"
            )
        try:
            capsule = ext_tensor.__dlpack__(max_version=(1, 0))
        except TypeError:  # from before the protocol had versions
            capsule = ext_tensor.__dlpack__()
    array = from_data.check_array(from_data.array_of_capsule(capsule))
    if copy:
        array = ext_tensor = array.copy()
    return array, array if _is_capsule(ext_tensor) else ext_tensor


op(
    "from_dlpack(any ext_tensor, *, device? device=None, bool? copy=None) -> Tensor",
    from_data_fast.borrowing(_from_dlpack),
    differentiable=False,
    variants="function",
    doc="""Return a tensor that shares the memory of an object with `__dlpack__`, or of a capsule.

    >>> import numpy as np
    >>> imode.from_dlpack(np.arange(2))
    tensor([0, 1])
    """,
)


# ---- whatever it is -----------------------------------------------------------------------------


@composite(
    "as_tensor(any data, *, dtype? dtype=None, device? device=None) -> Tensor",
    variants="function",
    fast=from_data_fast.as_tensor,
)
def as_tensor(data, dtype, device):
    """Return `data` as a tensor: itself if it is one, over its memory if it has some, else a copy.

    Memory to share is that of an array and of a DLPack exporter.

    >>> imode.as_tensor([1.0, 2.0])
    tensor([1., 2.])
    """
    made = None if _is_capsule(data) else _sharing(data, dtype)
    if made is None:
        return ops.tensor(data, dtype=dtype, device=device)
    return made.to(made.device if device is None else device, dtype)


def _sharing(obj, dtype):
    """A tensor over the memory of `obj`, and None if it has none to share, or of another dtype."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return ops.from_numpy(obj) if dtype is None or obj.dtype == as_numpy(dtype) else None
    if isinstance(obj, (str, np.generic)):
        return None
    if hasattr(obj, "__dlpack__") or _is_capsule(obj):
        return ops.from_dlpack(obj)
    return None


def _is_buffer(obj):
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


@composite(
    "asarray(any obj, *, dtype? dtype=None, device? device=None, bool? copy=None, "
    "bool? requires_grad=None) -> Tensor",
    variants="function",
)
def asarray(obj, dtype, device, copy, requires_grad):
    """Return `obj` as a tensor that shares its memory where possible; `copy` forces or forbids.

    Takes tensors, storages, arrays, DLPack exporters, buffers, numbers and nested sequences. Raises
    ValueError where `copy=False` and a copy is needed (RuntimeError for NumPy's scalars).

    >>> imode.asarray([1, 2])
    tensor([1, 2])
    """
    if isinstance(obj, np.generic):
        if copy is False:
            raise RuntimeError("can't alias NumPy scalars. Leave out copy=False")
        obj = np.asarray(obj)
    if type(obj).__name__ == "TypedStorage":
        obj = obj._elements().detach()
    if isinstance(obj, UntypedStorage):
        obj = obj.elements(dtype or BYTE).detach()
    made = _sharing(obj, dtype if copy is not False else None)
    wanted = requires_grad
    if wanted is None:  # as before a copy, which no mode records
        wanted = made is not None and made.requires_grad
    if made is None and not isinstance(obj, np.ndarray) and _is_buffer(obj):
        flat = as_numpy(dtype, default_float())
        made = ops.from_numpy(_frombuffer(obj, flat, -1, 0, False)[0])
    if made is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        made = ops.tensor(obj, dtype=dtype, device=device)
    elif device is not None and device != made.device:
        if copy is False:
            raise ValueError(
                f"can't alias tensor with device '{made.device}' into device '{device}'."
            )
        made = made.to(device, dtype)
    elif dtype is not None and dtype != made.dtype:
        if copy is False:
            raise ValueError(
                f"can't alias tensor with dtype '{scalar_name(as_numpy(made.dtype))}' into dtype "
                f"'{scalar_name(as_numpy(dtype))}'."
            )
        made = made.to(dtype)
    elif copy:
        made = made.clone()
    if has_node(held(made)) and not wanted:
        return made.detach()
    if wanted and not (made.is_floating_point() or made.is_complex()):
        raise errors.graph.integers_require_grad()
    return made.requires_grad_(wanted)
