"""Max and average pooling over ndarrays, fixed and adaptive windows, with their gradients."""

cimport numpy as cnp
from imode._core.allocator cimport empty
from imode.kernels.plain cimport _inside, _place_of

from .channels cimport as_channels_last, contiguous, is_channels_last

import numpy as np

cnp.import_array()

ctypedef fused real:
    float
    double

ctypedef fused number:
    float
    double
    cnp.int64_t
    cnp.int32_t
    cnp.int16_t
    cnp.int8_t
    cnp.uint8_t

# PyTorch's words for dtypes in "... not implemented for ..."
cdef dict SCALAR_TYPES = {
    "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte",
    "bool": "Bool", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}


# ---- geometry and checks -------------------------------------------------------------------------


cdef str _words(values):
    return "[" + ", ".join([str(v) for v in values]) + "]"


cdef int _pair(str op, str name, str must, tuple values, long* first, long* second) except -1:
    if len(values) != 1 and len(values) != 2:
        raise RuntimeError(f"{op}: {name} {must} a single int, or a tuple of two ints")
    first[0] = values[0]
    second[0] = values[len(values) - 1]
    return 0


cdef long _extent(long size, long k, long s, long p, long d, bint ceil) except? -1:
    cdef long span, out
    if s == 0:
        raise RuntimeError("stride should not be zero")
    if p < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
    if p > (d * (k - 1) + 1) // 2:
        raise RuntimeError(
            "pad should be at most half of effective kernel size, but got "
            f"pad={p}, kernel_size={k} and dilation={d}")
    span = size + 2 * p - d * (k - 1) - 1
    if ceil:
        span += s - 1
    out = span // s if span >= 0 else -((-span + s - 1) // s)
    out += 1
    if ceil and (out - 1) * s >= size + p:
        out -= 1                                    # the last window would start in the padding
    return out


cdef int _raise_bad_window(window_t* p, shape) except -1:
    if p.kh <= 0 or p.kw <= 0:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got kH: {p.kh} kW: {p.kw}")
    if p.sh <= 0 or p.sw <= 0:
        raise RuntimeError(f"stride should be greater than zero, but got dH: {p.sh} dW: {p.sw}")
    if p.dh <= 0 or p.dw <= 0:
        raise RuntimeError(
            "dilation should be greater than zero, but got "
            f"dilationH: {p.dh} dilationW: {p.dw}")
    if 0 in shape[len(shape) - 3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, "
            f"but got:{_words(shape)}")
    c = shape[len(shape) - 3]
    raise RuntimeError(
        f"Given input size: ({c}x{p.h}x{p.w}). Calculated output size: ({c}x{p.oh}x{p.ow}). "
        "Output size is too small")


cdef int _raise_dims(str op, tuple shape) except -1:
    if op != "avg_pool2d":
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    if len(shape) == 0:
        raise IndexError("Dimension specified as -3 but tensor has no dimensions")
    if len(shape) < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-<int>len(shape)}, "
            f"{len(shape) - 1}], but got -3)")
    raise RuntimeError(
        "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
        f"{_words(shape)}")


cdef int _window(str op, window_t* p, tuple shape, tuple kernel, tuple stride, tuple padding,
                 tuple dilation, bint ceil) except -1:
    """Check everything and fill in p."""
    cdef int ndim = len(shape)
    _pair(op, "kernel_size", "must either be", kernel, &p.kh, &p.kw)
    if stride is None or len(stride) == 0:
        p.sh = p.kh
        p.sw = p.kw
    else:
        _pair(op, "stride", "must either be omitted,", stride, &p.sh, &p.sw)
    _pair(op, "padding", "must either be", padding, &p.ph, &p.pw)
    _pair(op, "dilation", "must be either", dilation, &p.dh, &p.dw)
    if ndim != 3 and ndim != 4:
        _raise_dims(op, shape)
    p.h = shape[ndim - 2]
    p.w = shape[ndim - 1]
    p.planes = shape[ndim - 3] * (shape[0] if ndim == 4 else 1)
    p.oh = _extent(p.h, p.kh, p.sh, p.ph, p.dh, ceil)
    p.ow = _extent(p.w, p.kw, p.sw, p.pw, p.dw, ceil)
    if (p.kh <= 0 or p.kw <= 0 or p.sh < 0 or p.sw < 0 or p.dh <= 0 or p.dw <= 0 or p.h == 0
            or p.w == 0 or shape[ndim - 3] == 0 or p.oh < 1 or p.ow < 1):
        _raise_bad_window(p, shape)
    return 0


