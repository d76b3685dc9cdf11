"""Negative log-likelihood over ndarrays: (c), (n, c) or (n, c, *places), and its gradient."""

cimport numpy as cnp

from .channels cimport contiguous

import numpy as np

cnp.import_array()

ctypedef fused real:
    float
    double

# PyTorch's words for dtypes in error messages
cdef dict SCALAR_TYPES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long", "int32": "Int",
    "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}


cdef struct picks_t:
    long n, c, places            # the input is (n, c, places)
    long ignored
    const cnp.int64_t* target    # (n, places)


cdef str _words(values):
    return "[" + ", ".join([str(v) for v in values]) + "]"


cdef str _type(a):
    return SCALAR_TYPES.get(a.dtype.name, a.dtype.name)


cdef int _check(cnp.ndarray x, cnp.ndarray target, weight) except -1:
    cdef int ndim = cnp.PyArray_NDIM(x), kind = cnp.PyArray_TYPE(target)
    cdef long classes = cnp.PyArray_DIM(x, 1 if ndim > 1 else 0)
    if ndim <= 2:
        if cnp.PyArray_NDIM(target) > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if ndim == 2 and (cnp.PyArray_NDIM(target) != 1
                          or cnp.PyArray_DIM(target, 0) != cnp.PyArray_DIM(x, 0)):
            raise RuntimeError(
                f"size mismatch (got input: {_words((<object>x).shape)}, target: "
                f"{_words((<object>target).shape)})")
    else:
        shape = (<object>x).shape
        if (shape[0],) + shape[2:] != (<object>target).shape:
            raise RuntimeError(
                f"size mismatch (got input: {_words(shape)} , target: "
                f"{_words((<object>target).shape)}")
    if weight is not None and (cnp.PyArray_NDIM(<cnp.ndarray>weight) != 1
                               or cnp.PyArray_SIZE(<cnp.ndarray>weight) != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes "
            f"but got weight tensor of shape: {_words(weight.shape)}")
    if kind != cnp.NPY_INT64 and kind != cnp.NPY_UINT8:
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {_type(target)}")
    if weight is not None and cnp.PyArray_TYPE(<cnp.ndarray>weight) != cnp.PyArray_TYPE(x):
        raise RuntimeError(f"expected scalar type {_type(x)} but found {_type(weight)}")
    return 0


cdef cnp.ndarray _describe(picks_t* p, cnp.ndarray x, target, long ignored):
    """Fill in p; returns the target as contiguous int64, which p points into."""
    cdef int i, ndim = cnp.PyArray_NDIM(x)
    cdef cnp.ndarray at
    if cnp.PyArray_TYPE(<cnp.ndarray>target) != cnp.NPY_INT64:
        target = target.astype(np.int64)
    at = contiguous(target)
    p.n = 1 if ndim == 1 else cnp.PyArray_DIM(x, 0)
    p.c = cnp.PyArray_DIM(x, 1 if ndim > 1 else 0)
    p.places = 1
    for i in range(2, ndim):
        p.places *= cnp.PyArray_DIM(x, i)
    p.ignored = ignored
    p.target = <const cnp.int64_t*>cnp.PyArray_DATA(at)
    return at


cdef long _bad_target(const picks_t* p) noexcept nogil:
    """The place of the first target that is no class, or -1."""
    cdef long i
    for i in range(p.n * p.places):
        if p.target[i] != p.ignored and (p.target[i] < 0 or p.target[i] >= p.c):
            return i
    return -1


cdef void _each(const picks_t* p, const real* x, const real* w, real* out) noexcept nogil:
    cdef long n, s, t
    for n in range(p.n):
        for s in range(p.places):
            t = p.target[n * p.places + s]
            if t == p.ignored:
                out[n * p.places + s] = 0
            else:
                out[n * p.places + s] = (-x[(n * p.c + t) * p.places + s]
                                         * (w[t] if w != NULL else 1))


cdef double _sum(const picks_t* p, const real* x, const real* w, double* total) noexcept nogil:
    cdef long n, s, t
    cdef double loss = 0
    cdef real share
    for n in range(p.n):
        for s in range(p.places):
            t = p.target[n * p.places + s]
            if t != p.ignored:
                share = w[t] if w != NULL else 1
                total[0] += share
                loss -= x[(n * p.c + t) * p.places + s] * share
    return loss


