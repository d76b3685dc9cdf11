"""Subclasses of Tensor: `class Named(imode.Tensor)`, `tensor.as_subclass(Named)`.

Note [Subclasses hold a tensor]
Kernels test the exact type, and a dead tensor is used again for the next result: both would be
wrong for objects of other classes, and testing for them would slow down everyone. So an object of a
subclass is no compiled tensor but holds one, and `isinstance` with Tensor holds by Tensor's
metaclass, which puts `TensorLike` in Tensor's place among the bases. An operator finds such an
object where binding has failed, and asks its class's `__torch_function__`; that of TensorLike calls
the function with the tensors held, and puts the results into the class. Tensor's other methods and
its attributes go the same way.
"""

import copy
import numbers
import types

import numpy as np

from imode import ops
from imode._core.callables import own_attributes
from imode._core.internals import (
    AbsentMethod,
    install,
    is_parameter,
    make_parameter,
    set_metaclass,
)
from imode._core.overriding import (
    UNBOUND,
    DisableTorchFunctionSubclass,
    Native,
    call_seen,
    has_override,
    name_holder,
    native,
    unwrapped,
)
from imode._core.tensor import Tensor


class TensorMeta(type):
    """The class of Tensor and its subclasses."""

    __module__ = "imode"  # found for Tensor.__module__, too: a compiled class has none in its dict

    def __new__(meta, name, bases, namespace, **kwargs):
        _fill()
        bases = tuple(TensorLike if base is Tensor else base for base in bases)
        return super().__new__(meta, name, bases, namespace, **kwargs)

    def __dir__(cls):
        return _present(super().__dir__(), cls)

    def __subclasscheck__(cls, other):
        if cls is Tensor:
            classes = getattr(other, "__mro__", ())
            return other is Tensor or TensorLike in classes or hasattr(other, "_makes_tensors")
        return type.__subclasscheck__(cls, other)


def _present(names, cls, *more):
    """Return the names without those that only tell that they are missing."""
    absent = {name for name, value in vars(Tensor).items() if type(value) is AbsentMethod}
    absent.difference_update(*[vars(base) for base in cls.__mro__ if base is not Tensor], *more)
    return [name for name in names if name not in absent]


def __dir__(self):
    return _present(object.__dir__(self), type(self), getattr(self, "__dict__", ()))


class SubclassedMeta(TensorMeta):
    """The class of Tensor once it has subclasses."""

    __module__ = "imode"

    def __instancecheck__(cls, instance):
        if cls is Tensor:
            return type(instance) is Tensor or issubclass(type(instance), TensorLike)
        return type.__instancecheck__(cls, instance)

    def __getattribute__(cls, name):
        found = type.__getattribute__(cls, name)
        if cls is Tensor and (unbound := UNBOUND.get(name)) is not None and unbound._own is found:
            return unbound
        return found


def _in_class(result, cls, own):
    """A result with its tensors in the class. `own`: from the id of a tensor that an argument
    holds to the argument: an operator that writes returns its target."""
    kind = type(result)
    if kind is Tensor:
        return own[id(result)] if id(result) in own else make(cls, result)
    if kind in (tuple, list):
        return kind(_in_class(item, cls, own) for item in result)
    if isinstance(result, tuple) and kind.__module__ == "imode.return_types":
        return kind([_in_class(item, cls, own) for item in result])
    return result


def make(cls, tensor):
    """An object of a subclass that holds a tensor."""
    if cls is Tensor:
        return tensor
    self = object.__new__(cls)
    self._imode_tensor = tensor
    return self


def _plain(value, name):
    if type(value) is Tensor:
        return value
    if isinstance(value, TensorLike):
        return value._imode_tensor
    raise TypeError(f"{name}(): expected a Tensor, got {type(value).__name__}")


def _check_class(cls, name):
    if cls is not Tensor and not (isinstance(cls, type) and issubclass(cls, TensorLike)):
        raise TypeError(f"{name}(): expected a subclass of Tensor, got {cls!r}")


