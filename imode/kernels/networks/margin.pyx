"""Losses of margins over rows, and distances of all pairs of rows, forward."""

from imode._core.parallel cimport skipping
cimport numpy as cnp
from libc.math cimport INFINITY, fabs, pow, sqrt
from libc.stdlib cimport free, malloc

import numpy as np

cnp.import_array()

ctypedef fused real:
    float
    double

cdef enum:
    NONE = 0
    MEAN = 1


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


cdef object _reduced(real* each, long rows, tuple shape, int reduction, object dtype):
    cdef double total = 0
    cdef long i
    if reduction == NONE:
        out = np.empty(shape, dtype)
        for i in range(rows):
            (<real*>cnp.PyArray_DATA(<cnp.ndarray>out))[i] = each[i]
        return out
    for i in range(rows):
        total += each[i]
    if reduction == MEAN:
        total = total / rows if rows else np.nan
    out = np.empty((), dtype)
    (<real*>cnp.PyArray_DATA(<cnp.ndarray>out))[0] = <real>total
    return out


cdef object _over(real* x, cnp.ndarray target, const real* weight, long rows, long classes,
                  double p, double margin, int reduction, tuple shape, real* listed, object dtype):
    cdef const cnp.int64_t* at = <const cnp.int64_t*>cnp.PyArray_DATA(target)
    cdef real* each
    cdef long i
    if skipping():
        return np.empty(() if reduction else shape, dtype)
    each = <real*>malloc((rows + 1) * sizeof(real))
    if each == NULL:
        raise MemoryError()
    try:
        for i in range(rows):
            if listed != NULL:
                each[i] = <real>_labels(x + i * classes, classes, at + i * classes,
                                        listed + i * classes)
            else:
                each[i] = <real>_multi(x + i * classes, classes, at[i], p, margin, weight)
        return _reduced(each, rows, shape, reduction, dtype)
    finally:
        free(each)


cdef bint _outside(cnp.ndarray target, long least, long classes) noexcept:
    cdef const cnp.int64_t* at = <const cnp.int64_t*>cnp.PyArray_DATA(target)
    cdef long i
    for i in range(0 if skipping() else cnp.PyArray_SIZE(target)):
        if at[i] < least or at[i] >= classes:
            return True
    return False


def multi_margin(cnp.ndarray x, cnp.ndarray target, double p, double margin, weight, long rows,
                 long classes, int reduction, tuple shape):
    """The losses of rows with one class each; all are contiguous, the targets nobody else's."""
    cdef void* by = NULL if weight is None else cnp.PyArray_DATA(<cnp.ndarray>weight)
    if _outside(target, 0, classes):
        raise RuntimeError("target out of range")
    if cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE:
        return _over[double](<double*>cnp.PyArray_DATA(x), target, <double*>by, rows, classes, p,
                             margin, reduction, shape, NULL, x.dtype)
    return _over[float](<float*>cnp.PyArray_DATA(x), target, <float*>by, rows, classes, p, margin,
                        reduction, shape, NULL, x.dtype)


def multilabel_margin(cnp.ndarray x, cnp.ndarray target, long rows, long classes, int reduction,
                      tuple shape):
    """The losses of rows with lists of labels, and which classes are labels."""
    cdef cnp.ndarray listed = np.empty_like(x)
    if _outside(target, -1, classes):
        raise RuntimeError("argument #2 'target' is out of range")
    if cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE:
        return _over[double](<double*>cnp.PyArray_DATA(x), target, NULL, rows, classes, 1, 1,
                             reduction, shape, <double*>cnp.PyArray_DATA(listed), x.dtype), listed
    return _over[float](<float*>cnp.PyArray_DATA(x), target, NULL, rows, classes, 1, 1, reduction,
                        shape, <float*>cnp.PyArray_DATA(listed), x.dtype), listed


cdef void _pairs(const real* x, long n, long m, double p, real* out) noexcept nogil:
    cdef long i, j, k
    cdef double sum, apart
    for i in range(n):
        for j in range(i + 1, n):
            sum = 0
            for k in range(m):
                apart = fabs(<double>x[i * m + k] - <double>x[j * m + k])
                if p == 2:
                    sum += apart * apart
                elif p == 1:
                    sum += apart
                elif p == 0:
                    sum += apart != 0
                elif p == INFINITY:
                    sum = apart if apart > sum or apart != apart else sum
                else:
                    sum += pow(apart, p)
            out[0] = <real>(sqrt(sum) if p == 2 else sum if p == 0 or p == 1 or p == INFINITY
                            else pow(sum, 1 / p))
            out += 1


def pairs(cnp.ndarray x, double p):
    """The p-norm distances of each two rows of a contiguous array."""
    cdef long n = cnp.PyArray_DIM(x, 0), m = cnp.PyArray_DIM(x, 1)
    cdef cnp.ndarray out = np.empty(n * (n - 1) // 2, x.dtype)
    if skipping():
        return out
    with nogil:
        if cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE:
            _pairs(<double*>cnp.PyArray_DATA(x), n, m, p, <double*>cnp.PyArray_DATA(out))
        else:
            _pairs(<float*>cnp.PyArray_DATA(x), n, m, p, <float*>cnp.PyArray_DATA(out))
    return out
