"""Padding over ndarrays, and the gradients of padding with elements of the input.

`pad` holds (before, after) for the last dimension, then for the one before it, and so on; negative
widths crop. Results have PyTorch's memory order: channels last if the input has it.
"""

cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from imode._core.allocator cimport empty
from imode._core.channels cimport as_channels_last, contiguous, is_channels_last
from imode._core.parallel cimport parallel_for, skipping

import numpy as np
from imode import errors

cnp.import_array()

cdef extern from "pad.h" nogil:
    enum:
        BLOCK "IMODE_PAD_BLOCK"
    char* imode_pad_rows(char* to, const char* rows, Py_ssize_t n, Py_ssize_t size, Py_ssize_t gap,
                         const char* value) noexcept

cdef enum:
    MAX_DIMS = 32
    LONG = 1024         # so many are copied by the C library
    GRAIN = 1 << 17     # fewest bytes per thread

cdef struct frame_t:
    long planes                  # everything before the padded dimensions
    long[3] size                 # of the padded dimensions, outermost first (1: no dimension)
    long[3] low                  # how much is added before each
    long[3] wide                 # their sizes after padding


# ---- with a number -------------------------------------------------------------------------------


cdef struct constant_t:
    frame_t f
    long item                    # bytes
    const char* x
    const char* x_end
    char* out
    const char* value            # a block filled with it


cdef inline char* _write(char* to, const char* to_end, const char* source, const char* source_end,
                         long n, long step) noexcept nogil:
    """Copy n bytes; where there is room for it, by whole blocks, `step` of the source apart.

    What a block writes beyond is written over with what comes next.
    """
    cdef char* end = to + n
    cdef long whole = (n + BLOCK - 1) // BLOCK * BLOCK
    if step and n >= LONG:
        memcpy(to, source, n)
    elif to_end - to >= whole and (step == 0 or source_end - source >= whole):
        while to < end:
            memcpy(to, source, BLOCK)
            to += BLOCK
            source += step
    else:
        while to < end:
            memcpy(to, source, min(BLOCK, end - to))
            to += BLOCK
            source += step
    return end


