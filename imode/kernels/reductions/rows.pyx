"""Functions of a row as NumPy gufuncs: sum, logsumexp (n)->(); softmax, log_softmax (n)->(n).

sum serves every dtype: integers and bool add up to int64, float16 in float32.
"""

from numpy cimport import_array, import_ufunc
from imode.kernels.pointwise.ufuncs cimport imode_ufunc, make_all

cdef extern from "_loops.h":
    const imode_ufunc imode_rows[]

import_array()
import_ufunc()
__all__ = make_all(imode_rows, globals())
