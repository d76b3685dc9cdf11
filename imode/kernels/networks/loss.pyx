"""Losses over ndarrays, with their gradients: negative log-likelihood, and losses of pairs."""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.channels cimport contiguous
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport BFLOAT16, typenum_of
from imode._core.keyset cimport keyset_t
from imode._core.layout cimport empty_for
from imode._core.parallel cimport Thread, give_up_gil, parallel_for, skipping, take_gil
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport (
    PyFloat_AsDouble, PyLong_AsLong, _array, _row_major, _same_shape, _wrapped, array_of,
    array_or_none)
from libc.math cimport exp
from libc.stdint cimport uint16_t

import numpy as np
from imode import errors
from imode._core.broadcast import broadcast_shape
from imode._core.promotion import can_cast, result_type
from imode._core.user_frames import warn

cnp.import_array()

ctypedef fused real:
    float
    double

cdef extern from "loss.h" nogil:
    void imode_squared_f(const float*, const float*, long, float*)
    void imode_squared_d(const double*, const double*, long, double*)
    void imode_smooth_f(const float*, const float*, long, float, float*)
    void imode_smooth_d(const double*, const double*, long, double, double*)
    void imode_huber_f(const float*, const float*, long, float, float*)
    void imode_huber_d(const double*, const double*, long, double, double*)
    void imode_entropy_f(const float*, const float*, long, float*)
    void imode_entropy_d(const double*, const double*, long, double*)
    void imode_logits_f(const float*, const float*, long, float*)
    void imode_logits_d(const double*, const double*, long, double*)
    double imode_total_f(const float*, long)
    double imode_total_d(const double*, long)
    void imode_squared_e(const uint16_t*, const uint16_t*, long, uint16_t*)
    void imode_smooth_e(const uint16_t*, const uint16_t*, long, float, float, uint16_t*)

cdef extern from "<math.h>" nogil:
    float expf(float)

cdef extern from "wide.h" nogil:
    uint16_t v_to_half(float)
    float v_from_half(uint16_t)
    void from_half(float* to, const char* source, long step, long n)
    void to_half(char* to, const float* source, long step, long n)


# ---- negative log-likelihood ---------------------------------------------------------------------


cdef struct picks_t:
    long n, c, area              # the input is (n, c, area)
    long ignored
    const cnp.int64_t* target    # (n, area)
    bint picked                  # the input has only what the targets pick: (n, area)


cdef int _check(cnp.ndarray x, cnp.ndarray target, weight) except -1:
    cdef int ndim = cnp.PyArray_NDIM(x), kind = cnp.PyArray_TYPE(target)
    cdef long classes = cnp.PyArray_DIM(x, 1 if ndim > 1 else 0)
    if ndim == 1 and kind not in (cnp.NPY_INT64, cnp.NPY_UINT8) and (
            cnp.PyArray_NDIM(target) == 1 and cnp.PyArray_DIM(target, 0) != 1):
        raise errors.dtypes.class_indices(target.dtype)
    if ndim == 2 and (cnp.PyArray_NDIM(target) == 0
                      or cnp.PyArray_DIM(target, 0) != cnp.PyArray_DIM(x, 0)):
        raise errors.shapes.batch_sizes((<object>x).shape, (<object>target).shape)
    if ndim == 1 and cnp.PyArray_NDIM(target) == 1 and cnp.PyArray_DIM(target, 0) != 1:
        raise ValueError(
            "For 1D input, 1D target must have size 1, but got target size: "
            f"{cnp.PyArray_DIM(target, 0)}")
    if ndim <= 2:
        if cnp.PyArray_NDIM(target) > 1:
            raise errors.shapes.several_targets()
    else:
        shape = (<object>x).shape
        if (shape[0],) + shape[2:] != (<object>target).shape:
            raise RuntimeError(
                f"size mismatch (got input: {list(shape)} , target: "
                f"{list((<object>target).shape)}")
    if weight is not None and (cnp.PyArray_NDIM(<cnp.ndarray>weight) != 1
                               or cnp.PyArray_SIZE(<cnp.ndarray>weight) != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes "
            f"but got weight tensor of shape: {list(weight.shape)}")
    if kind != cnp.NPY_INT64 and kind != cnp.NPY_UINT8:
        raise errors.dtypes.class_indices(target.dtype)
    if weight is not None and cnp.PyArray_TYPE(<cnp.ndarray>weight) != cnp.PyArray_TYPE(x):
        raise errors.dtypes.expected_scalar(x.dtype, weight.dtype)
    return 0