cdef void _fill_planes(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef constant_t* s = <constant_t*>ctx
    cdef frame_t* f = &s.f
    cdef long plane = f.wide[0] * f.wide[1] * f.wide[2] * s.item, p, i, j
    cdef long first = max(f.low[2], 0), last = min(f.low[2] + f.size[2], f.wide[2])
    cdef long row, rows, gap  # gap: bytes of the border that are not written yet
    cdef char* to
    cdef char* stop = s.out + end * plane
    for p in range(begin, end):
        to = s.out + p * plane
        gap = 0
        for i in range(f.wide[0]):
            j = 0
            while j < f.wide[1]:
                row = (i - f.low[0]) * f.size[1] + j - f.low[1]
                if not (0 <= i - f.low[0] < f.size[0] and 0 <= j - f.low[1] < f.size[1]
                        and first < last):
                    gap += f.wide[2] * s.item
                    j += 1
                    continue
                to = _write(to, stop, s.value, s.value + BLOCK, gap + first * s.item, 0)
                row = ((p * f.size[0] * f.size[1] + row) * f.size[2] + first - f.low[2]) * s.item
                if first == f.low[2] and last == first + f.size[2] and (
                        BLOCK <= (last - first) * s.item < LONG):
                    # all rows but the last, which may end where the arrays end
                    rows = max(min(f.low[1] + f.size[1], f.wide[1]) - j - 1, 0)
                    to = imode_pad_rows(to, s.x + row, rows, (last - first) * s.item,
                                        (f.wide[2] - last + first) * s.item, s.value)
                    row += rows * (last - first) * s.item
                    j += rows
                to = _write(to, stop, s.x + row, s.x_end, (last - first) * s.item, BLOCK)
                gap = (f.wide[2] - last) * s.item
                j += 1
        _write(to, stop, s.value, s.value + BLOCK, gap, 0)


cdef int _constant(cnp.ndarray a, cnp.ndarray out, tuple pad, value, bint filled) except -1:
    """Fill in `out` from a contiguous array of which no more than three dimensions are padded."""
    cdef constant_t s
    cdef int ndim = cnp.PyArray_NDIM(a), n = <int>len(pad) // 2, dim, k
    cdef cnp.npy_intp length
    cdef cnp.ndarray block
    s.item = cnp.PyArray_ITEMSIZE(a)
    length = BLOCK // s.item
    block = empty(cnp.PyArray_TYPE(a), 1, &length)
    if not filled:
        block.fill(value)
    s.f.planes = 1
    for dim in range(ndim - n):
        s.f.planes *= cnp.PyArray_DIM(a, dim)
    for k in range(3):
        dim = ndim - 1 - k
        s.f.size[2 - k] = cnp.PyArray_DIM(a, dim) if k < n else 1
        s.f.wide[2 - k] = cnp.PyArray_DIM(out, dim) if k < n else 1
        s.f.low[2 - k] = pad[2 * k] if k < n else 0
    s.x = <const char*>cnp.PyArray_DATA(a)
    s.x_end = s.x + cnp.PyArray_NBYTES(a)
    s.out = <char*>cnp.PyArray_DATA(out)
    s.value = <const char*>cnp.PyArray_DATA(block)
    with nogil:
        parallel_for(s.f.planes, GRAIN // (cnp.PyArray_NBYTES(out) // max(s.f.planes, 1) + 1) + 1,
                     _fill_planes, &s)
    return 0


cpdef object constant(x, tuple pad, value):
    """Return x inside an array filled with `value`."""
    cdef cnp.ndarray a = x, out
    cdef cnp.npy_intp[MAX_DIMS] dims
    cdef int ndim = cnp.PyArray_NDIM(a), k, dim
    cdef long low, high, size
    cdef bint last = is_channels_last(a), filled = True
    for dim in range(ndim):
        dims[dim] = cnp.PyArray_DIM(a, dim)
    for k in range(len(pad) // 2):
        dim = ndim - 1 - k
        low = pad[2 * k]
        high = pad[2 * k + 1]
        size = dims[dim]
        if size + min(low, 0) < 0 or size + min(low, 0) + min(high, 0) < 0:
            raise errors.shapes.negative_length()
        if size + low + high < 0:
            raise RuntimeError(
                f"The input size {size}, plus negative padding {low} and {high} resulted in a "
                f"negative output size, which is invalid. Check dimension {dim} of your input.")
        dims[dim] = size + low + high
        filled = filled and low <= 0 and high <= 0
    out = empty(cnp.PyArray_TYPE(a), ndim, dims)
    if skipping():
        return as_channels_last(out) if last else out
    if cnp.PyArray_IS_C_CONTIGUOUS(a) and 0 < len(pad) <= 6 and cnp.PyArray_ITEMSIZE(a) <= 16:
        _constant(a, out, pad, value, filled)
        return as_channels_last(out) if last else out
    if not filled:
        out.fill(value)
    inner, source = [slice(None)] * ndim, [slice(None)] * ndim
    for k in range(len(pad) // 2):
        dim = ndim - 1 - k
        low = pad[2 * k]
        high = pad[2 * k + 1]
        inner[dim] = slice(max(low, 0), dims[dim] - max(high, 0))
        source[dim] = slice(max(-low, 0), cnp.PyArray_DIM(a, dim) - max(-high, 0))
    out[tuple(inner)] = a[tuple(source)]
    return as_channels_last(out) if last else out


# ---- with elements of the input ------------------------------------------------------------------


cdef long FURTHEST = <long>1 << 61


cdef inline long _source(long position, long size, bint mirrored) noexcept nogil:
    """Which of `size` elements is used at a position before, inside or after them."""
    if mirrored:
        if position < 0:
            position = -position
        return 2 * (size - 1) - position if position >= size else position
    return 0 if position < 0 else size - 1 if position >= size else position


cdef int _check_left_over(frame_t* f, int n, tuple shape) except -1:
    """Cropping may leave nothing of some padded dimensions, but not of all of them."""
    cdef int k
    cdef bint some = False
    for k in range(3 - n, 3):
        some = some or f.wide[k] >= 1
    if not some:
        sizes = ", ".join([f"{'DHW'[k]}: {f.size[k]}" for k in range(3 - n, 3)])
        wides = " ".join([f"{'DHW'[k]}: {f.wide[k]}" for k in range(3 - n, 3)])
        raise RuntimeError(f"input ({sizes}) is too small. Calculated output {wides}")
    for k in range(3 - n, 3):
        if f.wide[k] < 0:
            result = [*shape[:len(shape) - n], *[f.wide[i] for i in range(3 - n, 3)]]
            raise errors.shapes.negative_dimension(f.wide[k], result)
    return 0


cdef int _frame(frame_t* f, tuple shape, tuple pad, bint mirrored) except -1:
    """Check everything and fill in f."""
    cdef int n = <int>len(pad) // 2, ndim = <int>len(shape), k, dim
    cdef long low, high
    for dim in range(ndim - n - 1, ndim):
        if shape[dim] == 0:
            raise errors.shapes.not_to_pad(n, shape)
    f.planes = 1
    for dim in range(ndim - n):
        f.planes *= <long>shape[dim]
    for k in range(3):
        f.size[2 - k] = f.wide[2 - k] = 1
        f.low[2 - k] = 0
        if k >= n:
            continue
        dim = ndim - 1 - k
        low = pad[2 * k]
        high = pad[2 * k + 1]
        if mirrored and (low >= shape[dim] or high >= shape[dim]):
            raise RuntimeError(
                f"Argument #{4 + 2 * k}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({low}, {high}) at dimension {dim} of input "
                f"{list(shape)}")
        if not (-FURTHEST < low < FURTHEST and -FURTHEST < high < FURTHEST):   # no overflow below
            raise RuntimeError(f"Padding by ({low}, {high}) is more than a size can be")
        f.size[2 - k] = shape[dim]
        f.low[2 - k] = low
        f.wide[2 - k] = f.size[2 - k] + low + high
    _check_left_over(f, n, shape)
    return 0


ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    double complex


cdef struct border_t:
    frame_t* f
    bint mirrored
    long item                    # bytes
    const char* x
    char* out


cdef void _rows(const border_t* s, const word* x, word* to, long begin, long end) noexcept nogil:
    """Rows begin to end of the result: inside, the elements of a row of x as they lie."""
    cdef frame_t* f = s.f
    cdef long size = f.size[2], low = f.low[2], wide = f.wide[2]
    cdef long first = min(max(low, 0), wide), last = min(max(low + size, 0), wide)
    cdef long _, c, p = begin // (f.wide[0] * f.wide[1])
    cdef long i = begin // f.wide[1] % f.wide[0], j = begin % f.wide[1]
    cdef const word* row
    to += begin * wide
    for _ in range(begin, end):
        row = x + size * ((p * f.size[0] + _source(i - f.low[0], f.size[0], s.mirrored)) * f.size[1]
                          + _source(j - f.low[1], f.size[1], s.mirrored))
        for c in range(first):
            to[c] = row[low - c] if s.mirrored else row[0]
        if last > first:
            memcpy(to + first, row + first - low, (last - first) * sizeof(word))
        for c in range(max(first, last), wide):
            to[c] = row[2 * (size - 1) - c + low] if s.mirrored else row[size - 1]
        to += wide
        j += 1
        if j == f.wide[1]:
            i, j = i + 1, 0
        if i == f.wide[0]:
            p, i = p + 1, 0


cdef void _border_some(void* ctx, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef border_t* s = <border_t*>ctx
    if s.item == 4:
        _rows(s, <const uint32_t*>s.x, <uint32_t*>s.out, begin, end)
    elif s.item == 8:
        _rows(s, <const uint64_t*>s.x, <uint64_t*>s.out, begin, end)
    elif s.item == 2:
        _rows(s, <const uint16_t*>s.x, <uint16_t*>s.out, begin, end)
    elif s.item == 1:
        _rows(s, <const uint8_t*>s.x, <uint8_t*>s.out, begin, end)
    else:
        _rows(s, <const double complex*>s.x, <double complex*>s.out, begin, end)


cdef cnp.ndarray _shaped(tuple shape, int n, frame_t* f, int kind):
    cdef cnp.npy_intp[MAX_DIMS] dims
    cdef int ndim = <int>len(shape), dim
    for dim in range(ndim):
        dims[dim] = shape[dim]
    for dim in range(n):
        dims[ndim - 1 - dim] = f.wide[2 - dim]
    return empty(kind, ndim, dims)


cpdef object border(x, tuple pad, bint mirrored):
    """Return x surrounded by copies of its border, or by its mirror image."""
    cdef frame_t f
    cdef tuple shape = (<object>x).shape
    cdef cnp.ndarray a, out
    cdef border_t s
    _frame(&f, shape, pad, mirrored)
    a = contiguous(x)
    out = _shaped(shape, len(pad) // 2, &f, cnp.PyArray_TYPE(a))
    s = border_t(&f, mirrored, cnp.PyArray_ITEMSIZE(a), <const char*>cnp.PyArray_DATA(a),
                 <char*>cnp.PyArray_DATA(out))
    if skipping():
        return as_channels_last(out) if is_channels_last(x) else out
    with nogil:
        parallel_for(f.planes * f.wide[0] * f.wide[1], GRAIN // (f.wide[2] * s.item + 1) + 1,
                     _border_some, &s)
    return as_channels_last(out) if is_channels_last(x) else out


cpdef object border_backward(grad, x, tuple pad, bint mirrored):
    """Add the gradient at every position to that of the element of x used there."""
    cdef frame_t f
    cdef tuple shape = (<object>x).shape
    cdef int kind = cnp.PyArray_TYPE(<cnp.ndarray>grad)
    cdef cnp.ndarray g, out
    cdef long p, i, j, c, row
    cdef const double* source
    cdef double* to
    _frame(&f, shape, pad, mirrored)
    if kind in (cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128):
        both = [border_backward(part, x, pad, mirrored) for part in (grad.real, grad.imag)]
        return both[0] + 1j * both[1]
    if skipping():
        out = np.empty(shape, grad.dtype)
        return as_channels_last(out) if is_channels_last(x) else out
    g = contiguous(grad.astype(np.float64, copy=False))
    out = np.zeros(shape)
    source = <const double*>cnp.PyArray_DATA(g)
    to = <double*>cnp.PyArray_DATA(out)
    with nogil:
        for p in range(f.planes):
            for i in range(f.wide[0]):
                for j in range(f.wide[1]):
                    row = f.size[2] * (
                        (p * f.size[0] + _source(i - f.low[0], f.size[0], mirrored)) * f.size[1]
                        + _source(j - f.low[1], f.size[1], mirrored))
                    for c in range(f.wide[2]):
                        to[row + _source(c - f.low[2], f.size[2], mirrored)] += source[0]
                        source += 1
    result = out.astype((<object>grad).dtype, copy=False)
    return as_channels_last(result) if is_channels_last(x) else result
