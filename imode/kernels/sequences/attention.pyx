"""Scaled dot product attention over ndarrays, by tiles: the whole score matrix is never held.

Queries are (batch, heads, queries, d), keys and values (batch, heads of theirs, keys, d), of which
each serves as many heads of queries. The gradients need the logarithms of the rows' sums alone.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.channels cimport contiguous
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport BFLOAT16, typenum_of
from imode._core.iterate cimport empty_like, in_row_order
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport parallel_for, skipping
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport PyLong_AsLong, _array, _count, array_of, array_or_none
from libc.math cimport INFINITY, exp, sqrt
from libc.string cimport memset

import numpy as np

from imode import errors

cnp.import_array()

cdef extern from "math.h" nogil:
    float expf(float)

ctypedef fused real:
    float
    double

cdef enum:
    FEW = 256                     # up to so many scores NumPy's loops are no faster

cdef struct Heads:                # all heads of keys, shared between threads
    attention_t first             # of batch 0, head 0; the others are so many bytes away:
    int wide
    int brains                    # of bfloat16
    int backward
    long heads                    # of keys, in each batch
    long q_batch, q_step, k_batch, k_step, v_batch, v_step
    long out_batch, out_step, lse_step, grad_step
    long grad_q_batch, grad_q_step, grad_k_batch, grad_k_step, grad_v_batch, grad_v_step
    long mask_batch, mask_step
    int failed


def _refuse(text, *arrays):
    shapes = ", ".join(str(list(array.shape)) for array in arrays)
    raise RuntimeError(f"scaled_dot_product_attention: {text}, but got {shapes}")


cdef int _check(cnp.ndarray q, cnp.ndarray k, cnp.ndarray v, object mask) except -1:
    cdef cnp.npy_intp* a = cnp.PyArray_DIMS(q)
    cdef cnp.npy_intp* b = cnp.PyArray_DIMS(k)
    cdef cnp.npy_intp* c = cnp.PyArray_DIMS(v)
    cdef int kind = cnp.PyArray_TYPE(q)
    cdef int added = cnp.NPY_FLOAT if kind == typenum_of[<int>BFLOAT16] else kind
    if cnp.PyArray_NDIM(q) != 4 or cnp.PyArray_NDIM(k) != 4 or cnp.PyArray_NDIM(v) != 4 or (
            a[0] != b[0] or b[0] != c[0] or b[1] != c[1] or b[2] != c[2] or a[3] != b[3]) or (
            b[1] == 0 or a[1] % b[1]):
        _refuse("expected (batch, heads, length, size) of queries, keys and values", q, k, v)
    if added != cnp.NPY_FLOAT and added != cnp.NPY_DOUBLE:
        raise errors.dtypes.not_implemented("flash_attention", q.dtype)
    if cnp.PyArray_TYPE(k) != kind or cnp.PyArray_TYPE(v) != kind or (
            mask is not None and cnp.PyArray_TYPE(<cnp.ndarray>mask) not in (added, cnp.NPY_BOOL)):
        raise RuntimeError("scaled_dot_product_attention: expected tensors of one dtype")
    return 0


cdef cnp.ndarray _lines(cnp.ndarray x):
    """The same with its last dimension contiguous, and whole elements apart."""
    cdef int d
    cdef cnp.npy_intp item = cnp.PyArray_ITEMSIZE(x)
    if cnp.PyArray_DIM(x, 3) > 1 and cnp.PyArray_STRIDE(x, 3) != item:
        return cnp.PyArray_NewCopy(x, cnp.NPY_CORDER)
    for d in range(3):
        if cnp.PyArray_STRIDE(x, d) % item:
            return cnp.PyArray_NewCopy(x, cnp.NPY_CORDER)
    return x


cdef object _describe(Heads* heads, cnp.ndarray q, cnp.ndarray k, cnp.ndarray v, object mask,
                      cnp.ndarray out, cnp.ndarray lse, bint causal, double scale):
    """Fill in what forward and backward share; returns the mask, which has to be kept."""
    cdef attention_t* a = &heads.first
    cdef long item = cnp.PyArray_ITEMSIZE(q)
    cdef cnp.npy_intp* sq = cnp.PyArray_STRIDES(q)
    cdef cnp.npy_intp* sk = cnp.PyArray_STRIDES(k)
    cdef cnp.npy_intp* sv = cnp.PyArray_STRIDES(v)
    cdef cnp.npy_intp* so = cnp.PyArray_STRIDES(out)
    cdef cnp.npy_intp* sm
    heads.wide, heads.brains, heads.failed = item == 8, item == 2, 0
    heads.heads = cnp.PyArray_DIM(k, 1)
    a.group = cnp.PyArray_DIM(q, 1) // heads.heads
    a.nq, a.nk = cnp.PyArray_DIM(q, 2), cnp.PyArray_DIM(k, 2)
    a.d, a.dv = cnp.PyArray_DIM(q, 3), cnp.PyArray_DIM(v, 3)
    a.q, a.k, a.v = cnp.PyArray_DATA(q), cnp.PyArray_DATA(k), cnp.PyArray_DATA(v)
    a.q_head, a.q_row, a.k_row, a.v_row = sq[1] // item, sq[2] // item, sk[2] // item, sv[2] // item
    a.out, a.out_head, a.out_row = cnp.PyArray_DATA(out), so[1] // item, so[2] // item
    a.lse, a.causal, a.scale = cnp.PyArray_DATA(lse), causal, scale
    heads.q_batch, heads.q_step = sq[0], sq[1] * a.group
    heads.k_batch, heads.k_step, heads.v_batch, heads.v_step = sk[0], sk[1], sv[0], sv[1]
    heads.out_batch, heads.out_step = so[0], so[1] * a.group
    heads.lse_step = a.group * a.nq * cnp.PyArray_ITEMSIZE(lse)
    a.mask, a.boolean = NULL, 0
    heads.mask_batch = heads.mask_step = 0
    if mask is not None:
        mask = np.broadcast_to(mask, (cnp.PyArray_DIM(q, 0), cnp.PyArray_DIM(q, 1), a.nq, a.nk))
        item = cnp.PyArray_ITEMSIZE(<cnp.ndarray>mask)
        sm = cnp.PyArray_STRIDES(<cnp.ndarray>mask)
        if item > 1 and (sm[0] % item or sm[1] % item or sm[2] % item or sm[3] % item):
            mask = np.ascontiguousarray(mask)
            sm = cnp.PyArray_STRIDES(<cnp.ndarray>mask)
        a.mask = cnp.PyArray_DATA(<cnp.ndarray>mask)
        a.boolean = item == 1
        a.mask_head, a.mask_row, a.mask_column = sm[1] // item, sm[2] // item, sm[3] // item
        heads.mask_batch, heads.mask_step = sm[0], sm[1] * a.group
    return mask


cdef void _each(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Heads* all = <Heads*>context
    cdef attention_t one
    cdef Py_ssize_t i
    cdef long b, h
    for i in range(begin, end):
        one = all.first
        b, h = i // all.heads, i % all.heads
        one.q = <char*>one.q + b * all.q_batch + h * all.q_step
        one.k = <char*>one.k + b * all.k_batch + h * all.k_step
        one.v = <char*>one.v + b * all.v_batch + h * all.v_step
        one.out = <char*>one.out + b * all.out_batch + h * all.out_step
        one.lse = <char*>one.lse + i * all.lse_step
        if one.mask != NULL:
            one.mask = <char*>one.mask + b * all.mask_batch + h * all.mask_step
        if all.backward:
            one.grad = <char*>one.grad + i * all.grad_step
            one.grad_q = <char*>one.grad_q + b * all.grad_q_batch + h * all.grad_q_step
            one.grad_k = <char*>one.grad_k + b * all.grad_k_batch + h * all.grad_k_step
            one.grad_v = <char*>one.grad_v + b * all.grad_v_batch + h * all.grad_v_step
            if attention_backward(all.wide, &one):
                all.failed = 1
        elif attention_of_brains(&one) if all.brains else attention_forward(all.wide, &one):
            all.failed = 1


cdef int _run(Heads* heads, long batch) except -1:
    cdef attention_t* a = &heads.first
    cdef double each = <double>a.group * a.nq * a.nk * (a.d + a.dv) + 1
    cdef long grain = 1 if each > 1e6 else <long>(1e6 / each) + 1
    with nogil:
        parallel_for(batch * heads.heads, grain, _each, heads)
    if heads.failed:
        raise MemoryError("scaled_dot_product_attention: no memory for the tiles")
    return 0


cdef bint _is_half(cnp.ndarray x) noexcept:
    """Whether it is of a dtype of 16 bits."""
    cdef int kind = cnp.PyArray_TYPE(x)
    return kind == cnp.NPY_FLOAT16 or kind == typenum_of[<int>BFLOAT16]


cdef object _widened(object x):
    """In float32, what is of 16 bits; None stays None."""
    return cast(x, np.float32) if x is not None and _is_half(x) else x


cdef tuple _forward(cnp.ndarray q, cnp.ndarray k, cnp.ndarray v, object mask, bint causal,
                    object scale):
    """(output, logarithms of the sums of exp)"""
    cdef Heads heads
    cdef cnp.ndarray out, lse
    cdef cnp.npy_intp[4] dims
    cdef int kind = cnp.PyArray_TYPE(q), i
    if _is_half(q):
        mask = _widened(mask)
        if kind == cnp.NPY_FLOAT16 or not attention_takes_brains():
            out, lse = _forward(_widened(q), _widened(k), _widened(v), mask, causal, scale)
            return cast(out, q.dtype), lse
    _check(q, k, v, mask)
    for i in range(4):
        dims[i] = cnp.PyArray_DIM(q, i)
    lse = empty(cnp.NPY_FLOAT if _is_half(q) else kind, 3, dims)
    if cnp.PyArray_DIM(v, 3) == dims[3]:
        out = _lines(empty_like(q, kind))
    else:
        dims[3] = cnp.PyArray_DIM(v, 3)
        out = empty(kind, 4, dims)
    q, k, v = _lines(q), _lines(k), _lines(v)
    _kept = _describe(&heads, q, k, v, mask, out, lse, causal, _scale(scale, q))
    heads.backward = 0
    _run(&heads, dims[0])
    return out, lse


cdef double _scale(object scale, cnp.ndarray q):
    cdef long d = cnp.PyArray_DIM(q, 3)
    return scale if scale is not None else 1.0 / sqrt(d) if d else 1.0


cdef cnp.ndarray _zeros_like(cnp.ndarray x):
    """Zeros of the same shape, with the heads inside of the rows, as PyTorch's gradients."""
    cdef cnp.npy_intp[4] dims
    cdef cnp.ndarray out
    cdef int i
    for i in range(4):
        dims[i] = cnp.PyArray_DIM(x, (0, 2, 1, 3)[i])
    out = empty(cnp.PyArray_TYPE(x), 4, dims)
    memset(cnp.PyArray_DATA(out), 0, cnp.PyArray_NBYTES(out))
    return cnp.PyArray_SwapAxes(out, 1, 2)