class TensorLike:
    """What subclasses of Tensor derive from; not visible from Python under this name."""

    __slots__ = ("__dict__", "__weakref__", "_imode_tensor")

    def __new__(cls, *args, **kwargs):
        if len(args) == 1 and not kwargs and isinstance(args[0], (Tensor, TensorLike)):
            return make(cls, _plain(args[0], cls.__name__).detach())
        return make(cls, Tensor(*args, **kwargs))

    def __init__(self, *args, **kwargs):
        pass

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Call the function with the tensors, and put the results into the class."""
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        kwargs = kwargs or {}
        own = {
            id(value._imode_tensor): value
            for value in (*args, *kwargs.values())
            if isinstance(value, TensorLike)
        }
        with DisableTorchFunctionSubclass():
            args, kwargs = unwrapped(args, kwargs)
            result = func(*args, **kwargs)
        if func in NO_CLASS:
            return result
        return _in_class(result, cls, own)

    def __repr__(self):
        name = type(self).__name__
        text = repr(self._imode_tensor).removeprefix("Parameter containing:\n")
        if text.startswith("tensor("):
            text = name + text.removeprefix("tensor")
            text = text.replace("\n" + " " * 7, "\n" + " " * (len(name) + 1))
        return f"Parameter({text})" if is_parameter(self) else text

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        result = make(type(self), copy.deepcopy(self._imode_tensor, memo))
        memo[id(self)] = result
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return result

    def __copy__(self):
        result = make(type(self), copy.copy(self._imode_tensor))
        result.__dict__.update(self.__dict__)
        return result

    def __reduce_ex__(self, protocol):
        return make, (type(self), self._imode_tensor), self.__dict__ or None

    def __hash__(self):
        return id(self) >> 4

    def __iter__(self):
        iter(self._imode_tensor)  # raises for 0-dim tensors
        return iter(self.unbind(0))

    def __setstate__(self, state):
        self.__dict__.update(state)


NO_CLASS = {Tensor.grad.__get__, Tensor._base.__get__}  # what these give stays as it is
_SIGNS = {
    **{f"__{name}__": name for name in ("mul", "matmul", "lt", "le", "ne", "gt", "ge", "abs")},
    "__add__": "add",
    "__radd__": "add",
    "__sub__": "sub",
    "__rmul__": "mul",
    "__neg__": "neg",
    "__truediv__": "div",
    "__mod__": "remainder",
    "__iadd__": "add_",
    "__isub__": "sub_",
    "__imul__": "mul_",
    "__itruediv__": "div_",
}
_OF_OBJECTS = {
    *vars(TensorLike),
    *("__class__", "__getattribute__", "__setattr__", "__delattr__", "__init_subclass__"),
    *("__subclasshook__", "__sizeof__", "__reduce__", "__dir__", "__array__", "__getstate__"),
    *("as_subclass", "_make_subclass", "__buffer__", "__release_buffer__", "__array_priority__"),
    *("__doc__", "__module__", "__torch_function__"),
}


_OF_CLASSES = {"__init__", "as_subclass"}
_NATIVE = (
    *(types.WrapperDescriptorType, types.MethodDescriptorType, types.FunctionType),
    type(own_attributes),  # a function of Cython's
)
_BINARY = [
    f"__{side}{name}__"
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
        *("and", "or", "xor", "lshift", "rshift"),
    )
    for side in ("", "r", "i")
]
_BINARY += [f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge")]


def _is_operand(value):
    return isinstance(value, (Tensor, numbers.Number, np.bool_))


def _method(name):
    sign = name in _BINARY

    def method(self, *args, **kwargs):
        if sign and not (_is_operand(args[0]) or has_override(args[0])):
            return NotImplemented
        own = type.__getattribute__(Tensor, _SIGNS.get(name, name))
        operator_of_its_own = isinstance(own, types.MethodDescriptorType) and not isinstance(
            own, types.WrapperDescriptorType
        )
        function = (
            own if operator_of_its_own and own.__name__ in _operators() else native(own, name)
        )
        return call_seen(function, (self, *args), kwargs)

    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    return method


class _UnboundMethod(Native):
    # `Tensor.numel`, which takes objects of subclasses, too: Tensor's own knows tensors alone.
    __slots__ = ()
    __doc__ = property(lambda self: self._own.__doc__)

    @property
    def __signature__(self):
        from inspect import signature  # takes long to import

        return signature(self._own)

    def __call__(self, *args, **kwargs):
        if args and isinstance(args[0], TensorLike):
            return getattr(TensorLike, self._own.__name__)(*args, **kwargs)
        return Native.__call__(self, *args, **kwargs)


class _UnboundAttribute(Native):
    # `Tensor.shape`, whose `__get__` takes objects of subclasses, too.
    __slots__ = ()
    __doc__ = property(lambda self: self._own.__doc__)
    __get__ = property(lambda self: _Getter(self._own.__get__))


class _Getter(Native):
    __slots__ = ()

    def __call__(self, tensor, owner=None):
        return call_seen(self, (tensor,), {})


def _operators():
    from imode.ops.schema import methods

    return methods


def _attribute(name, own):
    def get(self):
        return call_seen(Native(own.__get__), (self,), {})

    def assign(self, value):
        (value,), _ = unwrapped((value,), {})
        setattr(self._imode_tensor, name, value)

    def delete(self):
        delattr(self._imode_tensor, name)

    return property(get, assign, delete)


def _fill():
    """Give TensorLike what Tensor has; when the first subclass is defined."""
    if type(Tensor) is SubclassedMeta:
        return
    for name, own in own_attributes():
        data = isinstance(own, (types.GetSetDescriptorType, property))
        if data or (isinstance(own, _NATIVE) and name not in _OF_CLASSES):
            UNBOUND[name] = (_UnboundAttribute if data else _UnboundMethod)(own)
        if name in _OF_OBJECTS:
            continue
        if data:
            setattr(TensorLike, name, _attribute(name, own))
        elif callable(own) or type(own).__name__ == "DeferredMethod":
            setattr(TensorLike, name, _method(name))
    set_metaclass(SubclassedMeta)


def __array__(self, *args, **kwargs):
    return self._imode_tensor.__array__(*args, **kwargs)


def as_subclass(self, cls):
    """The same tensor as an object of a subclass, connected by autograd.

    Raises TypeError unless `cls` is Tensor or a subclass.

    >>> class Named(imode.Tensor):
    ...     pass
    >>> imode.ones(2).as_subclass(Named) * 2
    Named([2., 2.])
    """
    _check_class(cls, "as_subclass")
    return make(cls, ops.alias(_plain(self, "as_subclass")))


def _make_subclass(cls, data, require_grad=False):
    """A leaf of a subclass that shares the memory of a tensor."""
    _check_class(cls, "_make_subclass")
    plain = _plain(data, "_make_subclass")
    if getattr(cls, "_of_parameters", False):
        return make(cls, make_parameter(plain, require_grad))
    return make(cls, plain.detach().requires_grad_(require_grad))


TensorLike.__array__ = __array__
TensorLike.as_subclass = as_subclass
TensorLike._make_subclass = staticmethod(_make_subclass)


def install_subclasses():
    """Let Tensor have subclasses."""
    name_holder(TensorLike)
    set_metaclass(TensorMeta)
    install("__dir__", __dir__)
    install("as_subclass", as_subclass)
    install("_make_subclass", staticmethod(_make_subclass))
    install("__torch_function__", classmethod(TensorLike.__torch_function__.__func__))
