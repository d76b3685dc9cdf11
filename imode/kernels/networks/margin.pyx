"""Losses of margins, forward."""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport CKernel, Operator
from imode._core.iterate cimport in_row_order
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport skipping
from imode.kernels.fast_guards cimport (
    PyLong_AsLong, _array, _count, _indices, _real, _row_major, _same_shape, array_of)
from libc.math cimport exp, log1p
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

cnp.import_array()

cdef extern from "math.h" nogil:
    float expf(float)
    float log1pf(float)

ctypedef fused real:
    float
    double

cdef enum:
    NONE = 0
    MEAN = 1
    FEW = 256                     # up to so many elements NumPy's loops are no faster


cdef double _multi(const real* x, long classes, long at, double p, double margin,
                   const real* weight) noexcept nogil:
    cdef double total = 0, excess
    cdef long j
    for j in range(classes):
        excess = margin - x[at] + x[j]
        if j != at and excess > 0:
            total += (excess if p == 1 else excess * excess) * (
                <double>weight[at] if weight != NULL else 1.0)
    return total / classes


cdef double _labels(const real* x, long classes, const cnp.int64_t* at,
                    real* listed) noexcept nogil:
    """`listed` becomes 1 for the labels up to the first negative one."""
    cdef double total = 0, excess
    cdef long i, j
    for j in range(classes):
        listed[j] = 0
    for i in range(classes):
        if at[i] < 0:
            break
        listed[at[i]] = 1
    for i in range(classes):
        if at[i] < 0:
            break
        for j in range(classes):
            excess = 1 - x[at[i]] + x[j]
            if listed[j] == 0 and excess > 0:
                total += excess
    return total / classes


cdef cnp.ndarray _reduced(real* each, long rows, Fields* like, int reduction, int kind):
    """The losses of rows, of the shape of the targets, or their sum or mean."""
    cdef double total = 0
    cdef long i
    cdef cnp.ndarray out = empty(kind, like.nd if reduction == NONE else 0, like.dimensions)
    cdef real* to = <real*>cnp.PyArray_DATA(out)
    if reduction == NONE:
        for i in range(rows):
            to[i] = each[i]
        return out
    for i in range(rows):
        total += each[i]
    if reduction == MEAN:
        total = total / rows if rows else np.nan
    to[0] = <real>total
    return out


cdef object _over(real* x, const cnp.int64_t* at, const real* weight, long rows, long classes,
                  double p, double margin, int reduction, Fields* like, real* listed, int kind):
    cdef real[FEW] few
    cdef real* each = few
    cdef long i
    if skipping():
        return empty(kind, like.nd if reduction == NONE else 0, like.dimensions)
    if rows > FEW:
        each = <real*>malloc(rows * sizeof(real))
        if each == NULL:
            raise MemoryError()
    try:
        for i in range(rows):
            if listed != NULL:
                each[i] = <real>_labels(x + i * classes, classes, at + i * classes,
                                        listed + i * classes)
            else:
                each[i] = <real>_multi(x + i * classes, classes, at[i], p, margin, weight)
        return _reduced(each, rows, like, reduction, kind)
    finally:
        if each != few:
            free(each)


cdef bint _outside(const cnp.int64_t* at, long n, long least, long classes) noexcept:
    cdef long i
    for i in range(0 if skipping() else n):
        if at[i] < least or at[i] >= classes:
            return True
    return False


def multi_margin(cnp.ndarray x, cnp.ndarray target, double p, double margin, weight, long rows,
                 long classes, int reduction):
    """The losses of rows with one class each; all are contiguous, the targets nobody else's."""
    return _of_classes(x, <const cnp.int64_t*>cnp.PyArray_DATA(target), p, margin, weight, rows,
                       classes, reduction, <Fields*><PyObject*>target)


cdef object _of_classes(cnp.ndarray x, const cnp.int64_t* at, double p, double margin, weight,
                        long rows, long classes, int reduction, Fields* like):
    """`like`: the targets, for their shape."""
    cdef void* by = NULL if weight is None else cnp.PyArray_DATA(<cnp.ndarray>weight)
    if _outside(at, rows, 0, classes):
        raise RuntimeError("target out of range")
    if cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE:
        return _over[double](<double*>cnp.PyArray_DATA(x), at, <double*>by, rows, classes, p,
                             margin, reduction, like, NULL, cnp.NPY_DOUBLE)
    return _over[float](<float*>cnp.PyArray_DATA(x), at, <float*>by, rows, classes, p, margin,
                        reduction, like, NULL, cnp.NPY_FLOAT)


