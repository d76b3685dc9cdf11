"""Max and average pooling over ndarrays, fixed and adaptive windows, with their gradients.

Halves are pooled as float32. The loops know only where a window begins and ends (`span`), so they
serve fixed and adaptive windows alike. They take a copy of the geometry, which cannot be aliased.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport empty
from imode._core.channels cimport as_channels_last, contiguous, is_channels_last
from imode._core.dispatch cimport CKernel, Operator
from imode._core.iterate cimport in_row_order
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport parallel_for, skipping
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport _array, _inside, _wrapped, array_of
from libc.limits cimport INT_MAX, INT_MIN

import numpy as np
from imode import errors
from imode._core.numbers import overflow

cnp.import_array()

cdef extern from "pool.h" nogil:
    ctypedef struct pool_row_t:
        long width, y0, y1, down, count, kernel, stride, padding, dilation
    const long POOL_STRIDES, POOL_WIDEST
    void pool_max_float(const pool_row_t*, const float*, float*, cnp.int64_t*)
    void pool_max_double(const pool_row_t*, const double*, double*, cnp.int64_t*)
    void pool_sum_float(const pool_row_t*, const float*, float*)
    void pool_sum_double(const pool_row_t*, const double*, double*)

cdef enum:
    GIL_FREE = 4096               # from so many elements on, the GIL is released
    GRAIN = 6144                  # fewest elements per thread, each counted where it is read
    ABREAST = 8                   # so many windows of a row are worth a vector's

# ---- geometry and checks -------------------------------------------------------------------------


cdef long checked_integer(value) except? -1:
    cdef long given = value
    if not INT_MIN <= given <= INT_MAX:
        raise overflow(np.dtype(np.int32))       # so that a product of two fits into a long
    return given


cdef int _pair(str op, str name, str must, tuple values, long* first, long* second) except -1:
    if len(values) != 1 and len(values) != 2:
        raise RuntimeError(f"{op}: {name} {must} a single int, or a tuple of two ints")
    first[0] = second[0] = integer(values[0])
    if len(values) == 2:
        second[0] = integer(values[1])
    return 0


cdef int count_windows(axis_t* a, bint ceil) except -1:
    """Fill in the number of windows."""
    cdef long span, reach = a.dilation * (a.kernel - 1) + 1
    if a.stride == 0:
        raise RuntimeError("stride should not be zero")
    if a.padding < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {a.padding}")
    if a.padding > reach // 2:
        raise RuntimeError(
            "pad should be at most half of effective kernel size, but got "
            f"pad={a.padding}, kernel_size={a.kernel} and dilation={a.dilation}")
    span = a.size + 2 * a.padding - reach
    if ceil:
        span += a.stride - 1
    a.count = span // a.stride if span >= 0 else -((-span + a.stride - 1) // a.stride)
    a.count += 1
    if ceil and (a.count - 1) * a.stride >= a.size + a.padding:
        a.count -= 1                                # the last window would start in the padding
    return 0


cdef object _wrong_input(shape):
    return RuntimeError(
        "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
        f"{list(shape)}")


cdef int _raise_bad_window(window_t* p, shape) except -1:
    cdef axis_t y = p.y, x = p.x
    if y.kernel <= 0 or x.kernel <= 0:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got kH: {y.kernel} kW: {x.kernel}")
    if y.stride <= 0 or x.stride <= 0:
        raise RuntimeError(
            f"stride should be greater than zero, but got dH: {y.stride} dW: {x.stride}")
    if y.dilation <= 0 or x.dilation <= 0:
        raise RuntimeError(
            "dilation should be greater than zero, but got "
            f"dilationH: {y.dilation} dilationW: {x.dilation}")
    if 0 in shape[len(shape) - 3:]:
        raise _wrong_input(shape)
    c = shape[len(shape) - 3]
    raise errors.shapes.output_too_small(
        f": ({c}x{y.size}x{x.size})", f": ({c}x{y.count}x{x.count})")


cdef int _raise_dims(str op, tuple shape) except -1:
    if op != "avg_pool2d":
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    if len(shape) == 0:
        raise errors.shapes.no_dimensions(-3)
    if len(shape) < 3:
        raise errors.shapes.dim_out_of_range(-3, len(shape))
    raise _wrong_input(shape)


cdef int _planes(window_t* p, cnp.ndarray x) noexcept:
    cdef int ndim = cnp.PyArray_NDIM(x)
    p.y.size = cnp.PyArray_DIM(x, ndim - 2)
    p.x.size = cnp.PyArray_DIM(x, ndim - 1)
    p.planes = cnp.PyArray_DIM(x, ndim - 3) * (cnp.PyArray_DIM(x, 0) if ndim == 4 else 1)
    return 0


cdef int _window(str op, window_t* p, cnp.ndarray x, tuple kernel, tuple stride, tuple padding,
                 tuple dilation, bint ceil) except -1:
    """Check everything and fill in p, except the fields for averages."""
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef axis_t* down = &p.y
    cdef axis_t* right = &p.x
    _pair(op, "kernel_size", "must either be", kernel, &down.kernel, &right.kernel)
    if stride is None or len(stride) == 0:
        down.stride = down.kernel
        right.stride = right.kernel
    else:
        _pair(op, "stride", "must either be omitted,", stride, &down.stride, &right.stride)
    _pair(op, "padding", "must either be", padding, &down.padding, &right.padding)
    if dilation is None:
        down.dilation = right.dilation = 1
    else:
        _pair(op, "dilation", "must be either", dilation, &down.dilation, &right.dilation)
    if ndim != 3 and ndim != 4:
        _raise_dims(op, (<object>x).shape)
    p.in_turn = False
    _planes(p, x)
    count_windows(down, ceil)
    count_windows(right, ceil)
    if (down.kernel <= 0 or right.kernel <= 0 or down.stride < 0 or right.stride < 0
            or down.dilation <= 0 or right.dilation <= 0 or down.size == 0 or right.size == 0
            or cnp.PyArray_DIM(x, ndim - 3) == 0 or down.count < 1 or right.count < 1):
        _raise_bad_window(p, (<object>x).shape)
    return 0


cdef int _even(window_t* p, cnp.ndarray x, long rows, long columns) noexcept:
    """Set rows x columns windows that share each plane evenly."""
    p[0] = window_t(0, axis_t(0, rows, 0, 0, 0, 0), axis_t(0, columns, 0, 0, 0, 0), False, 0,
                    True)
    return _planes(p, x)


cdef void _fix(axis_t* a) noexcept:
    """The same windows as fixed ones, whose loops are faster, of a number that divides the size."""
    a.kernel = a.stride = a.size // a.count
    a.dilation = 1


# ---- arrays --------------------------------------------------------------------------------------


cdef cnp.ndarray _new(cnp.ndarray x, const window_t* p, int kind):
    """An array with one number per window, for the planes of x."""
    cdef cnp.npy_intp[4] dims
    cdef int i, ndim = cnp.PyArray_NDIM(x)
    for i in range(ndim - 2):
        dims[i] = cnp.PyArray_DIM(x, i)
    dims[ndim - 2] = p.y.count
    dims[ndim - 1] = p.x.count
    return empty(kind, ndim, dims)


cdef cnp.ndarray _zeros(cnp.ndarray like, int kind):
    return cnp.PyArray_ZEROS(cnp.PyArray_NDIM(like), cnp.PyArray_DIMS(like), kind, 0)


cdef object _unknown(str kernel, x):
    """The error for a dtype without loops; PyTorch's differs for channels last."""
    return errors.dtypes.not_implemented(kernel + "_channels_last" * is_channels_last(x), x.dtype)


