"""PyTorch's torch.storage: the memory of tensors as elements of a dtype, `tensor.storage()`.

Deprecated in PyTorch: the first use warns. `tensor.untyped_storage()` is the memory as bytes.
"""

import pickle
from collections.abc import Sequence

import imode as _imode
from imode._core import library_name as _library_name
from imode._core.storage import UntypedStorage, expect_inside
from imode._core.tensor import Tensor as _Tensor
from imode._core.type_names import class_name
from imode._core.user_frames import warn as _warn
from imode.errors import arguments as _arguments
from imode.errors import names_of as _names_of

__all__ = ["TypedStorage", "UntypedStorage"]

_refuse = _names_of(__name__)
_CLASSES = {  # name -> dtype
    "BFloat16Storage": "bfloat16",
    "BoolStorage": "bool",
    "ByteStorage": "uint8",
    "CharStorage": "int8",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "ShortStorage": "int16",
}
_CONVERSIONS = {  # method -> dtype
    "bfloat16": "bfloat16",
    "bool": "bool",
    "byte": "uint8",
    "char": "int8",
    "complex_double": "complex128",
    "complex_float": "complex64",
    "double": "float64",
    "float": "float32",
    "float8_e4m3fn": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}
_warned = False


def __getattr__(name):
    return _classes[name] if name in _CLASSES else _refuse(name)


def _warn_once():
    global _warned
    if not _warned:
        _warned = True
        _warn(
            "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will "
            "be the only storage class. This should only matter to you if you are using storages "
            "directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of "
            "tensor.storage()"
        )


def _wrong(what, detail):
    return RuntimeError(
        f"{what} received an invalid combination of arguments. It takes nothing, a number of "
        f"elements, a sequence of them, or wrap_storage=, an UntypedStorage. {detail}"
    )


def _expect_one(what, args, wrap_storage):
    if len(args) > 1 or (args and wrap_storage is not None):
        raise _wrong(what, "Too many positional arguments")


