"""Operators that write a tensor's elements or storage whole: copy_, fill_, set_, conversion."""

import math

import numpy as np

from imode import errors, ops
from imode._core.dtype import as_numpy
from imode._core.formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_order,
    preserve_format,
)
from imode._core.internals import array_of, origin_of
from imode._core.layout import (
    common_order,
    empty_in,
    empty_like,
    is_channels_last,
    iteration_order,
    strides_in,
)
from imode._core.numbers import filling
from imode._core.overlap import refuse_overlaps
from imode._core.parallel import skipping
from imode._core.storage import UntypedStorage, offset_in, root_of
from imode._core.type_names import c_name, class_name
from imode._core.user_frames import warn
from imode.autograd.leaves import forget_graphs
from imode.kernels.creation import copy as kernels
from imode.kernels.shapes import storage_views, views
from imode.ops.gradient_checks import mismatch
from imode.ops.pointwise.common import no_derivative, zeros, zeros_in_rows
from imode.ops.schema import composite, op


def _real_for(source, dtype):
    """What of complex numbers goes into a real dtype: their real parts, with a warning."""
    if source.dtype.kind != "c" or dtype.kind in "cb":
        return source
    warn("Casting complex values to real discards the imaginary part")
    return source.real


@np.errstate(all="ignore")  # what is beyond the range becomes infinite
def copy_elements(self, src, non_blocking):
    if _same_elements(src, self):  # a tensor into itself, expanded ones too
        _refuse_read_only(self)
        return
    given, src = src, np.asarray(src)
    src = _real_for(src, self.dtype)
    _refuse_read_only(self)
    refuse_overlaps(self, given if isinstance(given, np.ndarray) else None)
    try:
        source = src if src.shape == self.shape else np.broadcast_to(src, self.shape)
    except ValueError:
        raise mismatch(self.shape, src.shape) from None
    order = common_order(self.shape, [self.strides, source.strides])  # shows where windows overlap
    if skipping():
        return
    target, source = self.transpose(order), _cast(source, self.dtype).transpose(order)
    if source.dtype == target.dtype and _share(source, target):
        kernels.copy_in_turn(target, source)
    else:
        np.copyto(target, source, casting="unsafe")


def _share(a, b):
    """Whether two arrays have an element in common; that they have where it takes long to tell."""
    try:
        return np.shares_memory(a, b, max_work=10_000)
    except np.exceptions.TooHardError:
        return True


def _same_elements(a, b):
    return a is b or (
        isinstance(a, np.ndarray)
        and a.dtype == b.dtype
        and a.shape == b.shape
        and a.strides == b.strides
        and a.__array_interface__["data"] == b.__array_interface__["data"]
    )


def _cast(array, dtype):
    """`array` in `dtype`; a float beyond an integer's range becomes what the processor gives."""
    if array.dtype == dtype or dtype.kind not in "iu" or array.dtype.kind != "f":
        return array
    if dtype.itemsize < 4:
        array = array.astype(np.int32)
    return array.astype(dtype)


def _refuse_read_only(array):
    if not array.flags.writeable:
        raise errors.views.read_only()


op(
    "copy_(Tensor(a!) self, Tensor|Scalar other, bool non_blocking=False) -> Tensor(a!)",
    copy_elements,
    fast=kernels.copy_fast,
    derivative={
        "self": zeros_in_rows,
        "other": lambda grad, other_device: _brought(grad, other_device),
    },
    name="torch::autograd::CopyBackwards",
    floats_only=True,
    variants="method",
    doc="""Copy the elements of `other` into the tensor and return it.

`other` is broadcast to the tensor's shape and converted to its dtype. Where both share memory,
which is refused if neither has gaps, an element is copied as it is by then.

>>> imode.zeros(3).copy_(imode.tensor([1, 2, 3]))
tensor([1., 2., 3.])
""",
)


def _brought(grad, device):
    """The gradient on the device of what was copied; the engine brings its dtype back."""
    return grad if device is None or grad.device == device else grad.to(device)


@np.errstate(all="ignore")
def _to_copy(self, dtype, memory_format, device):
    dtype = as_numpy(dtype, self.dtype)
    order = memory_order(memory_format, self.ndim, "to")
    made = empty_like(self, dtype) if order is None else empty_in(order, self.shape, dtype)
    if not skipping():
        made[...] = _cast(_real_for(self, dtype), dtype)
    return made


op(
    "_to_copy(Tensor self, *, dtype? dtype=None, any memory_format=None, device? device=None) "
    "-> Tensor",
    _to_copy,
    fast=kernels.convert_fast,
    derivative={"self": lambda grad, self_device: _brought(grad, self_device)},
    floats_only=True,
)


def _pin_memory(self, device):
    raise errors.arguments.no_accelerator()


op(
    "_pin_memory(Tensor self, device? device=None) -> Tensor",
    _pin_memory,
    differentiable=False,
    variants="function",
    doc="""A copy in memory that a GPU reads directly: RuntimeError, for there is no such device.

    Packages name it, to say what it does to tensors of their own.

    >>> imode._pin_memory(imode.ones(2))
    Traceback (most recent call last):
    RuntimeError: Cannot access accelerator device when none is available.
    """,
)


