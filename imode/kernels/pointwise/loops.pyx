"""Elementwise functions as NumPy ufuncs, where NumPy has none or a slow one.

Every name of `_loops.c`'s table becomes a ufunc here: exp, tanh, gelu, softplus, ... They compute
in the type of their operands, and for float16 in float32.
"""

from libc.stdlib cimport malloc
from libc.string cimport memcmp, memcpy
from numpy cimport (
    NPY_DOUBLE,
    NPY_FLOAT,
    PyArray_DATA,
    PyArray_IS_C_CONTIGUOUS,
    PyArray_ISINTEGER,
    PyArray_NBYTES,
    PyArray_SAMESHAPE,
    PyArray_SIZE,
    PyArray_TYPE,
    PyUFunc_FromFuncAndData,
    PyUFunc_None,
    PyUFuncGenericFunction,
    dtype,
    import_array,
    import_ufunc,
    ndarray,
    npy_intp,
    ufunc,
)

import numpy as np

from imode._core.dtype cimport code_of
from imode._core.iterate cimport add_rows_loop, loop_t
from imode._core.loops cimport add_narrow_loop, find_loop, narrow_loop
from imode._core.promotion import result_type
from imode.kernels.pointwise.ufuncs cimport imode_ufunc, make_all

cdef extern from "_loops.h":
    const imode_ufunc imode_pointwise[]
    loop_t imode_run_same, imode_run_rows, imode_operate_on_rows

    ctypedef struct imode_rows_info:
        loop_t plain
        void* data

    ctypedef struct imode_operation:
        const char* ufunc
        int type
        imode_rows_info rows
        narrow_loop narrow

    imode_operation imode_operations[]

    ctypedef struct imode_narrow:
        const char* ufunc
        narrow_loop narrow

    imode_narrow imode_narrow_loops[]

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


cdef int _stand_beside(ufunc, int typenum, imode_rows_info* rows, narrow_loop narrow) except -1:
    """Note what else may run where the loop of a ufunc would."""
    cdef loop_t loop
    cdef void* data
    cdef int out
    if not find_loop(ufunc, code_of[typenum], &loop, &data, &out):
        raise RuntimeError(f"{ufunc.__name__} has no loop for type {typenum}")
    if rows != NULL:
        rows.plain, rows.data = loop, data
        add_rows_loop(loop, imode_operate_on_rows, rows)
    if narrow != NULL:
        add_narrow_loop(loop, data, narrow)
    return 0


cdef int _stand_all_beside() except -1:
    cdef imode_operation* operation = imode_operations
    cdef imode_narrow* own = imode_narrow_loops
    cdef str name
    add_rows_loop(imode_run_same, imode_run_rows, NULL)
    while operation.ufunc != NULL:
        _stand_beside(getattr(np, operation.ufunc.decode()), operation.type, &operation.rows,
                      operation.narrow)
        operation += 1
    while own.ufunc != NULL:
        name = own.ufunc.decode()
        _stand_beside(globals().get(name) or getattr(np, name), NPY_FLOAT, NULL, own.narrow)
        own += 1
    return 0


_stand_all_beside()

cdef list _sources = []               # keeps alive the ufuncs from which `select` took loops


def select(ufunc source, str kinds):
    """Return a ufunc with those loops of another whose operands are all of one of `kinds`.

    >>> imode.kernels.loops.select(np.less, "fd").types
    ['ff->?', 'dd->?']
    """
    return _composed([(source, kinds)])


def joined(*parts):
    """Return a ufunc with the loops of several: each of `parts` a ufunc and type characters.

    >>> imode.kernels.loops.joined((np.add, "f"), (np.multiply, "d")).types
    ['ff->f', 'dd->d']
    """
    return _composed(list(parts))


cdef object _composed(list parts):
    """A ufunc with loops of several ufuncs, those whose operands are all of one of given kinds."""
    cdef UFunc* first = <UFunc*> parts[0][0]
    cdef UFunc* u = first
    # The new ufunc keeps pointers to these three, and lives as long as the operator table.
    cdef PyUFuncGenericFunction* loops
    cdef void** data
    cdef char* types
    cdef int n = 0
    cdef int i, j, most = 0
    for source, _ in parts:
        u = <UFunc*> source
        most += u.ntypes
    loops = <PyUFuncGenericFunction*> malloc(most * sizeof(PyUFuncGenericFunction))
    data = <void**> malloc(most * sizeof(void*))
    types = <char*> malloc(most * first.nargs)
    if loops == NULL or data == NULL or types == NULL:
        raise MemoryError
    for source, kinds in parts:
        u = <UFunc*> source
        numbers = {dtype(kind).num for kind in kinds}
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


def all_equal(ndarray a, ndarray b):
    """Return whether two arrays have the same shape and elements, whatever their dtypes."""
    if not PyArray_SAMESHAPE(a, b):
        return False
    if PyArray_TYPE(a) != PyArray_TYPE(b):
        common = result_type(a, b)
        a, b = a.astype(common), b.astype(common)
    if PyArray_IS_C_CONTIGUOUS(a) and PyArray_IS_C_CONTIGUOUS(b):
        if PyArray_TYPE(a) == NPY_FLOAT:
            return _same(<float*> PyArray_DATA(a), <float*> PyArray_DATA(b), PyArray_SIZE(a))
        if PyArray_TYPE(a) == NPY_DOUBLE:
            return _same(<double*> PyArray_DATA(a), <double*> PyArray_DATA(b), PyArray_SIZE(a))
        if PyArray_ISINTEGER(a):
            return memcmp(PyArray_DATA(a), PyArray_DATA(b), PyArray_NBYTES(a)) == 0
    return bool((a == b).all())


ctypedef fused real:
    float
    double


cdef bint _same(const real* a, const real* b, npy_intp n) noexcept:
    cdef npy_intp i
    for i in range(n):
        if a[i] != b[i]:
            return False
    return True
