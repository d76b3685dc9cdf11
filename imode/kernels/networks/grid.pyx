"""Images and volumes sampled at any places over ndarrays, and the gradients.

A place has, along each dimension, a few elements near to it with a weight each: one, two or four,
by the mode. A sample is the sum over all their combinations, so one loop serves all modes; images
are volumes of depth 1. Halves are sampled as float32.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_READ_CHAR
from imode._core.adapter cimport run_general
from imode._core.allocator cimport Fields, empty
from imode._core.channels cimport contiguous
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.parallel cimport skipping
from imode.kernels.creation.copy cimport cast
from imode.kernels.fast_guards cimport _array, _integer, _row_major, array_of
from libc.math cimport floor, fmod, nearbyint
from libc.stdint cimport int64_t

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    PyObject* Py_True

ctypedef fused real:
    float
    double

cdef enum:
    LINEAR, NEAREST, CUBIC         # PyTorch's numbers
    MOST = 16                      # combinations: two of three dimensions, four of two
    BLOCK = 256                    # places that are looked at before the channels are

cdef enum Outside:
    ZEROS, BORDER, REFLECTION

cdef struct sampler_t:
    int space                      # 2 or 3
    int mode, outside
    bint corners                   # -1 and 1 are the middles of the first and the last element
    long n, channels, points
    long[3] size                   # of the volumes

cdef struct near_t:                # elements near to a place along one dimension
    int count
    long[4] at                     # -1: outside, counts as zero
    double[4] weight
    double[4] slope                # by the coordinate in the grid


# ---- places --------------------------------------------------------------------------------------


cdef inline real _floored(real x) noexcept nogil:
    """floor(x), without a call where it is near."""
    cdef long whole
    if not -1e9 < x < 1e9:
        return <real>floor(x)
    whole = <long>x
    return <real>(whole - (x < <real>whole))


cdef inline real _reflected(real x, long low, long high, real* turn) noexcept nogil:
    """x mirrored at low / 2 and high / 2 as often as needed."""
    cdef real least = <real>low / 2, span = <real>(high - low) / 2, extra
    cdef real flips
    if low == high:
        turn[0] = 0
        return 0
    x -= least
    if x < 0:
        x = -x
        turn[0] = -turn[0]
    extra = <real>fmod(x, span)
    flips = <real>floor(x / span)
    if fmod(flips, 2) != 0:
        turn[0] = -turn[0]
        return span - extra + least
    return extra + least


cdef inline real _kept(const sampler_t* s, real x, long size, real* turn) noexcept nogil:
    """A coordinate in elements, brought inside; `turn` is multiplied by its derivative."""
    if s.outside == ZEROS:
        return x
    if s.outside == REFLECTION:
        if s.corners:
            x = _reflected(x, 0, 2 * (size - 1), turn)
        else:
            x = _reflected(x, -1, 2 * size - 1, turn)
    if not x > 0:                                  # NaN is at the first element
        turn[0] = 0
        return 0
    if x >= size - 1:
        turn[0] = 0
        return <real>(size - 1)
    return x


cdef inline real _rounded(real x) noexcept nogil:
    """nearbyint(x), without a call where it is near."""
    cdef double shift = 6755399441055744.0         # 1.5 * 2**52: what is added to it is rounded
    return <real>((x + shift) - shift) if -1e9 < x < 1e9 else <real>nearbyint(x)


cdef inline real _coordinate(const sampler_t* s, real x, long size) noexcept nogil:
    """A coordinate of the grid, in elements."""
    return (x + 1) / 2 * (size - 1) if s.corners else ((x + 1) * size - 1) / 2


cdef inline long _index(real x, long size) noexcept nogil:
    """A whole coordinate as an index; -1 if it is outside."""
    return <long>x if 0 <= x < size else -1


cdef inline void _cubic(near_t* near, real t, real turn) noexcept nogil:
    cdef real A = <real>-0.75, s = 1 - t, a = t + 1, b = s + 1
    near.weight[0] = ((A * a - 5 * A) * a + 8 * A) * a - 4 * A
    near.weight[1] = ((A + 2) * t - (A + 3)) * t * t + 1
    near.weight[2] = ((A + 2) * s - (A + 3)) * s * s + 1
    near.weight[3] = ((A * b - 5 * A) * b + 8 * A) * b - 4 * A
    near.slope[0] = turn * ((3 * A * a - 10 * A) * a + 8 * A)
    near.slope[1] = turn * (3 * (A + 2) * t - 2 * (A + 3)) * t
    near.slope[2] = -turn * (3 * (A + 2) * s - 2 * (A + 3)) * s
    near.slope[3] = -turn * ((3 * A * b - 10 * A) * b + 8 * A)


cdef inline void _near(const sampler_t* s, real x, long size, near_t* near) noexcept nogil:
    """The elements near to a coordinate of the grid."""
    cdef real turn = <real>(size - 1 if s.corners else size) / 2, first, unused = 1
    cdef int k
    x = _coordinate(s, x, size)
    if s.mode == CUBIC:
        near.count = 4
        first = _floored(x)
        for k in range(4):
            near.at[k] = _index[real](
                _rounded(_kept(s, first - 1 + k, size, &unused)), size)
        _cubic(near, x - first, turn)
        return
    x = _kept(s, x, size, &turn)
    if s.mode == NEAREST:
        near.count = 1
        near.at[0] = _index[real](_rounded(x), size)
        near.weight[0] = 1
        near.slope[0] = 0
        return
    near.count = 2
    first = _floored(x)
    near.at[0] = _index(first, size)
    near.at[1] = _index(first + 1, size)
    near.weight[0] = 1 - (x - first)
    near.weight[1] = x - first
    near.slope[0] = -turn
    near.slope[1] = turn


cdef inline int _combined(const sampler_t* s, const real* place, long* at, real* weight,
                          real* slope) noexcept nogil:
    """All combinations inside the volume: where, their weights, and three slopes each if wanted."""
    cdef near_t[3] near
    cdef int i, j, k, d, n = 0, skipped = 3 - s.space
    cdef long row
    cdef real outer
    if skipped:
        near[0].count = 1
        near[0].at[0] = 0
        near[0].weight[0] = 1
        near[0].slope[0] = 0
    for d in range(skipped, 3):                    # the grid names the last dimension first
        _near(s, place[2 - d], s.size[d], &near[d])
    for i in range(near[0].count):
        for j in range(near[1].count):
            if near[0].at[i] < 0 or near[1].at[j] < 0:
                continue
            outer = <real>near[0].weight[i] * <real>near[1].weight[j]
            row = (near[0].at[i] * s.size[1] + near[1].at[j]) * s.size[2]
            for k in range(near[2].count):
                if near[2].at[k] < 0:
                    continue
                at[n] = row + near[2].at[k]
                weight[n] = outer * <real>near[2].weight[k]
                if slope != NULL:
                    slope[3 * n] = outer * <real>near[2].slope[k]
                    slope[3 * n + 1] = <real>(
                        near[0].weight[i] * near[1].slope[j] * near[2].weight[k])
                    slope[3 * n + 2] = <real>(
                        near[0].slope[i] * near[1].weight[j] * near[2].weight[k])
                n += 1
    return n


cdef inline int _in_plane(const sampler_t* s, const real* place, long* at,
                          real* weight) noexcept nogil:
    """As `_combined`, of planes, by one or two elements along each dimension: in fewer steps."""
    cdef long width = s.size[2], height = s.size[1], first, n = 0
    cdef real unused = 1, left, top
    cdef real x = _kept(s, _coordinate(s, place[0], width), width, &unused)
    cdef real y = _kept(s, _coordinate(s, place[1], height), height, &unused)
    if s.mode == NEAREST:
        x, y = _rounded(x), _rounded(y)
        if not (0 <= x < width and 0 <= y < height):
            return 0
        at[0] = <long>y * width + <long>x
        weight[0] = 1
        return 1
    left, top = _floored(x), _floored(y)
    x, y = x - left, y - top
    if not (-1 <= left < width and -1 <= top < height):
        at[0], weight[0] = 0, x * y                # NaN where a coordinate is no number
        return 1 if x != x or y != y else 0
    first = <long>top * width + <long>left
    if 0 <= left < width - 1 and 0 <= top < height - 1:
        at[0], at[1], at[2], at[3] = first, first + 1, first + width, first + width + 1
        weight[0], weight[1] = (1 - y) * (1 - x), (1 - y) * x
        weight[2], weight[3] = y * (1 - x), y * x
        return 4
    if top >= 0 and left >= 0:
        at[n], weight[n] = first, (1 - y) * (1 - x)
        n += 1
    if top >= 0 and left < width - 1:
        at[n], weight[n] = first + 1, (1 - y) * x
        n += 1
    if top < height - 1 and left >= 0:
        at[n], weight[n] = first + width, y * (1 - x)
        n += 1
    if top < height - 1 and left < width - 1:
        at[n], weight[n] = first + width + 1, y * x
        n += 1
    return <int>n


# ---- loops ---------------------------------------------------------------------------------------


cdef inline real _sum(const real* plane, const long* at, const real* weight, int n) noexcept nogil:
    cdef real total = 0
    cdef int k
    for k in range(n):
        total += weight[k] * plane[at[k]]
    return total


cdef void _of_channel(const real* plane, const long* at, const real* weight, const int* count,
                      int taps, int points, real* out) noexcept nogil:
    """A block of places in one channel; count: how many elements of each are not outside."""
    cdef int p
    if taps == 1:
        for p in range(points):
            out[p] = plane[at[p]] if count[p] else 0
        return
    for p in range(points):
        if count[p] == 16:
            out[p] = _sum(plane, at, weight, 16)
        elif count[p] == 8:
            out[p] = _sum(plane, at, weight, 8)
        else:
            out[p] = _sum(plane, at, weight, count[p])
        at += taps
        weight += taps


cdef void _of_planes(const real* plane, const long* at, const real* weight, const int* count,
                     long width, long size, int points, long steps, long channels,
                     real* out) noexcept nogil:
    """A block of places between four elements, in all channels: two channels at a time."""
    cdef const real* x
    cdef const real* w
    cdef real* to
    cdef long c, next, onward
    cdef int p
    for c in range(0, channels, 2):
        to = out + c * steps
        next, onward = (size, steps) if c + 1 < channels else (0, 0)
        for p in range(points):
            x, w = plane + c * size, weight + 4 * p
            if count[p] == 4:
                x += at[4 * p]
                to[p] = w[0] * x[0] + w[1] * x[1] + w[2] * x[width] + w[3] * x[width + 1]
                x += next
                to[p + onward] = w[0] * x[0] + w[1] * x[1] + w[2] * x[width] + w[3] * x[width + 1]
            else:
                to[p] = _sum(x, at + 4 * p, w, count[p])
                to[p + onward] = _sum(x + next, at + 4 * p, w, count[p])


cdef void _sample(const sampler_t* s, const real* x, const real* grid, real* out) noexcept nogil:
    cdef long[BLOCK * MOST] at
    cdef real[BLOCK * MOST] weight
    cdef int[BLOCK] count
    cdef long b, c, block, first, most, size = s.size[0] * s.size[1] * s.size[2]
    cdef int p, points, taps = 1 if s.mode == NEAREST else 4 if s.mode == LINEAR else 16
    cdef bint plain = s.space == 2 and s.mode != CUBIC
    cdef const real* place
    if s.space == 3 and s.mode == LINEAR:
        taps = 8
    most = BLOCK if taps <= 4 else BLOCK * 4 // taps   # what a block needs stays in the cache
    for b in range(s.n):
        for block in range((s.points + most - 1) // most):
            first = block * most
            points = <int>min(most, s.points - first)
            for p in range(points):
                place = grid + (b * s.points + first + p) * s.space
                if plain:
                    count[p] = _in_plane(s, place, at + p * taps, weight + p * taps)
                else:
                    count[p] = _combined(s, place, at + p * taps, weight + p * taps, <real*>NULL)
            if taps == 4:
                _of_planes(x + b * s.channels * size, at, weight, count, s.size[2], size, points,
                           s.points, s.channels, out + b * s.channels * s.points + first)
                continue
            for c in range(s.channels):
                _of_channel(x + (b * s.channels + c) * size, at, weight, count, taps, points,
                            out + (b * s.channels + c) * s.points + first)


cdef void _sample_backward(const sampler_t* s, const real* grad, const real* x, const real* grid,
                           real* of_x, real* of_grid) noexcept nogil:
    """of_x: zeros, or NULL where it is not wanted."""
    cdef long[MOST] at
    cdef real[MOST] weight
    cdef real[3 * MOST] slope
    cdef real[3] total
    cdef real g
    cdef long b, p, c, plane, size = s.size[0] * s.size[1] * s.size[2]
    cdef int k, d, n
    for b in range(s.n):
        for p in range(s.points):
            n = _combined(s, grid + (b * s.points + p) * s.space, at, weight, slope)
            total[0] = total[1] = total[2] = 0
            for c in range(s.channels):
                plane = (b * s.channels + c) * size
                g = grad[(b * s.channels + c) * s.points + p]
                for k in range(n):
                    if of_x != NULL:
                        of_x[plane + at[k]] += weight[k] * g
                    for d in range(0 if s.mode == NEAREST else 3):
                        total[d] += slope[3 * k + d] * x[plane + at[k]] * g
            for d in range(s.space):
                of_grid[(b * s.points + p) * s.space + d] = total[d]


# ---- kernels -------------------------------------------------------------------------------------


cdef void _set(sampler_t* s, cnp.ndarray x, cnp.ndarray grid, int mode, int outside,
               bint corners) noexcept:
    cdef int d
    s.space = x.ndim - 2
    s.mode, s.outside, s.corners = mode, outside, corners
    s.n, s.channels, s.points, s.size[0] = x.shape[0], x.shape[1], 1, 1
    for d in range(s.space):
        s.size[3 - s.space + d] = x.shape[2 + d]
        s.points *= <long>grid.shape[1 + d]


cdef cnp.ndarray _sampled(cnp.ndarray x, cnp.ndarray grid, int mode, int outside, bint corners):
    """Of contiguous float32 or float64; all is checked."""
    cdef sampler_t s
    cdef cnp.npy_intp[5] dims
    cdef cnp.ndarray out
    cdef void* data = cnp.PyArray_DATA(x)
    cdef void* places = cnp.PyArray_DATA(grid)
    cdef void* to
    cdef int d
    for d in range(x.ndim):
        dims[d] = x.shape[d] if d < 2 else grid.shape[d - 1]
    _set(&s, x, grid, mode, outside, corners)
    out = empty(cnp.PyArray_TYPE(x), x.ndim, dims)
    to = cnp.PyArray_DATA(out)
    if skipping():
        return out
    with nogil:
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            _sample(&s, <const float*>data, <const float*>places, <float*>to)
        else:
            _sample(&s, <const double*>data, <const double*>places, <double*>to)
    return out


def sample(x, grid, int mode, int outside, bint corners):
    """Sample (n, channels, ...) at (n, ..., dimensions); all is checked."""
    if x.dtype == np.float16:
        wide = sample(cast(x, np.float32), cast(grid, np.float32), mode, outside, corners)
        return cast(wide, np.float16)
    return _sampled(contiguous(x), contiguous(grid), mode, outside, corners)


cdef bint _fit(Fields* x, Fields* grid) noexcept:
    """Whether an image or a volume and the places in it need no check and no copy."""
    cdef int d, kind = x.descr.type_num
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE or grid.descr.type_num != kind:
        return False
    if not (4 <= x.nd <= 5 and grid.nd == x.nd and _row_major(x) and _row_major(grid)):
        return False
    for d in range(2, x.nd):
        if x.dimensions[d] == 0:
            return False
    return x.dimensions[0] == grid.dimensions[0] and grid.dimensions[x.nd - 1] == x.nd - 2


cdef object _sampler(Operator op, keyset_t keys, PyObject** args):
    """grid_sampler_2d, grid_sampler_3d(input, grid, mode, padding_mode, align_corners)."""
    cdef int64_t mode = 0, outside = 0
    cdef int space = <int>PyUnicode_READ_CHAR(op.name, 13) - 48
    if not _fit(_array(args[0]), _array(args[1])) or _array(args[0]).nd != space + 2 or not (
            _integer(args[2], &mode) and _integer(args[3], &outside)):
        return run_general(op, keys, args)
    if not (0 <= mode <= (CUBIC if space == 2 else NEAREST) and 0 <= outside <= REFLECTION):
        return run_general(op, keys, args)
    return wrap(_sampled(array_of(args[0]), array_of(args[1]), <int>mode, <int>outside,
                         args[4] == Py_True))


sampler = CKernel.new(_sampler)


def sample_backward(grad, x, grid, int mode, int outside, bint corners, bint of_input):
    """Return the gradients of x, None if it is not wanted, and of the grid."""
    cdef sampler_t s
    cdef cnp.ndarray g, a, places, to, of_grid
    cdef void* made = NULL
    if x.dtype == np.float16:
        halves = [cast(t, np.float32) for t in (grad, x, grid)]
        pair = sample_backward(*halves, mode, outside, corners, of_input)
        return tuple([None if t is None else cast(t, np.float16) for t in pair])
    _set(&s, x, grid, mode, outside, corners)
    g, a, places = contiguous(grad), contiguous(x), contiguous(grid)
    of_x = None
    if of_input:
        of_x = to = np.zeros(x.shape, x.dtype)
        made = cnp.PyArray_DATA(to)
    of_grid = np.empty(grid.shape, x.dtype)
    if skipping():
        return of_x, of_grid
    with nogil:
        if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT:
            _sample_backward(
                &s, <const float*>cnp.PyArray_DATA(g), <const float*>cnp.PyArray_DATA(a),
                <const float*>cnp.PyArray_DATA(places), <float*>made,
                <float*>cnp.PyArray_DATA(of_grid))
        else:
            _sample_backward(
                &s, <const double*>cnp.PyArray_DATA(g), <const double*>cnp.PyArray_DATA(a),
                <const double*>cnp.PyArray_DATA(places), <double*>made,
                <double*>cnp.PyArray_DATA(of_grid))
    return of_x, of_grid


# ---- grids of affine maps ------------------------------------------------------------------------


cdef inline real _place(long i, long count, bint corners, real like) noexcept nogil:
    """The place of an element among `count` along a dimension."""
    cdef real at
    if count <= 1:
        return 0
    at = <real>(1.0 if i == count - 1 else i * (2.0 / (count - 1)) - 1.0)
    return at if corners else at * <real>((count - 1) / <double>count)


cdef void _affine(const real* theta, long batch, int n, const long* size, bint corners,
                  real* out) noexcept nogil:
    """size: of depth (1 in planes), height and width."""
    cdef long b, z, y, x
    cdef int k
    cdef real[3] first
    cdef real deep, down, across
    cdef const real* row
    for b in range(batch):
        for z in range(size[0]):
            deep = _place(z, size[0], corners, <real>0)
            for y in range(size[1]):
                down = _place(y, size[1], corners, <real>0)
                for k in range(n):
                    row = theta + (b * n + k) * (n + 1)
                    first[k] = row[n] if n == 2 else row[n] + deep * row[2]
                    first[k] += down * row[1]
                for x in range(size[2]):
                    across = _place(x, size[2], corners, <real>0)
                    for k in range(n):
                        out[k] = first[k] + across * theta[(b * n + k) * (n + 1)]
                    out += n


cdef object _affine_grid(Operator op, keyset_t keys, PyObject** args):
    """affine_grid_generator(theta, size, align_corners)."""
    cdef Fields* theta = _array(args[0])
    cdef tuple size = <tuple><object>args[1]
    cdef int n = <int>len(size) - 2, d, kind = theta.descr.type_num
    cdef long[3] space = [1, 1, 1]
    cdef cnp.npy_intp[5] dims
    cdef bint corners = args[2] == Py_True
    cdef cnp.ndarray out
    cdef void* to
    if not (2 <= n <= 3) or theta.nd != 3 or not _row_major(theta) or (
            kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE):
        return run_general(op, keys, args)
    dims[0], dims[n + 1] = theta.dimensions[0], n
    if theta.dimensions[1] != n or theta.dimensions[2] != n + 1 or size[0] != dims[0]:
        return run_general(op, keys, args)
    for d in range(n):
        space[3 - n + d] = dims[1 + d] = size[2 + d]
        if not 0 < dims[1 + d] < 1 << 20:
            return run_general(op, keys, args)
    out = empty(kind, n + 2, dims)
    to = cnp.PyArray_DATA(out)
    if skipping():
        return wrap(out)
    with nogil:
        if kind == cnp.NPY_FLOAT:
            _affine(<const float*>theta.data, dims[0], n, space, corners, <float*>to)
        else:
            _affine(<const double*>theta.data, dims[0], n, space, corners, <double*>to)
    return wrap(out)


affine_grid = CKernel.new(_affine_grid)
