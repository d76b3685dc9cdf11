"""Pooling of volumes over ndarrays: (n, c, d, h, w) or (c, d, h, w); fractional windows; unpooling.

Halves are pooled as float32. The loops know where each window begins and ends along each dimension,
which is worked out beforehand, so they serve fixed, adaptive and random windows alike; planes are
volumes of depth 1.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver
from imode._core.allocator cimport empty
from imode._core.channels cimport as_channels_last, contiguous, is_channels_last
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport parallel_for, range_body, skipping
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport _inside, _wrapped, array_of
from imode.kernels.networks.pool cimport (
    axis_t, count_windows, integer, is_nan, least, number, real, span)
from libc.stdlib cimport free, malloc

import numpy as np
from imode import errors

cnp.import_array()

cdef enum:
    FEW = 64                       # so many windows along the dimensions need no memory
    GIL_FREE = 4096                # from so many elements on, the GIL is released
    GRAIN = 16384                  # fewest elements per thread
    FIELDS = sizeof(axis_t) // sizeof(long)      # from a field of one axis to that of the next


# ---- where the windows lie -----------------------------------------------------------------------

ctypedef struct walk_t:            # the windows along one dimension
    long size                      # of the dimension
    long count                     # how many windows
    long step                      # from one element of a window to the next
    long* begin
    long* end
    long* wide                     # averages: the number of elements that count

cdef struct volume_t:
    long planes
    walk_t[3] walk                 # depth, height, width
    long divisor                   # averages: divides the sums; 0: the number of elements
    long* memory
    long[3 * FEW] few


cdef int _room(volume_t* v) except -1:
    """Memory for the windows' ends; `_leave` gives it back."""
    cdef long total = v.walk[0].count + v.walk[1].count + v.walk[2].count
    cdef long* at = v.few
    cdef int k
    v.memory = NULL
    if total > FEW:
        at = v.memory = <long*>malloc(3 * total * sizeof(long))
        if at == NULL:
            raise MemoryError("pooling: no memory for the places of the windows")
    for k in range(3):
        v.walk[k].begin = at
        v.walk[k].end = at + v.walk[k].count
        v.walk[k].wide = at + 2 * v.walk[k].count
        at += 3 * v.walk[k].count
    return 0


cdef inline void _leave(volume_t* v) noexcept nogil:
    free(v.memory)


cdef void _mark(walk_t* w, const axis_t* a, bint padding) noexcept nogil:
    """Fill in the windows of one dimension. padding: what is added counts, too."""
    cdef long i, first
    w.step = max(a.dilation, 1)
    for i in range(w.count):
        span(a, i, &w.begin[i], &w.end[i])
        w.wide[i] = w.end[i] - w.begin[i]
        if padding and a.kernel:
            first = i * a.stride - a.padding
            w.wide[i] = min(first + a.kernel, a.size + a.padding) - first


cdef int _walks(volume_t* v, axis_t* axes, bint padding) except -1:
    cdef int k
    for k in range(3):
        v.walk[k].size = axes[k].size
        v.walk[k].count = axes[k].count
    _room(v)
    for k in range(3):
        _mark(&v.walk[k], &axes[k], padding)
    return 0


# ---- checks --------------------------------------------------------------------------------------


cdef int _three(str op, str name, tuple values, long* field) except -1:
    """Read a field of three axes, the first of which has it at `field`."""
    cdef int k, n = <int>len(values)
    if n != 1 and n != 3:
        must = "must be either" if name == "dilation" else "must either be"
        if op == "avg_pool3d" and name != "stride":
            must = "must be"
        must += " omitted," if name == "stride" else ""
        raise RuntimeError(f"{op}: {name} {must} a single int, or a tuple of three ints")
    for k in range(3):
        field[k * FIELDS] = integer(values[k]) if k < n else field[0]
    return 0


cdef void _sizes(volume_t* v, axis_t* axes, cnp.ndarray x) noexcept:
    """Fill in the sizes of a checked shape."""
    cdef int k, ndim = cnp.PyArray_NDIM(x)
    for k in range(3):
        axes[k].size = cnp.PyArray_DIM(x, ndim - 3 + k)
    v.planes = 1
    for k in range(ndim - 3):
        v.planes *= cnp.PyArray_DIM(x, k)


