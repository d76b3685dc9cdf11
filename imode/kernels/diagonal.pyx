"""The sum of a matrix's diagonal, compiled for the dtypes of most matrices."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode.kernels.plain cimport _array, _fall_back
from libc.stdint cimport uint64_t
from numpy cimport ndarray, npy_intp

cnp.import_array()

ctypedef fused real:
    float
    double


cdef double _sum(real* first, npy_intp step, npy_intp n) noexcept:
    """The sum of numbers so many bytes apart, in double precision as PyTorch's."""
    cdef double total = 0
    cdef npy_intp i
    for i in range(n):
        total += (<real*>(<char*>first + i * step))[0]
    return total


cdef uint64_t _sum_of_integers(char* first, npy_intp step, npy_intp n) noexcept:
    """Of int64; it wraps around."""
    cdef uint64_t total = 0
    cdef npy_intp i
    for i in range(n):
        total += (<uint64_t*>(first + i * step))[0]
    return total


cdef object _trace(Operator op, keyset_t keys, PyObject** args):
    cdef Fields* a = _array(args[0])
    cdef int typenum = a.descr.type_num
    cdef npy_intp n, step
    cdef ndarray out
    cdef void* to
    if args[op.nargs] != NULL or a.nd != 2 or typenum not in (
            cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_INT64):
        return _fall_back(op, keys, args)
    n, step = min(a.dimensions[0], a.dimensions[1]), a.strides[0] + a.strides[1]
    out = empty(typenum, 0, NULL)
    to = cnp.PyArray_DATA(out)
    if typenum == cnp.NPY_FLOAT32:
        (<float*>to)[0] = <float>_sum(<float*>a.data, step, n)
    elif typenum == cnp.NPY_FLOAT64:
        (<double*>to)[0] = _sum(<double*>a.data, step, n)
    else:
        (<uint64_t*>to)[0] = _sum_of_integers(a.data, step, n)
    return wrap(out)


def trace(function):
    """The CKernel of `trace`; `function`: over ndarrays, of all other arguments."""
    return CKernel.new(_trace, function, "compiled trace", True)