def attention_back(grad, q, k, v, mask, out, lse, bint causal, scale):
    """Return the gradients of queries, keys and values."""
    cdef Heads heads
    cdef attention_t* a = &heads.first
    cdef cnp.ndarray grad_q, grad_k, grad_v, given
    if _is_half(q):
        wide = [_widened(x) for x in (grad, q, k, v, mask, out)]
        return tuple([cast(x, q.dtype) for x in attention_back(*wide, lse, causal, scale)])
    _check(q, k, v, mask)
    shape = (*q.shape[:3], v.shape[3])
    for array, wanted in ((grad, shape), (out, shape), (lse, q.shape[:3])):
        if array.shape != wanted or array.dtype != q.dtype:
            _refuse("expected what the forward pass returned", grad, out, lse)
    q, k, v, out = _lines(q), _lines(k), _lines(v), _lines(out)
    grad_q, grad_k, grad_v = _zeros_like(q), _zeros_like(k), _zeros_like(v)
    given, lse = contiguous(grad), contiguous(lse)
    _kept = _describe(&heads, q, k, v, mask, out, lse, causal, _scale(scale, q))
    heads.backward = 1
    a.grad, a.grad_q = cnp.PyArray_DATA(given), cnp.PyArray_DATA(grad_q)
    a.grad_k, a.grad_v = cnp.PyArray_DATA(grad_k), cnp.PyArray_DATA(grad_v)
    cdef long item = cnp.PyArray_ITEMSIZE(grad_k)
    cdef cnp.npy_intp* sq = cnp.PyArray_STRIDES(grad_q)
    cdef cnp.npy_intp* sk = cnp.PyArray_STRIDES(grad_k)
    cdef cnp.npy_intp* sv = cnp.PyArray_STRIDES(grad_v)
    heads.grad_step = a.group * a.nq * a.dv * item
    heads.grad_q_batch, heads.grad_q_step = sq[0], sq[1] * a.group
    heads.grad_k_batch, heads.grad_k_step = sk[0], sk[1]
    heads.grad_v_batch, heads.grad_v_step = sv[0], sv[1]
    a.grad_q_head, a.grad_q_row = sq[1] // item, sq[2] // item
    a.grad_k_row, a.grad_v_row = sk[2] // item, sv[2] // item
    _run(&heads, cnp.PyArray_DIM(grad_k, 0))
    return grad_q, grad_k, grad_v