cdef bint _fit(const axis_t* axes, cnp.ndarray x) noexcept:
    """Whether `_check_windows` finds nothing."""
    cdef int k
    for k in range(3):
        if axes[k].kernel <= 0 or axes[k].stride <= 0 or axes[k].dilation <= 0 or (
                axes[k].size == 0 or axes[k].count < 1
                or axes[k].size + 2 * axes[k].padding < axes[k].kernel):
            return False
    return cnp.PyArray_DIM(x, cnp.PyArray_NDIM(x) - 4) != 0


cdef int _check_windows(str op, axis_t* axes, cnp.ndarray x) except -1:
    if _fit(axes, x):
        return 0
    cdef tuple shape = (<object>x).shape
    z, y, w = axes[0], axes[1], axes[2]
    ndim = len(shape)
    if min(z.kernel, y.kernel, w.kernel) <= 0:
        raise RuntimeError("kernel size should be greater than zero, but got "
                           f"kT: {z.kernel} kH: {y.kernel} kW: {w.kernel}")
    if min(z.stride, y.stride, w.stride) <= 0:
        raise RuntimeError("stride should be greater than zero, but got "
                           f"dT: {z.stride} dH: {y.stride} dW: {w.stride}")
    if min(z.dilation, y.dilation, w.dilation) <= 0:
        raise RuntimeError(
            "dilation should be greater than zero, but got dilationT: "
            f"{z.dilation} dilationH: {y.dilation} dilationW: {w.dilation}")
    name = op if op == "avg_pool3d" else op + "_with_indices_out_cpu_template"
    for k in range(ndim - 4, ndim):
        if shape[k] == 0:
            raise RuntimeError(
                f"{name}(): Expected input's non-batch dimensions to have positive length, but "
                f"input has a shape of {list(shape)} and non-batch dimension {shape[k]} has length "
                "zero!")
    if op == "avg_pool3d" and (z.size + 2 * z.padding < z.kernel or
                               y.size + 2 * y.padding < y.kernel or
                               w.size + 2 * w.padding < w.kernel):
        raise RuntimeError(
            f"input image (T: {z.size} H: {y.size} W: {w.size}) smaller than kernel size "
            f"(kT: {z.kernel} kH: {y.kernel} kW: {w.kernel})")
    if min(z.count, y.count, w.count) < 1:
        c = shape[ndim - 4]
        raise errors.shapes.output_too_small(
            f": ({c}x{z.size}x{y.size}x{w.size})", f": ({c}x{z.count}x{y.count}x{w.count})")
    return 0


cdef int _windows(str op, volume_t* v, axis_t* axes, cnp.ndarray x, tuple kernel, tuple stride,
                  tuple padding, tuple dilation, bint ceil) except -1:
    """Check everything and fill in the axes."""
    cdef int k
    _three(op, "kernel_size", kernel, &axes.kernel)
    if stride is not None and len(stride):
        _three(op, "stride", stride, &axes.stride)
    else:
        for k in range(3):
            axes[k].stride = axes[k].kernel
    _three(op, "padding", padding, &axes.padding)
    if dilation is not None:
        _three(op, "dilation", dilation, &axes.dilation)
    else:
        axes[0].dilation = axes[1].dilation = axes[2].dilation = 1
    if cnp.PyArray_NDIM(x) != 4 and cnp.PyArray_NDIM(x) != 5:
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    _sizes(v, axes, x)
    for k in range(3):
        count_windows(&axes[k], ceil)
    _check_windows(op, axes, x)
    return 0