def multilabel_margin(cnp.ndarray x, cnp.ndarray target, cnp.ndarray like, long rows, long classes,
                      int reduction):
    """The losses of rows with lists of labels, and which classes are labels.

    like: of the shape of losses that are not reduced.
    """
    cdef cnp.ndarray listed = np.empty_like(x)
    cdef Fields* each = <Fields*><PyObject*>like
    cdef const cnp.int64_t* at = <const cnp.int64_t*>cnp.PyArray_DATA(target)
    if _outside(at, cnp.PyArray_SIZE(target), -1, classes):
        raise RuntimeError("argument #2 'target' is out of range")
    if cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE:
        return _over[double](<double*>cnp.PyArray_DATA(x), at, NULL, rows, classes, 1, 1,
                             reduction, each, <double*>cnp.PyArray_DATA(listed),
                             cnp.NPY_DOUBLE), listed
    return _over[float](<float*>cnp.PyArray_DATA(x), at, NULL, rows, classes, 1, 1, reduction,
                        each, <float*>cnp.PyArray_DATA(listed), cnp.NPY_FLOAT), listed


cdef object _multi_margin_loss(Operator op, keyset_t keys, PyObject** args):
    """(self, target, p, margin, weight, reduction)"""
    cdef Fields* x = _array(args[0])
    cdef Fields* t = _array(args[1])
    cdef double p = 0, margin = 0
    cdef long rows = x.dimensions[0] if x.nd == 2 else 1
    cdef cnp.ndarray target, weight = None
    cdef cnp.int64_t[FEW] few
    cdef cnp.int64_t* at = few
    if not 1 <= x.nd <= 2 or not _row_major(x) or not _indices(t) or t.nd > 1 or (
            _count(t, 0, t.nd) != rows or _count(x, 0, x.nd) == 0 or skipping()
            or (x.descr.type_num != cnp.NPY_FLOAT and x.descr.type_num != cnp.NPY_DOUBLE)
            or not _real(args[2], &p) or not _real(args[3], &margin)):
        return run_general(op, keys, args)
    if args[4] != <PyObject*>None:
        weight = array_of(args[4])
        if _array(args[4]).descr.type_num != x.descr.type_num or (
                not _row_major(_array(args[4])) or weight.size != x.dimensions[x.nd - 1]):
            return run_general(op, keys, args)
    if rows > FEW:
        target = empty(cnp.NPY_INT64, t.nd, t.dimensions)
        at = <cnp.int64_t*>cnp.PyArray_DATA(target)
    memcpy(at, t.data, rows * sizeof(cnp.int64_t))     # nobody else's: they are checked, then used
    return deliver(op, _of_classes(
        array_of(args[0]), at, p, margin, weight, rows, x.dimensions[x.nd - 1],
        <int>PyLong_AsLong(args[5]), t), args)


# ---- soft margins --------------------------------------------------------------------------------


cdef double _soft(const real* x, const real* y, long n, real* to) noexcept nogil:
    """log(1 + exp(-y x)) of each; returns their sum."""
    cdef double total = 0
    cdef long i
    for i in range(n):
        if real is float:
            to[i] = log1pf(expf(-y[i] * x[i]))
        else:
            to[i] = log1p(exp(-y[i] * x[i]))
        total += to[i]
    return total


cdef object _soft_margin(Operator op, keyset_t keys, PyObject** args):
    """(self, target, reduction) of a few elements"""
    cdef Fields* x = _array(args[0])
    cdef Fields* y = _array(args[1])
    cdef int kind = x.descr.type_num, reduction = <int>PyLong_AsLong(args[2])
    cdef long n = _count(x, 0, x.nd)
    cdef double total
    cdef cnp.ndarray out
    if (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE) or y.descr.type_num != kind or (
            x.nd != y.nd or not _same_shape(x, y, 0, x.nd) or not 0 < n <= FEW or skipping()
            or not in_row_order(x, cnp.PyArray_ITEMSIZE(array_of(args[0])))
            or not in_row_order(y, cnp.PyArray_ITEMSIZE(array_of(args[1])))):
        return run_general(op, keys, args)
    out = empty(kind, x.nd, x.dimensions)
    if kind == cnp.NPY_FLOAT:
        total = _soft(<float*>x.data, <float*>y.data, n, <float*>cnp.PyArray_DATA(out))
    else:
        total = _soft(<double*>x.data, <double*>y.data, n, <double*>cnp.PyArray_DATA(out))
    if reduction != NONE:
        total = total / n if reduction == MEAN else total
        out = empty(kind, 0, NULL)
        if kind == cnp.NPY_FLOAT:
            (<float*>cnp.PyArray_DATA(out))[0] = <float>total
        else:
            (<double*>cnp.PyArray_DATA(out))[0] = total
    return deliver(op, out, args)


multi_margin_loss = CKernel.new(_multi_margin_loss)
soft_margin = CKernel.new(_soft_margin)