cdef cnp.ndarray _ready(str kernel, x):
    """The numbers of x as the loops need them: in C order, halves as float32."""
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    if kind == cnp.NPY_FLOAT16:
        return contiguous(cast(x, np.float32))
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        raise _unknown(kernel, x)
    return contiguous(x)


cdef object _as(cnp.ndarray out, given, x):
    """A result in the dtype of `given` and the memory order of x."""
    if cnp.PyArray_TYPE(<cnp.ndarray>given) == cnp.NPY_FLOAT16:
        out = cast(out, np.float16)
    return as_channels_last(out) if is_channels_last(x) else out


# ---- rows of windows, shared between threads -----------------------------------------------------

cdef struct pooling_t:
    const window_t* p
    int kind
    const void* x
    void* out
    cnp.int64_t* at


cdef inline long _grain(const window_t* p) noexcept nogil:
    """The fewest rows of windows that are worth a thread."""
    cdef double height = p.y.kernel if p.y.kernel else p.y.size // max(p.y.count, 1) + 1
    cdef double width = (
        <double>p.x.kernel * p.x.count if p.y.kernel else p.x.size + p.x.count)
    return <long>(GRAIN / (height * width + 1)) + 1


# ---- max -----------------------------------------------------------------------------------------


cdef void _max_row(const window_t* p, long i, const number* x, number* out,
                   cnp.int64_t* at) noexcept nogil:
    """The windows of row i of one plane."""
    cdef long j, y, c, y0, y1, c0, c1, row, best
    cdef long down = max(p.y.dilation, 1), right = max(p.x.dilation, 1)
    cdef number top, value
    span(&p.y, i, &y0, &y1)
    for j in range(p.x.count):
        span(&p.x, j, &c0, &c1)
        best = y0 * p.x.size + c0      # for an empty window, a position outside
        top = x[best] if y0 < y1 and c0 < c1 else least(x)
        y = y0
        while y < y1:
            row = y * p.x.size
            c = c0
            while c < c1:
                value = x[row + c]
                if value > top or is_nan(value):          # the last NaN wins
                    top = value
                    best = row + c
                c += right
            y += down
        out[j] = top
        at[j] = best


