"""Batch, layer and group normalisation over ndarrays, with their gradients."""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core.adapter cimport deliver
from imode._core.allocator cimport empty, release
from imode._core.channels cimport (
    as_channels_last, channels_back, channels_to_end, contiguous, is_channels_last)
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport BFLOAT16, typenum_of
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport (
    Thread, give_up_gil, parallel_for, skipping, take_gil)
from imode.kernels.creation.copy cimport cast, write
from imode.kernels.fast_guards cimport PyFloat_AsDouble, PyLong_AsLong, array_of, array_or_none
from imode.kernels.networks.norm_check cimport check_batch_norm, check_group_norm, check_layer_norm
from imode.kernels.networks.planes cimport (
    BRAIN, DOUBLE, FLOAT, HALF, Kind, affine, combine, mean_and_rstd, normalise,
    normalise_backward, plane_t, planes, real, rows_t, stats, sums)
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


cdef bint _mixed(tuple parameters) except -1:
    """Whether one of the parameters of a 16-bit input is of float32."""
    for given in parameters:
        if given is not None and cnp.PyArray_TYPE(<cnp.ndarray>given) == cnp.NPY_FLOAT:
            return True
    return False


cdef tuple _as_narrow_or_mixed(tuple results, tuple parameters):
    """The statistics in the result's dtype, unless a parameter is float32."""
    result, mean, rstd = results
    if _mixed(parameters):
        return results
    return result, cast(mean, result.dtype), cast(rstd, result.dtype)


cdef Kind _kind(cnp.ndarray x) noexcept:
    cdef int kind = cnp.PyArray_TYPE(x)
    if kind == cnp.NPY_FLOAT16:
        return HALF
    if kind == typenum_of[<int>BFLOAT16]:
        return BRAIN
    return DOUBLE if kind == cnp.NPY_DOUBLE else FLOAT


cdef tuple _as_narrow(tuple gradients, x, weight):
    """The gradients of input, weight and bias; these two in the weight's dtype, or else x's."""
    own, *rest = gradients
    given = x.dtype if weight is None else weight.dtype
    return own, *[None if g is None else cast(g, given) for g in rest]


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


cdef void _invert(long n, double eps, const real* var, real* invstd) noexcept nogil:
    cdef long c
    for c in range(n):
        invstd[c] = <real>(1.0 / sqrt(<double>var[c] + eps))


cdef void _fold(long n, const real* mean, const real* invstd, const real* w, const real* b,
                real* scale, real* shift) noexcept nogil:
    """(x - mean) * invstd * w + b as x * scale + shift; invstd and scale may be one array."""
    cdef long c
    for c in range(n):
        scale[c] = invstd[c] * w[c] if w != NULL else invstd[c]
        shift[c] = (b[c] if b != NULL else 0) - mean[c] * scale[c]


cdef int _update(cnp.ndarray running, cnp.ndarray batch, double momentum, double factor) except -1:
    """running = (1 - momentum) * running + momentum * factor * batch, in place."""
    cdef long c, n = cnp.PyArray_SIZE(running)
    cdef cnp.npy_intp step
    cdef char* at = <char*>cnp.PyArray_DATA(running)
    if _kind(running) >= HALF:
        wide = _single(running)
        _update(wide, batch, momentum, factor)
        write(running, wide)
        return 0
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


cdef cnp.ndarray _rounded(cnp.ndarray a, dtype):
    """Numbers that are kept in another dtype, as they are read again."""
    return cast(cast(a, dtype), np.float32)


cdef int _check_scratch(int rc) except -1:
    if rc:
        raise MemoryError("batch_norm: no memory for the scratch buffer")
    return 0