cdef cnp.ndarray _new(tuple lead, long h, long w, int kind):
    """An array of shape (*lead[:-2], h, w)."""
    cdef cnp.npy_intp[4] dims
    cdef int i, ndim = len(lead)
    for i in range(ndim - 2):
        dims[i] = lead[i]
    dims[ndim - 2] = h
    dims[ndim - 1] = w
    return empty(kind, ndim, dims)


cdef object _unsupported(str op, x):
    name = SCALAR_TYPES.get(x.dtype.name, x.dtype.name)
    return NotImplementedError(f"\"{op}\" not implemented for '{name}'")


# ---- max -----------------------------------------------------------------------------------------


cdef inline bint _is_nan(number value) noexcept nogil:
    if number is float or number is double:
        return value != value
    else:
        return False


cdef void _max_loop(const window_t* p, const number* x, number* out,
                    cnp.int64_t* at) noexcept nogil:
    cdef long _, i, j, y, c, y0, y1, c0, c1, row, best
    cdef number top, value
    for _ in range(p.planes):
        for i in range(p.oh):
            y0 = i * p.sh - p.ph
            y1 = min(y0 + (p.kh - 1) * p.dh + 1, p.h)
            if y0 < 0:
                y0 += (-y0 + p.dh - 1) // p.dh * p.dh
            for j in range(p.ow):
                c0 = j * p.sw - p.pw
                c1 = min(c0 + (p.kw - 1) * p.dw + 1, p.w)
                if c0 < 0:
                    c0 += (-c0 + p.dw - 1) // p.dw * p.dw
                best = y0 * p.w + c0
                top = x[best]
                y = y0
                while y < y1:
                    row = y * p.w
                    c = c0
                    while c < c1:
                        value = x[row + c]
                        if value > top or _is_nan(value):          # the last NaN wins
                            top = value
                            best = row + c
                        c += p.dw
                    y += p.dh
                out[0] = top
                at[0] = best
                out += 1
                at += 1
        x += p.h * p.w


cdef void _max_pairs(const window_t* p, const number* x, number* out,
                     cnp.int64_t* at) noexcept nogil:
    """The commonest window, 2 x 2 with stride 2 and no padding, without inner loops."""
    cdef long _, i, j, first
    cdef const number* upper
    cdef const number* lower
    cdef cnp.int64_t best, below, take
    for _ in range(p.planes):
        for i in range(p.oh):
            first = 2 * i * p.w
            for j in range(p.ow):
                # a comparison's result is an offset: no branch to mispredict
                upper = x + first + 2 * j
                lower = upper + p.w
                best = (upper[1] > upper[0]) | _is_nan(upper[1])
                below = (lower[1] > lower[0]) | _is_nan(lower[1])
                take = (lower[below] > upper[best]) | _is_nan(lower[below])
                best += take * (p.w + below - best)
                out[j] = upper[best]
                at[j] = first + 2 * j + best
            out += p.ow
            at += p.ow
        x += p.h * p.w


cdef void _max(const window_t* p, const number* x, number* out, cnp.int64_t* at) noexcept nogil:
    if (p.kh == 2 and p.kw == 2 and p.sh == 2 and p.sw == 2 and p.ph == 0 and p.pw == 0
            and p.dh == 1 and p.dw == 1 and 2 * p.oh <= p.h and 2 * p.ow <= p.w):
        _max_pairs(p, x, out, at)
    else:
        _max_loop(p, x, out, at)


