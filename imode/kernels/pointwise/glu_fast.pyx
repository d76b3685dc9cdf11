"""glu of elements in row order: no views of the halves are made."""
from cpython.object cimport PyObject
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport BFLOAT16, FLOAT16, FLOAT32, FLOAT64, code_of
from imode._core.iterate cimport GIL_FREE, in_row_order
from imode._core.keyset cimport keyset_t
from imode._core.loops cimport find_loop, loop_t, wide_loop, widened_loop
from imode._core.making cimport hold, wrap
from imode._core.parallel cimport parallel_for, skipping
from imode._core.stored cimport run_otherwise
from imode.kernels.fast_guards cimport _array, _count, _dim
from imode.kernels.pointwise import loops
from numpy cimport PyArray_DATA, import_array, ndarray, npy_intp

import_array()

cdef enum:
    GRAIN = 8192                  # fewest elements per thread


cdef struct Halves:               # what threads share
    loop_t loop
    void* data
    const char* x
    char* out
    npy_intp item                 # bytes
    npy_intp run                  # elements of a half that lie side by side


cdef void _some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Elements begin to end of the result."""
    cdef Halves* h = <Halves*>context
    cdef npy_intp[3] steps = [h.item, h.item, h.item]
    cdef npy_intp n, within
    cdef char* args[3]
    while begin < end:
        within = begin % h.run
        n = min(h.run - within, end - begin)
        args[0] = <char*>h.x + (2 * begin - within) * h.item
        args[1] = args[0] + h.run * h.item
        args[2] = h.out + begin * h.item
        h.loop(args, &n, steps, h.data)
        begin += n


cdef object _glu(Operator op, keyset_t keys, PyObject** args):
    """glu(self, dim)"""
    cdef Fields* a = _array(args[0])
    cdef int code = code_of[a.descr.type_num], dim = _dim(args[1], a.nd) if a.nd else -1
    cdef npy_intp[64] dims
    cdef npy_intp n
    cdef Halves h
    cdef wide_loop wide
    cdef ndarray out
    cdef int d, ignored
    cdef bint narrow = code == FLOAT16 or code == BFLOAT16
    h.item = 2 if narrow else 4 if code == FLOAT32 else 8
    if args[op.nargs] != NULL or not (narrow or code == FLOAT32 or code == FLOAT64) or dim < 0 or (
            a.dimensions[dim] % 2) or not in_row_order(a, h.item) or skipping():
        return run_otherwise(op, keys, args)
    if narrow:
        widened_loop(loops.glu, code == BFLOAT16, &h.loop, &wide)
        h.data = &wide
    else:
        find_loop(loops.glu, code, &h.loop, &h.data, &ignored)
    n = _count(a, 0, a.nd) // 2
    if n == 0:
        return run_otherwise(op, keys, args)
    for d in range(a.nd):
        dims[d] = a.dimensions[d]
    dims[dim] //= 2
    out = empty(a.descr.type_num, a.nd, dims)
    h.run = _count(a, dim + 1, a.nd) * dims[dim]
    h.x, h.out = a.data, <char*>PyArray_DATA(out)
    if n < GIL_FREE:
        _some(&h, 0, n)
    else:
        _held = hold(args, 1)
        with nogil:
            parallel_for(n, GRAIN, _some, &h)
    return wrap(out)


glu = CKernel.new(_glu)