cdef tuple batch_norm(x, weight, bias, running_mean, running_var, bint training, double momentum,
                      double eps):
    """Return (result, mean, 1 / standard deviation); in evaluation these two are empty."""
    cdef plane_t p
    cdef bint last
    cdef int rc = 0, number
    cdef long n
    cdef double count
    cdef Kind kind
    cdef cnp.ndarray a, out, mean, var, invstd, scratch, own
    cdef double few[2 * FEW]
    cdef void* scale = few
    cdef void* shift
    cdef void* inverse
    cdef Thread* thread
    cdef PyObject* spare
    cdef tuple given = (weight, bias, running_mean, running_var)
    check_batch_norm(x, weight, bias, running_mean, running_var, training)
    kind = _kind(x)
    number = cnp.NPY_DOUBLE if kind == DOUBLE else cnp.NPY_FLOAT
    a = _plane(&p, x, &last)
    out = _like(a)
    n = p.channels
    if cnp.PyArray_SIZE(a) == 0:                     # there are no statistics to update by
        mean, invstd = np.zeros(n, x.dtype), np.zeros(n, x.dtype)
        if kind >= HALF and _mixed(given):
            mean, invstd = _single(mean), _single(invstd)
        return _back(out, last), mean, invstd
    own = mean = _vector(n if training else 0, number)
    invstd = _vector(n if training else 0, number)
    if skipping():
        return _kept(_back(out, last), own, invstd, kind, given)
    if kind >= HALF:
        weight, bias = _single(weight), _single(bias)
    weight = _packed(weight)
    bias = _packed(bias)
    if n > FEW:
        scratch = _vector(2 * n, number)
        scale = cnp.PyArray_DATA(scratch)
    shift = <char*>scale + n * (sizeof(double) if kind == DOUBLE else sizeof(float))
    inverse = cnp.PyArray_DATA(invstd) if training else scale
    if training:
        var = _vector(n, number)
        thread = give_up_gil(cnp.PyArray_SIZE(a))
        rc = stats(&p, kind, cnp.PyArray_DATA(a), cnp.PyArray_DATA(mean), cnp.PyArray_DATA(var))
        take_gil(thread)
        _check_scratch(rc)
        count = <double>p.outer * p.inner
        if running_mean is not None:
            _update(running_mean, mean, momentum, 1.0)
        if running_var is not None:                  # unbiased, unlike the variance used below
            _update(running_var, var, momentum, count / (count - 1) if count != 1 else np.nan)
    else:
        mean = contiguous(_single(running_mean) if kind >= HALF else running_mean)
        var = contiguous(_single(running_var) if kind >= HALF else running_var)
    if kind == DOUBLE:
        _invert[double](n, eps, <double*>_data(var), <double*>inverse)
    else:
        _invert[float](n, eps, <float*>_data(var), <float*>inverse)
    if training and kind >= HALF and not _mixed(given):  # as PyTorch keeps them
        own = mean = _rounded(mean, x.dtype)
        invstd = _rounded(invstd, x.dtype)
        inverse = cnp.PyArray_DATA(invstd)
    if kind == DOUBLE:
        _fold[double](n, <double*>_data(mean), <double*>inverse, <double*>_data(weight),
                      <double*>_data(bias), <double*>scale, <double*>shift)
    else:
        _fold[float](n, <float*>_data(mean), <float*>inverse, <float*>_data(weight),
                     <float*>_data(bias), <float*>scale, <float*>shift)
    spare = <PyObject*>var
    Py_INCREF(var)
    var = None
    release(spare)                # to be used again, unless it was given
    thread = give_up_gil(cnp.PyArray_SIZE(a))
    affine(&p, kind, cnp.PyArray_DATA(a), scale, shift, cnp.PyArray_DATA(out))
    take_gil(thread)
    return _kept(_back(out, last), own, invstd, kind, given)


cdef tuple _kept(result, cnp.ndarray mean, cnp.ndarray invstd, Kind kind, tuple given):
    if kind >= HALF:
        return _as_narrow_or_mixed((result, mean, invstd), given)
    return result, mean, invstd


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
    cdef Kind kind = _kind(x)
    cdef int rc, number = cnp.NPY_DOUBLE if kind == DOUBLE else cnp.NPY_FLOAT
    cdef double count
    cdef cnp.ndarray a, g, center, inverse, total, dot, one, two, shift
    cdef cnp.ndarray out = None
    given = weight
    if kind >= HALF:
        weight, mean, invstd = _single(weight), _single(mean), _single(invstd)
        running_mean, running_var = _single(running_mean), _single(running_var)
    a = _plane(&p, x, &last)
    g = contiguous(channels_to_end(grad)) if last else contiguous(grad)
    if training:
        center = contiguous(mean)
        inverse = contiguous(invstd)
    else:
        center = contiguous(running_mean)
        inverse = contiguous((1 / np.sqrt(running_var + eps)).astype(center.dtype, copy=False))
    weight = _packed(weight)
    total = _vector(p.channels, number)
    dot = _vector(p.channels, number)
    one = _vector(p.channels, number)
    two = _vector(p.channels, number)
    shift = _vector(p.channels, number)
    if skipping():
        return _gradients(_back(_like(a), last), dot, total, needs, x, given)
    with nogil:
        rc = sums(&p, kind, cnp.PyArray_DATA(g), cnp.PyArray_DATA(a),
                  cnp.PyArray_DATA(center), cnp.PyArray_DATA(total), cnp.PyArray_DATA(dot))
    _check_scratch(rc)
    count = <double>p.outer * p.inner
    if kind == DOUBLE:
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
                combine(&p, kind, cnp.PyArray_DATA(g), cnp.PyArray_DATA(a),
                        cnp.PyArray_DATA(one), cnp.PyArray_DATA(two),
                        cnp.PyArray_DATA(shift), cnp.PyArray_DATA(out))
            else:                     # the input has no influence, even if it is NaN
                affine(&p, kind, cnp.PyArray_DATA(g), cnp.PyArray_DATA(one),
                       cnp.PyArray_DATA(shift), cnp.PyArray_DATA(out))
        out = _back(out, last)
    return _gradients(out, dot, total, needs, x, given)


