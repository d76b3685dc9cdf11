"""Python numbers: conversion from other types, to elements of a dtype, and what does not fit."""

import math

import numpy as np

from imode import errors
from imode._core.dtype import bfloat16, float8_e4m3fn, float8_e5m2, names_of

_LARGEST = {np.dtype(name): float(np.finfo(name).max) for name in ("f2", "f4", "f8")}
_LARGEST |= {np.dtype("c8"): _LARGEST[np.dtype("f4")], np.dtype("c16"): _LARGEST[np.dtype("f8")]}
_LARGEST |= {bfloat16: (2 - 2.0**-7) * 2.0**127, float8_e4m3fn: 448.0, float8_e5m2: 57344.0}


def overflow(dtype):
    """The error for a number that a dtype cannot hold."""
    return errors.numbers.does_not_fit(names_of(dtype)[2])


cpdef int refuse_beyond(number) except -1:
    """Raise for an integer that fits neither into signed nor into unsigned 64 bits."""
    if number >= 2**64:
        raise errors.numbers.too_large(f". Got {number:.3g}: at most 2**64 - 1")
    if number < -(2**63):
        raise errors.numbers.too_small(f". Got {number:.3g}: at least -2**63")


def largest(dtype):
    """The largest finite value of a floating dtype."""
    return _LARGEST[dtype]


def number_as(value, dtype):
    """`value` converted to an np.dtype like a C++ Scalar; RuntimeError if it does not fit.

    The limits are checked first, then fractions are cut off; negative integers wrap around in an
    unsigned dtype.
    """
    kind = dtype.kind
    if isinstance(value, int):
        refuse_beyond(value)
    if kind == "b":
        return value != 0
    if kind == "c":
        most = _LARGEST[dtype]
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
        if _LARGEST[dtype] < abs(value) < math.inf:
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
    """`number_as` for a 0-dim tensor, as a 0-dim array.

    As in PyTorch, a float of 16 bits is converted from a double: too large numbers become infinite.
    """
    with np.errstate(over="ignore"):
        checked = np.dtype("f8") if dtype == "f2" or dtype == bfloat16 else dtype
        return np.array(number_as(value, checked), dtype)


def filling(value, array):
    """The number to fill an array with: for floats of 16 bits, not checked, as in `scalar_as`."""
    return (scalar_as if array.size == 1 else number_as)(value, array.dtype)


cdef object python_number(object value):
    """From a Python number, an instance of a subclass, or a NumPy scalar, whose methods kernels
    must not call."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__pos__(value)         # int's own method: drops the subclass
    if isinstance(value, float):
        return float.__pos__(value)
    if isinstance(value, complex):
        return complex.__pos__(value)
    if isinstance(value, np.generic):
        kind = value.dtype.kind
        if kind == "f":
            return float(value)           # item() of a np.longdouble gives a np.longdouble
        if kind == "c":
            return complex(value)
        return value.item() if kind in "biu" else None
    return None
