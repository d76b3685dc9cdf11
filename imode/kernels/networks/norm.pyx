"""Batch, layer and group normalisation over ndarrays, with their gradients."""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver
from imode._core.allocator cimport empty
from imode._core.channels cimport (
    as_channels_last, channels_back, channels_to_end, contiguous, is_channels_last)
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport BFLOAT16, typenum_of
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport (
    Thread, give_up_gil, parallel_for, skipping, take_gil)
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport PyFloat_AsDouble, PyLong_AsLong, array_of, array_or_none
from imode.kernels.networks.norm_check cimport check_batch_norm, check_group_norm, check_layer_norm
from imode.kernels.networks.planes cimport (
    BRAIN, HALF, NOT_NARROW, affine, combine, mean_and_rstd, normalise, normalise_backward,
    plane_t, planes, real, rows_t, stats, sums)
from libc.math cimport sqrt

import numpy as np

from imode import errors

cnp.import_array()

cdef enum:
    FEW = 64                  # up to so many channels, the factors lie on the stack
    IN_CACHE = 16384          # elements of samples that are read twice, and fewest for a thread


# ---- shared ------------------------------------------------------------------------------------


cdef object _single(a):
    """`a` as float32, in the same memory order; None stays None."""
    return None if a is None else cast(a, np.float32)


cdef tuple _as_half(tuple results):
    """The results for a float16 input, computed from a float32 copy: the first becomes float16."""
    result, mean, invstd = results
    return cast(result, np.float16), mean, invstd


cdef tuple _as_half_or_mixed(tuple results, weight, bias):
    """The same; the statistics become float16, too, unless a parameter is float32."""
    return _as_narrow_or_mixed(_as_half(results), weight, bias)


cdef tuple _as_narrow_or_mixed(tuple results, weight, bias):
    """The statistics in the result's dtype, unless a parameter is float32."""
    result, mean, rstd = results
    for given in (weight, bias):
        if given is not None and given.dtype == np.float32:
            return results
    return result, cast(mean, result.dtype), cast(rstd, result.dtype)


cdef int _narrow(int kind) noexcept:
    """Of 16 bits, which."""
    return HALF if kind == cnp.NPY_FLOAT16 else (
        BRAIN if kind == typenum_of[<int>BFLOAT16] else NOT_NARROW)


cdef tuple _as_halves(gradients, weight):
    """The float32 gradients of input, weight and bias, converted for a float16 input."""
    x, *rest = gradients
    given = np.float16 if weight is None else weight.dtype
    return (None if x is None else cast(x, np.float16),
            *[None if g is None else g.astype(given) for g in rest])


cdef inline cnp.ndarray _vector(long n, int kind):
    cdef cnp.npy_intp length = n
    return empty(kind, 1, &length)


cdef inline cnp.ndarray _like(cnp.ndarray a):
    return empty(cnp.PyArray_TYPE(a), cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a))


cdef inline void* _data(a) noexcept:
    return NULL if a is None else cnp.PyArray_DATA(<cnp.ndarray>a)


cdef inline object _packed(a):
    return None if a is None else contiguous(a)


# ---- batch norm ----------------------------------------------------------------------------------


cdef bint _without_gaps_last(x):
    """Whether images are contiguous with channels last; the stride of a single image is ignored."""
    return 4 <= x.ndim <= 5 and cnp.PyArray_IS_C_CONTIGUOUS(channels_to_end(x))


cdef cnp.ndarray _plane(plane_t* p, cnp.ndarray x, bint* last):
    """x as a contiguous array, and its layout as (outer, channels, inner)."""
    cdef int i
    cdef cnp.ndarray a
    last[0] = not cnp.PyArray_IS_C_CONTIGUOUS(x) and (
        is_channels_last(x) or _without_gaps_last(x))
    cdef long inner = 1
    for i in range(2, cnp.PyArray_NDIM(x)):
        inner *= cnp.PyArray_DIM(x, i)
    if last[0]:
        a = contiguous(channels_to_end(x))
        p[0] = planes(cnp.PyArray_DIM(x, 0) * inner, cnp.PyArray_DIM(x, 1), 1)
        return a
    p[0] = planes(cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), inner)
    return contiguous(x)


