"""What a dtype can hold, what operands promote to: finfo, iinfo, result_type, broadcast_shapes."""

import numpy as np

from ._core.dtype import Size, dtype, from_numpy_dtype, get_default_dtype
from ._core.dtype import result_type as _result_type
from ._core.tensor import Tensor

__all__ = ["broadcast_shapes", "finfo", "iinfo", "result_type"]


class _Info:
    """The limits of one dtype; equal to another of the same dtype."""

    __slots__ = ("_info",)

    def __init__(self, type):
        name = self.__class__.__name__
        if not isinstance(type, dtype):
            raise TypeError(
                f"{name}(): argument 'type' (position 1) must be imode.dtype, not "
                f"{type.__class__.__name__}"
            )
        self._info = self._look_up(type)

    bits = property(lambda self: self._info.bits, doc="Width of the dtype in bits.")
    dtype = property(lambda self: self._info.dtype.name, doc="Name of the dtype, a string.")

    def __eq__(self, other):
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self):
        return hash((type(self), self.dtype))

    def __repr__(self):
        shown = ", ".join(f"{name}={self._show(getattr(self, name))}" for name in self._shown)
        return f"{type(self).__name__}({shown}, dtype={self.dtype})"


def _of(name, doc):
    return property(lambda self: float(getattr(self._info, name)), doc=doc)


class finfo(_Info):
    """The limits of a floating-point dtype: `bits`, `eps`, `max`, `min`, `tiny`, `resolution`.

    A complex dtype gives those of its parts; without an argument it is the default dtype. Raises
    TypeError for other dtypes.

    >>> imode.finfo(imode.float16).max
    65504.0
    """

    __slots__ = ()
    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type=None):
        super().__init__(get_default_dtype() if type is None else type)

    @staticmethod
    def _look_up(type):
        if not (type.is_floating_point or type.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"'torch.finfo'. Got {type}."
            )
        return np.finfo(np.dtype(type.numpy))

    @staticmethod
    def _show(value):
        return f"{value:.6g}"

    eps = _of("eps", "The difference between 1.0 and the next number.")
    max = _of("max", "The greatest finite number.")
    min = _of("min", "The lowest finite number.")
    resolution = property(
        lambda self: 10.0**-self._info.precision, doc="Ten to the minus number of sure digits."
    )
    smallest_normal = _of("smallest_normal", "The smallest positive number of full precision.")
    tiny = _of("tiny", "The same as `smallest_normal`.")


class iinfo(_Info):
    """The limits of an integer dtype: `bits`, `max`, `min`.

    Raises TypeError for other dtypes.

    >>> imode.iinfo(imode.int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    __slots__ = ()
    _shown = ("min", "max")
    _show = staticmethod(str)

    @staticmethod
    def _look_up(type):
        kind = np.dtype(type.numpy)
        if kind.kind == "b":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if kind.kind not in "iu":
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                f"'torch.iinfo'. Got {type}."
            )
        return np.iinfo(kind)

    max = property(lambda self: int(self._info.max), doc="The greatest number.")
    min = property(lambda self: int(self._info.min), doc="The lowest number.")


def result_type(tensor, other):
    """Return the dtype that an operator over two operands, tensors or numbers, computes in.

    Raises TypeError for anything else.

    >>> imode.result_type(imode.ones(2, dtype=imode.int32), 1.0)
    imode.float32
    """
    for operand in (tensor, other):
        if not isinstance(operand, (Tensor, bool, int, float, complex)):
            raise TypeError(
                "result_type() received an invalid combination of arguments - got "
                f"({tensor.__class__.__name__}, {other.__class__.__name__}), but expected tensors "
                "or numbers"
            )
    operands = (
        np.empty((1,) * x.dim(), x.dtype.numpy) if isinstance(x, Tensor) else x
        for x in (tensor, other)
    )
    return from_numpy_dtype(_result_type(*operands))


def broadcast_shapes(*shapes):
    """Return the shape that tensors of these shapes (tuples, or a number each) broadcast to.

    Raises RuntimeError for shapes that do not fit, ValueError for negative sizes.

    >>> imode.broadcast_shapes((2, 1), (3,))
    imode.Size([2, 3])
    """
    shapes = [(shape,) if isinstance(shape, int) else shape for shape in shapes]
    for shape in shapes:
        if not isinstance(shape, (list, tuple)):
            raise RuntimeError(
                "Input shapes should be of type ints, a tuple of ints, or a list of ints, "
                f"got {shape}"
            )
    ndim = max(map(len, shapes), default=0)
    common = [1] * ndim
    for at, shape in enumerate(shapes):
        for dim in range(-1, -1 - len(shape), -1):
            n = shape[dim]
            if n < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if n in (1, common[dim]):
                continue
            if common[dim] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {n} at {dim}! Mismatching "
                    f"argument at index {at} had {shape}; but expected shape should be "
                    f"broadcastable to {common}"
                )
            common[dim] = n
    return Size(common)