cdef object _attention(Operator op, keyset_t keys, PyObject** args):
    """Called from C: of few elements, a Python call would take half of the time."""
    return deliver(op, _forward(
        array_of(args[0]), array_of(args[1]), array_of(args[2]), array_or_none(args[3]),
        <object>args[4] is True, <object>args[5]), args)


cdef void _soften(const real* x, long rows, long n, real* out) noexcept nogil:
    """The softmax of each row; of nothing but minus infinity, zeros."""
    cdef long _, j
    cdef real most, sum
    for _ in range(rows):
        most = -INFINITY
        for j in range(n):
            most = x[j] if x[j] > most or x[j] != x[j] else most
        most = 0 if most == -INFINITY else most
        sum = 0
        for j in range(n):
            out[j] = expf(x[j] - most) if real is float else exp(x[j] - most)
            sum += out[j]
        for j in range(n):
            out[j] = out[j] / sum if sum != 0 else 0
        x += n
        out += n


cdef object _safe_softmax(Operator op, keyset_t keys, PyObject** args):
    """(self, dim): of few elements, along the last dimension"""
    cdef Fields* x = _array(args[0])
    cdef int kind = x.descr.type_num
    cdef long n = _count(x, 0, x.nd), dim = PyLong_AsLong(args[1]), last
    cdef cnp.ndarray out
    if not 0 < n <= FEW or x.nd == 0 or (dim != -1 and dim != x.nd - 1) or skipping() or (
            not in_row_order(x, cnp.PyArray_ITEMSIZE(array_of(args[0])))
            or (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE)):
        return run_general(op, keys, args)
    last = x.dimensions[x.nd - 1]
    out = empty(kind, x.nd, x.dimensions)
    if kind == cnp.NPY_FLOAT:
        _soften(<float*>x.data, n // last, last, <float*>cnp.PyArray_DATA(out))
    else:
        _soften(<double*>x.data, n // last, last, <double*>cnp.PyArray_DATA(out))
    return deliver(op, out, args)


attention = CKernel.new(_attention)
safe_softmax = CKernel.new(_safe_softmax)