cdef cnp.ndarray _describe(picks_t* p, cnp.ndarray x, target, long ignored):
    """Fill in p; return the target as contiguous int64, which p points into."""
    cdef int i, ndim = cnp.PyArray_NDIM(x)
    cdef cnp.ndarray at
    if cnp.PyArray_TYPE(<cnp.ndarray>target) != cnp.NPY_INT64:
        target = target.astype(np.int64)
    at = contiguous(target)
    p.n = 1 if ndim == 1 else cnp.PyArray_DIM(x, 0)
    p.c = cnp.PyArray_DIM(x, 1 if ndim > 1 else 0)
    p.area = 1
    for i in range(2, ndim):
        p.area *= cnp.PyArray_DIM(x, i)
    p.ignored, p.picked = ignored, False
    p.target = <const cnp.int64_t*>cnp.PyArray_DATA(at)
    return at


cdef int _check_targets(const picks_t* p) except -1:
    """IndexError unless every target is a class or the ignored number."""
    cdef long i, t
    for i in range(p.n * p.area):
        t = p.target[i]
        if t != p.ignored and not 0 <= t < p.c:
            raise errors.shapes.target_out_of_bounds(t, p.c)
    return 0


cdef inline long _place(const picks_t* p, long n, long t, long s) noexcept nogil:
    return n * p.area + s if p.picked else (n * p.c + t) * p.area + s


cdef cnp.ndarray _picked(picks_t* p, cnp.ndarray x):
    """What the targets pick of an input of 16 bits, in float32; 0 where they pick nothing."""
    cdef cnp.npy_intp total = p.n * p.area
    cdef cnp.ndarray picks = empty(cnp.PyArray_TYPE(x), 1, &total)
    cdef const uint16_t* data = <const uint16_t*>cnp.PyArray_DATA(x)
    cdef uint16_t* to = <uint16_t*>cnp.PyArray_DATA(picks)
    cdef long n, s, t
    for n in range(p.n):
        for s in range(p.area):
            t = p.target[n * p.area + s]
            to[n * p.area + s] = (
                0 if t == p.ignored else data[_place(p, n, _wrapped(t, p.c), s)])
    p.picked = True
    return cast(picks, np.float32)


cdef cnp.ndarray _put(picks_t* p, cnp.ndarray values, cnp.ndarray like):
    """The other way: zeros but where the targets pick."""
    cdef cnp.ndarray picks = cast(values, like.dtype)
    cdef cnp.ndarray out = cnp.PyArray_ZEROS(
        cnp.PyArray_NDIM(like), cnp.PyArray_DIMS(like), cnp.PyArray_TYPE(like), 0)
    cdef const uint16_t* data = <const uint16_t*>cnp.PyArray_DATA(picks)
    cdef uint16_t* to = <uint16_t*>cnp.PyArray_DATA(out)
    cdef long n, s, t
    p.picked = False
    for n in range(p.n):
        for s in range(p.area):
            t = p.target[n * p.area + s]
            if t != p.ignored:
                to[_place(p, n, _wrapped(t, p.c), s)] = data[n * p.area + s]
    return out


cdef bint _is_narrow(int kind) noexcept:
    return kind == cnp.NPY_FLOAT16 or kind == typenum_of[<int>BFLOAT16]


cdef void _each(const picks_t* p, const real* x, const real* w, real* out) noexcept nogil:
    cdef long n, s, t
    for n in range(p.n):
        for s in range(p.area):
            t = p.target[n * p.area + s]
            if t == p.ignored:
                out[n * p.area + s] = 0
            else:
                t = _wrapped(t, p.c)
                out[n * p.area + s] = -x[_place(p, n, t, s)] * (w[t] if w != NULL else 1)


cdef double _sum(const picks_t* p, const real* x, const real* w, double* total) noexcept nogil:
    cdef long n, s, t
    cdef double loss = 0
    cdef real share
    for n in range(p.n):
        for s in range(p.area):
            t = p.target[n * p.area + s]
            if t != p.ignored:
                t = _wrapped(t, p.c)
                share = w[t] if w != NULL else 1
                total[0] += share
                loss -= x[_place(p, n, t, s)] * share
    return loss


