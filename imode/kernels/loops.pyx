"""Elementwise functions as NumPy ufuncs, where NumPy has none or a slow one.

Every name of `_loops.c`'s table becomes a ufunc here: exp, tanh, gelu, softplus, ... They compute
in the type of their operands; float16 in float32.
"""

from libc.stdlib cimport malloc
from libc.string cimport memcpy
from numpy cimport (
    PyUFunc_FromFuncAndData,
    PyUFunc_None,
    PyUFuncGenericFunction,
    dtype,
    import_array,
    import_ufunc,
    ufunc,
)

from imode.kernels.ufuncs cimport imode_ufunc, make_all

cdef extern from "_loops.h":
    const imode_ufunc imode_pointwise[]

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct UFunc "PyUFuncObject":
        int nin
        int nout
        int nargs
        PyUFuncGenericFunction* functions
        void** data
        int ntypes
        const char* types
        const char* name

import_array()
import_ufunc()
__all__ = make_all(imode_pointwise, globals())

cdef list _sources = []               # the ufuncs that `select` took loops from: kept alive


def select(ufunc source, str kinds):
    """Return a ufunc with those of another's loops whose operands are all of one of `kinds`.

    >>> imode.kernels.loops.select(np.less, "fd").types
    ['ff->?', 'dd->?']
    """
    cdef UFunc* u = <UFunc*> source
    cdef set numbers = {dtype(kind).num for kind in kinds}
    # The new ufunc keeps pointers to these three, and lives as long as the operator table.
    cdef PyUFuncGenericFunction* loops = <PyUFuncGenericFunction*> malloc(
        u.ntypes * sizeof(PyUFuncGenericFunction))
    cdef void** data = <void**> malloc(u.ntypes * sizeof(void*))
    cdef char* types = <char*> malloc(u.ntypes * u.nargs)
    cdef int n = 0
    cdef int i, j
    if loops == NULL or data == NULL or types == NULL:
        raise MemoryError
    for i in range(u.ntypes):
        row = u.types + i * u.nargs
        if row[0] in numbers and all([row[j] == row[0] for j in range(u.nin)]):
            loops[n] = u.functions[i]
            data[n] = u.data[i]
            memcpy(types + n * u.nargs, row, u.nargs)
            n += 1
    _sources.append(source)
    return PyUFunc_FromFuncAndData(
        loops, data, types, n, u.nin, u.nout, PyUFunc_None, <char*> u.name, "", 0)