cdef object _back(cnp.ndarray out, bint last):
    return channels_back(out) if last else out


cdef void _fold(long n, double eps, const real* mean, const real* var, const real* w,
                const real* b, real* invstd, real* scale, real* shift) noexcept nogil:
    """(x - mean) * invstd * w + b as x * scale + shift."""
    cdef long c
    cdef real s
    for c in range(n):
        s = <real>(1.0 / sqrt(<double>var[c] + eps))
        if invstd != NULL:
            invstd[c] = s
        scale[c] = s * w[c] if w != NULL else s
        shift[c] = (b[c] if b != NULL else 0) - mean[c] * scale[c]


cdef int _update(cnp.ndarray running, cnp.ndarray batch, double momentum, double factor) except -1:
    """running = (1 - momentum) * running + momentum * factor * batch, in place."""
    cdef long c, n = cnp.PyArray_SIZE(running)
    cdef cnp.npy_intp step
    cdef char* at = <char*>cnp.PyArray_DATA(running)
    if cnp.PyArray_NDIM(running) != 1 or cnp.PyArray_TYPE(running) != cnp.PyArray_TYPE(batch):
        flat = np.reshape(batch, (<object>running).shape).astype(np.float64) * factor
        running[...] = (1 - momentum) * running + momentum * flat
        return 0
    step = cnp.PyArray_STRIDE(running, 0)
    if cnp.PyArray_TYPE(running) == cnp.NPY_FLOAT:
        for c in range(n):
            (<float*>at)[0] = <float>(momentum * (<float*>cnp.PyArray_DATA(batch))[c] * factor
                                      + (1 - momentum) * (<float*>at)[0])
            at += step
    else:
        for c in range(n):
            (<double*>at)[0] = (momentum * (<double*>cnp.PyArray_DATA(batch))[c] * factor
                                + (1 - momentum) * (<double*>at)[0])
            at += step
    return 0


cdef tuple _by_halves(result, x, weight, bias, mean, invstd):
    """Write the result again and return it with mean and 1 / standard deviation, these two rounded
    to float16 first, as PyTorch does where it keeps them in float16."""
    mean, invstd = mean.astype(np.float16).astype(np.float32), invstd.astype(np.float16)
    invstd = invstd.astype(np.float32)
    scale = invstd if weight is None else invstd * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    along = (-1, *(1,) * (x.ndim - 2))
    np.add(x * scale.reshape(along), shift.reshape(along), out=result)
    return result, mean, invstd


cdef int _check_scratch(int rc) except -1:
    if rc:
        raise MemoryError("batch_norm: no memory for the scratch buffer")
    return 0