cdef tuple _gradients(gx, gw, gb, tuple needs, x, weight):
    """Those that are needed, None for the others."""
    found = gx if needs[0] else None, gw if needs[1] else None, gb if needs[2] else None
    return _as_narrow(found, x, weight) if _kind(x) >= HALF else found


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
    cdef Kind kind
    cdef int lead, number, rc
    cdef Thread* thread
    cdef cnp.ndarray a, out, mean, rstd
    check_layer_norm(x, shape, weight, bias)
    kind = _kind(x)
    number = cnp.NPY_DOUBLE if kind == DOUBLE else cnp.NPY_FLOAT
    given = weight, bias
    if kind >= HALF:
        weight, bias = _single(weight), _single(bias)
    lead = cnp.PyArray_NDIM(<cnp.ndarray>x) - <int>len(shape)
    a = contiguous(x)
    out = _like(a)
    mean = _statistics(a, lead, number)
    rstd = _statistics(a, lead, number)
    weight = _packed(weight)
    bias = _packed(bias)
    r = _rows(a, mean, rstd, weight, bias)
    if not skipping():
        thread = give_up_gil(cnp.PyArray_SIZE(a))
        rc = normalise(&r, eps, cnp.PyArray_DATA(out))
        take_gil(thread)
        if rc:
            raise MemoryError("layer_norm: no memory for the scratch buffer")
    return _kept(out, mean, rstd, kind, given)


cdef rows_t _rows(cnp.ndarray x, cnp.ndarray mean, cnp.ndarray rstd, weight, bias):
    """The rows of x, one for each element of mean; borrows the arrays' memory."""
    cdef rows_t r
    r.rows = cnp.PyArray_SIZE(mean)
    r.size = cnp.PyArray_SIZE(x) // r.rows if r.rows else 0
    r.kind = _kind(x)
    r.x = <const char*>cnp.PyArray_DATA(x)
    r.mean, r.rstd = <char*>cnp.PyArray_DATA(mean), <char*>cnp.PyArray_DATA(rstd)
    r.weight, r.bias = <const char*>_data(weight), <const char*>_data(bias)
    return r