cdef void _max_pairs(const window_t* p, long i, const number* x, number* out,
                     cnp.int64_t* at) noexcept nogil:
    """The most common window, 2 x 2 with stride 2 and no padding, without inner loops."""
    cdef long j, first = 2 * i * p.x.size
    cdef const number* upper
    cdef const number* lower
    cdef cnp.int64_t best, below, take
    for j in range(p.x.count):
        # the result of a comparison is used as an offset: no branch to mispredict
        upper = x + first + 2 * j
        lower = upper + p.x.size
        best = (upper[1] > upper[0]) | is_nan(upper[1])
        below = (lower[1] > lower[0]) | is_nan(lower[1])
        take = (lower[below] > upper[best]) | is_nan(lower[below])
        best += take * (p.x.size + below - best)
        out[j] = upper[best]
        at[j] = first + 2 * j + best


cdef inline bint _halves(const axis_t* a) noexcept nogil:
    """Whether the windows are 2 wide and adjacent."""
    return (a.kernel == 2 and a.stride == 2 and a.padding == 0 and a.dilation == 1
            and 2 * a.count <= a.size)


cdef inline bint _abreast(const window_t* p) noexcept nogil:
    """Whether the windows of a row are pooled side by side."""
    return (p.y.kernel > 0 and p.x.count >= ABREAST and p.x.stride <= POOL_STRIDES
            and (p.x.kernel - 1) * p.x.dilation < (POOL_WIDEST - 1) * p.x.stride
            and (p.y.size + p.y.kernel) * (p.x.size + 4096) < INT_MAX // 4)


cdef inline pool_row_t _row_of(const window_t* p, long i) noexcept nogil:
    """Row i of fixed windows."""
    cdef pool_row_t r
    span(&p.y, i, &r.y0, &r.y1)
    r.down, r.width, r.count = p.y.dilation, p.x.size, p.x.count
    r.kernel, r.stride, r.padding, r.dilation = (
        p.x.kernel, p.x.stride, p.x.padding, p.x.dilation)
    return r


cdef void _max(const window_t* p, long begin, long end, const number* x, number* out,
               cnp.int64_t* at) noexcept nogil:
    """Rows of windows, of all planes."""
    cdef long row, i
    cdef pool_row_t r
    cdef bint pairs = _halves(&p.y) and _halves(&p.x)
    cdef bint abreast = _abreast(p)
    out += begin * p.x.count
    at += begin * p.x.count
    for row in range(begin, end):
        i = row % p.y.count
        source = x + row // p.y.count * p.y.size * p.x.size
        if pairs and number is not float and number is not double or not abreast:
            if pairs:
                _max_pairs(p, i, source, out, at)
            else:
                _max_row(p, i, source, out, at)
        else:
            r = _row_of(p, i)
            if number is float:
                pool_max_float(&r, source, out, at)
            elif number is double:
                pool_max_double(&r, source, out, at)
            else:
                _max_row(p, i, source, out, at)
        out += p.x.count
        at += p.x.count


cdef void _max_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef pooling_t* s = <pooling_t*>ctx
    if s.kind == cnp.NPY_DOUBLE:
        _max(s.p, begin, end, <const double*>s.x, <double*>s.out, s.at)
    elif s.kind == cnp.NPY_INT64:
        _max(s.p, begin, end, <const cnp.int64_t*>s.x, <cnp.int64_t*>s.out, s.at)
    elif s.kind == cnp.NPY_INT32:
        _max(s.p, begin, end, <const cnp.int32_t*>s.x, <cnp.int32_t*>s.out, s.at)
    elif s.kind == cnp.NPY_INT16:
        _max(s.p, begin, end, <const cnp.int16_t*>s.x, <cnp.int16_t*>s.out, s.at)
    elif s.kind == cnp.NPY_INT8:
        _max(s.p, begin, end, <const cnp.int8_t*>s.x, <cnp.int8_t*>s.out, s.at)
    elif s.kind == cnp.NPY_UINT8:
        _max(s.p, begin, end, <const cnp.uint8_t*>s.x, <cnp.uint8_t*>s.out, s.at)
    else:
        _max(s.p, begin, end, <const float*>s.x, <float*>s.out, s.at)


cdef tuple _max_of(str kernel, const window_t* p, x):
    """Return (maxima, their positions in each plane)."""
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>x)
    cdef cnp.ndarray a = contiguous(x) if cnp.PyArray_ISINTEGER(x) else _ready(kernel, x)
    cdef cnp.ndarray out = _new(x, p, cnp.PyArray_TYPE(a))
    cdef cnp.ndarray at = _new(x, p, cnp.NPY_INT64)
    cdef pooling_t s = pooling_t(p, kind, cnp.PyArray_DATA(a), cnp.PyArray_DATA(out),
                                 <cnp.int64_t*>cnp.PyArray_DATA(at))
    cdef bint last = is_channels_last(x)
    if not skipping() and cnp.PyArray_SIZE(a) < GIL_FREE:
        _max_some(&s, 0, p.planes * p.y.count)
    elif not skipping():
        with nogil:
            parallel_for(p.planes * p.y.count, _grain(p), _max_some, &s)
    return _as(out, x, x), as_channels_last(at) if last else at