def _fill(self, value):
    _refuse_read_only(self)
    value = filling(value, self)
    if not skipping():
        self.fill(value)


def _fill_tensor(self, value):
    if value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    copy_elements(self, value.copy(), False)


op(
    "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    _fill_tensor,
    derivative={
        "self": zeros,
        "value": lambda grad: grad.sum(),
    },
    name="FillBackward3",
    doc="Set every element to the value of a 0-dim tensor and return the tensor.",
)
op(
    "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
    _fill,
    fast=kernels.fill_fast,
    derivative={"self": zeros},
    name="FillBackward2",
    doc="""Set every element to `value`, a number or a 0-dim tensor, and return the tensor.

>>> imode.zeros(2).fill_(7)
tensor([7., 7.])
""",
)


def _filled(write):
    def filled(self, value):
        result = empty_like(self)
        write(result, value)
        return result

    return filled


op(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    _filled(_fill_tensor),
    derivative={"self": zeros, "value": lambda grad: grad.sum()},
    name="FillBackward1",
    variants="function",
    doc="""Return a tensor of the shape and dtype of the first, full of `value`.

value: a number or a 0-dim tensor.

>>> imode.fill(imode.zeros(2), 7)
tensor([7., 7.])
""",
)
op(
    "fill.Scalar(Tensor self, Scalar value) -> Tensor",
    _filled(_fill),
    derivative={"self": zeros},
    variants="function",
    doc="Return a tensor of the shape and dtype of the first, full of a number.",
)


def _zero(self):
    _refuse_read_only(self)
    self.fill(0)


op(
    "zero_(Tensor(a!) self) -> Tensor(a!)",
    _zero,
    fast=kernels.zero_fast,
    derivative={"self": zeros},
    doc="""Set every element to 0 and return the tensor.

>>> imode.ones(2).zero_()
tensor([0., 0.])
""",
)


def _resize(self, size, memory_format):
    if any(n < 0 for n in size):
        raise errors.shapes.too_many_elements(f". resize_() got a negative size: {list(size)}")
    n = math.prod(size)
    if n * self.itemsize >= 1 << 63 or (n == 0 and any(length >= 1 << 40 for length in size)):
        given = f". resize_() got the size {list(size)}"
        if n >= 1 << 63:
            raise errors.shapes.too_many_elements(given)
        if n:
            raise errors.shapes.storage_overflow(size, more=given)
        raise RuntimeError(f"Stride calculation overflowed{given}")
    order = memory_order(memory_format, len(size), "resize_")
    strides = None if order is None else strides_in(order, size, self.itemsize)
    root = root_of(self)
    offset = offset_in(root, self)
    end = offset + n * self.itemsize
    if not root.flags.c_contiguous:  # memory of NumPy's, in another order
        memory = np.zeros(n, self.dtype)
        kept = min(self.size, n)
        memory[:kept] = self.reshape(-1)[:kept]
        return np.ndarray(size, self.dtype, memory, 0, strides)
    memory = root.reshape(-1).view(np.uint8)
    if end > root.nbytes:  # more of it, in which all elements keep their places
        memory = np.zeros(end, np.uint8)
        memory[: root.nbytes] = root.reshape(-1).view(np.uint8)
    return np.ndarray(size, self.dtype, memory, offset, strides)


op(
    "_resize_(Tensor(a!) self, int[] size, *, any memory_format=None) -> Tensor(a!)",
    _resize,
    differentiable=False,
)


@composite(
    "resize_(Tensor(a!) self, int[] size, *, any memory_format=None) -> Tensor(a!)",
    variants="method",
)
def resize_(self, size, memory_format):
    """Change the shape in place; elements beyond the old ones are 0. Returns the tensor.

    The storage is kept where it is large enough. Raises RuntimeError for a negative size and for a
    tensor that requires grad.

    >>> imode.tensor([1.0, 2.0]).resize_(3).shape
    imode.Size([3])
    """
    from imode._core.dispatch import is_inference_mode_enabled

    if self.requires_grad and not (is_inference_mode_enabled() or self.is_inference()):
        raise RuntimeError("cannot resize variables that require grad. resize_() a .detach() of it")
    if tuple(size) == self.shape and memory_format is None:
        return self  # not a write
    return ops._resize_(self, size, memory_format=memory_format)


@composite(
    "resize_as_(Tensor(a!) self, Tensor the_template, *, any memory_format=None) -> Tensor(a!)"
)
def resize_as_(self, the_template, memory_format):
    """Change the shape in place to that of another tensor, as `resize_`; returns the tensor.

    memory_format: imode.preserve_format takes that of the other tensor.
    """
    if memory_format is preserve_format:
        memory_format = contiguous_format
        if is_channels_last(array_of(the_template)):
            memory_format = channels_last if the_template.dim() == 4 else channels_last_3d
    return self.resize_(tuple(the_template.shape), memory_format=memory_format)


