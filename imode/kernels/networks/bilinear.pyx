"""Bilinear forms of a few pairs of vectors."""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport skipping
from imode.kernels.fast_guards cimport _array, _count, _row_major

cnp.import_array()

ctypedef fused real:
    float
    double


cdef void _forms(const real* x, const real* w, const real* y, long rows, long k, long n, long m,
                 real* out) noexcept nogil:
    """x[r] @ w[c] @ y[r] for each r and c."""
    cdef long r, c, i, j
    cdef real sum, half
    for r in range(rows):
        for c in range(k):
            sum = 0
            for j in range(m):
                half = 0
                for i in range(n):
                    half += x[r * n + i] * w[(c * n + i) * m + j]
                sum += half * y[r * m + j]
            out[r * k + c] = sum


cdef object _trilinear(Operator op, keyset_t keys, PyObject** args):
    """(rows, weight, others): few of them"""
    cdef Fields* x = _array(args[0])
    cdef Fields* w = _array(args[1])
    cdef Fields* y = _array(args[2])
    cdef int kind = x.descr.type_num
    cdef cnp.npy_intp[2] dims
    cdef cnp.ndarray out
    if (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE) or w.descr.type_num != kind or (
            y.descr.type_num != kind or x.nd != 2 or w.nd != 3 or y.nd != 2 or skipping()
            or not _row_major(x) or not _row_major(w) or not _row_major(y)
            or x.dimensions[0] != y.dimensions[0] or x.dimensions[1] != w.dimensions[1]
            or y.dimensions[1] != w.dimensions[2] or _count(w, 0, 3) * x.dimensions[0] > 4096):
        return run_general(op, keys, args)
    dims[0], dims[1] = x.dimensions[0], w.dimensions[0]
    out = empty(kind, 2, dims)
    if kind == cnp.NPY_FLOAT:
        _forms(<float*>x.data, <float*>w.data, <float*>y.data, dims[0], dims[1], x.dimensions[1],
               y.dimensions[1], <float*>cnp.PyArray_DATA(out))
    else:
        _forms(<double*>x.data, <double*>w.data, <double*>y.data, dims[0], dims[1],
               x.dimensions[1], y.dimensions[1], <double*>cnp.PyArray_DATA(out))
    return deliver(op, out, args)


trilinear = CKernel.new(_trilinear)
