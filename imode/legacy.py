"""The older constructors: `imode.Tensor(2, 3)`, `imode.LongTensor([1, 2])`, `Variable(data)`.

They make an uninitialised tensor from sizes and a filled one from a sequence. New code writes
`imode.empty` and `imode.tensor`.
"""

import numpy as np

from . import ops
from ._core.dtype import Size, all_dtypes, get_default_dtype
from ._core.tensor import Tensor
from ._core.words import class_name, scalar_name
from .autograd import engine
from .errors import integers_require_grad


def _is_size(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _named(name, value):
    """The one argument that was named, by its place where it fits that name."""
    if name == "size" and isinstance(value, (tuple, list)):
        return (Size(value),), {}
    if name == "other" and isinstance(value, Tensor):
        return (value,), {}
    if name == "data" and not isinstance(value, Tensor) and not _is_size(value):
        return (value,), {}
    return (), {name: value}


def _construct(dtype, args, kwargs, exact):
    """`exact`: a tensor argument must be of the dtype already, as for `imode.FloatTensor(t)`."""
    device = kwargs.pop("device", None)
    if not args and len(kwargs) == 1:
        args, kwargs = _named(*kwargs.popitem())
    if kwargs or (len(args) > 1 and not all(_is_size(arg) for arg in args)):
        from ._core.refusal import invalid_combination  # as bind does: not needed before

        raise invalid_combination(
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
        return ops._alias(first)
    if _is_size(first):
        return ops.empty(tuple(int(n) for n in args), dtype=dtype, device=device)
    if isinstance(first, Size):
        return ops.empty(first, dtype=dtype, device=device)
    if isinstance(first, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(first).__name__}'")
    if isinstance(first, dict) or not hasattr(type(first), "__getitem__"):
        raise TypeError(f"new(): data must be a sequence (got {class_name(first)})")
    if isinstance(first, np.generic):
        raise TypeError(f"new(): data must be a sequence (got {class_name(first)})")
    make = ops.as_tensor if isinstance(first, np.ndarray) else ops.tensor
    return make(first, dtype=dtype, device=device)


def legacy_constructor(*args, **kwargs):
    """What `imode.Tensor(...)` does: the default dtype."""
    return _construct(get_default_dtype(), args, kwargs, False)


def new(self, *args, **kwargs):
    """Make a tensor of this one's dtype: uninitialised from sizes, filled from a sequence."""
    return _construct(self.dtype, args, kwargs, True)


class _VariableType(type):
    """The class of `imode.autograd.Variable`: every tensor is one."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """What tensors with gradients once were: called, gives a tensor over the same memory."""

    _execution_engine = engine  # whose queue_callback hooks call

    def __new__(cls, data=None, requires_grad=False):
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        made = ops.empty((0,)) if data is None else data.detach()
        if requires_grad and not (made.is_floating_point() or made.is_complex()):
            raise integers_require_grad()
        return made.requires_grad_(requires_grad)


class _LegacyType(type):
    """The class of `imode.FloatTensor`: call it to make a tensor; isinstance asks for the dtype."""

    def __call__(cls, *args, **kwargs):
        return _construct(cls.dtype, args, kwargs, True)

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype


def _legacy_type(name, dtype):
    doc = f"Tensors of dtype {dtype.name}; called, makes one from sizes or from a sequence."
    body = {"dtype": dtype, "__doc__": doc, "__module__": "imode", "is_cuda": False}
    return _LegacyType(name, (), body)


legacy_types = {
    name: _legacy_type(name, dtype)
    for dtype in all_dtypes()
    if not dtype.is_complex
    for name in [f"{scalar_name(dtype)}Tensor"]
}