cpdef tuple max_pool2d(x, tuple kernel, tuple stride, tuple padding, tuple dilation, bint ceil):
    """Return (maxima, their positions in each plane)."""
    cdef window_t p
    _window("max_pool2d", &p, x, kernel, stride, padding, dilation, ceil)
    return _max_of("max_pool2d", &p, x)


cdef struct scattered_t:
    bint wide
    long size, count           # of a plane: elements, gradients
    const void* grad
    const cnp.int64_t* at
    void* out


cdef void _scatter(const scattered_t* s, long begin, long end, const real* grad,
                   real* out) noexcept nogil:
    cdef long _, i
    cdef const cnp.int64_t* at = s.at + begin * s.count
    grad += begin * s.count
    out += begin * s.size
    for _ in range(begin, end):
        for i in range(s.count):
            out[_wrapped(at[i], s.size)] += grad[i]
        grad += s.count
        at += s.count
        out += s.size


cdef void _scatter_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Planes begin to end."""
    cdef scattered_t* s = <scattered_t*>ctx
    if s.wide:
        _scatter(s, begin, end, <const double*>s.grad, <double*>s.out)
    else:
        _scatter(s, begin, end, <const float*>s.grad, <float*>s.out)


def max_pool_backward(grad, x, indices, int space):
    """Add each gradient to the position that its maximum came from; space: of 2 or 3 dimensions."""
    cdef cnp.ndarray g = _ready(f"max_pool{space}d_backward", grad), at = contiguous(indices)
    cdef cnp.ndarray out = _zeros(x, cnp.PyArray_TYPE(g))
    cdef long planes = 1, size = 1, count
    cdef int k, ndim = cnp.PyArray_NDIM(<cnp.ndarray>x)
    cdef const cnp.int64_t* found = <const cnp.int64_t*>cnp.PyArray_DATA(at)
    for k in range(ndim):
        if k < ndim - space:
            planes *= cnp.PyArray_DIM(<cnp.ndarray>x, k)
        else:
            size *= cnp.PyArray_DIM(<cnp.ndarray>x, k)
    count = cnp.PyArray_SIZE(g) // planes if planes else 0
    if skipping():
        return _as(out, grad, x)
    if not _inside(found, cnp.PyArray_SIZE(at), 0, size):      # also for a window of only padding
        raise RuntimeError(f"max_pool{space}d_backward(): an index lies outside of the input")
    cdef scattered_t s = scattered_t(
        cnp.PyArray_TYPE(g) == cnp.NPY_DOUBLE, size, count, cnp.PyArray_DATA(g), found,
        cnp.PyArray_DATA(out))
    with nogil:
        parallel_for(planes, GRAIN // (size + count + 1) + 1, _scatter_some, &s)
    return _as(out, grad, x)


# ---- average -------------------------------------------------------------------------------------


cdef inline long _padded(const axis_t* a, long i) noexcept nogil:
    """The length of window i inside the plane and its padding."""
    return min(a.kernel, a.size + 2 * a.padding - i * a.stride)


cdef inline real _share(window_t p, long i, long j, long rows, long columns,
                        real total) noexcept nogil:
    """`total` divided for window (i, j), which has so many rows and columns inside the plane."""
    if p.in_turn:
        return total / rows / columns
    if p.divisor != 0:
        return total / <real>p.divisor
    if p.count_padding:
        return total / <real>(_padded(&p.y, i) * _padded(&p.x, j))
    return total / <real>(rows * columns)


cdef inline bint _full(const axis_t* a) noexcept nogil:
    """Whether all windows lie inside of the plane."""
    return a.padding == 0 and (a.count - 1) * a.stride + a.kernel <= a.size


cdef void _avg_row(const window_t* p, long i, const real* x, real* out) noexcept nogil:
    """The windows of row i of one plane."""
    cdef long j, y, c, y0, y1, c0, c1
    cdef real total, divisor
    cdef bint abreast = _abreast(p)
    cdef pool_row_t r
    span(&p.y, i, &y0, &y1)
    if abreast:
        r = _row_of(p, i)
        if real is float:
            pool_sum_float(&r, x, out)
        else:
            pool_sum_double(&r, x, out)
        if p.in_turn:
            for j in range(p.x.count):
                out[j] = out[j] / <real>p.y.kernel / <real>p.x.kernel
            return
        if _full(&p.x) and (p.divisor or _full(&p.y)):
            divisor = <real>(p.divisor if p.divisor else p.y.kernel * p.x.kernel)
            for j in range(p.x.count):
                out[j] = out[j] / divisor
            return
    for j in range(p.x.count):
        span(&p.x, j, &c0, &c1)
        if abreast:
            total = out[j]
        else:
            total = 0
            for y in range(y0, y1):
                for c in range(c0, c1):
                    total += x[y * p.x.size + c]
        out[j] = _share(p[0], i, j, y1 - y0, c1 - c0, total)


cdef void _avg(const window_t* p, long begin, long end, const real* x, real* out) noexcept nogil:
    cdef long row
    for row in range(begin, end):
        _avg_row(p, row % p.y.count, x + row // p.y.count * p.y.size * p.x.size,
                 out + row * p.x.count)


cdef void _avg_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef pooling_t* s = <pooling_t*>ctx
    if s.kind == cnp.NPY_DOUBLE:
        _avg(s.p, begin, end, <const double*>s.x, <double*>s.out)
    else:
        _avg(s.p, begin, end, <const float*>s.x, <float*>s.out)


cdef void _avg_backward(window_t p, long begin, long end, const real* grad,
                        real* out) noexcept nogil:
    """Planes begin to end."""
    cdef long _, i, j, y, c, y0, y1, c0, c1
    cdef real share
    grad += begin * p.y.count * p.x.count
    out += begin * p.y.size * p.x.size
    for _ in range(begin, end):
        for i in range(p.y.count):
            span(&p.y, i, &y0, &y1)
            for j in range(p.x.count):
                span(&p.x, j, &c0, &c1)
                share = _share(p, i, j, y1 - y0, c1 - c0, grad[0])
                for y in range(y0, y1):
                    for c in range(c0, c1):
                        out[y * p.x.size + c] += share
                grad += 1
        out += p.y.size * p.x.size


cdef void _avg_backward_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef pooling_t* s = <pooling_t*>ctx
    if s.kind == cnp.NPY_DOUBLE:
        _avg_backward(s.p[0], begin, end, <const double*>s.x, <double*>s.out)
    else:
        _avg_backward(s.p[0], begin, end, <const float*>s.x, <float*>s.out)


cdef object _mean(str kernel, const window_t* p, x):
    cdef cnp.ndarray a = _ready(kernel, x)
    cdef cnp.ndarray out = _new(x, p, cnp.PyArray_TYPE(a))
    cdef pooling_t s = pooling_t(
        p, cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(out), NULL)
    if not skipping() and cnp.PyArray_SIZE(a) < GIL_FREE:
        _avg_some(&s, 0, p.planes * p.y.count)
    elif not skipping():
        with nogil:
            parallel_for(p.planes * p.y.count, _grain(p), _avg_some, &s)
    return _as(out, x, x)


cdef object _mean_backward(const window_t* p, cnp.ndarray g, grad, x):
    """`g`: grad as the loops need it."""
    cdef cnp.ndarray out = _zeros(x, cnp.PyArray_TYPE(g))
    cdef pooling_t s = pooling_t(
        p, cnp.PyArray_TYPE(g), cnp.PyArray_DATA(g), cnp.PyArray_DATA(out), NULL)
    if skipping():
        return _as(out, grad, x)
    with nogil:
        parallel_for(p.planes, GRAIN // (p.y.size * p.x.size + p.y.count * p.x.count + 1) + 1,
                     _avg_backward_some, &s)
    return _as(out, grad, x)


cdef object avg_pool2d(
        x, tuple kernel, tuple stride, tuple padding, bint ceil, bint count_padding, divisor):
    """Return the mean of every window, or its sum over `divisor`."""
    cdef window_t p
    p.count_padding, p.divisor = count_padding, 0 if divisor is None else divisor
    if divisor is not None and p.divisor == 0:
        raise errors.shapes.zero_divisor()
    _window("avg_pool2d", &p, x, kernel, stride, padding, None, ceil)
    if cnp.PyArray_TYPE(<cnp.ndarray>x) == cnp.NPY_INT64:    # quotients are truncated
        means = _mean("avg_pool2d", &p, cast(x, np.float64))
        return cast(np.trunc(means, out=means), np.int64)
    return _mean("avg_pool2d", &p, x)


def avg_pool2d_backward(
        grad, x, tuple kernel, tuple stride, tuple padding, bint ceil,
        bint count_padding, divisor):
    """Share each gradient among the elements of its window."""
    cdef window_t p
    cdef cnp.ndarray g = _ready("avg_pool2d_backward_out_frame", grad)
    p.count_padding, p.divisor = count_padding, 0 if divisor is None else divisor
    _window("avg_pool2d", &p, x, kernel, stride, padding, None, ceil)
    expected = (*(<object>x).shape[:cnp.PyArray_NDIM(x) - 2], p.y.count, p.x.count)
    if (<object>g).shape != expected:            # a hook, or a direct call of the operator
        raise RuntimeError(
            f"avg_pool2d_backward(): expected grad_output of the shape {list(expected)}, but got "
            f"{list((<object>g).shape)}")
    return _mean_backward(&p, g, grad, x)


# ---- adaptive windows ----------------------------------------------------------------------------


cdef int _check_adaptive(str op, tuple shape, tuple size) except -1:
    cdef int ndim = len(shape)
    if ndim != 3 and ndim != 4:
        colon = ":" if op == "adaptive_max_pool2d" else ""
        raise RuntimeError(f"{op}(): Expected 3D or 4D tensor, but got{colon} {list(shape)}")
    if len(size) != 2:
        raise RuntimeError(f"_{op}(): expected two sizes, but got {list(size)}")
    cdef bint negative = <long>size[0] < 0 or <long>size[1] < 0
    if negative and op == "adaptive_max_pool2d":
        raise errors.shapes.negative_dimension(min(size), shape[:ndim - 2] + size)
    if negative:
        raise RuntimeError(
            f"{op}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{size[0]}, {size[1]}}}")
    if 0 not in shape:
        return 0
    for d in range(1 if op == "adaptive_max_pool2d" else ndim - 2, ndim):
        if shape[d] == 0:
            raise errors.shapes.empty_part(op, "input", shape, d)
    return 0


cdef object adaptive_avg_pool2d(x, tuple size):
    """Return the means of size[0] x size[1] windows that cover each plane evenly."""
    cdef window_t p
    cdef tuple shape = (<object>x).shape
    cdef cnp.npy_intp[4] dims
    cdef int d
    _check_adaptive("adaptive_avg_pool2d", shape, size)
    if cnp.PyArray_SIZE(x) == 0:      # allowed for any dtype
        for d in range(len(shape)):
            dims[d] = size[d - len(shape) + 2] if d >= len(shape) - 2 else shape[d]
        return empty(cnp.PyArray_TYPE(x), len(shape), dims)
    _even(&p, x, size[0], size[1])
    if p.y.count and p.x.count and p.y.size % p.y.count == 0 and p.x.size % p.x.count == 0:
        _fix(&p.y)
        _fix(&p.x)
    return _mean("adaptive_avg_pool2d", &p, x)


def adaptive_avg_pool2d_backward(grad, x):
    """Share each gradient among the elements of its window."""
    cdef window_t p
    cdef cnp.ndarray g = _ready("adaptive_avg_pool2d_backward", grad)
    cdef int ndim = cnp.PyArray_NDIM(g)
    _even(&p, x, cnp.PyArray_DIM(g, ndim - 2), cnp.PyArray_DIM(g, ndim - 1))
    return _mean_backward(&p, g, grad, x)


cdef tuple adaptive_max_pool2d(x, tuple size):
    """Return (maxima of windows that share each plane evenly, their positions in each plane)."""
    cdef window_t p
    cdef tuple shape = (<object>x).shape
    _check_adaptive("adaptive_max_pool2d", shape, size)
    if cnp.PyArray_ISINTEGER(x):
        raise _unknown("adaptive_max_pool2d", x)
    _even(&p, x, size[0], size[1])
    return _max_of("adaptive_max_pool2d", &p, x)


# ---- the kernels, called from C: with few elements, a Python call would take half of the time ----

cdef object _max_pool2d(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, max_pool2d(
        array_of(args[0]), <tuple>args[1], <tuple>args[2], <tuple>args[3], <tuple>args[4],
        <object>args[5] is True), args)


cdef object _avg_pool2d(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, avg_pool2d(
        array_of(args[0]), <tuple>args[1], <tuple>args[2], <tuple>args[3], <object>args[4] is True,
        <object>args[5] is True, <object>args[6]), args)


cdef object mean_1d(cnp.ndarray x, long kernel, long stride, long padding, bint ceil,
                    bint count_padding):
    cdef int nd = cnp.PyArray_NDIM(x), kind = cnp.PyArray_TYPE(x), d
    cdef cnp.npy_intp[3] dims
    cdef cnp.ndarray out
    cdef window_t p
    cdef pooling_t s
    if (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE) or (
            not cnp.PyArray_IS_C_CONTIGUOUS(x) or cnp.PyArray_SIZE(x) >= GIL_FREE or skipping()):
        return None
    p.count_padding, p.divisor, p.in_turn, p.planes = count_padding, 0, False, 1
    p.y = axis_t(1, 1, 1, 1, 0, 1)
    p.x = axis_t(cnp.PyArray_DIM(x, nd - 1), 0, kernel, stride, padding, 1)
    count_windows(&p.x, ceil)
    for d in range(nd - 1):
        dims[d] = cnp.PyArray_DIM(x, d)
        p.planes *= dims[d]
    dims[nd - 1] = p.x.count
    out = empty(kind, nd, dims)
    s = pooling_t(&p, kind, cnp.PyArray_DATA(x), cnp.PyArray_DATA(out), NULL)
    _avg_some(&s, 0, p.planes)
    return out


cdef object _adaptive_max_pool2d(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, adaptive_max_pool2d(array_of(args[0]), <tuple>args[1]), args)


cdef object _adaptive_avg_pool2d(Operator op, keyset_t keys, PyObject** args):
    return deliver(op, adaptive_avg_pool2d(array_of(args[0]), <tuple>args[1]), args)


cdef object _max_pool1d(Operator op, keyset_t keys, PyObject** args):
    """_max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode), all checked: maxima."""
    cdef cnp.ndarray x = array_of(args[0]), out, at
    cdef int d, nd = cnp.PyArray_NDIM(x), kind = cnp.PyArray_TYPE(x)
    cdef cnp.npy_intp[3] dims
    cdef window_t p
    if nd < 2 or nd > 3 or (kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE) or (
            not in_row_order(_array(args[0]), cnp.PyArray_ITEMSIZE(x)) or skipping()
            or cnp.PyArray_SIZE(x) >= GIL_FREE):
        return run_general(op, keys, args)
    p.y = axis_t(1, 1, 1, 1, 0, 1)
    p.x.size, p.x.kernel, p.x.stride = (
        cnp.PyArray_DIM(x, nd - 1), (<tuple>args[1])[0], (<tuple>args[2])[0])
    p.x.padding, p.x.dilation = (<tuple>args[3])[0], (<tuple>args[4])[0]
    count_windows(&p.x, <object>args[5] is True)
    p.planes = 1
    for d in range(nd - 1):
        dims[d] = cnp.PyArray_DIM(x, d)
        p.planes *= dims[d]
    dims[nd - 1] = p.x.count
    out = empty(kind, nd, dims)
    at = empty(cnp.NPY_INT64, nd, dims)
    cdef pooling_t s = pooling_t(&p, kind, cnp.PyArray_DATA(x), cnp.PyArray_DATA(out),
                                 <cnp.int64_t*>cnp.PyArray_DATA(at))
    _max_some(&s, 0, p.planes)
    return deliver(op, out, args)


max_pool2d_with_indices = CKernel.new(_max_pool2d)
average_pool2d = CKernel.new(_avg_pool2d)
adaptive_largest2d = CKernel.new(_adaptive_max_pool2d)
adaptive_average2d = CKernel.new(_adaptive_avg_pool2d)
max_pool1d = CKernel.new(_max_pool1d)