cdef tuple batch_norm(x, weight, bias, running_mean, running_var, bint training, double momentum,
                      double eps):
    """Return (result, mean, 1 / standard deviation); in evaluation these two are empty."""
    cdef plane_t p
    cdef bint last
    cdef int rc = 0, kind, wide
    cdef long n
    cdef double count
    cdef cnp.ndarray a, out, mean, var, invstd, scratch
    cdef double few[2 * FEW]
    cdef void* w
    cdef void* b
    cdef void* scale = few
    cdef void* shift
    cdef Thread* thread
    check_batch_norm(x, weight, bias, running_mean, running_var, training)
    kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    if kind == cnp.NPY_FLOAT16:
        running = _single(running_mean), _single(running_var)
        result, first, second = batch_norm(
            _single(x), _single(weight), _single(bias), running[0], running[1], training,
            momentum, eps)
        if training and not any([given is not None and given.dtype == np.float32 for given in
                                 (weight, bias, running_mean, running_var)]):
            result, first, second = _by_halves(result, x, weight, bias, first, second)
        if training and running_mean is not None and running[0] is not running_mean:
            running_mean[...] = running[0]
        if training and running_var is not None and running[1] is not running_var:
            running_var[...] = running[1]
        return _as_half((result, first, second))
    wide = kind == cnp.NPY_DOUBLE
    a = _plane(&p, x, &last)
    out = _like(a)
    n = p.channels
    if cnp.PyArray_SIZE(a) == 0:                     # there are no statistics to update by
        return _back(out, last), np.zeros(n, a.dtype), np.zeros(n, a.dtype)
    if skipping():
        return (_back(out, last), _vector(n if training else 0, kind),
                _vector(n if training else 0, kind))
    weight = _packed(weight)
    bias = _packed(bias)
    if n > FEW:
        scratch = _vector(2 * n, kind)
        scale = cnp.PyArray_DATA(scratch)
    shift = <char*>scale + n * (sizeof(double) if wide else sizeof(float))
    w = _data(weight)
    b = _data(bias)
    if training:
        mean = _vector(n, kind)
        var = _vector(n, kind)
        invstd = _vector(n, kind)
        thread = give_up_gil(cnp.PyArray_SIZE(a))
        rc = stats(&p, wide, cnp.PyArray_DATA(a), cnp.PyArray_DATA(mean), cnp.PyArray_DATA(var))
        take_gil(thread)
        _check_scratch(rc)
    else:
        mean = contiguous(running_mean)
        var = contiguous(running_var)
        invstd = _vector(0, kind)
    if wide:
        _fold[double](n, eps, <double*>_data(mean), <double*>_data(var), <double*>w, <double*>b,
                      <double*>_data(invstd) if training else NULL, <double*>scale,
                      <double*>shift)
    else:
        _fold[float](n, eps, <float*>_data(mean), <float*>_data(var), <float*>w, <float*>b,
                     <float*>_data(invstd) if training else NULL, <float*>scale, <float*>shift)
    thread = give_up_gil(cnp.PyArray_SIZE(a))
    affine(&p, wide, cnp.PyArray_DATA(a), scale, shift, cnp.PyArray_DATA(out))
    take_gil(thread)
    if training:
        count = <double>p.outer * p.inner
        if running_mean is not None:
            _update(running_mean, mean, momentum, 1.0)
        if running_var is not None:                  # unbiased, unlike the variance used above
            _update(running_var, var, momentum, count / (count - 1) if count != 1 else np.nan)
        return _back(out, last), mean, invstd
    return _back(out, last), _vector(0, kind), invstd


cdef void _fold_backward(long n, double count, bint training, const real* mean,
                         const real* invstd, const real* w, const real* total, real* dot,
                         real* a, real* b, real* shift) noexcept nogil:
    """The input's gradient is grad * a + x * b + shift; dot becomes the weight's gradient."""
    cdef long c
    cdef real s
    for c in range(n):
        s = invstd[c] * w[c] if w != NULL else invstd[c]
        a[c] = s
        if training:
            b[c] = -<real>(dot[c] / count) * invstd[c] * invstd[c] * s
            shift[c] = -<real>(total[c] / count) * s - mean[c] * b[c]
        else:
            b[c] = 0
            shift[c] = 0
        dot[c] *= invstd[c]