cdef void _spread(const picks_t* p, const real* grad, bint single, real factor, const real* w,
                  real* out) noexcept nogil:
    cdef long n, s, t, i
    for n in range(p.n):
        for s in range(p.area):
            i = n * p.area + s
            t = p.target[i]
            if t != p.ignored:
                t = _wrapped(t, p.c)
                out[_place(p, n, t, s)] = (
                    -grad[0 if single else i] * factor * (w[t] if w != NULL else 1))


cdef object _scalar(double value, int kind):
    cdef cnp.ndarray out = empty(kind, 0, NULL)
    if kind == cnp.NPY_FLOAT:
        (<float*>cnp.PyArray_DATA(out))[0] = <float>value
    else:
        (<double*>cnp.PyArray_DATA(out))[0] = value
    return out


cdef tuple nll(x, target, weight, long reduction, long ignore_index):
    """Return (loss, total weight of the classes that count)."""
    cdef picks_t p
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    cdef double total = 0, loss = 0
    cdef Thread* thread
    cdef cnp.ndarray a, at, out
    cdef void* w = NULL
    if cnp.PyArray_NDIM(<cnp.ndarray>x) == 0:
        raise errors.shapes.no_rows()
    _check(x, target, weight)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE and not _is_narrow(kind):
        name = "nll_loss_out_frame" if x.ndim <= 2 else "nll_loss2d_forward_out_frame"
        raise errors.dtypes.not_implemented(name, x.dtype)
    a = contiguous(x)
    at = _describe(&p, a, target, ignore_index)
    _check_targets(&p)
    narrow = _is_narrow(kind)
    if narrow:
        kind = cnp.NPY_FLOAT
        a = _picked(&p, a) if not skipping() else empty(kind, 0, NULL)
    if weight is not None:
        weight = contiguous(cast(weight, np.float32) if narrow else weight)
        w = cnp.PyArray_DATA(<cnp.ndarray>weight)
    if reduction == NONE:
        out = empty(kind, cnp.PyArray_NDIM(at), cnp.PyArray_DIMS(at))
        if not skipping():
            with nogil:
                if kind == cnp.NPY_FLOAT:
                    _each(&p, <float*>cnp.PyArray_DATA(a), <float*>w,
                          <float*>cnp.PyArray_DATA(out))
                else:
                    _each(&p, <double*>cnp.PyArray_DATA(a), <double*>w,
                          <double*>cnp.PyArray_DATA(out))
        return _like_input(x, out, _scalar(0, kind))
    if skipping():
        return _like_input(x, _scalar(0, kind), _scalar(0, kind))
    thread = give_up_gil(cnp.PyArray_SIZE(at))
    if kind == cnp.NPY_FLOAT:
        loss = _sum(&p, <float*>cnp.PyArray_DATA(a), <float*>w, &total)
    else:
        loss = _sum(&p, <double*>cnp.PyArray_DATA(a), <double*>w, &total)
    take_gil(thread)
    if reduction == MEAN:
        loss = loss / total                          # NaN if no class counts, as in PyTorch
    return _like_input(x, _scalar(loss, kind), _scalar(total, kind))


cdef tuple _like_input(x, cnp.ndarray loss, cnp.ndarray total):
    if _is_narrow(cnp.PyArray_TYPE(<cnp.ndarray>x)):
        return cast(loss, x.dtype), cast(total, x.dtype)
    return loss, total


def nll_backward(grad, x, target, weight, long reduction, long ignore_index, total):
    """Return the gradient of x, of which only shape and dtype are read."""
    cdef picks_t p
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>grad)
    cdef bint single = reduction != NONE, narrow = _is_narrow(kind)
    cdef cnp.ndarray g, _target, out
    cdef cnp.npy_intp picks
    cdef void* w = NULL
    cdef double factor = 1
    _target = _describe(&p, x, target, ignore_index)        # p points into it
    _check_targets(&p)
    g = contiguous(cast(grad, np.float32) if narrow else grad)
    if narrow and not skipping():
        kind, total, p.picked, picks = cnp.NPY_FLOAT, cast(total, np.float32), True, p.n * p.area
        out = cnp.PyArray_ZEROS(1, &picks, kind, 0)
    else:
        out = cnp.PyArray_ZEROS(cnp.PyArray_NDIM(<cnp.ndarray>x), cnp.PyArray_DIMS(<cnp.ndarray>x),
                                kind, 0)
    if weight is not None:
        weight = contiguous(cast(weight, np.float32) if narrow else weight)
        w = cnp.PyArray_DATA(<cnp.ndarray>weight)
    if reduction == MEAN:
        factor = 1 / <double>total
    if skipping():
        return out
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _spread(&p, <float*>cnp.PyArray_DATA(g), single, <float>factor, <float*>w,
                    <float*>cnp.PyArray_DATA(out))
        else:
            _spread(&p, <double*>cnp.PyArray_DATA(g), single, factor, <double*>w,
                    <double*>cnp.PyArray_DATA(out))
    return _put(&p, out, x) if narrow else out