op(
    "_set_(Tensor(a!) self) -> Tensor(a!)",
    lambda self: views.apply(storage_views.as_strided, np.empty(0, self.dtype), (0,), (1,), 0),
    derivative={"self": no_derivative("set_", "")},
    name="torch::autograd::NotImplemented",
)
op(
    "_set_.source(Tensor(a!) self, Tensor source) -> Tensor(a!)",
    lambda self, source: source.view(),
    derivative={"self": no_derivative("set_", ""), "source": no_derivative("set_", "")},
    name="torch::autograd::NotImplemented",
)
_SET_STORAGE = op(
    "_set_.source_Storage(Tensor(a!) self, any source) -> Tensor(a!)",
    lambda self, source: array_of(source).view(),
    derivative={"self": no_derivative("set_", "")},
    name="torch::autograd::NotImplemented",
)


@composite("set_(Tensor(a!) self) -> Tensor(a!)", variants="method", overloads="one")
def set_(self):
    """Empty the tensor: it gets new memory, for no elements; returns the tensor.

    >>> imode.zeros(2).set_()
    tensor([])
    """
    done = ops._set_(self)
    forget_graphs(self)
    return done


@composite("set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)", variants="method")
def set_source(self, source):
    """Make the tensor share the storage, shape and strides of `source`; returns the tensor.

    Raises RuntimeError where one of them is an inference tensor and the other is not: writes to the
    one would go unnoticed by what saved the other.

    >>> imode.zeros(2).set_(imode.ones(3))
    tensor([1., 1., 1.])
    """
    return _set(self, source, ops._set_)


def _set(self, source, write):
    from imode._core.dispatch import is_inference_mode_enabled

    if source.dtype != self.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {c_name(source.dtype.numpy)} to a tensor of type "
            f"{c_name(self.dtype.numpy)}"
        )
    if source.device != self.device:
        raise errors.devices.set_memory(self.device, source.device)
    inference = self.is_inference()
    mixed = inference != source.is_inference()
    if mixed and (is_inference_mode_enabled() or not inference):  # else _set_ refuses the write
        maker, guard_id, _ = origin_of(self if inference else source)
        raise errors.inference.set_memory(guard_id, maker, not inference)
    done = write(self, source)
    forget_graphs(self)
    return done


@composite(
    "set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, int storage_offset, "
    "int[] size, int[]? stride=None) -> Tensor(a!)",
    variants="method",
)
def set_part(self, source, storage_offset, size, stride):
    """Likewise a part of a contiguous `source`, by its place and shape."""
    if not source.is_contiguous():
        raise RuntimeError(
            "passed in tensor to be used as storage must be contiguous. Give its contiguous(), or "
            "its untyped_storage()"
        )
    start = source.storage_offset() + storage_offset
    if not stride and size == self.shape:
        stride = self.stride()  # as they were
    if stride:
        if len(stride) != len(size):
            raise RuntimeError(
                f"unequal size length ({len(size)}) and stride length ({len(stride)})"
            )
        if min(stride) < 0 <= min(size):
            raise errors.shapes.storage_overflow(size, stride)
    if min(size, default=0) < 0:
        raise errors.shapes.too_many_elements()
    if stride:
        part = source.as_strided(size, stride, start)
    else:
        part = source.as_strided((math.prod(size),), (1,), start).view(size)
    return _set(self, part, _SET_STORAGE)


@composite("set_.source_Storage(Tensor(a!) self, any storage) -> Tensor(a!)", variants="method")
def set_storage(self, storage):
    """Likewise all of a storage, as elements of the tensor's dtype."""
    return _set(self, _elements_of(storage, self.dtype), _SET_STORAGE)


@composite(
    "set_.source_Storage_storage_offset(Tensor(a!) self, any storage, int storage_offset, "
    "int[] size, int[]? stride=None) -> Tensor(a!)",
    variants="method",
)
def set_storage_part(self, storage, storage_offset, size, stride):
    """Likewise a part of a storage."""
    return set_part(self, _elements_of(storage, self.dtype), storage_offset, size, stride)


def _elements_of(storage, dtype):
    """All of a storage as a tensor of this dtype."""
    if type(storage).__name__ == "TypedStorage" and storage.dtype is not dtype:
        raise errors.dtypes.storage_of_another(storage.dtype.numpy, c_name(dtype.numpy))
    storage = getattr(storage, "_untyped_storage", storage)
    if not isinstance(storage, UntypedStorage):
        raise TypeError(
            f"set_() received an invalid combination of arguments - got ({class_name(storage)}), "
            "but expected one of:\n * ()\n * (Tensor source)\n * (UntypedStorage source)\n"
            "The last two may be followed by (int storage_offset, tuple of ints size, tuple of "
            "ints stride = None)"
        )
    return storage.elements(dtype)


# The elements, the shape and the order of the axes of another tensor, in one write.


@op(
    "_assign_(Tensor(a!) self, Tensor src) -> Tensor(a!)",
    differentiable=False,
)
def _assign(self, src):
    if self.shape == src.shape:
        copy_elements(self, src, False)
        return None
    order = iteration_order(src)
    made = _resize(self, tuple(src.shape[i] for i in order), None).transpose(np.argsort(order))
    copy_elements(made, src, False)
    return made