def batch_norm_backward(
        grad, x, weight, running_mean, running_var, mean, invstd, bint training, double eps,
        tuple needs):
    """Return the gradients of input, weight and bias, None where not needed."""
    cdef plane_t p
    cdef bint last
    cdef int rc, kind = cnp.PyArray_TYPE(<cnp.ndarray>x), wide = kind == cnp.NPY_DOUBLE
    cdef double count
    cdef cnp.ndarray a, g, center, inverse, total, dot, one, two, shift
    cdef cnp.ndarray out = None
    if kind == cnp.NPY_FLOAT16:
        return _as_halves(batch_norm_backward(
            _single(grad), _single(x), _single(weight), _single(running_mean),
            _single(running_var), mean, invstd, training, eps, needs), weight)
    a = _plane(&p, x, &last)
    g = contiguous(channels_to_end(grad)) if last else contiguous(grad)
    if training:
        center = contiguous(mean)
        inverse = contiguous(invstd)
    else:
        center = contiguous(running_mean)
        inverse = contiguous((1 / np.sqrt(running_var + eps)).astype(x.dtype, copy=False))
    weight = _packed(weight)
    total = _vector(p.channels, kind)
    dot = _vector(p.channels, kind)
    one = _vector(p.channels, kind)
    two = _vector(p.channels, kind)
    shift = _vector(p.channels, kind)
    if skipping():
        return (_back(_like(a), last) if needs[0] else None, dot if needs[1] else None,
                total if needs[2] else None)
    with nogil:
        rc = sums(&p, wide, cnp.PyArray_DATA(g), cnp.PyArray_DATA(a),
                  cnp.PyArray_DATA(center), cnp.PyArray_DATA(total), cnp.PyArray_DATA(dot))
    _check_scratch(rc)
    count = <double>p.outer * p.inner
    if wide:
        _fold_backward[double](
            p.channels, count, training, <double*>_data(center), <double*>_data(inverse),
            <double*>_data(weight), <double*>_data(total), <double*>_data(dot),
            <double*>_data(one), <double*>_data(two), <double*>_data(shift))
    else:
        _fold_backward[float](
            p.channels, count, training, <float*>_data(center), <float*>_data(inverse),
            <float*>_data(weight), <float*>_data(total), <float*>_data(dot), <float*>_data(one),
            <float*>_data(two), <float*>_data(shift))
    if needs[0]:
        out = _like(a)
        with nogil:
            if training:
                combine(&p, wide, cnp.PyArray_DATA(g), cnp.PyArray_DATA(a),
                        cnp.PyArray_DATA(one), cnp.PyArray_DATA(two),
                        cnp.PyArray_DATA(shift), cnp.PyArray_DATA(out))
            else:                     # the input has no influence, even if it is NaN
                affine(&p, wide, cnp.PyArray_DATA(g), cnp.PyArray_DATA(one),
                       cnp.PyArray_DATA(shift), cnp.PyArray_DATA(out))
    return (_back(out, last) if needs[0] else None, dot if needs[1] else None,
            total if needs[2] else None)


# ---- layer norm ----------------------------------------------------------------------------------


cdef cnp.ndarray _statistics(cnp.ndarray x, int lead, int kind):
    """An array for one number per row: the leading dimensions, then ones."""
    cdef cnp.npy_intp[32] dims
    cdef int i
    for i in range(cnp.PyArray_NDIM(x)):
        dims[i] = cnp.PyArray_DIM(x, i) if i < lead else 1
    return empty(kind, cnp.PyArray_NDIM(x), dims)


cdef tuple layer_norm(x, tuple shape, weight, bias, double eps):
    """Return (result, mean, 1 / standard deviation), the last two per row."""
    cdef rows_t r
    cdef int lead, kind, narrow, rc
    cdef Thread* thread
    cdef cnp.ndarray a, out, mean, rstd
    check_layer_norm(x, shape, weight, bias)
    kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    narrow = _narrow(kind)
    given = weight, bias
    if narrow:
        weight, bias = _single(weight), _single(bias)
        kind = cnp.NPY_FLOAT
    lead = cnp.PyArray_NDIM(<cnp.ndarray>x) - <int>len(shape)
    a = contiguous(x)
    out = _like(a)
    mean = _statistics(a, lead, kind)
    rstd = _statistics(a, lead, kind)
    weight = _packed(weight)
    bias = _packed(bias)
    r = _rows(a, mean, rstd, weight, bias)
    r.narrow = narrow
    if not skipping():
        thread = give_up_gil(cnp.PyArray_SIZE(a))
        rc = normalise(&r, eps, cnp.PyArray_DATA(out))
        take_gil(thread)
        if rc:
            raise MemoryError("layer_norm: no memory for the scratch buffer")
    if narrow:
        return _as_narrow_or_mixed((out, mean, rstd), given[0], given[1])
    return out, mean, rstd


cdef rows_t _rows(cnp.ndarray x, cnp.ndarray mean, cnp.ndarray rstd, weight, bias):
    """The rows of x, one for each element of mean; borrows the arrays' memory."""
    cdef rows_t r
    r.rows = cnp.PyArray_SIZE(mean)
    r.size = cnp.PyArray_SIZE(x) // r.rows if r.rows else 0
    r.wide = cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE
    r.narrow = NOT_NARROW
    r.x = <const char*>cnp.PyArray_DATA(x)
    r.mean, r.rstd = <char*>cnp.PyArray_DATA(mean), <char*>cnp.PyArray_DATA(rstd)
    r.weight, r.bias = <const char*>_data(weight), <const char*>_data(bias)
    return r