# ---- losses of pairs -----------------------------------------------------------------------------


cdef enum:
    CHUNK = 512                  # = IMODE_LOSSES: so many losses are computed, then summed
    GRAIN = 16384                # fewest elements per thread
    PIECE = 64                   # fewest chunks of a part of a sum
    PIECES = 64                  # most parts


cdef struct pairs_t:
    bint wide
    bint halves                  # x, y and out are float16, computed in float32
    int kind
    const void* x
    const void* y
    long n
    double p
    void* out
    long piece                   # elements of a part of the sum, which only n decides on
    double[PIECES] sum


cdef inline real _exp(real x) noexcept nogil:
    if real is float:
        return expf(x)
    else:
        return exp(x)


cdef void _values(int kind, const real* x, const real* y, long n, real p, real* out) noexcept nogil:
    if kind == SQUARED:
        if real is float:
            imode_squared_f(x, y, n, out)
        else:
            imode_squared_d(x, y, n, out)
    elif kind == SMOOTH:
        if real is float:
            imode_smooth_f(x, y, n, p, out)
        else:
            imode_smooth_d(x, y, n, p, out)
    elif kind == HUBER:
        if real is float:
            imode_huber_f(x, y, n, p, out)
        else:
            imode_huber_d(x, y, n, p, out)
    elif kind == ENTROPY:
        if real is float:
            imode_entropy_f(x, y, n, out)
        else:
            imode_entropy_d(x, y, n, out)
    elif real is float:
        imode_logits_f(x, y, n, out)
    else:
        imode_logits_d(x, y, n, out)


cdef void _slopes(int kind, const real* x, const real* y, long n, real p, real* out) noexcept nogil:
    """The derivatives of _values by x."""
    cdef long i
    cdef real d, z
    if kind == SQUARED:
        for i in range(n):
            out[i] = 2 * (x[i] - y[i])
    elif kind == SMOOTH:
        for i in range(n):
            d = x[i] - y[i]
            out[i] = -1 if d <= -p else 1 if d >= p else d / p
    elif kind == HUBER:
        for i in range(n):
            d = x[i] - y[i]
            out[i] = -p if d < -p else p if d > p else d
    elif kind == ENTROPY:
        for i in range(n):
            z = (1 - x[i]) * x[i]
            out[i] = (x[i] - y[i]) / (z if z > <real>1e-12 else <real>1e-12)
    else:
        for i in range(n):
            out[i] = 1 / (1 + _exp(-x[i])) - y[i]


cdef void _half_values(int kind, const uint16_t* x, const uint16_t* y, long n, float p,
                       uint16_t* out) noexcept nogil:
    """As _values of up to CHUNK numbers; some are rounded after each step."""
    cdef float[CHUNK] a
    cdef float[CHUNK] b
    cdef float[CHUNK] found
    cdef float less
    if kind == SQUARED:
        imode_squared_e(x, y, n, out)
        return
    if kind == SMOOTH:
        p = v_from_half(v_to_half(p))
        less = v_from_half(v_to_half(<float>0.5 * p))
        imode_smooth_e(x, y, n, p, less, out)
        return
    from_half(a, <const char*>x, 2, n)
    from_half(b, <const char*>y, 2, n)
    _values(kind, <const float*>a, <const float*>b, n, p, <float*>found)
    to_half(<char*>out, found, 2, n)


cdef double _half_sum(int kind, const uint16_t* x, const uint16_t* y, long n,
                      float p) noexcept nogil:
    """The sum of the rounded losses."""
    cdef uint16_t[CHUNK] part
    cdef float[CHUNK] found
    cdef long size, start = 0
    cdef double total = 0
    while start < n:
        size = min(n - start, <long>CHUNK)
        _half_values(kind, x + start, y + start, size, p, part)
        from_half(found, <const char*>part, 2, size)
        total += imode_total_f(found, size)
        start += size
    return total


