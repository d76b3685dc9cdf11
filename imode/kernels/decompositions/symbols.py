"""The routines of LAPACK that NumPy brings with it, or is linked with, found by their names."""

import ctypes
import glob
import os

import numpy as np
from numpy._core import _multiarray_umath
from numpy.linalg import _umath_linalg

__all__ = ["addresses"]

# How libraries call a routine, and whether its integers have 64 bits.
_NAMES = (
    ("scipy_{}_64_", True),  # OpenBLAS, as NumPy's wheels have it
    ("{}_64_", True),
    ("{}64_", True),
    ("{}$NEWLAPACK$ILP64", True),  # Accelerate
    ("{}$NEWLAPACK", False),
    ("scipy_{}_", False),
    ("{}_", False),  # MKL, and OpenBLAS of distributions
)


def _libraries():
    """Yield what may have them: NumPy's modules with what they are linked with, its libraries."""
    beside = os.path.join(os.path.dirname(np.__file__), os.pardir, "numpy.libs", "*openblas*")
    for path in (_umath_linalg.__file__, _multiarray_umath.__file__, *glob.glob(beside)):
        try:
            yield ctypes.CDLL(path)
        except OSError:
            continue


def addresses(names):
    """Return (the address of each routine, 0 where it is missing; whether integers are wide)."""
    for library in _libraries():
        for pattern, wide in _NAMES:
            if hasattr(library, pattern.format("dgetrf")):
                found = (getattr(library, pattern.format(name), None) for name in names)
                return [ctypes.cast(f, ctypes.c_void_p).value or 0 for f in found], wide
    return [0] * len(names), True
