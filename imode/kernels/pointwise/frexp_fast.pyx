"""Mantissas and exponents of a few float32 or float64 elements."""
from cpython.object cimport PyObject
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.iterate cimport in_row_order
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode.kernels.fast_guards cimport _array, _count
from libc.math cimport frexp as frexp_of, isfinite
from numpy cimport (
    NPY_FLOAT32, NPY_FLOAT64, NPY_INT32, PyArray_DATA, import_array, ndarray, npy_intp)

import_array()

ctypedef fused real:
    float
    double


cdef void _split(const real* x, real* mantissas, int* exponents, npy_intp n) noexcept:
    cdef npy_intp i
    for i in range(n):
        mantissas[i] = <real>frexp_of(x[i], &exponents[i])
        if not isfinite(x[i]):        # of which C does not say what the exponent is
            exponents[i] = 0


cdef object _frexp(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef int typenum = a.descr.type_num
    cdef npy_intp n = _count(a, 0, a.nd)
    cdef ndarray mantissas, exponents
    if args[op.nargs] != NULL or n > 256 or (
            typenum != NPY_FLOAT32 and typenum != NPY_FLOAT64) or (
            not in_row_order(a, 4 if typenum == NPY_FLOAT32 else 8)):
        return run_general(op, keys, args)
    mantissas = empty(typenum, a.nd, a.dimensions)
    exponents = empty(NPY_INT32, a.nd, a.dimensions)
    if typenum == NPY_FLOAT32:
        _split(<float*>a.data, <float*>PyArray_DATA(mantissas), <int*>PyArray_DATA(exponents), n)
    else:
        _split(<double*>a.data, <double*>PyArray_DATA(mantissas), <int*>PyArray_DATA(exponents), n)
    return op.result_type((wrap(mantissas), wrap(exponents)))


frexp = CKernel.new(_frexp)
