# Pooling of planes over ndarrays: (n, c, h, w) or (c, h, w). See pool.pyx. These structs live on
# the stack of one call; the GIL is released while the loops run.

cimport numpy as cnp
from libc.math cimport INFINITY

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


ctypedef struct axis_t:       # the windows along one dimension of the planes
    long size                 # the plane's
    long count                # how many windows
    long kernel               # 0: the windows share the plane evenly, and the fields below are 0
    long stride, padding, dilation


ctypedef struct window_t:
    long planes
    axis_t y, x
    bint count_padding        # averages: padding counts as zeros
    long divisor              # averages: divides the sums; 0: the number of elements
    bint in_turn              # averages: the sums are divided by the rows, then by the columns


cdef extern from "short_int.h":
    bint digit_of "imode_digit_of"(object, long long* value) noexcept


cdef long checked_integer(value) except? -1


cdef inline long integer(value) except? -1:
    """An int, as PyTorch's 32 bits hold it."""
    cdef long long digit
    return <long>digit if digit_of(value, &digit) else checked_integer(value)


cdef int count_windows(axis_t* a, bint ceil) except -1
# The mean of every window over the last of two or three dimensions, for windows that fit and few
# floats in row order; else None.
cdef object mean_1d(cnp.ndarray x, long kernel, long stride, long padding, bint ceil,
                    bint count_padding)


cdef inline void span(const axis_t* a, long i, long* start, long* stop) noexcept nogil:
    # Where window i begins and ends inside the plane.
    cdef long outside
    if a.kernel == 0:
        start[0] = i * a.size // a.count
        stop[0] = ((i + 1) * a.size + a.count - 1) // a.count
        return
    start[0] = i * a.stride - a.padding
    stop[0] = min(start[0] + (a.kernel - 1) * a.dilation + 1, a.size)
    if start[0] < 0:
        outside = (a.dilation - 1 - start[0]) // a.dilation
        start[0] += outside * a.dilation


cdef inline bint is_nan(number value) noexcept nogil:
    if number is float or number is double:
        return value != value
    else:
        return False


cdef inline number least(const number* like) noexcept nogil:
    if number is float or number is double:
        return -INFINITY
    elif number is cnp.uint8_t:
        return 0
    else:
        return <number>(<cnp.int64_t>-1 << (8 * sizeof(number) - 1))
