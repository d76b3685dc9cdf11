"""Special functions as NumPy ufuncs: of gamma, Bessel and the normal distribution.

Every name of `_special.c`'s table becomes a ufunc here. They compute in the type of their operands,
and for float16 in float32.
"""

from numpy cimport import_array, import_ufunc

from imode.kernels.pointwise.ufuncs cimport imode_ufunc, make_all

cdef extern from "_loops.h":
    const imode_ufunc imode_special[]

import_array()
import_ufunc()
__all__ = make_all(imode_special, globals())