cdef void _spread(const picks_t* p, const real* grad, bint single, real factor, const real* w,
                  real* out) noexcept nogil:
    cdef long n, s, t, i
    for n in range(p.n):
        for s in range(p.places):
            i = n * p.places + s
            t = p.target[i]
            if t != p.ignored:
                out[(n * p.c + t) * p.places + s] = (
                    -grad[0 if single else i] * factor * (w[t] if w != NULL else 1))


cdef object _scalar(double value, int kind):
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(0, NULL, kind, 0)
    if kind == cnp.NPY_FLOAT:
        (<float*>cnp.PyArray_DATA(out))[0] = <float>value
    else:
        (<double*>cnp.PyArray_DATA(out))[0] = value
    return out


cpdef tuple nll(x, target, weight, long reduction, long ignore_index):
    """Return (loss, total weight of the classes that count)."""
    cdef picks_t p
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    cdef long bad
    cdef double total = 0, loss = 0
    cdef cnp.ndarray a, at, out
    cdef void* w = NULL
    if cnp.PyArray_NDIM(<cnp.ndarray>x) == 0:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    _check(x, target, weight)
    if kind == cnp.NPY_FLOAT16:
        both = nll(x.astype(np.float32), target,
                   None if weight is None else weight.astype(np.float32), reduction, ignore_index)
        return both[0].astype(np.float16), both[1].astype(np.float16)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        name = "nll_loss_out_frame" if x.ndim <= 2 else "nll_loss2d_forward_out_frame"
        raise NotImplementedError(f"\"{name}\" not implemented for '{_type(x)}'")
    a = contiguous(x)
    at = _describe(&p, a, target, ignore_index)
    bad = _bad_target(&p)
    if bad >= 0:
        raise IndexError(f"Target {p.target[bad]} is out of bounds.")
    if weight is not None:
        weight = contiguous(weight)
        w = cnp.PyArray_DATA(<cnp.ndarray>weight)
    if reduction == NONE:
        out = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(at), cnp.PyArray_DIMS(at), kind, 0)
        with nogil:
            if kind == cnp.NPY_FLOAT:
                _each(&p, <float*>cnp.PyArray_DATA(a), <float*>w, <float*>cnp.PyArray_DATA(out))
            else:
                _each(&p, <double*>cnp.PyArray_DATA(a), <double*>w,
                      <double*>cnp.PyArray_DATA(out))
        return out, _scalar(0, kind)
    with nogil:
        if kind == cnp.NPY_FLOAT:
            loss = _sum(&p, <float*>cnp.PyArray_DATA(a), <float*>w, &total)
        else:
            loss = _sum(&p, <double*>cnp.PyArray_DATA(a), <double*>w, &total)
    if reduction == MEAN:
        loss = loss / total                          # nothing counted: NaN, as PyTorch
    return _scalar(loss, kind), _scalar(total, kind)


cpdef object nll_backward(grad, x, target, weight, long reduction, long ignore_index, total):
    """Return the gradient for x, of which only shape and dtype are read."""
    cdef picks_t p
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>grad)
    cdef bint single = reduction != NONE
    cdef cnp.ndarray g, at, out
    cdef void* w = NULL
    cdef double factor = 1
    if kind == cnp.NPY_FLOAT16:
        return nll_backward(
            grad.astype(np.float32), x, target,
            None if weight is None else weight.astype(np.float32), reduction, ignore_index,
            total.astype(np.float32)).astype(np.float16)
    at = _describe(&p, x, target, ignore_index)
    g = contiguous(grad)
    out = cnp.PyArray_ZEROS(cnp.PyArray_NDIM(<cnp.ndarray>x), cnp.PyArray_DIMS(<cnp.ndarray>x),
                            kind, 0)
    if weight is not None:
        weight = contiguous(weight)
        w = cnp.PyArray_DATA(<cnp.ndarray>weight)
    if reduction == MEAN:
        factor = 1 / <double>total
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _spread(&p, <float*>cnp.PyArray_DATA(g), single, <float>factor, <float*>w,
                    <float*>cnp.PyArray_DATA(out))
        else:
            _spread(&p, <double*>cnp.PyArray_DATA(g), single, factor, <double*>w,
                    <double*>cnp.PyArray_DATA(out))
    return out