def layer_norm_backward(grad, x, tuple shape, mean, rstd, weight, tuple needs):
    """Return the gradients of input, weight and bias, None where not needed."""
    cdef cnp.ndarray a, g
    cdef rows_t r
    if _kind(x) >= HALF:
        gx, *rest = layer_norm_backward(
            _single(grad), _single(x), shape, _single(mean), _single(rstd), _single(weight), needs)
        return _as_narrow((None if gx is None else cast(gx, x.dtype), *rest), x, weight)
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
    Kind kind
    bint failed
    long item                 # bytes of an element
    long number               # and of a number per group or channel
    long channels, groups
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
        channel, group = begin * g.channels * g.number, begin * g.groups * g.number
        p, q = planes(1, n * g.groups, each // g.groups), planes(1, n * g.channels, g.inner)
        if mean_and_rstd(&p, g.kind, g.eps, x, g.mean + group, g.rstd + group):
            g.failed = True
        if g.kind == DOUBLE:
            _spread[double](n, g.channels, g.groups, <double*>(g.mean + group),
                            <double*>(g.rstd + group), <double*>g.w, <double*>g.b,
                            <double*>(g.scale + channel), <double*>(g.shift + channel))
        else:
            _spread[float](n, g.channels, g.groups, <float*>(g.mean + group),
                           <float*>(g.rstd + group), <float*>g.w, <float*>g.b,
                           <float*>(g.scale + channel), <float*>(g.shift + channel))
        affine(&q, g.kind, x, g.scale + channel, g.shift + channel,
               g.out + begin * each * g.item)
        begin += n


cdef tuple group_norm(x, weight, bias, long groups, double eps):
    """Return (result, mean, 1 / standard deviation), the last two per sample and group."""
    cdef Groups g
    cdef int number
    cdef cnp.ndarray a, out, mean, rstd, both
    cdef tuple given = (weight, bias)
    cdef cnp.npy_intp[2] dims
    cdef long n
    cdef Thread* thread
    cdef PyObject* spare
    check_group_norm(x, weight, bias, groups)
    a = contiguous(x)
    g.kind = _kind(a)
    number = cnp.NPY_DOUBLE if g.kind == DOUBLE else cnp.NPY_FLOAT
    if g.kind >= HALF:
        weight, bias = _single(weight), _single(bias)
    out = _like(a)
    n = cnp.PyArray_DIM(a, 0)
    g.item, g.number, g.failed = cnp.PyArray_ITEMSIZE(a), 8 if g.kind == DOUBLE else 4, False
    g.channels, g.groups, g.eps = cnp.PyArray_DIM(a, 1), groups, eps
    g.inner = cnp.PyArray_SIZE(a) // (n * g.channels) if n * g.channels else 0
    dims[0] = n
    dims[1] = groups
    mean = empty(number, 2, dims)
    rstd = empty(number, 2, dims)
    both = _vector(2 * n * g.channels, number)
    weight = _packed(weight)
    bias = _packed(bias)
    g.x, g.out = <char*>cnp.PyArray_DATA(a), <char*>cnp.PyArray_DATA(out)
    g.w, g.b = _data(weight), _data(bias)
    g.mean, g.rstd = <char*>cnp.PyArray_DATA(mean), <char*>cnp.PyArray_DATA(rstd)
    g.scale = <char*>cnp.PyArray_DATA(both)
    g.shift = g.scale + n * g.channels * g.number
    if skipping():
        return _kept(as_channels_last(out) if is_channels_last(x) else out, mean, rstd, g.kind,
                     given)
    thread = give_up_gil(cnp.PyArray_SIZE(a))
    parallel_for(n, IN_CACHE // (g.channels * g.inner + 1) + 1, _some_samples, &g)
    take_gil(thread)
    spare = <PyObject*>both
    Py_INCREF(both)
    both = None
    release(spare)                # to be used again
    if g.failed:
        raise MemoryError("group_norm: no memory for sums of the groups")
    return _kept(as_channels_last(out) if is_channels_last(x) else out, mean, rstd, g.kind, given)


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
    cdef Kind kind = _kind(x)
    cdef int rc, number = cnp.NPY_DOUBLE if kind == DOUBLE else cnp.NPY_FLOAT
    cdef cnp.ndarray a, g, center, inverse, means, total, dot, one, two, shift, out, gw, gb
    cdef long n, channels
    cdef double count
    given = weight
    if kind >= HALF:
        weight, mean, rstd = _single(weight), _single(mean), _single(rstd)
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
    total = _vector(p.channels, number)
    dot = _vector(p.channels, number)
    one = _vector(p.channels, number)
    two = _vector(p.channels, number)
    shift = _vector(p.channels, number)
    gw = np.zeros(channels, center.dtype)
    gb = np.zeros(channels, center.dtype)
    out = _like(a)
    if skipping():
        return _gradients(as_channels_last(out) if is_channels_last(x) else out, gw, gb, needs, x,
                          given)
    with nogil:
        rc = sums(&p, kind, cnp.PyArray_DATA(g), cnp.PyArray_DATA(a), cnp.PyArray_DATA(means),
                  cnp.PyArray_DATA(total), cnp.PyArray_DATA(dot))
    if rc:
        raise MemoryError("group_norm: no memory for the scratch buffer")
    if kind == DOUBLE:
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
            combine(&p, kind, cnp.PyArray_DATA(g), cnp.PyArray_DATA(a), cnp.PyArray_DATA(one),
                    cnp.PyArray_DATA(two), cnp.PyArray_DATA(shift), cnp.PyArray_DATA(out))
    return _gradients(as_channels_last(out) if is_channels_last(x) else out, gw, gb, needs, x,
                      given)


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