def layer_norm_backward(grad, x, tuple shape, mean, rstd, weight, tuple needs):
    """Return the gradients of input, weight and bias, None where not needed."""
    cdef cnp.ndarray a, g
    cdef rows_t r
    if cnp.PyArray_TYPE(<cnp.ndarray>x) == cnp.NPY_FLOAT16:
        return _as_halves(layer_norm_backward(
            _single(grad), _single(x), shape, _single(mean), _single(rstd), _single(weight), needs),
            weight)
    a = contiguous(x)
    g = contiguous(grad)
    mean, rstd, weight = contiguous(mean), contiguous(rstd), _packed(weight)
    r = _rows(a, mean, rstd, weight, None)
    gx = _like(a) if needs[0] else None
    gw = np.empty(shape, a.dtype) if needs[1] else None
    gb = np.empty(shape, a.dtype) if needs[2] else None
    cdef void* to_x = _data(gx)
    cdef void* to_w = _data(gw)
    cdef void* to_b = _data(gb)
    if skipping():
        return gx, gw, gb
    with nogil:
        normalise_backward(&r, cnp.PyArray_DATA(g), to_x, to_w, to_b)
    return gx, gw, gb


# ---- group norm ----------------------------------------------------------------------------------


cdef void _spread(long n, long channels, long groups, const real* mean, const real* rstd,
                  const real* w, const real* b, real* scale, real* shift) noexcept nogil:
    """Per (sample, channel): (x - mean) * rstd * w + b as x * scale + shift."""
    cdef long i, c, at, per = channels // groups
    for i in range(n):
        for c in range(channels):
            at = i * groups + c // per
            scale[i * channels + c] = rstd[at] * w[c] if w != NULL else rstd[at]
            shift[i * channels + c] = ((b[c] if b != NULL else 0)
                                       - mean[at] * scale[i * channels + c])


ctypedef struct Groups:
    bint wide, failed
    long item, channels, groups
    long inner                # elements of a channel
    double eps
    const char* x
    const void* w
    const void* b
    char* mean
    char* rstd
    char* scale
    char* shift
    char* out


