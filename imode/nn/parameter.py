"""Parameter and Buffer: tensors that a Module registers when they are assigned to it."""

import functools
from types import MethodType

from imode import errors, ops
from imode._core.internals import is_parameter, make_normal, make_parameter
from imode._core.overriding import disabled, held
from imode._core.tensor import Tensor
from imode._tensor.subclass import SubclassedMeta, make

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class _ParameterMeta(SubclassedMeta):
    # Tensor is a final compiled class, so a parameter is a Tensor with a flag.
    def __new__(meta, name, bases, namespace, **kwargs):
        if not bases:  # Parameter itself
            return type.__new__(meta, name, bases, namespace)
        bases = tuple(_held_parameter() if base is Parameter else base for base in bases)
        return super().__new__(meta, name, bases, namespace, **kwargs)

    def __instancecheck__(cls, instance):
        return is_parameter(instance) if cls is Parameter else super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass):
        if cls is not Parameter or subclass is cls:
            return super().__subclasscheck__(subclass)
        return issubclass(subclass, Tensor) and issubclass(subclass, _held_parameter())


@functools.cache
def _held_parameter():
    """What classes derived from Parameter derive from: objects that hold a parameter."""

    class HeldParameter(Tensor):
        _of_parameters = True

        def __new__(cls, data=None, requires_grad=True):
            return make(cls, held(Parameter(data, requires_grad)))

        __torch_function__ = staticmethod(disabled)

        def __repr__(self):
            return f"Parameter containing:\n{super().__repr__()}"

    return HeldParameter


class Parameter(metaclass=_ParameterMeta):
    """A tensor that becomes one of a module's parameters when assigned to an attribute.

    `Parameter(data, requires_grad=True)` gives a leaf tensor that shares `data`'s storage. It is a
    normal tensor even if created in inference mode. `isinstance(p, Parameter)` and
    `isinstance(p, Tensor)` both hold. An object of a subclass of Tensor gives one of its class.

    >>> imode.nn.Parameter(imode.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    _makes_tensors = True  # so it is a subclass of Tensor for `issubclass`

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = ops.empty(0)
        if requires_grad and isinstance(data, Tensor) and not _may_require_grad(data):
            raise errors.graph.integers_require_grad(
                f". Parameter() got {data.dtype}: pass requires_grad=False"
            )
        parameter = make_parameter(held(data), requires_grad)
        return parameter if held(data) is data else make(type(data), parameter)


def _may_require_grad(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


class Buffer:
    """Marks a tensor so that assigning it to a module registers it as a buffer.

    `module.mean = Buffer(imode.zeros(3), persistent=False)` does what
    `module.register_buffer("mean", imode.zeros(3), persistent=False)` does.
    """

    def __init__(self, data=None, *, persistent=True):
        self.data = ops.empty(0) if data is None else data
        self.persistent = persistent

    def __repr__(self):
        return f"Buffer containing:\n{self.data!r}"


def as_normal(tensor):
    """The tensor itself; or, for an inference tensor, a normal tensor with its values."""
    inference = isinstance(tensor, Tensor) and tensor.is_inference()
    return make_normal(held(tensor)) if inference else tensor


# ---- without a shape yet ------------------------------------------------------------------------


def is_lazy(param):
    """Whether a parameter or buffer waits for its shape.

    >>> imode.nn.parameter.is_lazy(imode.nn.LazyLinear(3).weight)
    True
    """
    return getattr(param, "_lazy", None) is not None


def _materialize(tensor, shape, device=None, dtype=None):
    """Give a parameter or buffer its shape, its elements undefined; it stays the same object."""
    made = ops.empty(shape, device=device or tensor.device, dtype=dtype or tensor.dtype)
    del tensor._lazy, tensor.materialize
    tensor.data = made


def wait(tensor, kind):
    """Mark a tensor of no elements as one that waits for its shape: Tensor is a final class."""
    tensor._lazy = kind
    tensor.materialize = MethodType(_materialize, tensor)
    return tensor


class _LazyMeta(type):
    def __instancecheck__(cls, instance):
        return getattr(instance, "_lazy", None) == cls.__name__

    def __subclasscheck__(cls, subclass):
        return type.__subclasscheck__(cls, subclass)


class UninitializedParameter(metaclass=_LazyMeta):
    """A parameter of no elements, until `materialize(shape)` gives it its shape.

    >>> p = imode.nn.UninitializedParameter()
    >>> p.materialize((2, 3))
    >>> p.shape
    imode.Size([2, 3])
    """

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        made = Parameter(ops.empty(0, device=device, dtype=dtype), requires_grad)
        return wait(made, "UninitializedParameter")


class UninitializedBuffer(metaclass=_LazyMeta):
    """A buffer of no elements, until `materialize(shape)` gives it its shape."""

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        made = ops.empty(0, device=device, dtype=dtype).requires_grad_(requires_grad)
        made.persistent = persistent
        return wait(made, "UninitializedBuffer")