class TypedStorage:
    """The memory that a tensor shares with its views, as elements of its dtype.

    `TypedStorage(size)` and `TypedStorage(sequence)` make new memory, `wrap_storage=` and `dtype=`
    show the bytes of an UntypedStorage. Deprecated: the first use warns.

    >>> import warnings
    >>> x = imode.arange(6.0).view(2, 3)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     x[1].storage().size(), x[1].storage()[0]
    (6, 0.0)
    """

    is_sparse = False
    _fake_device = None

    def __init__(self, *args, device=None, dtype=None, wrap_storage=None):
        _warn_once()
        _expect_one("TypedStorage.__init__", args, wrap_storage)
        if wrap_storage is not None:
            if dtype is None:
                raise _wrong("TypedStorage.__init__", "Argument 'dtype' must be specified")
            if not isinstance(wrap_storage, UntypedStorage):
                detail = f"wrap_storage is {class_name(wrap_storage)}"
                raise TypeError(*_wrong("TypedStorage.__init__", detail).args)
            self._set(wrap_storage, dtype)
            return
        dtype = dtype or _imode.get_default_dtype()
        given = args[0] if args else 0
        if type(given) is int:
            made = _imode.empty(given, dtype=dtype, device=device)
        elif isinstance(given, (Sequence, _Tensor)) and not isinstance(given, str):
            made = _imode.tensor(given, dtype=dtype, device=device)
        else:
            raise _arguments.new_data(given)
        self._set(made.untyped_storage(), dtype)

    def _set(self, untyped, dtype):
        self._untyped_storage, self.dtype = untyped, dtype

    def _elements(self):
        return self._untyped_storage.elements(self.dtype)

    @property
    def device(self):
        """Where the elements are."""
        return self._untyped_storage.device

    @property
    def is_cuda(self):
        """Return False."""
        return False

    filename = None

    def untyped(self):
        """The memory as bytes."""
        _warn_once()
        return self._untyped_storage

    def size(self):
        """The number of elements."""
        _warn_once()
        return len(self._elements())

    __len__ = size

    def nbytes(self):
        """The number of bytes."""
        _warn_once()
        return self._untyped_storage.nbytes()

    def element_size(self):
        """Bytes per element."""
        _warn_once()
        return self.dtype.itemsize

    def data_ptr(self):
        """The address of the first element."""
        _warn_once()
        return self._untyped_storage.data_ptr()

    def tolist(self):
        """The elements as a list of numbers."""
        _warn_once()
        return self._elements().tolist()

    def __iter__(self):
        return iter(self.tolist())

    def __getitem__(self, index):
        """The element of a number. Raises RuntimeError for a slice."""
        _warn_once()
        self._expect_index(index, bool)
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        expect_inside(index, len(self._elements()))
        return self._elements()[index].item()

    def __setitem__(self, index, value):
        _warn_once()
        self._expect_index(index)
        self._elements()[index] = value

    def _expect_index(self, index, but=()):
        if not isinstance(index, (int, slice)) or isinstance(index, but):
            kind = TypeError if isinstance(index, but) else RuntimeError
            raise kind(f"can't index a {type(self)} with {type(index)}")

    def fill_(self, value):
        """Set all elements to a number; returns the storage."""
        self[:] = value
        return self

    def copy_(self, source, non_blocking=None):
        """Copy the bytes of a storage of as many; returns this one."""
        _warn_once()
        self._untyped_storage.copy_(source.untyped(), non_blocking)
        return self

    def clone(self):
        """A copy in memory of its own."""
        _warn_once()
        return _typed(self._untyped_storage.clone(), self.dtype)

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = self.clone()
        return memo[id(self)]

    def __reduce__(self):
        return _unpickled, (pickle.dumps(self._elements().clone()),)

    def cpu(self):
        """The elements on the CPU."""
        _warn_once()
        return _typed(self._untyped_storage.cpu(), self.dtype)

    def type(self, dtype=None, non_blocking=False):
        """The name of the class that older programs know it by, or a copy in a dtype.

        >>> imode.FloatStorage([1.5]).type(imode.float64).dtype
        imode.float64
        """
        _warn_once()
        if dtype is None:
            return f"torch.{self.pickle_storage_type()}"
        if isinstance(dtype, str):
            dtype = getattr(_imode, _CLASSES[dtype.rpartition(".")[2]])
        return self._to(getattr(dtype, "dtype", dtype))

    def _to(self, dtype):
        _warn_once()
        return _typed(self._elements().to(dtype, copy=True).untyped_storage(), dtype)

    def pickle_storage_type(self):
        """The name of the class that older programs know it by."""
        return next(name for name, kind in _CLASSES.items() if kind == self.dtype.name)

    def resizable(self):
        """Return False: memory is not resized under its tensors."""
        return False

    def is_shared(self):
        """Whether the elements are in memory that processes share."""
        return self._untyped_storage.is_shared()

    def share_memory_(self):
        """Move the elements to memory that processes share; returns the storage."""
        self._untyped_storage.share_memory_()
        return self

    def is_pinned(self, device=None):
        """Return False."""
        return self._untyped_storage.is_pinned(device)

    def get_device(self):
        """Return None, as for all on the CPU."""

    def __repr__(self):
        described = (
            f"[{_library_name.name}.storage.TypedStorage(dtype={self.dtype}, device={self.device}) "
            f"of size {len(self._elements())}]"
        )
        if self.device.type == "meta":
            return f"...\n{described}"
        return "\n ".join(["", *map(str, self._elements().tolist())])[1:] + f"\n{described}"


def _converting(kind):
    def convert(self):
        return self._to(getattr(_imode, kind))

    convert.__doc__ = f"A copy as {kind}."
    return convert


for _name, _kind in _CONVERSIONS.items():
    setattr(TypedStorage, _name, _converting(_kind))


def _typed(untyped, dtype):
    made = TypedStorage.__new__(TypedStorage)
    made._set(untyped, dtype)
    return made


def of(tensor):
    """The memory of a tensor as elements: `tensor.storage()`."""
    _warn_once()
    return _typed(tensor.untyped_storage(), tensor.dtype)


def _unpickled(data):
    tensor = pickle.loads(data)
    return _typed(tensor.untyped_storage(), tensor.dtype)


# ---- one class for each dtype, as older programs have them ---------------------------------------


class _LegacyMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, TypedStorage) and instance.dtype == cls.dtype

    @property
    def dtype(cls):
        """The dtype of the elements."""
        return getattr(_imode, _CLASSES[cls.__name__])


def _new(cls, *args, wrap_storage=None, **more):
    _expect_one(f"{cls}.__new__", args, wrap_storage)
    if more:
        raise _wrong(f"{cls}.__new__", f"Keyword argument {next(iter(more))!r} cannot be specified")
    return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype)


_classes = {
    name: _LegacyMeta(
        name,
        (),
        {
            "__new__": _new,
            "__module__": "imode",
            "__doc__": f"A TypedStorage of {kind}: makes one, and isinstance tells one.",
        },
    )
    for name, kind in _CLASSES.items()
}