cdef double _sum_of(int kind, const real* x, const real* y, long n, real p) noexcept nogil:
    cdef real[CHUNK] part
    cdef long size, start = 0
    cdef double total = 0
    while start < n:
        size = n - start if n - start < CHUNK else CHUNK
        _values(kind, x + start, y + start, size, p, &part[0])
        if real is float:
            total += imode_total_f(&part[0], size)
        else:
            total += imode_total_d(&part[0], size)
        start += size
    return total


cdef void _some_sums(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Parts begin to end."""
    cdef pairs_t* s = <pairs_t*>ctx
    cdef long i, at, n
    for i in range(begin, end):
        at = i * s.piece
        n = min(s.piece, s.n - at)
        if s.halves:
            s.sum[i] = _half_sum(s.kind, <const uint16_t*>s.x + at, <const uint16_t*>s.y + at, n,
                                 <float>s.p)
        elif s.wide:
            s.sum[i] = _sum_of(s.kind, <const double*>s.x + at, <const double*>s.y + at, n, s.p)
        else:
            s.sum[i] = _sum_of(s.kind, <const float*>s.x + at, <const float*>s.y + at, n,
                               <float>s.p)


cdef double _total(pairs_t* s) noexcept nogil:
    cdef long chunks = (s.n + CHUNK - 1) // CHUNK, parts, i
    cdef double total = 0
    s.piece = CHUNK * max((chunks + PIECES - 1) // PIECES, <long>PIECE)
    parts = (s.n + s.piece - 1) // s.piece
    parallel_for(parts, 1, _some_sums, s)
    for i in range(parts):
        total += s.sum[i]
    return total


cdef void _some_values(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef pairs_t* s = <pairs_t*>ctx
    cdef long size
    while s.halves and begin < end:
        size = min(end - begin, <Py_ssize_t>CHUNK)
        _half_values(s.kind, <const uint16_t*>s.x + begin, <const uint16_t*>s.y + begin, size,
                     <float>s.p, <uint16_t*>s.out + begin)
        begin += size
    if s.halves:
        return
    if s.wide:
        _values(s.kind, <const double*>s.x + begin, <const double*>s.y + begin, end - begin, s.p,
                <double*>s.out + begin)
    else:
        _values(s.kind, <const float*>s.x + begin, <const float*>s.y + begin, end - begin,
                <float>s.p, <float*>s.out + begin)


cdef void _some_slopes(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef pairs_t* s = <pairs_t*>ctx
    if s.wide:
        _slopes(s.kind, <const double*>s.x + begin, <const double*>s.y + begin, end - begin, s.p,
                <double*>s.out + begin)
    else:
        _slopes(s.kind, <const float*>s.x + begin, <const float*>s.y + begin, end - begin,
                <float>s.p, <float*>s.out + begin)


cdef pairs_t _job(int kind, cnp.ndarray a, cnp.ndarray b, double p, void* out) noexcept:
    cdef pairs_t s
    s.wide, s.kind, s.n, s.p, s.out = (
        cnp.PyArray_TYPE(a) == cnp.NPY_DOUBLE, kind, cnp.PyArray_SIZE(a), p, out)
    s.x, s.y = cnp.PyArray_DATA(a), cnp.PyArray_DATA(b)
    s.halves = cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT16
    return s


cdef tuple _pair(int kind, x, y, bint halves):
    """Both as contiguous arrays of one shape and dtype, and the dtype of the result.

    halves: float16 may stay so; else it becomes float32.
    """
    if not isinstance(x, cnp.ndarray) or not isinstance(y, cnp.ndarray):
        raise TypeError(f"expected arrays, got {type(x).__name__} and {type(y).__name__}")
    dtype = (<cnp.ndarray>x).dtype
    if (cnp.PyArray_TYPE(<cnp.ndarray>x) != cnp.PyArray_TYPE(<cnp.ndarray>y)
            or dtype.kind != "f"):
        dtype = result_type(x, y)
    if dtype.kind != "f":
        names = ("mse_cpu", "smooth_l1_cpu", "huber_cpu", "binary_cross_entropy",
                 "log_sigmoid_cpu")
        raise errors.dtypes.not_implemented(names[kind], dtype)
    if not cnp.PyArray_SAMESHAPE(<cnp.ndarray>x, <cnp.ndarray>y):
        try:
            x, y = np.broadcast_arrays(x, y)
        except ValueError:
            broadcast_shape((<object>x).shape, (<object>y).shape)
            raise
    computed = np.float32 if dtype.itemsize < 4 and not halves else dtype
    return contiguous(cast(x, computed)), contiguous(cast(y, computed)), dtype


cdef bint _within(const real* x, long n) noexcept nogil:
    cdef long i, bad = 0
    for i in range(n):
        bad += not (x[i] >= 0 and x[i] <= 1)
    return bad == 0


cpdef bint within_unit(x) except -1:
    """Whether all elements are in [0, 1]; NaN is not."""
    cdef cnp.ndarray a = contiguous(cast(x, np.float32) if x.dtype.itemsize < 4 else x)
    if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT:
        return _within(<float*>cnp.PyArray_DATA(a), cnp.PyArray_SIZE(a))
    return _within(<double*>cnp.PyArray_DATA(a), cnp.PyArray_SIZE(a))


cdef object _plain(int kind, cnp.ndarray a, cnp.ndarray b, double param, long reduction):
    """As pairwise, of contiguous arrays of one shape and dtype."""
    cdef cnp.ndarray out
    cdef int typenum = cnp.PyArray_TYPE(a), number = typenum
    cdef double total = 0
    cdef Thread* thread
    cdef pairs_t s = _job(kind, a, b, param, NULL)
    if reduction == NONE:
        out = empty(typenum, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a))
        s.out = cnp.PyArray_DATA(out)
        if not skipping():
            thread = give_up_gil(s.n)
            parallel_for(s.n, GRAIN, _some_values, &s)
            take_gil(thread)
        return out
    if not skipping():
        thread = give_up_gil(s.n)
        total = _total(&s)
        take_gil(thread)
    if s.halves:
        number = cnp.NPY_FLOAT
    out = _scalar(total / s.n if reduction == MEAN else total, number)     # NaN where n is 0
    return cast(out, np.float16) if s.halves else out


cdef object pairwise(int kind, x, y, double param, long reduction):
    """Return the losses of corresponding elements of x and y, their mean or their sum."""
    cdef cnp.ndarray a, b, out
    a, b, dtype = _pair(kind, x, y, True)
    out = _plain(kind, a, b, param, reduction)
    if reduction == NONE and not (
            cnp.PyArray_IS_C_CONTIGUOUS(x) and cnp.PyArray_IS_C_CONTIGUOUS(y)):
        laid = empty_for((x, y), (<object>out).shape, dtype)
        laid[...] = out
        return laid
    return cast(out, dtype)


cdef int _warn_of_sizes(x, y) except -1:
    cdef tuple a = (<object>x).shape, b = (<object>y).shape
    if a != b:
        warn(errors.shapes.target_size(a, b))
    return 0


cdef object squared(x, y, long reduction):
    """Squared differences; warns if the sizes differ."""
    _warn_of_sizes(x, y)
    return pairwise(SQUARED, x, y, 0.0, reduction)


def entropy(x, y, long reduction):
    """Binary cross entropy of the probabilities `x`; logarithms end at -100."""
    return pairwise(ENTROPY, x, y, 0.0, reduction)


def entropy_of_logits(x, y, long reduction):
    """Binary cross entropy of the logits `x`."""
    return pairwise(LOGITS, x, y, 0.0, reduction)


def smooth_l1(x, y, long reduction, double beta):
    """Quadratic below beta, linear above; warns if the sizes differ."""
    _warn_of_sizes(x, y)
    return pairwise(SMOOTH, x, y, beta, reduction)


def huber(x, y, long reduction, double delta):
    """Quadratic up to delta, linear above, in the dtype of x; warns if the sizes differ."""
    _warn_of_sizes(x, y)
    given = (<object>x).dtype
    common = result_type(x, y)
    if not can_cast(common, given):
        raise errors.dtypes.cannot_cast(common, given)
    return pairwise(HUBER, x, y, delta, reduction).astype(given, copy=False)


def pairwise_backward(int kind, grad, x, y, double param, long reduction):
    """Return the gradient of x, before it is summed to x's shape."""
    cdef cnp.ndarray a, b, out
    cdef int typenum
    cdef long n
    cdef pairs_t s
    a, b, _ = _pair(kind, x, y, False)
    typenum = cnp.PyArray_TYPE(a)
    n = cnp.PyArray_SIZE(a)
    if grad.ndim and grad.shape != (<object>a).shape:         # a hook has changed it
        broadcast_shape((<object>a).shape, grad.shape)
        raise RuntimeError(f"loss: expected grad_output of the shape {list((<object>a).shape)}, "
                           f"but got {list(grad.shape)}")
    if kind == SQUARED and x.dtype.itemsize == 2:             # float16: round after each step
        with np.errstate(all="ignore"):
            share = np.float16(2.0 / n if reduction == MEAN and n else 2.0)
            steps = cast(np.asarray(np.subtract(a, b)), np.float16)
            for factor in (share, grad):
                steps = np.multiply(cast(steps, np.float32), factor.astype(np.float32))
                steps = cast(np.asarray(steps), np.float16)
            return steps
    if skipping():
        return np.empty((<object>a).shape, x.dtype)
    out = empty(typenum, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a))
    s = _job(kind, a, b, param, cnp.PyArray_DATA(out))
    with nogil:
        parallel_for(n, GRAIN, _some_slopes, &s)
    factor = cast(grad, out.dtype)
    if reduction == MEAN:
        factor = (factor / n).astype(out.dtype, copy=False) if n else factor
    np.multiply(out, factor, out=out)
    return cast(out, x.dtype)


