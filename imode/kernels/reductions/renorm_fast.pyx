"""Slices of bounded norm: few float32 or float64 elements, in the norms of absolute values and of
squares."""
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode.kernels.fast_guards cimport _array, _count, _dim, _real, _row_major
from libc.math cimport fabs, sqrt
from numpy cimport NPY_FLOAT32, NPY_FLOAT64, PyArray_DATA, import_array, ndarray, npy_intp

import_array()

cdef enum:
    FEW = 1024                    # most elements

ctypedef fused real:
    float
    double


cdef void _bound(real* out, const real* x, npy_intp outer, npy_intp n, npy_intp inner,
                 bint squares, real most) noexcept nogil:
    """Of (outer, n, inner) elements, each of n slices."""
    cdef npy_intp o, i, k
    cdef double total
    cdef real norm, factor
    for i in range(n):
        total = 0
        for o in range(outer):
            for k in range(inner):
                norm = x[(o * n + i) * inner + k]
                total += <double>norm * norm if squares else fabs(norm)
        norm = <real>(sqrt(total) if squares else total)
        factor = most / (norm + <real>1e-7) if norm > most else <real>1
        for o in range(outer):
            for k in range(inner):
                out[(o * n + i) * inner + k] = x[(o * n + i) * inner + k] * factor


cdef object _renorm(Operator op, keyset_t keys, PyObject** args):
    """renorm(self, p, dim, maxnorm)."""
    cdef Fields* a = _array(args[0])
    cdef int kind = a.descr.type_num
    cdef int dim = _dim(args[2], a.nd)
    cdef double p = 0, most = 0
    cdef npy_intp outer, inner
    cdef ndarray out
    if dim < 0 or a.nd < 2 or not (kind == NPY_FLOAT32 or kind == NPY_FLOAT64) or (
            not _row_major(a)) or _count(a, 0, a.nd) > FEW or not (
            _real(args[1], &p) and (p == 1 or p == 2)) or not (
            _real(args[3], &most) and most >= 0):
        return run_general(op, keys, args)
    outer, inner = _count(a, 0, dim), _count(a, dim + 1, a.nd)
    out = empty(kind, a.nd, a.dimensions)
    if kind == NPY_FLOAT32:
        _bound(<float*>PyArray_DATA(out), <float*>a.data, outer, a.dimensions[dim], inner, p == 2,
               <float>most)
    else:
        _bound(<double*>PyArray_DATA(out), <double*>a.data, outer, a.dimensions[dim], inner,
               p == 2, most)
    return deliver(op, out, args)


renorm = CKernel.new(_renorm)
