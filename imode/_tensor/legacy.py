"""The older constructors: `imode.Tensor(2, 3)`, `imode.LongTensor([1, 2])`, `Variable(data)`.

They make an uninitialised tensor from sizes and a filled one from a sequence. New code writes
`imode.empty` and `imode.tensor`.
"""

import numpy as np

from imode import errors, ops
from imode._core.dtype import all_dtypes, get_default_dtype
from imode._core.formats import strided
from imode._core.size import Size
from imode._core.tensor import Tensor
from imode._core.type_names import class_name, scalar_name
from imode.autograd import engine


def _is_size(value):
    if isinstance(value, (np.integer, np.ndarray)):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return isinstance(value, int) and not isinstance(value, bool)


def _named(name, value):
    """The only argument, which was given by name."""
    if name == "size" and isinstance(value, (tuple, list)):
        return (Size(value),), {}
    if name == "other" and isinstance(value, Tensor):
        return (value,), {}
    if name == "data" and not isinstance(value, Tensor) and not _is_size(value):
        return (value,), {}
    return (), {name: value}


def construct(dtype, args, kwargs, exact):
    """`exact`: a tensor argument must have the dtype already, as in `imode.FloatTensor(t)`."""
    device = kwargs.pop("device", None)
    if not args and len(kwargs) == 1:
        args, kwargs = _named(*kwargs.popitem())
    if kwargs or (len(args) > 1 and not all(_is_size(arg) for arg in args)):
        raise errors.arguments.invalid_combination(
            "new",
            args,
            kwargs,
            [
                "(*, device = None)",
                "(tuple of ints size, *, device = None)",
                "(object data, *, device = None)",
                "(Tensor other)",
            ],
        )
    if not args:
        return ops.empty((0,), dtype=dtype, device=device)
    first = args[0]
    if isinstance(first, Tensor):
        if exact and first.dtype != dtype:
            raise TypeError(f"expected a tensor of dtype {dtype} (got {first.dtype})")
        return ops.alias(first)
    if hasattr(first, "untyped"):  # a storage: over its memory
        if getattr(first, "dtype", dtype) is not dtype:
            raise errors.dtypes.storage_of_another(first.dtype.numpy, scalar_name(dtype.numpy))
        return ops.empty((0,), dtype=dtype).set_(first)
    if _is_size(first):
        return ops.empty(tuple(int(n) for n in args), dtype=dtype, device=device)
    if isinstance(first, Size):
        return ops.empty(first, dtype=dtype, device=device)
    if isinstance(first, (str, bytes)):
        raise errors.arguments.new_data(first)
    number = isinstance(first, np.generic) and not isinstance(first, np.void)
    if isinstance(first, dict) or number or not hasattr(type(first), "__getitem__"):
        raise TypeError(f"new(): data must be a sequence (got {class_name(first)})")
    make = ops.as_tensor if isinstance(first, np.ndarray) else ops.tensor
    return make(first, dtype=dtype, device=device)


def legacy_constructor(*args, **kwargs):
    """`imode.Tensor(...)`, which uses the default dtype."""
    return construct(get_default_dtype(), args, kwargs, False)


class _VariableType(type):
    """The class of `imode.autograd.Variable`: every tensor is an instance of that."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """An older name for a tensor; calling it returns a tensor over the same memory."""

    _execution_engine = engine  # for hooks that call its queue_callback

    def __new__(cls, data=None, requires_grad=False):
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        made = ops.empty((0,)) if data is None else data.detach()
        if requires_grad and not (made.is_floating_point() or made.is_complex()):
            raise errors.graph.integers_require_grad()
        return made.requires_grad_(requires_grad)


class LegacyType(type):
    """The class of `imode.FloatTensor`: call that for a new tensor; isinstance tests the dtype."""

    def __call__(cls, *args, **kwargs):
        return construct(cls.dtype, args, kwargs, True)

    def __instancecheck__(cls, instance):
        if not isinstance(instance, Tensor) or instance.dtype != cls.dtype:
            return False
        return instance.layout is cls.layout


def legacy_type(meta, dtype, layout, module, doc):
    """Make the class of the tensors of a dtype and a layout; what it makes is up to `meta`."""
    body = {"dtype": dtype, "layout": layout, "is_cuda": False, "__module__": module}
    body["is_sparse"] = layout is not strided
    return meta(f"{scalar_name(dtype)}Tensor", (), {"__doc__": doc, **body})


def _strided_type(dtype):
    doc = f"Tensors of dtype {dtype.name}; called, makes one from sizes or from a sequence."
    return legacy_type(LegacyType, dtype, strided, "imode", doc)


BoolTensor, ByteTensor, CharTensor, ShortTensor, IntTensor, LongTensor = map(
    _strided_type, all_dtypes()[:6]
)
BFloat16Tensor, HalfTensor, FloatTensor, DoubleTensor = map(_strided_type, all_dtypes()[11:15])
