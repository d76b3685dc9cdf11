"""Elementwise functions as NumPy ufuncs, where NumPy has none or a slow one.

Every name of `_loops.c`'s table becomes a ufunc here: exp, tanh, gelu, softplus, ... They compute
in the type of their operands; float16 in float32.
"""

from numpy cimport import_array, import_ufunc
from imode.kernels.ufuncs cimport imode_ufunc, make_all

cdef extern from "_loops.h":
    const imode_ufunc imode_pointwise[]

import_array()
import_ufunc()
__all__ = make_all(imode_pointwise, globals())