cpdef tuple max_pool2d(x, tuple kernel, tuple stride, tuple padding, tuple dilation, bint ceil):
    """Return (maxima, their positions in each plane)."""
    cdef window_t p
    cdef cnp.ndarray a, out, at
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    cdef tuple shape = (<object>x).shape
    cdef void* source
    cdef void* to
    cdef cnp.int64_t* place
    _window("max_pool2d", &p, shape, kernel, stride, padding, dilation, ceil)
    if kind == cnp.NPY_FLOAT16:
        values, at = max_pool2d(x.astype(np.float32), kernel, stride, padding, dilation, ceil)
        return values.astype(np.float16), at
    a = contiguous(x)
    out = _new(shape, p.oh, p.ow, kind)
    at = _new(shape, p.oh, p.ow, cnp.NPY_INT64)
    source = cnp.PyArray_DATA(a)
    to = cnp.PyArray_DATA(out)
    place = <cnp.int64_t*>cnp.PyArray_DATA(at)
    if kind == cnp.NPY_FLOAT:
        with nogil:
            _max(&p, <const float*>source, <float*>to, place)
    elif kind == cnp.NPY_DOUBLE:
        with nogil:
            _max(&p, <const double*>source, <double*>to, place)
    elif kind == cnp.NPY_INT64:
        _max(&p, <const cnp.int64_t*>source, <cnp.int64_t*>to, place)
    elif kind == cnp.NPY_INT32:
        _max(&p, <const cnp.int32_t*>source, <cnp.int32_t*>to, place)
    elif kind == cnp.NPY_INT16:
        _max(&p, <const cnp.int16_t*>source, <cnp.int16_t*>to, place)
    elif kind == cnp.NPY_INT8:
        _max(&p, <const cnp.int8_t*>source, <cnp.int8_t*>to, place)
    elif kind == cnp.NPY_UINT8:
        _max(&p, <const cnp.uint8_t*>source, <cnp.uint8_t*>to, place)
    else:
        raise _unsupported("max_pool2d", x)
    if is_channels_last(x):
        return as_channels_last(out), as_channels_last(at)
    return out, at


cdef void _scatter(const window_t* p, const real* grad, const cnp.int64_t* at,
                   real* out) noexcept nogil:
    cdef long _, i, size = p.oh * p.ow, area = p.h * p.w
    for _ in range(p.planes):
        for i in range(size):
            out[_place_of(at[i], area)] += grad[i]
        grad += size
        at += size
        out += area


cdef int _planes(window_t* p, tuple shape, grad) except -1:
    cdef int ndim = len(shape)
    p.h = shape[ndim - 2]
    p.w = shape[ndim - 1]
    p.planes = shape[ndim - 3] * (shape[0] if ndim == 4 else 1)
    p.oh = cnp.PyArray_DIM(<cnp.ndarray>grad, ndim - 2)
    p.ow = cnp.PyArray_DIM(<cnp.ndarray>grad, ndim - 1)
    return 0


cdef cnp.ndarray _zeros(tuple shape, int kind):
    cdef cnp.npy_intp[4] dims
    cdef int i
    for i in range(len(shape)):
        dims[i] = shape[i]
    return cnp.PyArray_ZEROS(len(shape), dims, kind, 0)


cpdef object max_pool2d_backward(grad, x, indices):
    """Add each gradient to the position that its maximum came from."""
    cdef window_t p
    cdef tuple shape = (<object>x).shape
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>grad)
    cdef cnp.ndarray g, at, out
    if kind == cnp.NPY_FLOAT16:
        return max_pool2d_backward(grad.astype(np.float32), x, indices).astype(np.float16)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        raise _unsupported("max_pool2d_backward", grad)
    _planes(&p, shape, grad)
    g = contiguous(grad)
    at = contiguous(indices)
    out = _zeros(shape, kind)
    cdef const cnp.int64_t* place = <const cnp.int64_t*>cnp.PyArray_DATA(at)
    if not _inside(place, cnp.PyArray_SIZE(at), 0, p.h * p.w):
        raise RuntimeError("max_pool2d_backward(): an index lies outside of the input")
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _scatter(&p, <const float*>cnp.PyArray_DATA(g), place, <float*>cnp.PyArray_DATA(out))
        else:
            _scatter(&p, <const double*>cnp.PyArray_DATA(g), place, <double*>cnp.PyArray_DATA(out))
    return as_channels_last(out) if is_channels_last(x) else out


