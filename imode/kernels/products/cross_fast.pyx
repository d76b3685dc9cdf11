"""Cross products of arrays of one shape."""
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport skipping
from imode.kernels.fast_guards cimport _array, _count, _dim, _row_major, _same_shape
from libc.stdint cimport int64_t
from numpy cimport (
    NPY_FLOAT32, NPY_FLOAT64, NPY_INT64, PyArray_DATA, import_array, ndarray, npy_intp)

import_array()

ctypedef fused number:
    float
    double
    int64_t


cdef void _cross(number* out, const number* a, const number* b, npy_intp outer,
                 npy_intp inner) noexcept nogil:
    """Of (outer, 3, inner) elements."""
    cdef npy_intp _, i
    cdef npy_intp y = inner, z = 2 * inner
    for _ in range(outer):
        for i in range(inner):
            out[i] = a[y + i] * b[z + i] - a[z + i] * b[y + i]
            out[y + i] = a[z + i] * b[i] - a[i] * b[z + i]
            out[z + i] = a[i] * b[y + i] - a[y + i] * b[i]
        out, a, b = out + 3 * inner, a + 3 * inner, b + 3 * inner


cdef object _linalg_cross(Operator op, keyset_t keys, PyObject** args):
    """linalg_cross(self, other, dim)."""
    cdef Fields* a = _array(args[0])
    cdef Fields* b = _array(args[1])
    cdef int kind = a.descr.type_num
    cdef int dim = _dim(args[2], a.nd)
    cdef npy_intp outer, inner
    cdef ndarray out
    cdef void* to
    if dim < 0 or a.nd != b.nd or kind != b.descr.type_num or a.dimensions[dim] != 3 or not (
            kind == NPY_FLOAT32 or kind == NPY_FLOAT64 or kind == NPY_INT64) or not (
            _row_major(a) and _row_major(b) and _same_shape(a, b, 0, a.nd)) or skipping():
        return run_general(op, keys, args)
    outer, inner = _count(a, 0, dim), _count(a, dim + 1, a.nd)
    out = empty(kind, a.nd, a.dimensions)
    to = PyArray_DATA(out)
    if kind == NPY_FLOAT32:
        _cross(<float*>to, <float*>a.data, <float*>b.data, outer, inner)
    elif kind == NPY_FLOAT64:
        _cross(<double*>to, <double*>a.data, <double*>b.data, outer, inner)
    else:
        _cross(<int64_t*>to, <int64_t*>a.data, <int64_t*>b.data, outer, inner)
    return deliver(op, out, args)


linalg_cross = CKernel.new(_linalg_cross)
