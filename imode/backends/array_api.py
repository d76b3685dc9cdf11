"""A device of any module that follows the Array API standard."""

import numpy as np

from imode._core.dispatch import Kind
from imode._core.promotion import promote_types
from imode._core.tensor import Tensor
from imode._tensor.limits import result_type
from imode.backends import standard
from imode.backends.backend import Backend

__all__ = ["array_api"]

_OPERANDS = (Kind.TENSOR, Kind.TENSOR_OPT, Kind.OPERAND)


def array_api(namespace, name, *, fallback=True):
    """Make a device, `imode.device(name)`, of a module that follows the Array API standard.

    Pointwise operators, reductions, products and what moves elements run there as far as the
    standard has functions for them; views need none; other operators run on the CPU and say so
    once, or raise NotImplementedError (`fallback=False`). `imode.backends.coverage(name)` prints
    which. Returns the device's `Backend`, whose `close()`, or `with` block, takes the name back.

    The elements of a tensor are an array of the namespace, of one of the dtypes that it has.
    Raises TypeError for what is no such module and RuntimeError for a name that is taken.

    >>> import numpy
    >>> with imode.backends.array_api(numpy, "array"):
    ...     x = imode.ones(3, device="array", requires_grad=True)
    ...     (x * 2).sum().backward()
    ...     print(x.grad)
    tensor([2., 2., 2.], device='array:0')
    """
    missing = [
        attribute
        for attribute in ("asarray", "astype", "take", "where", "reshape", "float32")
        if not hasattr(namespace, attribute)
    ]
    if missing:
        raise TypeError(
            f"array_api(): {getattr(namespace, '__name__', namespace)!r} does not follow the Array "
            f"API standard: it has no {', '.join(missing)}.\n"
            "Give the module that does, such as numpy, jax.numpy, cupy or array_api_strict."
        )
    return ArrayApi(name, namespace, fallback)


class ArrayApi(Backend):
    """The device that `array_api` makes."""

    def __init__(self, name, namespace, fallback):
        super().__init__(name, fallback=fallback)
        self.xp = namespace

    def dtype(self, name):
        """The namespace's dtype of a name."""
        return getattr(self.xp, name)

    # ---- memory ----

    def from_numpy(self, array):
        """An array of the namespace; TypeError if it has no such dtype."""
        try:
            made = self.xp.asarray(array, copy=True)
            if str(made.dtype).endswith(array.dtype.name):
                return made
            reason = f"it makes {made.dtype} of it"
        except (TypeError, ValueError, RuntimeError) as error:
            reason = str(error)
        raise TypeError(
            f"Trying to convert {array.dtype} to device {self.name!r} but its namespace "
            f"{self.xp.__name__} does not have support for that dtype.\n{reason}\n"
            "Convert the tensor first; in jax, jax.config.update('jax_enable_x64', True) gives the "
            "dtypes of 64 bits."
        )

    def to_numpy(self, elements):
        """A copy of the elements."""
        try:
            return np.from_dlpack(elements)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            get = getattr(elements, "get", None)  # of CuPy's arrays
            return np.asarray(elements if get is None else get())

    def take(self, storage, places, shape):
        """Elements of a flat array in a shape."""
        if isinstance(places, slice):
            if places != slice(0, storage.shape[0]):
                storage = storage[places]
            return self.xp.reshape(storage, tuple(shape))
        return self.xp.reshape(
            self.xp.take(storage, self.xp.asarray(places), axis=0), tuple(shape)
        )  # fmt: skip

    def put(self, storage, places, elements):
        """A flat array with elements at some places, made anew: arrays may be immutable."""
        xp, n = self.xp, storage.shape[0]
        flat = xp.reshape(elements, (-1,))
        if isinstance(places, slice):
            if places == slice(0, n):
                return flat
            return xp.concat([storage[: places.start], flat, storage[places.stop :]])
        source = np.full(n, -1)
        source[places] = np.arange(places.size)
        taken = xp.take(flat, xp.asarray(np.maximum(source, 0)), axis=0)
        return taken if source.min(initial=0) >= 0 else xp.where(
            xp.asarray(source >= 0), taken, storage
        )  # fmt: skip

    # ---- kernels ----

    def kernel(self, operator):
        """The standard's functions that compute an operator."""
        name = operator.qualified_name
        if name in standard.POINTWISE and self._has(standard.POINTWISE[name]):
            return self._pointwise(standard.POINTWISE[name])
        if name in standard.OTHERS and self._has(standard.OTHERS[name]):
            return self._plain(standard.OTHERS[name])
        return None

    def _has(self, function):
        """Whether the namespace has all that a function reads of it."""
        return all(hasattr(self.xp, name) for name in standard.needs(function))

    def _pointwise(self, function):
        """A kernel of operands that are converted to the dtype in which is computed."""

        def kernel(operator, args, result):
            dtype = _computing(operator, args, result)
            given = [
                self._operand(arg, dtype) if kind in _OPERANDS and arg is not None else arg
                for arg, kind in zip(args, operator.kinds, strict=True)
            ]
            return self._fitted(function(self.xp, *given), result)

        return kernel

    def _plain(self, function):
        """A kernel of tensors in their own dtypes."""

        def kernel(operator, args, result):
            given = [self._operand(arg, None) for arg in args]
            computed = function(self.xp, result, *given)
            if isinstance(result, Tensor) or computed is NotImplemented:
                return self._fitted(computed, result)
            return [self._fitted(c, r) for c, r in zip(computed, result, strict=True)]

        return kernel

    def _operand(self, value, dtype):
        if isinstance(value, (tuple, list)):
            return [self._operand(item, dtype) for item in value]
        if isinstance(value, Tensor):
            if value.is_cpu:
                array = self.from_numpy(value.detach().numpy())
            else:
                array = self.elements(value)
            return array if dtype is None or value.dtype is dtype else self._cast(array, dtype)
        if dtype is not None and isinstance(value, (bool, int, float, complex)):
            return self.xp.asarray(value, dtype=self.dtype(dtype.name))
        return value

    def _cast(self, array, dtype):
        return self.xp.astype(array, self.dtype(dtype.name))

    def _fitted(self, computed, result):
        """What was computed, in the result's dtype and shape."""
        if computed is NotImplemented:
            return computed
        if not str(computed.dtype).endswith(result.dtype.name):
            computed = self._cast(computed, result.dtype)
        shape = tuple(result.shape)
        return computed if computed.shape == shape else self.xp.broadcast_to(computed, shape)


def _computing(operator, args, result):
    """The dtype in which a pointwise operator computes: the result's, unless it is of parts."""
    operands = [
        arg
        for arg, kind in zip(args, operator.kinds, strict=True)
        if kind in _OPERANDS and arg is not None
    ]
    is_complex = any(isinstance(t, Tensor) and t.is_complex() for t in operands)
    if result.dtype.name != "bool" and not (is_complex and not result.is_complex()):
        return result.dtype
    found = operands[0].dtype
    for operand in operands[1:]:
        both = result_type(operands[0], operand)
        found = both if found == operands[0].dtype else promote_types(found, both)
    return found