# ---- average -------------------------------------------------------------------------------------


cdef inline real _factor(const window_t* p, long y0, long c0, bint count_padding, long divisor,
                         long area, real unused) noexcept nogil:
    """What a window's sum is divided by; y0, c0: its start, before clipping; area: after."""
    if divisor != 0:
        return <real>divisor
    if count_padding:
        return <real>((min(y0 + p.kh, p.h + p.ph) - y0) * (min(c0 + p.kw, p.w + p.pw) - c0))
    return <real>area


cdef void _avg(const window_t* p, const real* x, real* out, bint count_padding,
               long divisor) noexcept nogil:
    cdef long _, i, j, y, c, y0, y1, c0, c1
    cdef real total
    for _ in range(p.planes):
        for i in range(p.oh):
            y0 = i * p.sh - p.ph
            y1 = min(y0 + p.kh, p.h)
            for j in range(p.ow):
                c0 = j * p.sw - p.pw
                c1 = min(c0 + p.kw, p.w)
                total = 0
                for y in range(max(y0, 0), y1):
                    for c in range(max(c0, 0), c1):
                        total += x[y * p.w + c]
                out[0] = total / _factor(
                    p, y0, c0, count_padding, divisor,
                    (y1 - max(y0, 0)) * (c1 - max(c0, 0)), total)
                out += 1
        x += p.h * p.w


cdef void _avg_backward(const window_t* p, const real* grad, real* out, bint count_padding,
                        long divisor) noexcept nogil:
    cdef long _, i, j, y, c, y0, y1, c0, c1
    cdef real share
    for _ in range(p.planes):
        for i in range(p.oh):
            y0 = i * p.sh - p.ph
            y1 = min(y0 + p.kh, p.h)
            for j in range(p.ow):
                c0 = j * p.sw - p.pw
                c1 = min(c0 + p.kw, p.w)
                share = grad[0] / _factor(
                    p, y0, c0, count_padding, divisor,
                    (y1 - max(y0, 0)) * (c1 - max(c0, 0)), grad[0])
                for y in range(max(y0, 0), y1):
                    for c in range(max(c0, 0), c1):
                        out[y * p.w + c] += share
                grad += 1
        out += p.h * p.w


cdef object _avg_long(x, tuple kernel, tuple stride, tuple padding, bint ceil, bint count_padding,
                      divisor):
    """Integers: the quotient is cut off towards zero, as PyTorch's is."""
    total = avg_pool2d(x.astype(np.float64), kernel, stride, padding, ceil, count_padding, divisor)
    return np.trunc(total).astype(np.int64)


cpdef object avg_pool2d(
        x, tuple kernel, tuple stride, tuple padding, bint ceil, bint count_padding, divisor):
    """Return the mean of every window, or its sum over `divisor`."""
    cdef window_t p
    cdef cnp.ndarray a, out
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    cdef tuple shape = (<object>x).shape
    cdef long by = 0 if divisor is None else divisor
    if divisor is not None and by == 0:
        raise RuntimeError("divisor must be not zero")
    _window("avg_pool2d", &p, shape, kernel, stride, padding, (1,), ceil)
    if kind == cnp.NPY_FLOAT16:
        return avg_pool2d(x.astype(np.float32), kernel, stride, padding, ceil, count_padding,
                          divisor).astype(np.float16)
    if kind == cnp.NPY_INT64:
        return _avg_long(x, kernel, stride, padding, ceil, count_padding, divisor)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        raise _unsupported("avg_pool2d", x)
    a = contiguous(x)
    out = _new(shape, p.oh, p.ow, kind)
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _avg(&p, <const float*>cnp.PyArray_DATA(a), <float*>cnp.PyArray_DATA(out),
                 count_padding, by)
        else:
            _avg(&p, <const double*>cnp.PyArray_DATA(a), <double*>cnp.PyArray_DATA(out),
                 count_padding, by)
    return as_channels_last(out) if is_channels_last(x) else out


