"""The limits of dtypes, and the dtype of operands: finfo, iinfo, result_type."""

import types

import numpy as np

from imode._core.dtype import dtype, from_numpy_dtype, get_default_dtype
from imode._core.internals import array_of
from imode._core.promotion import result_type as _result_type
from imode._core.tensor import Tensor
from imode._core.type_names import class_name

__all__ = ["finfo", "iinfo", "result_type"]


class _Small:
    """The limits of a float that NumPy lacks: of `bits`, so many of which are the mantissa's."""

    def __init__(self, name, bits, mantissa, least, max, precision):
        self.bits, self.eps, self.max, self.min = bits, 2.0**-mantissa, max, -max
        self.smallest_normal = self.tiny = 2.0**least
        self.precision, self.dtype = precision, types.SimpleNamespace(name=name)


_SMALL = {
    "bfloat16": _Small("bfloat16", 16, 7, -126, (2 - 2.0**-7) * 2.0**127, 2),
    "float8_e4m3fn": _Small("float8_e4m3fn", 8, 3, -6, 448.0, 0),
    "float8_e5m2": _Small("float8_e5m2", 8, 2, -14, 57344.0, 0),
}


class _Info:
    """The limits of one dtype; two for the same dtype are equal."""

    __slots__ = ("_info",)

    def __init__(self, type):
        name = self.__class__.__name__
        if not isinstance(type, dtype):
            raise TypeError(
                f"{name}(): argument 'type' (position 1) must be imode.dtype, not "
                f"{class_name(type)}"
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

    For a complex dtype they are those of its parts; the argument's default is the default dtype.
    Raises TypeError for other dtypes.

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
        return _SMALL.get(type.name) or np.finfo(np.dtype(type.numpy))

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
        if not isinstance(operand, (Tensor, bool, int, float, complex, np.number, np.bool_)):
            raise TypeError(
                "result_type() received an invalid combination of arguments - got "
                f"({class_name(tensor)}, {class_name(other)}), but expected tensors "
                "or numbers"
            )
    operands = (array_of(x) if isinstance(x, Tensor) else x for x in (tensor, other))
    return from_numpy_dtype(_result_type(*operands))
