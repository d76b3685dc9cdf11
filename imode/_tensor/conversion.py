"""Methods of Tensor that convert: to another dtype, device or order of the elements in memory."""

from imode import errors, ops
from imode._core import device as devices
from imode._core import dtype as dtypes
from imode._core import formats, library_name
from imode._core.internals import array_of
from imode._core.tensor import Tensor
from imode._core.type_names import scalar_name

_BY_NAME = {d.name: d for d in dtypes.all_dtypes()}
_BY_TYPE_NAME = {f"{scalar_name(d)}Tensor": d for d in dtypes.all_dtypes()}
_CONVERTERS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
}


def to(self, *args, **kwargs):
    """Convert: `to(dtype)`, `to(device, dtype)`, `to(other)`, each with `copy=`, `memory_format=`.

    Returns the tensor itself if nothing changes and `copy=True` is not given. Raises TypeError
    for other arguments, and an error for a device where nothing can be.

    >>> imode.ones(2).to(imode.int64)
    tensor([1, 1])
    """
    if len(args) == 1 and not kwargs and type(args[0]) is dtypes.dtype:
        return self if args[0] is self.dtype else ops._to_copy(self, dtype=args[0])
    given = args, dict(kwargs)
    dtype = kwargs.pop("dtype", None)
    device = kwargs.pop("device", None)
    other = kwargs.pop("other", None)
    copy = kwargs.pop("copy", False)
    memory_format = kwargs.pop("memory_format", None)
    kwargs.pop("non_blocking", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    flags = []
    for arg in args:
        if isinstance(arg, Tensor) and other is None:
            other = arg
        elif (isinstance(arg, (str, devices.device)) and device is None) or (
            arg is args[0] and type(arg) is int
        ):
            device = arg
        elif arg is None:
            continue
        elif isinstance(arg, bool):
            flags.append(arg)
        else:
            dtype = arg
    if not (memory_format is None or isinstance(memory_format, formats.memory_format)):
        raise _invalid(*given)
    if len(flags) > 1:
        copy = flags[1]
    if other is not None:
        dtype, device = other.dtype, other.device
    if device is not None:
        device = devices.usable_device(device)
        device = None if device == self.device else device
    if isinstance(dtype, type) and dtype in (bool, int, float, complex):
        dtype = _BY_NAME[dtypes.as_numpy(dtype).name]
    elif dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise _invalid(*given)
    return _converted(self, dtype, memory_format, copy, device)


def _invalid(args, kwargs):
    options = "bool non_blocking = False, bool copy = False"
    tail = "*, imode.memory_format memory_format = None)"
    return errors.arguments.invalid_combination(
        "to",
        args,
        kwargs,
        [
            f"(imode.device device = None, imode.dtype dtype = None, {options}, {tail}",
            f"(imode.dtype dtype, {options}, {tail}",
            f"(Tensor other, {options}, {tail}",
        ],
    )


def _suggested(self):
    """The format that matches the strides, with or without gaps; contiguous if no other does."""
    from imode._core.layout import is_channels_last  # only needed here

    if not is_channels_last(array_of(self)):
        return formats.contiguous_format
    return formats.channels_last if self.ndim == 4 else formats.channels_last_3d


def _converted(self, dtype, memory_format, copy=False, device=None):
    """The tensor with a given dtype, memory order and, if it is another, device; or itself."""
    same = (dtype is None or dtype is self.dtype) and not copy and device is None
    if same and memory_format in (None, formats.preserve_format):
        return self
    if same and memory_format is _suggested(self):
        return self
    if device is not None and self.is_meta:
        raise errors.devices.no_elements()
    return ops._to_copy(self, dtype=dtype or self.dtype, memory_format=memory_format, device=device)


def _converter(method, name):
    dtype = _BY_NAME[name]

    def convert(self, *, memory_format=None):
        if memory_format is None:  # most calls: without the rules of the others
            return self if self.dtype is dtype else ops._to_copy(self, dtype=dtype)
        return _converted(self, dtype, memory_format)

    convert.__name__ = convert.__qualname__ = method
    convert.__doc__ = f"The tensor in {name}; itself if it is that already."
    return convert


def type_(self, dtype=None, non_blocking=False, *, memory_format=None):
    """The name of the tensor's type, or the tensor converted to `dtype` (a dtype or such a name).

    >>> imode.ones(1).type()
    'imode.FloatTensor'
    """
    if dtype is None:
        place = "" if self.is_cpu else f"{self.device.type}."
        place += "sparse." if self.is_sparse else ""
        return f"{library_name.name}.{place}{scalar_name(self.dtype)}Tensor"
    if isinstance(dtype, str):
        name = dtype.rpartition(".")[2]
        if name not in _BY_TYPE_NAME:
            raise ValueError(f"invalid type: {dtype!r}")
        dtype = _BY_TYPE_NAME[name]
    elif isinstance(dtype, type):
        if dtype is Tensor:
            dtype = dtypes.get_default_dtype()
        elif isinstance(getattr(dtype, "dtype", None), dtypes.dtype):
            dtype = dtype.dtype  # a class such as imode.LongTensor
        else:
            raise ValueError(f"invalid type: {dtype.__name__!r}")
    elif not isinstance(dtype, dtypes.dtype):
        raise TypeError("dtype must be a type, str, or dtype object")
    return to(self, dtype, memory_format=memory_format)


type_.__name__ = "type"  # which is another function in this module


def type_as(self, other):
    """The tensor in the dtype of `other`."""
    if not isinstance(other, Tensor):
        raise TypeError(
            f"type_as(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}"
        )
    return to(self, other.dtype)


def cpu(self, *, memory_format=None):
    """The tensor on the CPU; itself if it is there, unless another memory order is asked for.

    Raises NotImplementedError for a tensor on meta.
    """
    device = None if self.is_cpu else devices.usable_device("cpu")
    return _converted(self, None, memory_format, device=device)


def cuda(self, device=None, non_blocking=False, *, memory_format=None):
    """Raises: tensors live on the CPU."""
    return devices.usable_device("cuda")


METHODS = {
    "to": to,
    "type": type_,
    "type_as": type_as,
    "cpu": cpu,
    "cuda": cuda,
    **{name: _converter(name, dtype) for name, dtype in _CONVERTERS.items()},
}