cdef void _some_samples(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Samples begin to end, some at a time, while they are in the cache."""
    cdef Groups* g = <Groups*>ctx
    cdef long each = g.channels * g.inner, n, channel, group
    cdef const char* x
    cdef plane_t p, q
    while begin < end:
        n = min(<long>(end - begin), IN_CACHE // (each + 1) + 1)
        x = g.x + begin * each * g.item
        channel, group = begin * g.channels * g.item, begin * g.groups * g.item
        p, q = planes(1, n * g.groups, each // g.groups), planes(1, n * g.channels, g.inner)
        if mean_and_rstd(&p, g.wide, g.eps, x, g.mean + group, g.rstd + group):
            g.failed = True
        if g.wide:
            _spread[double](n, g.channels, g.groups, <double*>(g.mean + group),
                            <double*>(g.rstd + group), <double*>g.w, <double*>g.b,
                            <double*>(g.scale + channel), <double*>(g.shift + channel))
        else:
            _spread[float](n, g.channels, g.groups, <float*>(g.mean + group),
                           <float*>(g.rstd + group), <float*>g.w, <float*>g.b,
                           <float*>(g.scale + channel), <float*>(g.shift + channel))
        affine(&q, g.wide, x, g.scale + channel, g.shift + channel,
               g.out + begin * each * g.item)
        begin += n


cdef tuple group_norm(x, weight, bias, long groups, double eps):
    """Return (result, mean, 1 / standard deviation), the last two per sample and group."""
    cdef Groups g
    cdef int kind
    cdef cnp.ndarray a, out, mean, rstd, both
    cdef cnp.npy_intp[2] dims
    cdef long n
    cdef Thread* thread
    check_group_norm(x, weight, bias, groups)
    kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    if kind == cnp.NPY_FLOAT16:
        return _as_half_or_mixed(
            group_norm(_single(x), _single(weight), _single(bias), groups, eps), weight, bias)
    a = contiguous(x)
    out = _like(a)
    n = cnp.PyArray_DIM(a, 0)
    g.wide, g.item, g.failed = kind == cnp.NPY_DOUBLE, cnp.PyArray_ITEMSIZE(a), False
    g.channels, g.groups, g.eps = cnp.PyArray_DIM(a, 1), groups, eps
    g.inner = cnp.PyArray_SIZE(a) // (n * g.channels) if n * g.channels else 0
    dims[0] = n
    dims[1] = groups
    mean = empty(kind, 2, dims)
    rstd = empty(kind, 2, dims)
    both = _vector(2 * n * g.channels, kind)
    weight = _packed(weight)
    bias = _packed(bias)
    g.x, g.out = <char*>cnp.PyArray_DATA(a), <char*>cnp.PyArray_DATA(out)
    g.w, g.b = _data(weight), _data(bias)
    g.mean, g.rstd = <char*>cnp.PyArray_DATA(mean), <char*>cnp.PyArray_DATA(rstd)
    g.scale = <char*>cnp.PyArray_DATA(both)
    g.shift = g.scale + n * g.channels * g.item
    if skipping():
        return (as_channels_last(out) if is_channels_last(x) else out), mean, rstd
    thread = give_up_gil(cnp.PyArray_SIZE(a))
    parallel_for(n, IN_CACHE // (g.channels * g.inner + 1) + 1, _some_samples, &g)
    take_gil(thread)
    if g.failed:
        raise MemoryError("group_norm: no memory for sums of the groups")
    return (as_channels_last(out) if is_channels_last(x) else out), mean, rstd


cdef void _group_backward(long n, long channels, long groups, double count, const real* mean,
                          const real* rstd, const real* w, const real* total, const real* dot,
                          real* a, real* b, real* shift, real* gw, real* gb) noexcept nogil:
    """The input's gradient per (sample, channel) is grad * a + x * b + shift; gw, gb are zeroed."""
    cdef long i, j, c, at, per = channels // groups
    cdef real s, sum_grad, sum_dot
    for i in range(n):
        for j in range(groups):
            s = rstd[i * groups + j]
            sum_grad = 0
            sum_dot = 0
            for c in range(j * per, (j + 1) * per):
                at = i * channels + c
                gw[c] += dot[at] * s
                gb[c] += total[at]
                sum_grad += total[at] * w[c] if w != NULL else total[at]
                sum_dot += dot[at] * w[c] if w != NULL else dot[at]
            for c in range(j * per, (j + 1) * per):
                at = i * channels + c
                a[at] = s * w[c] if w != NULL else s
                b[at] = -<real>(sum_dot / count) * s * s * s
                shift[at] = -<real>(sum_grad / count) * s - mean[i * groups + j] * b[at]


def group_norm_backward(grad, x, mean, rstd, weight, long groups, tuple needs):
    """Return the gradients of input, weight and bias, None where not needed."""
    cdef plane_t p
    cdef int rc, kind = cnp.PyArray_TYPE(<cnp.ndarray>x), wide = kind == cnp.NPY_DOUBLE
    cdef cnp.ndarray a, g, center, inverse, means, total, dot, one, two, shift, out, gw, gb
    cdef long n, channels
    cdef double count
    if kind == cnp.NPY_FLOAT16:
        return _as_halves(group_norm_backward(
            _single(grad), _single(x), _single(mean), _single(rstd), _single(weight), groups,
            needs), weight)
    a = contiguous(x)
    g = contiguous(grad)
    center = contiguous(mean)
    inverse = contiguous(rstd)
    weight = _packed(weight)
    n = cnp.PyArray_DIM(a, 0)
    channels = cnp.PyArray_DIM(a, 1)
    p = planes(1, n * channels, cnp.PyArray_SIZE(a) // (n * channels) if n * channels else 0)
    count = <double>p.inner * channels / groups
    means = contiguous(np.repeat(center.reshape(n * groups), channels // groups))
    total = _vector(p.channels, kind)
    dot = _vector(p.channels, kind)
    one = _vector(p.channels, kind)
    two = _vector(p.channels, kind)
    shift = _vector(p.channels, kind)
    gw = np.zeros(channels, a.dtype)
    gb = np.zeros(channels, a.dtype)
    out = _like(a)
    gx = as_channels_last(out) if is_channels_last(x) else out
    if skipping():
        return gx if needs[0] else None, gw if needs[1] else None, gb if needs[2] else None
    with nogil:
        rc = sums(&p, wide, cnp.PyArray_DATA(g), cnp.PyArray_DATA(a), cnp.PyArray_DATA(means),
                  cnp.PyArray_DATA(total), cnp.PyArray_DATA(dot))
    if rc:
        raise MemoryError("group_norm: no memory for the scratch buffer")
    if wide:
        _group_backward[double](
            n, channels, groups, count, <double*>_data(center), <double*>_data(inverse),
            <double*>_data(weight), <double*>_data(total), <double*>_data(dot),
            <double*>_data(one), <double*>_data(two), <double*>_data(shift), <double*>_data(gw),
            <double*>_data(gb))
    else:
        _group_backward[float](
            n, channels, groups, count, <float*>_data(center), <float*>_data(inverse),
            <float*>_data(weight), <float*>_data(total), <float*>_data(dot), <float*>_data(one),
            <float*>_data(two), <float*>_data(shift), <float*>_data(gw), <float*>_data(gb))
    if needs[0]:
        with nogil:
            combine(&p, wide, cnp.PyArray_DATA(g), cnp.PyArray_DATA(a), cnp.PyArray_DATA(one),
                    cnp.PyArray_DATA(two), cnp.PyArray_DATA(shift), cnp.PyArray_DATA(out))
    gx = as_channels_last(out) if is_channels_last(x) else out
    return gx if needs[0] else None, gw if needs[1] else None, gb if needs[2] else None


# ---- the kernels, called from C: with few elements, a Python call would take half of the time ----

cdef object _batch_norm(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, batch_norm(
        array_of(args[0]), array_or_none(args[1]), array_or_none(args[2]), array_or_none(args[3]),
        array_or_none(args[4]), <object>args[5] is True, PyFloat_AsDouble(args[6]),
        PyFloat_AsDouble(args[7])), args)


cdef object _layer_norm(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, layer_norm(
        array_of(args[0]), <tuple>args[1], array_or_none(args[2]), array_or_none(args[3]),
        PyFloat_AsDouble(args[4])), args)


cdef object _group_norm(Operator op, keyset_t keys, PyObject** args):
    cdef cnp.ndarray x = array_of(args[0]), wide
    cdef long n = PyLong_AsLong(args[3]), channels = PyLong_AsLong(args[4])
    cdef long size = PyLong_AsLong(args[5])
    cdef bint given = (cnp.PyArray_NDIM(x) > 1 and cnp.PyArray_DIM(x, 0) == n
                       and cnp.PyArray_DIM(x, 1) == channels)
    if cnp.PyArray_SIZE(x) != n * channels * size:
        raise errors.shapes.not_the_groups()
    wide = x if given else x.reshape((n, channels, size))
    result, mean, rstd = group_norm(wide, array_or_none(args[1]), array_or_none(args[2]),
                                    PyLong_AsLong(args[6]), PyFloat_AsDouble(args[7]))
    if not given:
        result = result.reshape((<object>x).shape)
    return deliver(op, (result, mean, rstd), args)


cdef object _without_running(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, batch_norm(
        array_of(args[0]), array_or_none(args[1]), array_or_none(args[2]), None, None,
        <object>args[3] is True, PyFloat_AsDouble(args[4]), PyFloat_AsDouble(args[5])), args)


cdef object _by_running(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, batch_norm(
        array_of(args[0]), array_or_none(args[1]), array_or_none(args[2]), array_or_none(args[3]),
        array_or_none(args[4]), False, PyFloat_AsDouble(args[5]),
        PyFloat_AsDouble(args[6])), args)


native_batch_norm = CKernel.new(_batch_norm)
batch_norm_without_running = CKernel.new(_without_running)
batch_norm_by_running = CKernel.new(_by_running)
native_layer_norm = CKernel.new(_layer_norm)
native_group_norm = CKernel.new(_group_norm)