cpdef object avg_pool2d_backward(
        grad, x, tuple kernel, tuple stride, tuple padding, bint ceil,
        bint count_padding, divisor):
    """Share each gradient among the elements of its window."""
    cdef window_t p
    cdef tuple shape = (<object>x).shape
    cdef cnp.ndarray g, out
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>grad)
    cdef long by = 0 if divisor is None else divisor
    if kind == cnp.NPY_FLOAT16:
        return avg_pool2d_backward(grad.astype(np.float32), x, kernel, stride, padding, ceil,
                                   count_padding, divisor).astype(np.float16)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        raise _unsupported("avg_pool2d_backward_out_frame", grad)
    _window("avg_pool2d", &p, shape, kernel, stride, padding, (1,), ceil)
    g = contiguous(grad)
    out = _zeros(shape, kind)
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _avg_backward(&p, <const float*>cnp.PyArray_DATA(g), <float*>cnp.PyArray_DATA(out),
                          count_padding, by)
        else:
            _avg_backward(&p, <const double*>cnp.PyArray_DATA(g), <double*>cnp.PyArray_DATA(out),
                          count_padding, by)
    return as_channels_last(out) if is_channels_last(x) else out


# ---- adaptive windows ----------------------------------------------------------------------------


cdef inline long _start(long i, long size, long count) noexcept nogil:
    return i * size // count


cdef inline long _stop(long i, long size, long count) noexcept nogil:
    return ((i + 1) * size + count - 1) // count


cdef void _adaptive_avg(const window_t* p, const real* x, real* out) noexcept nogil:
    cdef long _, i, j, y, c, y0, y1, c0, c1
    cdef real total
    for _ in range(p.planes):
        for i in range(p.oh):
            y0 = _start(i, p.h, p.oh)
            y1 = _stop(i, p.h, p.oh)
            for j in range(p.ow):
                c0 = _start(j, p.w, p.ow)
                c1 = _stop(j, p.w, p.ow)
                total = 0
                for y in range(y0, y1):
                    for c in range(c0, c1):
                        total += x[y * p.w + c]
                out[0] = total / (y1 - y0) / (c1 - c0)
                out += 1
        x += p.h * p.w


cdef void _adaptive_avg_backward(const window_t* p, const real* grad, real* out) noexcept nogil:
    cdef long _, i, j, y, c, y0, y1, c0, c1
    cdef real share
    for _ in range(p.planes):
        for i in range(p.oh):
            y0 = _start(i, p.h, p.oh)
            y1 = _stop(i, p.h, p.oh)
            for j in range(p.ow):
                c0 = _start(j, p.w, p.ow)
                c1 = _stop(j, p.w, p.ow)
                share = grad[0] / (y1 - y0) / (c1 - c0)
                for y in range(y0, y1):
                    for c in range(c0, c1):
                        out[y * p.w + c] += share
                grad += 1
        out += p.h * p.w


cdef void _adaptive_max(const window_t* p, const real* x, real* out,
                        cnp.int64_t* at) noexcept nogil:
    cdef long _, i, j, y, c, y0, c0, best
    cdef real top, value
    for _ in range(p.planes):
        for i in range(p.oh):
            y0 = _start(i, p.h, p.oh)
            for j in range(p.ow):
                c0 = _start(j, p.w, p.ow)
                best = y0 * p.w + c0
                top = x[best]
                for y in range(y0, _stop(i, p.h, p.oh)):
                    for c in range(c0, _stop(j, p.w, p.ow)):
                        value = x[y * p.w + c]
                        if value > top or _is_nan(value):
                            top = value
                            best = y * p.w + c
                out[0] = top
                at[0] = best
                out += 1
                at += 1
        x += p.h * p.w


