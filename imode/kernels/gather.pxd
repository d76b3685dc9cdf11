# The largest of a row; see gather.pyx.
from libc.stdint cimport int64_t
from numpy cimport npy_intp

# The places of the k > 0 best of each of `rows` rows of n elements, in order, k per row.
# `kind`: NumPy's type number, of float32, float64 or int64.
cdef void leading_lines(int kind, const char* data, int64_t* to, npy_intp rows, npy_intp n,
                        npy_intp k, bint largest) noexcept nogil

ctypedef fused number:
    float
    double
    int64_t


cdef inline bint before(number a, number b, bint largest) noexcept nogil:
    """Whether a stands before b among the best; NaN counts as the largest."""
    if number is int64_t:
        return a > b if largest else a < b
    else:
        if largest:
            return a > b or (a != a and b == b)
        return a < b or (b != b and a == a)
