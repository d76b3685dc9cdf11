"""What operators of elements share: refused dtypes, a common dtype, gradients of zero."""

import numpy as np

from imode import errors, ops
from imode._core.promotion import result_type
from imode.kernels.creation import copy
from imode.ops.schema import Out, ufunc

OF_ITS_DTYPE = Out("same", errors.out.FOUND)  # what PyTorch's unary operators take as out=
REAL = "?bBhilefd"  # type characters: bool, integers, floats
FLOATS = "efd"


def refusing(kernel, numbers=True):
    """A `fallback` for dtypes that have no loop; the kernel named as PyTorch names it.

    `numbers`: whether Python numbers have a say in the dtype.
    """

    def refuse(*operands):
        kinds = (np.ndarray, bool, int, float, complex) if numbers else np.ndarray
        dtype = result_type(*[operand for operand in operands if isinstance(operand, kinds)])
        raise errors.dtypes.not_implemented(kernel, dtype)

    return refuse


def with_numbers(function, kernel, ints, numbers, **words):
    """The `ufunc` of tensors of one float dtype and of numbers, which have no say in it."""
    fallback = refusing(kernel, numbers=False)
    return ufunc(function, ints=ints, fallback=fallback, numbers=numbers, **words)


def no_bool(kernel, x, y):
    """Bools have no products, but are taken where nothing is multiplied."""
    if x.dtype.kind == "b" and x.size and y.size:
        raise errors.dtypes.not_implemented(kernel, x.dtype)


def zeros(grad):
    """The formula of what is constant but for its jumps."""
    return ops.zeros_like(grad)


def zeros_in_rows(grad):
    """The same, in row order however the gradient lies."""
    return grad.new_zeros(grad.shape)


def no_derivative(name, namespace="aten::"):
    """The formula of what can be recorded but not differentiated."""

    def refuse(grad):
        raise RuntimeError(f"derivative for {namespace}{name} is not implemented")

    refuse.refuses_all = bool(namespace)  # as PyTorch's fallback, which keeps no place for the rest
    return refuse


def not_differentiable(name):
    """The formula of an input by which there is no derivative, though the others have one."""

    def refuse(grad):
        raise errors.graph.no_derivative(name)

    return refuse


def cast(operand, dtype):
    """An ndarray or number as an ndarray of the dtype, its axes in the order of the operand's."""
    array = operand if isinstance(operand, np.ndarray) else np.asarray(operand)
    return copy.cast(array, dtype)


def common(*operands):
    """The operands as ndarrays of their common dtype."""
    dtype = result_type(*operands)
    return [cast(operand, dtype) for operand in operands]


def check_scale(dtype, name, number):
    """Refuse a factor, alpha or beta, of another kind than the result."""
    if isinstance(number, bool) and dtype != np.bool_:
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if isinstance(number, (float, complex)) and dtype.kind in "biu":
        raise RuntimeError(
            f"For integral input tensors, argument {name} must not be a floating point number."
        )


def check_sub(self, other):
    """Refuse a difference that bools are part of."""
    bools = [isinstance(x, bool) or getattr(x, "dtype", None) == np.bool_ for x in (self, other)]
    if all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if any(bools):
        raise errors.dtypes.bool_minus("Subtraction, the `-` operator, with")


def by_numpy(function):
    """A `fallback` that calls a NumPy function: for complex operands."""

    def kernel(*operands):
        with np.errstate(all="ignore"):
            return function(*common(*operands))

    return kernel
