"""Python numbers as elements of a dtype, and the error of one that does not fit."""

import math

import numpy as np

_LARGEST = {size: float(np.finfo(f"f{size}").max) for size in (2, 4, 8)}

# The types by the names that C's headers give them.
_C_NAMES = {
    "uint8": "uint8_t",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int",
    "int64": "int64_t",
    "float16": "c10::Half",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
}


def overflow(dtype):
    """The error of a number that a dtype cannot hold."""
    name = _C_NAMES.get(dtype.name, dtype.name)
    return RuntimeError(f"value cannot be converted to type {name} without overflow")


def refuse_beyond(number):
    """Refuse an integer that neither 64 bits with a sign nor 64 without one can hold."""
    if number >= 2**64:
        raise OverflowError(f"int too big to convert. Got {number:.3g}: at most 2**64 - 1")
    if number < -(2**63):
        raise OverflowError(
            f"can't convert negative int to unsigned. Got {number:.3g}: at least -2**63"
        )


def largest(dtype):
    """The largest finite value of a floating dtype."""
    return _LARGEST[dtype.itemsize]


def number_as(value, dtype):
    """`value` converted to an np.dtype as a C++ Scalar is: RuntimeError where it does not fit.

    Fractions are cut off, once the number is within the limits; negative integers wrap round in an
    unsigned dtype.
    """
    kind = dtype.kind
    if isinstance(value, int):
        refuse_beyond(value)
    if kind == "b":
        return value != 0
    if kind == "c":
        most = _LARGEST[dtype.itemsize // 2]
        value = complex(value)
        if any(most < abs(part) < math.inf for part in (value.real, value.imag)):
            raise overflow(dtype)
        return value
    if isinstance(value, complex):
        if value.imag != 0:
            raise overflow(dtype)
        value = value.real
    if kind == "f":
        value = float(value)
        if _LARGEST[dtype.itemsize] < abs(value) < math.inf:
            raise overflow(dtype)
        return value
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    if low <= value <= high:
        return int(value)
    if kind == "u" and -high <= value < 0 and not isinstance(value, float):
        return int(value) + high + 1
    raise overflow(dtype)


def scalar_as(value, dtype):
    """`number_as` for a tensor without dimensions, as a 0-dim array.

    As in PyTorch, a float16 gets its value through a double: what is too large becomes infinite.
    """
    with np.errstate(over="ignore"):
        return np.array(number_as(value, np.dtype("f8") if dtype == "f2" else dtype), dtype)


def filling(value, array):
    """What fills an array: a number alone, as `scalar_as`, is not checked for float16."""
    return (scalar_as if array.size == 1 else number_as)(value, array.dtype)
