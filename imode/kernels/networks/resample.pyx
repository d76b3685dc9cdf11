"""Resampling of lines, planes and volumes over ndarrays, and its gradients.

Each dimension is resampled by itself: an element of the result is a sum of `taps` elements along
the dimension, with weights that depend on its place alone. So a dimension has a table of places and
weights, and one loop serves all modes; the gradient is the same loop the other way round.
Halves are resampled as float32. Tables are computed in the dtype of the elements, as PyTorch does.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty, release
from imode._core.channels cimport channels_back, channels_to_end, contiguous, is_channels_last
from imode._core.dispatch cimport CKernel, Operator
from imode._core.iterate cimport in_row_order
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.parallel cimport parallel_for, skipping
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport SAFE, _array, _count, _integer, array_of
from libc.stdint cimport int64_t
from libc.math cimport M_PI, ceil, fabs, floor, sin
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

cnp.import_array()

ctypedef fused real:
    float
    double

# What the caller names.
NEAREST, EXACT, LINEAR, CUBIC, LANCZOS = range(5)
cdef enum:
    _NEAREST, _EXACT, _LINEAR, _CUBIC, _LANCZOS
cdef enum:
    GIL_FREE = 4096           # from so many elements on, the GIL is released
    GRAIN = 32768             # fewest elements per thread

cdef struct axis_t:
    int mode
    bint corners              # the first and the last elements stay where they are
    bint smooth               # antialias: a filter as wide as the step
    double scale              # how many times as large the result is; 0: by the sizes
    long size, count          # of the dimension, before and after
    long taps
    long* at                  # count * taps places
    double* weight            # as many weights


# ---- tables --------------------------------------------------------------------------------------


cdef real _step(const axis_t* a, real like) noexcept nogil:
    """How far neighbours in the result lie apart in the input."""
    if a.corners:
        return <real>(a.size - 1) / <real>(a.count - 1) if a.count > 1 else <real>0
    if a.scale > 0:
        return <real>(1.0 / a.scale)
    return <real>a.size / <real>a.count


cdef inline double _filter(int mode, double x) noexcept nogil:
    """The weight of an element at a distance, in steps."""
    x = fabs(x)
    if mode == _LINEAR:
        return 1.0 - x if x < 1.0 else 0.0
    if mode == _CUBIC:
        if x < 1.0:
            return (1.5 * x - 2.5) * x * x + 1.0
        return ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0 if x < 2.0 else 0.0
    if x >= 3.0:
        return 0.0
    if x == 0.0:
        return 1.0
    return 3.0 * sin(M_PI * x) * sin(M_PI * x / 3.0) / (M_PI * M_PI * x * x)


cdef void _smooth_row(const axis_t* a, real step, long i) noexcept nogil:
    cdef long* at = a.at + i * a.taps
    cdef double* weight = a.weight + i * a.taps
    cdef real reach = <real>(a.mode - 1 if a.mode > _LINEAR else 1), wide, center, total = 0
    cdef long first, last, k
    if a.mode == _CUBIC:
        reach = 2
    wide = step if step > 1 else <real>1
    center = step * (<real>i + <real>0.5)
    first = max(<long>(center - reach * wide + <real>0.5), 0)
    last = min(<long>(center + reach * wide + <real>0.5), a.size)
    for k in range(a.taps):
        at[k] = min(first + k, a.size - 1)
        weight[k] = 0
        if first + k < last:
            weight[k] = <real>_filter(
                a.mode, <real>((<real>(first + k) - center + <real>0.5) * (1 / wide)))
        total += <real>weight[k]
    if total != 0:
        for k in range(a.taps):
            weight[k] = <real>(<real>weight[k] / total)


cdef void _cubic_row(const axis_t* a, real place, long i) noexcept nogil:
    cdef double* w = a.weight + 4 * i
    cdef long first = <long>floor(place), k
    cdef real t = place - <real>first, s, A = <real>-0.75
    for k in range(4):
        a.at[4 * i + k] = min(max(first - 1 + k, 0), a.size - 1)
    s = 1 - t
    w[0] = ((A * (t + 1) - 5 * A) * (t + 1) + 8 * A) * (t + 1) - 4 * A
    w[1] = ((A + 2) * t - (A + 3)) * t * t + 1
    w[2] = ((A + 2) * s - (A + 3)) * s * s + 1
    w[3] = ((A * (s + 1) - 5 * A) * (s + 1) + 8 * A) * (s + 1) - 4 * A


cdef void _linear_row(const axis_t* a, real place, long i) noexcept nogil:
    cdef long first = min(<long>max(place, <real>0), a.size - 1)
    cdef real t = min(max(place - <real>first, <real>0), <real>1)
    a.at[2 * i] = first
    a.at[2 * i + 1] = min(first + 1, a.size - 1)
    a.weight[2 * i] = 1 - t
    a.weight[2 * i + 1] = t


cdef void _fill(const axis_t* a, real like) noexcept nogil:
    cdef real step = _step(a, like), place
    cdef long i
    for i in range(a.count):
        if a.smooth:
            _smooth_row(a, step, i)
            continue
        if a.mode == _NEAREST:
            place = <real>i * step
        elif a.mode == _EXACT:
            place = (<real>i + <real>0.5) * step
        else:
            place = step * <real>i if a.corners else step * (<real>i + <real>0.5) - <real>0.5
        if a.mode <= _EXACT:
            a.at[i] = min(<long>floor(place), a.size - 1)
            a.weight[i] = 1
        elif a.mode == _LINEAR:
            _linear_row(a, place, i)
        else:
            _cubic_row(a, place, i)


cdef int _table(axis_t* a, bint wide) except -1:
    """Make the table of a dimension; `_drop` gives its memory back."""
    cdef double step = _step[double](a, 0)
    cdef double reach = 1 if a.mode == _LINEAR else 2 if a.mode == _CUBIC else 3
    a.taps = 1 if a.mode <= _EXACT else 2 if a.mode == _LINEAR else 4
    if a.smooth:
        step = reach * max(step, 1.0)
        a.taps = <long>min(2 * ceil(step) + 1, <double>a.size)
    a.at = <long*>malloc(a.count * a.taps * (sizeof(long) + sizeof(double)) + 1)
    if a.at == NULL:
        raise MemoryError("interpolate: no memory for the weights")
    a.weight = <double*>(a.at + a.count * a.taps)
    if wide:
        _fill[double](a, 0)
    else:
        _fill[float](a, 0)
    return 0


# ---- one dimension -------------------------------------------------------------------------------


cdef void _gather(const axis_t* a, long outer, long inner, const real* x, real* out) noexcept nogil:
    cdef long o, i, j, k
    cdef const real* row
    cdef real* to
    cdef real w
    for o in range(outer):
        for i in range(a.count):
            to = out + (o * a.count + i) * inner
            if a.taps == 1:
                row = x + (o * a.size + a.at[i]) * inner
                if inner == 1:
                    to[0] = row[0]
                else:
                    memcpy(to, row, inner * sizeof(real))
                continue
            row = x + (o * a.size + a.at[i * a.taps]) * inner
            w = <real>a.weight[i * a.taps]
            for j in range(inner):
                to[j] = w * row[j]
            for k in range(1, a.taps):
                row = x + (o * a.size + a.at[i * a.taps + k]) * inner
                w = <real>a.weight[i * a.taps + k]
                if w != 0 or not a.smooth:
                    for j in range(inner):
                        to[j] += w * row[j]


cdef void _gather_last(const axis_t* a, long outer, const real* x, real* out) noexcept nogil:
    """Along the last dimension: one sum after another."""
    cdef long _, i, k
    cdef const long* at
    cdef const double* weight
    cdef real total, left, right
    while a.taps == 2 and outer >= 4:     # four lines by the same weights
        for i in range(a.count):
            left, right = <real>a.weight[2 * i], <real>a.weight[2 * i + 1]
            at = a.at + 2 * i
            for k in range(4):
                out[k * a.count + i] = (
                    left * x[k * a.size + at[0]] + right * x[k * a.size + at[1]])
        x += 4 * a.size
        out += 4 * a.count
        outer -= 4
    for _ in range(outer):
        at = a.at
        weight = a.weight
        for i in range(a.count):
            if a.taps == 2:
                total = <real>weight[0] * x[at[0]] + <real>weight[1] * x[at[1]]
            else:
                total = 0
                for k in range(a.taps):
                    if weight[k] != 0 or not a.smooth:
                        total += <real>weight[k] * x[at[k]]
            out[i] = total
            at += a.taps
            weight += a.taps
        x += a.size
        out += a.count


cdef void _scatter(const axis_t* a, long outer, long inner, const real* grad,
                   real* out) noexcept nogil:
    cdef long o, i, j, k
    cdef const real* row
    cdef real* to
    cdef real w
    memset(out, 0, outer * a.size * inner * sizeof(real))
    for o in range(outer):
        for i in range(a.count):
            row = grad + (o * a.count + i) * inner
            for k in range(a.taps):
                to = out + (o * a.size + a.at[i * a.taps + k]) * inner
                w = <real>a.weight[i * a.taps + k]
                if w != 0 or not a.smooth:
                    for j in range(inner):
                        to[j] += w * row[j]


cdef struct Lines:                # what threads share: lines along one dimension,
    const axis_t* axis
    const axis_t* across          # or planes of two, by the nearest element
    long inner
    bint back
    bint wide
    char* source
    char* to


cdef void _some_lines(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Lines* s = <Lines*>context
    cdef const axis_t* a = s.axis
    cdef long item = s.inner * (sizeof(double) if s.wide else sizeof(float))
    _run(a, end - begin, s.inner, s.back, s.wide,
         s.source + begin * item * (a.count if s.back else a.size),
         s.to + begin * item * (a.size if s.back else a.count))


cdef void _some_planes(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Lines* s = <Lines*>context
    cdef long size = begin * s.axis.size * s.across.size, count = begin * s.axis.count
    count *= s.across.count
    if s.wide:
        _nearest(s.axis, s.across, end - begin, <const double*>s.source + size,
                 <double*>s.to + count)
    else:
        _nearest(s.axis, s.across, end - begin, <const float*>s.source + size,
                 <float*>s.to + count)


cdef void _nearest(const axis_t* down, const axis_t* across, long outer, const real* x,
                   real* out) noexcept nogil:
    """Two dimensions at once, by the nearest element; down: may have no table. Rows repeat."""
    cdef long i, j, at, before
    cdef const real* row
    cdef const long* places = across.at
    for _ in range(outer):
        before = -1
        for i in range(down.count):
            at = down.at[i] if down.at != NULL else i
            if at == before:
                memcpy(out, out - across.count, across.count * sizeof(real))
            else:
                row = x + at * across.size
                for j in range(across.count):
                    out[j] = row[places[j]]
                before = at
            out += across.count
        x += down.size * across.size


cdef cnp.ndarray _plane(const axis_t* down, const axis_t* across, cnp.ndarray x):
    """A new array: the last two dimensions of x resampled by the nearest element."""
    cdef cnp.npy_intp[5] dims
    cdef long outer = 1
    cdef int d, nd = cnp.PyArray_NDIM(x)
    cdef cnp.ndarray out
    cdef char* source = <char*>cnp.PyArray_DATA(x)
    cdef char* to
    cdef Lines planes
    for d in range(nd - 2):
        dims[d] = cnp.PyArray_DIM(x, d)
        outer *= dims[d]
    dims[nd - 2], dims[nd - 1] = down.count, across.count
    out = empty(cnp.PyArray_TYPE(x), nd, dims)
    to = <char*>cnp.PyArray_DATA(out)
    if skipping():
        return out
    planes.axis, planes.across, planes.source, planes.to = down, across, source, to
    planes.wide = cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE
    with nogil:
        parallel_for(outer, GRAIN // (down.count * across.count + 1) + 1, _some_planes, &planes)
    return out


cdef void _run(const axis_t* a, long outer, long inner, bint back, bint wide, void* source,
               void* to) noexcept nogil:
    if back and wide:
        _scatter(a, outer, inner, <const double*>source, <double*>to)
    elif back:
        _scatter(a, outer, inner, <const float*>source, <float*>to)
    elif inner == 1 and a.taps > 1 and wide:
        _gather_last(a, outer, <const double*>source, <double*>to)
    elif inner == 1 and a.taps > 1:
        _gather_last(a, outer, <const float*>source, <float*>to)
    elif wide:
        _gather(a, outer, inner, <const double*>source, <double*>to)
    else:
        _gather(a, outer, inner, <const float*>source, <float*>to)


cdef cnp.ndarray _along(const axis_t* a, cnp.ndarray x, int dim, bint back):
    """A new array: x with one dimension resampled, or the gradient of that."""
    cdef cnp.npy_intp[5] dims
    cdef long outer = 1, inner = 1
    cdef int d, nd = cnp.PyArray_NDIM(x)
    cdef cnp.ndarray out
    cdef bint wide = cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE
    cdef Lines lines
    cdef void* source = cnp.PyArray_DATA(x)
    cdef void* to
    for d in range(nd):
        dims[d] = cnp.PyArray_DIM(x, d)
        if d < dim:
            outer *= dims[d]
        elif d > dim:
            inner *= dims[d]
    dims[dim] = a.size if back else a.count
    out = empty(cnp.PyArray_TYPE(x), nd, dims)
    to = cnp.PyArray_DATA(out)
    if skipping():
        return out
    lines.axis, lines.inner, lines.back, lines.wide = a, inner, back, wide
    lines.source, lines.to = <char*>source, <char*>to
    if cnp.PyArray_SIZE(out) < GIL_FREE:
        _some_lines(&lines, 0, outer)
    else:
        with nogil:
            parallel_for(outer, GRAIN // (max(a.size, a.count) * inner + 1) + 1, _some_lines,
                         &lines)
    return out


# ---- all dimensions ------------------------------------------------------------------------------


cdef bint _same(const axis_t* a, int n) noexcept:
    """Whether a dimension of `n` stays as it is; as in PyTorch, by some modes for any factor."""
    return a.size == a.count and (
        a.smooth or a.mode == _LINEAR or (a.mode == _NEAREST and n == 2) or a.corners
        or a.scale <= 0 or a.scale == 1)


cdef int _set(axis_t* a, int mode, long size, long count, bint corners, bint smooth,
              scale) except -1:
    a.mode, a.size, a.count, a.corners, a.smooth = mode, size, count, corners, smooth
    a.scale = 0 if scale is None else scale
    a.at = NULL
    return 0


cdef void _sort(const axis_t* axes, int n, bint back, int* order) noexcept:
    """The order of the dimensions: what shrinks comes first; of those, rows as a whole."""
    cdef double[3] ratio
    cdef int i, k
    for k in range(n):
        if back:
            ratio[k] = <double>axes[k].size / axes[k].count
        else:
            ratio[k] = <double>axes[k].count / axes[k].size
        i = k
        while i > 0 and (ratio[k] < ratio[order[i - 1]] or (
                ratio[k] == ratio[order[i - 1]] and ratio[k] >= 1)):
            order[i] = order[i - 1]
            i -= 1
        order[i] = k


cdef cnp.ndarray _resampled(cnp.ndarray a, axis_t* axes, int n, int first, bint back):
    """Resample dimensions `first` to `first + n` of a contiguous array that is not empty."""
    cdef int[3] order
    cdef int k, i
    cdef cnp.ndarray made
    cdef PyObject* before
    cdef bint wide = cnp.PyArray_TYPE(a) == cnp.NPY_DOUBLE, planes = (
        axes[0].mode <= _EXACT and not back and first == 2 and n > 1
        and not _same(&axes[n - 1], n))
    _sort(axes, n, back, order)
    try:
        if planes:
            for k in range(n - 2, n):
                if not _same(&axes[k], n):
                    _table(&axes[k], wide)
            a = _plane(&axes[n - 2], &axes[n - 1], a)
        for i in range(n):
            k = order[i]
            if not (planes and k >= n - 2) and not _same(&axes[k], n):
                _table(&axes[k], wide)
                made = _along(&axes[k], a, first + k, back)
                before = <PyObject*>a
                Py_INCREF(a)
                a = made
                release(before)       # to be used again, unless it was given
    finally:
        for k in range(n):
            free(axes[k].at)
    return a


def resample(x, int mode, tuple sizes, bint corners, tuple scales, bint smooth, bint back):
    """Resample the last dimensions of (n, channels, ...) to `sizes`; all but this is checked.

    scales: factors that decide where elements lie, or None for what follows from the sizes.
    back: x is a gradient of the result, `sizes` are those of the input. Results lie as x does.
    """
    cdef cnp.ndarray given = x, a
    cdef axis_t[3] axes
    cdef int k, n = <int>len(sizes), kind = cnp.PyArray_TYPE(given), first
    cdef bint last = is_channels_last(given)
    cdef long size
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        given = cast(given, np.float32)
    a = contiguous(channels_to_end(given)) if last else contiguous(given)
    first = 1 if last else 2
    if cnp.PyArray_SIZE(a) == 0:
        shape = list((<object>a).shape)
        shape[first:first + n] = sizes
        a = np.empty(shape, (<object>a).dtype)
    else:
        for k in range(n):
            size = cnp.PyArray_DIM(a, first + k)
            if back:
                _set(&axes[k], mode, sizes[k], size, corners, smooth, scales[k])
            else:
                _set(&axes[k], mode, size, sizes[k], corners, smooth, scales[k])
        a = _resampled(a, axes, n, first, back)
    result = channels_back(a) if last else a
    if cnp.PyArray_DATA(<cnp.ndarray>result) == cnp.PyArray_DATA(given):
        result = result.copy(order="K")
    return cast(result, x.dtype) if kind == cnp.NPY_FLOAT16 else result


cdef object _upsample(Operator op, keyset_t keys, PyObject** args):
    """(self, output_size, [align_corners], scales...) of rows of float32 or float64."""
    cdef tuple how = <tuple>(<CKernel>op.kernels[highest_key(keys)]).config
    cdef int mode = how[0], n = how[1], k, at = 3 if mode > _EXACT else 2
    cdef Fields* x = _array(args[0])
    cdef cnp.ndarray a = array_of(args[0])
    cdef axis_t[3] axes
    cdef double total = _count(x, 0, x.nd)
    cdef int64_t size
    if x.nd != n + 2 or not in_row_order(x, cnp.PyArray_ITEMSIZE(a)) or (
            x.descr.type_num != cnp.NPY_FLOAT and x.descr.type_num != cnp.NPY_DOUBLE) or (
            PyTuple_GET_SIZE(<object>args[1]) != n or skipping() or is_channels_last(a)):
        return run_general(op, keys, args)
    for k in range(n):
        if not _integer(PyTuple_GET_ITEM(<object>args[1], k), &size) or size <= 0:
            return run_general(op, keys, args)
        _set(&axes[k], mode, x.dimensions[2 + k], size, at == 3 and <object>args[2] is True, False,
             <object>args[at + k])
        total *= size
    if not 0 < total < SAFE:
        return run_general(op, keys, args)
    a = _resampled(a, axes, n, 2, False)
    return run_general(op, keys, args) if a is array_of(args[0]) else deliver(op, a, args)


def upsampling(int mode, int n):
    """The fast case of resampling n dimensions without smoothing."""
    return CKernel.new(_upsample, (mode, n))


def table(int mode, long size, long count, bint corners, scale, bint smooth):
    """The places and weights of one dimension, as arrays (count, taps); in float64."""
    cdef axis_t a
    cdef long i
    _set(&a, mode, size, count, corners, smooth, scale)
    _table(&a, True)
    at, weight = np.empty(count * a.taps, np.int64), np.empty(count * a.taps)
    for i in range(count * a.taps):
        at[i], weight[i] = a.at[i], a.weight[i]
    free(a.at)
    return at.reshape(count, a.taps), weight.reshape(count, a.taps)