cdef int _even(str op, volume_t* v, axis_t* axes, cnp.ndarray x, tuple size) except -1:
    """Windows that share each dimension evenly."""
    cdef int k, ndim = cnp.PyArray_NDIM(x)
    cdef tuple shape = (<object>x).shape
    cdef bint largest = op == "adaptive_max_pool3d"
    if ndim != 4 and ndim != 5:
        colon = ":" if largest else ""
        raise RuntimeError(f"{op}(): Expected 4D or 5D tensor, but got{colon} {list(shape)}")
    if len(size) != 3:
        raise RuntimeError(f"{op}(): internal error: output_size.size() must be 3")
    cdef bint negative = <long>size[0] < 0 or <long>size[1] < 0 or <long>size[2] < 0
    if negative and largest:
        raise errors.shapes.negative_dimension(min(size), shape[:ndim - 3] + size)
    if negative:
        raise RuntimeError(
            f"{op}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{size[0]}, {size[1]},{size[2]}}}")
    for k in range(1, ndim):
        if shape[k] == 0:
            raise errors.shapes.empty_part(op, "input", shape, k)
    for k in range(3):
        axes[k] = axis_t(0, size[k], 0, 0, 0, 0)
    _sizes(v, axes, x)
    return 0


# ---- arrays --------------------------------------------------------------------------------------


cdef cnp.ndarray _new(cnp.ndarray x, const volume_t* v, int space, int kind):
    """An array with one number per window, for volumes of an array like `x`."""
    cdef cnp.npy_intp[5] dims
    cdef int i, ndim = cnp.PyArray_NDIM(x)
    for i in range(ndim - space):
        dims[i] = cnp.PyArray_DIM(x, i)
    for i in range(space):
        dims[ndim - space + i] = v.walk[3 - space + i].count
    return empty(kind, ndim, dims)


cdef cnp.ndarray _ready(str kernel, x, bint whole=False):
    """The numbers of x as the loops need them: in C order, halves as float32."""
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    if kind == cnp.NPY_FLOAT16:
        return contiguous(cast(x, np.float32))
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE and not (
            whole and cnp.PyArray_ISINTEGER(<cnp.ndarray>x)):
        raise errors.dtypes.not_implemented(kernel, x.dtype)
    return contiguous(x)


cdef object _as(cnp.ndarray out, given, bint last):
    """A result in the dtype of `given`, with channels last where these are wanted."""
    if cnp.PyArray_TYPE(<cnp.ndarray>given) == cnp.NPY_FLOAT16:
        out = cast(out, np.float16)
    return as_channels_last(out) if last else out


# ---- what threads share --------------------------------------------------------------------------

cdef struct Volumes:
    const volume_t* v
    int kind                       # NumPy's type number
    long item                      # bytes of an element
    long size, count               # of a volume, before and after
    char* source
    char* to
    cnp.int64_t* found


cdef Volumes _volumes(const volume_t* v, cnp.ndarray source, cnp.ndarray to) noexcept:
    cdef Volumes s
    s.v, s.kind, s.item = v, cnp.PyArray_TYPE(source), cnp.PyArray_ITEMSIZE(source)
    s.size = v.walk[0].size * v.walk[1].size * v.walk[2].size
    s.count = v.walk[0].count * v.walk[1].count * v.walk[2].count
    s.source, s.to = <char*>cnp.PyArray_DATA(source), <char*>cnp.PyArray_DATA(to)
    s.found = NULL
    return s


