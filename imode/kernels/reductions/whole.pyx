"""Reductions of a whole contiguous array that NumPy does in several passes: dist and aminmax.

A long array is folded in pieces that only its length decides on, so that the result does not depend
on the number of threads. What no loop serves is left to the operator's Python function.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport parallel_for, skipping
from imode.kernels.fast_guards cimport (
    PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyLong_CheckExact, _array, _count, _row_major,
    _same_shape)
from imode.kernels.reductions.reduce cimport long_of
from libc.math cimport sqrt
from libc.stdlib cimport free, malloc
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "whole.h" nogil:
    ctypedef void (*piece_t "imode_piece *")(const void* x, const void* y, npy_intp n,
                                             double* found) noexcept
    void imode_apart1_f(const void*, const void*, npy_intp, double*) noexcept
    void imode_apart1_d(const void*, const void*, npy_intp, double*) noexcept
    void imode_apart2_f(const void*, const void*, npy_intp, double*) noexcept
    void imode_apart2_d(const void*, const void*, npy_intp, double*) noexcept
    void imode_ends_f(const void*, const void*, npy_intp, double*) noexcept
    void imode_ends_d(const void*, const void*, npy_intp, double*) noexcept

cdef enum:
    PIECE = 32768                 # elements
    FEW = 16                      # so many pieces need no memory but the stack

ctypedef struct Pieces:
    piece_t run
    const char* x
    const char* y                 # or NULL
    npy_intp n
    npy_intp item                 # bytes of an element
    double* found                 # two for each piece


cdef void _some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Pieces begin to end."""
    cdef Pieces* p = <Pieces*>context
    cdef npy_intp k, first
    for k in range(begin, end):
        first = k * PIECE
        p.run(p.x + first * p.item, <const char*>NULL if p.y == NULL else p.y + first * p.item,
              min(p.n - first, <npy_intp>PIECE), p.found + 2 * k)


cdef npy_intp _fold(piece_t run, Fields* x, Fields* y, npy_intp n, double* few,
                    double** found) except -1:
    """The two numbers of each piece, in `few` if they fit: how many pieces there are."""
    cdef Pieces p
    cdef npy_intp pieces = (n + PIECE - 1) // PIECE
    p.run, p.x, p.y, p.n = run, x.data, NULL if y == NULL else y.data, n
    p.item, p.found = 4 if x.descr.type_num == cnp.NPY_FLOAT32 else 8, few
    if pieces > FEW:
        p.found = <double*>malloc(2 * pieces * sizeof(double))
        if p.found == NULL:
            raise MemoryError()
    found[0] = p.found
    if pieces == 1:
        _some(&p, 0, 1)
    elif not skipping():
        with nogil:
            parallel_for(pieces, 1, _some, &p)
    return pieces


cdef ndarray _number(int kind, double value):
    cdef ndarray out = empty(kind, 0, NULL)
    if kind == cnp.NPY_FLOAT32:
        (<float*>cnp.PyArray_DATA(out))[0] = <float>value
    else:
        (<double*>cnp.PyArray_DATA(out))[0] = value
    return out


cdef bint _serves(Fields* x) noexcept:
    return _row_major(x) and (
        x.descr.type_num == cnp.NPY_FLOAT32 or x.descr.type_num == cnp.NPY_FLOAT64)


cdef int _order(PyObject* p) noexcept:
    """1 or 2; 0: another order."""
    cdef double order = 0
    if PyLong_CheckExact(p):
        order = long_of(p)
    elif PyFloat_CheckExact(p):
        order = PyFloat_AS_DOUBLE(p)
    return 1 if order == 1 else 2 if order == 2 else 0


cdef object _dist(Operator op, keyset_t keys, PyObject** args):
    """dist(self, other, p)."""
    cdef Fields* x = _array(args[0])
    cdef Fields* y = _array(args[1])
    cdef double[2 * FEW] few
    cdef double* found
    cdef double total = 0
    cdef int order = _order(args[2])
    cdef bint narrow = x.descr.type_num == cnp.NPY_FLOAT32
    cdef npy_intp k, pieces, n = _count(x, 0, x.nd)
    cdef piece_t run
    if not order or n == 0 or not _serves(x) or not _serves(y) or x.nd != y.nd or (
            x.descr.type_num != y.descr.type_num or not _same_shape(x, y, 0, x.nd)):
        return run_general(op, keys, args)
    if order == 2:
        run = imode_apart2_f if narrow else imode_apart2_d
    else:
        run = imode_apart1_f if narrow else imode_apart1_d
    pieces = _fold(run, x, y, n, few, &found)
    for k in range(pieces):
        total += found[2 * k]
    if found != few:
        free(found)
    return deliver(op, _number(x.descr.type_num, sqrt(total) if order == 2 else total), args)


cdef object _aminmax(Operator op, keyset_t keys, PyObject** args):
    """aminmax(self, *, dim, keepdim) of all elements."""
    cdef Fields* x = _array(args[0])
    cdef double[2 * FEW] few
    cdef double* found
    cdef double low, high
    cdef npy_intp k, pieces, n = _count(x, 0, x.nd)
    if args[1] != <PyObject*>None or n == 0 or not _serves(x) or x.nd and (
            <object>args[2] is not False):
        return run_general(op, keys, args)
    pieces = _fold(imode_ends_f if x.descr.type_num == cnp.NPY_FLOAT32 else imode_ends_d, x,
                   NULL, n, few, &found)
    low, high = found[0], found[1]
    for k in range(1, pieces):
        if not low <= found[2 * k] and low == low:            # less, or NaN
            low = found[2 * k]
        if not high >= found[2 * k + 1] and high == high:
            high = found[2 * k + 1]
    if found != few:
        free(found)
    return deliver(op, (_number(x.descr.type_num, low), _number(x.descr.type_num, high)), args)


dist = CKernel.new(_dist)
aminmax = CKernel.new(_aminmax)