# ---- the kernels, called from C: with few elements, a Python call would take half of the time ----

cdef object _nll_loss(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, nll(
        array_of(args[0]), array_of(args[1]), array_or_none(args[2]), PyLong_AsLong(args[3]),
        PyLong_AsLong(args[4])), args)


cdef object _mse_loss(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, squared(array_of(args[0]), array_of(args[1]), PyLong_AsLong(args[2])), args)


cdef bint _are_plain(PyObject** args) noexcept:
    """Whether the first two arguments are what `_plain` takes."""
    cdef Fields* a = _array(args[0])
    cdef Fields* b = _array(args[1])
    cdef int typenum = a.descr.type_num
    return (typenum == cnp.NPY_FLOAT or typenum == cnp.NPY_DOUBLE) and (
        b.descr.type_num == typenum and _row_major(a) and _row_major(b) and a.nd == b.nd
        and _same_shape(a, b, 0, a.nd))


cdef object _differences(int kind, Operator op, keyset_t keys, PyObject** args):
    """(self, target, reduction, parameter)."""
    if not _are_plain(args):
        return run_general(op, keys, args)
    return deliver(op, _plain(kind, array_of(args[0]), array_of(args[1]),
                              PyFloat_AsDouble(args[3]), PyLong_AsLong(args[2])), args)