cdef void _share(range_body body, Volumes* s) noexcept:
    """Call it for all volumes, unless shapes alone are wanted."""
    cdef long planes = s.v.planes
    if skipping():
        return
    if planes * (s.size + s.count) < GIL_FREE:
        body(s, 0, planes)
        return
    with nogil:
        parallel_for(planes, GRAIN // (s.size + s.count + 1) + 1, body, s)


# ---- max -----------------------------------------------------------------------------------------


cdef void _max(const volume_t* v, long planes, const number* x, number* out,
               cnp.int64_t* at) noexcept nogil:
    cdef walk_t z = v.walk[0], y = v.walk[1], w = v.walk[2]
    cdef long _, i, j, k, a, b, c, row, best
    cdef number top, value
    for _ in range(planes):
        for i in range(z.count):
            for j in range(y.count):
                for k in range(w.count):
                    best = (z.begin[i] * y.size + y.begin[j]) * w.size + w.begin[k]
                    top = least(x)
                    a = z.begin[i]
                    while a < z.end[i]:
                        b = y.begin[j]
                        while b < y.end[j]:
                            row = (a * y.size + b) * w.size
                            c = w.begin[k]
                            while c < w.end[k]:
                                value = x[row + c]
                                if value > top or is_nan(value):      # the last NaN wins
                                    top = value
                                    best = row + c
                                c += w.step
                            b += y.step
                        a += z.step
                    out[0] = top
                    at[0] = best
                    out += 1
                    at += 1
        x += z.size * y.size * w.size


cdef void _max_of_kind(int kind, const volume_t* v, long planes, const void* source, void* to,
                       cnp.int64_t* found) noexcept nogil:
    if kind == cnp.NPY_DOUBLE:
        _max(v, planes, <const double*>source, <double*>to, found)
    elif kind == cnp.NPY_INT64:
        _max(v, planes, <const cnp.int64_t*>source, <cnp.int64_t*>to, found)
    elif kind == cnp.NPY_INT32:
        _max(v, planes, <const cnp.int32_t*>source, <cnp.int32_t*>to, found)
    elif kind == cnp.NPY_INT16:
        _max(v, planes, <const cnp.int16_t*>source, <cnp.int16_t*>to, found)
    elif kind == cnp.NPY_INT8:
        _max(v, planes, <const cnp.int8_t*>source, <cnp.int8_t*>to, found)
    elif kind == cnp.NPY_UINT8:
        _max(v, planes, <const cnp.uint8_t*>source, <cnp.uint8_t*>to, found)
    else:
        _max(v, planes, <const float*>source, <float*>to, found)


cdef void _max_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Volumes* s = <Volumes*>context
    _max_of_kind(s.kind, s.v, end - begin, s.source + begin * s.size * s.item,
                 s.to + begin * s.count * s.item, s.found + begin * s.count)


cdef tuple _max_of(str kernel, const volume_t* v, x, bint whole):
    """Return (maxima, their positions in each volume)."""
    cdef cnp.ndarray a = _ready(kernel, x, whole)
    cdef cnp.ndarray out = _new(x, v, 3, cnp.PyArray_TYPE(a))
    cdef cnp.ndarray at = _new(x, v, 3, cnp.NPY_INT64)
    cdef Volumes volumes = _volumes(v, a, out)
    cdef bint last = is_channels_last(x)
    volumes.found = <cnp.int64_t*>cnp.PyArray_DATA(at)
    _share(_max_some, &volumes)
    return _as(out, x, last), as_channels_last(at) if last else at


cdef tuple max_pool3d(x, tuple kernel, tuple stride, tuple padding, tuple dilation, bint ceil):
    cdef volume_t v
    cdef axis_t[3] axes
    _windows("max_pool3d", &v, axes, x, kernel, stride, padding, dilation, ceil)
    _walks(&v, axes, False)
    try:
        return _max_of("max_pool3d", &v, x, True)
    finally:
        _leave(&v)


cdef tuple adaptive_max_pool3d(x, tuple size):
    cdef volume_t v
    cdef axis_t[3] axes
    _even("adaptive_max_pool3d", &v, axes, x, size)
    _walks(&v, axes, False)
    try:
        return _max_of("adaptive_max_pool3d_cpu", &v, x, False)
    finally:
        _leave(&v)


# ---- windows at random ---------------------------------------------------------------------------


cdef void _scatter_windows(walk_t* w, real sample, long kernel) noexcept nogil:
    """Windows whose distances differ by one, at places that follow from a number in [0, 1)."""
    cdef long i
    cdef real alpha
    w.step = 1
    if w.count > 1:
        alpha = <real>(w.size - kernel) / <real>(w.count - 1)
        for i in range(w.count - 1):
            w.begin[i] = <long>((<real>i + sample) * alpha) - <long>(sample * alpha)
    if w.count > 0:
        w.begin[w.count - 1] = w.size - kernel
    for i in range(w.count):
        w.begin[i] = min(max(w.begin[i], 0), w.size - kernel)      # samples may be any numbers
        w.end[i] = w.begin[i] + kernel


cdef void _fractional(volume_t* v, const long* kernel, int space, const real* samples,
                      const real* x, real* out, cnp.int64_t* at) noexcept nogil:
    cdef long p, inner = v.walk[0].count * v.walk[1].count * v.walk[2].count
    cdef long size = v.walk[0].size * v.walk[1].size * v.walk[2].size
    for p in range(v.planes):
        if space == 3:
            _scatter_windows(&v.walk[0], samples[0], kernel[0])
            _scatter_windows(&v.walk[1], samples[1], kernel[1])
            _scatter_windows(&v.walk[2], samples[2], kernel[2])
        else:                                                  # the width comes first
            _scatter_windows(&v.walk[0], <real>0, 1)
            _scatter_windows(&v.walk[1], samples[1], kernel[1])
            _scatter_windows(&v.walk[2], samples[0], kernel[2])
        _max(v, 1, x + p * size, out + p * inner, at + p * inner)
        samples += space


def fractional_max_pool(x, tuple kernel, tuple size, samples, str name):
    """Return (maxima of windows at random places, their positions); all but dtypes is checked.

    kernel, size: of two or three dimensions. samples: (n, channels, as many).
    """
    cdef volume_t v
    cdef int space = <int>len(kernel), k, ndim = cnp.PyArray_NDIM(<cnp.ndarray>x)
    cdef long[3] wide
    cdef cnp.ndarray a = _ready(name, x), s, out, at
    cdef tuple shape = (<object>x).shape
    v.planes = 1
    for k in range(ndim - space):
        v.planes *= <long>shape[k]
    for k in range(3):
        v.walk[k].size = v.walk[k].count = wide[k] = 1
    for k in range(space):
        v.walk[3 - space + k].size = shape[ndim - space + k]
        v.walk[3 - space + k].count = size[k]
        wide[3 - space + k] = kernel[k]
    s = np.ascontiguousarray(samples, a.dtype)
    out = _new(x, &v, space, cnp.PyArray_TYPE(a))
    at = _new(x, &v, space, cnp.NPY_INT64)
    _room(&v)
    if skipping():
        return _as(out, x, False), at
    with nogil:
        if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT:
            _fractional(&v, wide, space, <const float*>cnp.PyArray_DATA(s),
                        <const float*>cnp.PyArray_DATA(a), <float*>cnp.PyArray_DATA(out),
                        <cnp.int64_t*>cnp.PyArray_DATA(at))
        else:
            _fractional(&v, wide, space, <const double*>cnp.PyArray_DATA(s),
                        <const double*>cnp.PyArray_DATA(a), <double*>cnp.PyArray_DATA(out),
                        <cnp.int64_t*>cnp.PyArray_DATA(at))
        _leave(&v)
    return _as(out, x, False), at


# ---- average -------------------------------------------------------------------------------------


cdef void _avg(const volume_t* v, long planes, const real* x, real* out) noexcept nogil:
    cdef walk_t z = v.walk[0], y = v.walk[1], w = v.walk[2]
    cdef long _, i, j, k, a, b, c, count
    cdef const real* row
    cdef real total
    for _ in range(planes):
        for i in range(z.count):
            for j in range(y.count):
                for k in range(w.count):
                    total = 0
                    for a in range(z.begin[i], z.end[i]):
                        for b in range(y.begin[j], y.end[j]):
                            row = x + (a * y.size + b) * w.size
                            for c in range(w.begin[k], w.end[k]):
                                total += row[c]
                    count = v.divisor if v.divisor else z.wide[i] * y.wide[j] * w.wide[k]
                    out[0] = total / <real>count
                    out += 1
        x += z.size * y.size * w.size


cdef void _avg_backward(const volume_t* v, long planes, const real* grad,
                        real* out) noexcept nogil:
    cdef walk_t z = v.walk[0], y = v.walk[1], w = v.walk[2]
    cdef long _, i, j, k, a, b, c, count
    cdef real* row
    cdef real share
    for _ in range(planes):
        for i in range(z.count):
            for j in range(y.count):
                for k in range(w.count):
                    count = v.divisor if v.divisor else z.wide[i] * y.wide[j] * w.wide[k]
                    share = grad[0] / <real>count
                    for a in range(z.begin[i], z.end[i]):
                        for b in range(y.begin[j], y.end[j]):
                            row = out + (a * y.size + b) * w.size
                            for c in range(w.begin[k], w.end[k]):
                                row[c] += share
                    grad += 1
        out += z.size * y.size * w.size


cdef void _avg_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Volumes* s = <Volumes*>context
    cdef char* source = s.source + begin * s.size * s.item
    cdef char* to = s.to + begin * s.count * s.item
    if s.kind == cnp.NPY_DOUBLE:
        _avg(s.v, end - begin, <const double*>source, <double*>to)
    else:
        _avg(s.v, end - begin, <const float*>source, <float*>to)


cdef void _avg_backward_some(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Volumes* s = <Volumes*>context
    cdef char* source = s.source + begin * s.count * s.item
    cdef char* to = s.to + begin * s.size * s.item
    if s.kind == cnp.NPY_DOUBLE:
        _avg_backward(s.v, end - begin, <const double*>source, <double*>to)
    else:
        _avg_backward(s.v, end - begin, <const float*>source, <float*>to)


cdef object _mean(str kernel, const volume_t* v, x):
    cdef cnp.ndarray a = _ready(kernel, x)
    cdef cnp.ndarray out = _new(x, v, 3, cnp.PyArray_TYPE(a))
    cdef Volumes volumes = _volumes(v, a, out)
    _share(_avg_some, &volumes)
    return _as(out, x, False)


cdef object _mean_backward(str kernel, const volume_t* v, grad, x, bint last):
    cdef cnp.ndarray g = _ready(kernel, grad), like = x
    cdef cnp.ndarray out
    cdef Volumes volumes
    cdef int k
    expected = (*(<object>x).shape[:like.ndim - 3], *[v.walk[k].count for k in range(3)])
    if (<object>grad).shape != expected:            # a hook, or a direct call of the operator
        raise RuntimeError(f"{kernel}(): expected grad_output of the shape {list(expected)}, but "
                           f"got {list((<object>grad).shape)}")
    out = cnp.PyArray_ZEROS(like.ndim, cnp.PyArray_DIMS(like), cnp.PyArray_TYPE(g), 0)
    volumes = _volumes(v, g, out)
    _share(_avg_backward_some, &volumes)
    return _as(out, grad, last)


cdef int _divisor(volume_t* v, divisor) except -1:
    v.divisor = 0 if divisor is None else divisor
    if divisor is not None and v.divisor == 0:
        raise errors.shapes.zero_divisor()
    return 0


cdef object avg_pool3d(
        x, tuple kernel, tuple stride, tuple padding, bint ceil, bint count_padding, divisor):
    """Return the mean of every window, or its sum over `divisor`."""
    cdef volume_t v
    cdef axis_t[3] axes
    cdef str name = "avg_pool3d_out_frame"
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    _divisor(&v, divisor)
    _windows("avg_pool3d", &v, axes, x, kernel, stride, padding, None, ceil)
    if kind == cnp.NPY_FLOAT16:
        raise errors.dtypes.not_implemented(name, x.dtype)
    _walks(&v, axes, count_padding)
    try:
        if kind == cnp.NPY_INT64:                   # quotients are truncated
            means = _mean(name, &v, cast(x, np.float64))
            return cast(np.trunc(means, out=means), np.int64)
        return _mean(name, &v, x)
    finally:
        _leave(&v)


def avg_pool3d_backward(grad, x, tuple kernel, tuple stride, tuple padding, bint ceil,
                        bint count_padding, divisor):
    """Share each gradient among the elements of its window."""
    cdef volume_t v
    cdef axis_t[3] axes
    _divisor(&v, divisor)
    _windows("avg_pool3d", &v, axes, x, kernel, stride, padding, None, ceil)
    _walks(&v, axes, count_padding)
    try:
        return _mean_backward("_avg_pool3d_backward", &v, grad, x, is_channels_last(x))
    finally:
        _leave(&v)


cdef object adaptive_avg_pool3d(x, tuple size):
    cdef volume_t v
    cdef axis_t[3] axes
    v.divisor = 0
    _even("adaptive_avg_pool3d", &v, axes, x, size)
    _walks(&v, axes, False)
    try:
        return _mean("adaptive_avg_pool3d_cpu", &v, x)
    finally:
        _leave(&v)


def adaptive_avg_pool3d_backward(grad, x):
    """Share each gradient among the elements of its window."""
    cdef volume_t v
    cdef axis_t[3] axes
    cdef tuple made = (<object>grad).shape
    v.divisor = 0
    _even("adaptive_avg_pool3d", &v, axes, x, made[len(made) - 3:])
    _walks(&v, axes, False)
    try:
        return _mean_backward("_adaptive_avg_pool3d_backward", &v, grad, x, False)
    finally:
        _leave(&v)


# ---- back to where the maxima were ---------------------------------------------------------------


cdef void _place(long planes, long size, long count, const real* x, const cnp.int64_t* at,
                 real* out) noexcept nogil:
    cdef long _, i
    for _ in range(planes):
        for i in range(count):
            out[_wrapped(at[i], size)] = x[i]
        x += count
        at += count
        out += size


def max_unpool(x, indices, tuple size):
    """Zeros of `size`, the last dimensions, with the elements of x at `indices` in each volume."""
    cdef int space = <int>len(size), k, ndim = cnp.PyArray_NDIM(<cnp.ndarray>x)
    cdef cnp.ndarray a = _ready(f"max_unpool{space}d", x), at = contiguous(indices), out
    cdef tuple shape = (<object>x).shape
    cdef long planes = 1, room = 1
    cdef cnp.npy_intp[5] dims
    cdef const cnp.int64_t* found = <const cnp.int64_t*>cnp.PyArray_DATA(at)
    for k in range(ndim - space):
        dims[k] = shape[k]
        planes *= dims[k]
    for k in range(space):
        dims[ndim - space + k] = size[k]
        room *= <long>size[k]
    if not skipping() and not _inside(found, cnp.PyArray_SIZE(at), 0, room):
        wrong = [i for i in at.flat if not 0 <= i < room][0]
        raise RuntimeError(f"Found an invalid max index: {wrong} (output volumes are of size "
                           f"{'x'.join(map(str, size))})")
    out = cnp.PyArray_ZEROS(ndim, dims, cnp.PyArray_TYPE(a), 0)
    if planes and not skipping():
        with nogil:
            if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT:
                _place(planes, room, cnp.PyArray_SIZE(a) // planes,
                       <const float*>cnp.PyArray_DATA(a), found, <float*>cnp.PyArray_DATA(out))
            else:
                _place(planes, room, cnp.PyArray_SIZE(a) // planes,
                       <const double*>cnp.PyArray_DATA(a), found, <double*>cnp.PyArray_DATA(out))
    return _as(out, x, is_channels_last(x))


# ---- the kernels, called from C: with few elements, a Python call would take half of the time ----

cdef object _max_pool3d(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, max_pool3d(
        array_of(args[0]), <tuple>args[1], <tuple>args[2], <tuple>args[3], <tuple>args[4],
        <object>args[5] is True), args)


cdef object _avg_pool3d(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, avg_pool3d(
        array_of(args[0]), <tuple>args[1], <tuple>args[2], <tuple>args[3], <object>args[4] is True,
        <object>args[5] is True, <object>args[6]), args)


cdef object _adaptive_max_pool3d(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, adaptive_max_pool3d(array_of(args[0]), <tuple>args[1]), args)


cdef object _adaptive_avg_pool3d(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, adaptive_avg_pool3d(array_of(args[0]), <tuple>args[1]), args)


largest = CKernel.new(_max_pool3d)
average = CKernel.new(_avg_pool3d)
adaptive_largest = CKernel.new(_adaptive_max_pool3d)
adaptive_average = CKernel.new(_adaptive_avg_pool3d)