cdef int _check_adaptive(str op, tuple shape, tuple size) except -1:
    cdef int ndim = len(shape)
    if ndim != 3 and ndim != 4:
        colon = ":" if op == "adaptive_max_pool2d" else ""
        raise RuntimeError(f"{op}(): Expected 3D or 4D tensor, but got{colon} {_words(shape)}")
    if min(size) < 0 and op == "adaptive_max_pool2d":
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(size)}: "
            f"{_words(shape[:ndim - 2] + size)}")
    if min(size) < 0:
        raise RuntimeError(
            f"{op}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{size[0]}, {size[1]}}}")
    for d in range(ndim - 3 if op == "adaptive_max_pool2d" else ndim - 2, ndim):
        if shape[d] == 0:
            raise RuntimeError(
                f"{op}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {_words(shape)} with dimension {d} being empty")
    return 0


cpdef object adaptive_avg_pool2d(x, tuple size):
    """Return the means of size[0] x size[1] windows that cover each plane evenly."""
    cdef window_t p
    cdef cnp.ndarray a, out
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    cdef tuple shape = (<object>x).shape
    _check_adaptive("adaptive_avg_pool2d", shape, size)
    if kind == cnp.NPY_FLOAT16:
        return adaptive_avg_pool2d(x.astype(np.float32), size).astype(np.float16)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        raise _unsupported("adaptive_avg_pool2d", x)
    a = contiguous(x)
    out = _new(shape, size[0], size[1], kind)
    _planes(&p, shape, out)
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _adaptive_avg(&p, <const float*>cnp.PyArray_DATA(a), <float*>cnp.PyArray_DATA(out))
        else:
            _adaptive_avg(&p, <const double*>cnp.PyArray_DATA(a), <double*>cnp.PyArray_DATA(out))
    return as_channels_last(out) if is_channels_last(x) else out


cpdef object adaptive_avg_pool2d_backward(grad, x):
    """Share each gradient among the elements of its window."""
    cdef window_t p
    cdef tuple shape = (<object>x).shape
    cdef cnp.ndarray g, out
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>grad)
    if kind == cnp.NPY_FLOAT16:
        return adaptive_avg_pool2d_backward(grad.astype(np.float32), x).astype(np.float16)
    _planes(&p, shape, grad)
    g = contiguous(grad)
    out = _zeros(shape, kind)
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _adaptive_avg_backward(
                &p, <const float*>cnp.PyArray_DATA(g), <float*>cnp.PyArray_DATA(out))
        else:
            _adaptive_avg_backward(
                &p, <const double*>cnp.PyArray_DATA(g), <double*>cnp.PyArray_DATA(out))
    return as_channels_last(out) if is_channels_last(x) else out


cpdef tuple adaptive_max_pool2d(x, tuple size):
    """Return (maxima of evenly spread windows, their positions in each plane)."""
    cdef window_t p
    cdef cnp.ndarray a, out, at
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    cdef tuple shape = (<object>x).shape
    _check_adaptive("adaptive_max_pool2d", shape, size)
    if kind == cnp.NPY_FLOAT16:
        values, at = adaptive_max_pool2d(x.astype(np.float32), size)
        return values.astype(np.float16), at
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        raise _unsupported("adaptive_max_pool2d", x)
    a = contiguous(x)
    out = _new(shape, size[0], size[1], kind)
    at = _new(shape, size[0], size[1], cnp.NPY_INT64)
    _planes(&p, shape, out)
    cdef cnp.int64_t* place = <cnp.int64_t*>cnp.PyArray_DATA(at)
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _adaptive_max(&p, <const float*>cnp.PyArray_DATA(a), <float*>cnp.PyArray_DATA(out),
                          place)
        else:
            _adaptive_max(&p, <const double*>cnp.PyArray_DATA(a), <double*>cnp.PyArray_DATA(out),
                          place)
    if is_channels_last(x):
        return as_channels_last(out), as_channels_last(at)
    return out, at