cdef object _smooth_loss(Operator op, keyset_t keys, PyObject** args):
    return _differences(SMOOTH, op, keys, args)


cdef object _huber_loss(Operator op, keyset_t keys, PyObject** args):
    return _differences(HUBER, op, keys, args)


cdef object _entropy_loss(Operator op, keyset_t keys, PyObject** args):
    """(self, target, weight, reduction)."""
    if args[2] != <PyObject*>None or not _are_plain(args) or (
            not within_unit(array_of(args[0])) or not within_unit(array_of(args[1]))):
        return run_general(op, keys, args)
    return deliver(op, _plain(ENTROPY, array_of(args[0]), array_of(args[1]), 0.0,
                              PyLong_AsLong(args[3])), args)


cdef object _logits_loss(Operator op, keyset_t keys, PyObject** args):
    """(self, target, weight, pos_weight, reduction)."""
    if args[2] != <PyObject*>None or args[3] != <PyObject*>None or not _are_plain(args):
        return run_general(op, keys, args)
    return deliver(op, _plain(LOGITS, array_of(args[0]), array_of(args[1]), 0.0,
                              PyLong_AsLong(args[4])), args)


nll_loss = CKernel.new(_nll_loss)
mse_loss = CKernel.new(_mse_loss)
smooth_l1_fast = CKernel.new(_smooth_loss)
huber_fast = CKernel.new(_huber_loss)
entropy_fast = CKernel.new(_entropy_loss)
entropy_of_logits_fast = CKernel.new(_logits_loss)
