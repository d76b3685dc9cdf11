"""Where values stand in a sorted sequence."""
cimport numpy as cnp
from imode._core.allocator cimport empty
from imode._core.parallel cimport parallel_for
from libc.stdint cimport int64_t
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:
    GRAIN = 4096                  # fewest values per thread
    SIDE_BY_SIDE = 4              # searches, none of which waits for another's memory

ctypedef fused number:
    float
    double
    int64_t


cdef struct Search:
    int kind
    const char* sequence
    npy_intp length
    const char* values
    int64_t* out
    bint right


cdef inline void _find(const number* sequence, npy_intp length, const number* values, int64_t* out,
                       npy_intp n, bint right) noexcept nogil:
    """The number of elements below each value (right: or equal to it).

    The middle is halved as PyTorch halves it, which shows where a sequence is not sorted. A NaN in
    the sequence counts as below every value, a value that is NaN stands behind all elements.
    """
    cdef int64_t end[SIDE_BY_SIDE]
    cdef npy_intp rest = length, k
    cdef int64_t middle, inside, below
    for k in range(n):
        out[k], end[k] = 0, length
    while rest:
        rest >>= 1
        for k in range(n):
            middle = (out[k] + end[k]) >> 1
            inside = -<int64_t>(out[k] < end[k])
            below = -<int64_t>_below(sequence[middle & inside], values[k], right)
            out[k] += (middle + 1 - out[k]) & inside & below
            end[k] += (middle - end[k]) & inside & ~below


cdef inline bint _below(number x, number value, bint right) noexcept nogil:
    return not x > value if right else not x >= value


cdef void _find_all(const number* sequence, npy_intp length, const number* values, int64_t* out,
                    npy_intp n, bint right) noexcept nogil:
    cdef int64_t found[SIDE_BY_SIDE]
    cdef npy_intp i = 0, k, whole = n - n % SIDE_BY_SIDE
    while i < whole:
        _find(sequence, length, values + i, found, SIDE_BY_SIDE, right)
        for k in range(SIDE_BY_SIDE):
            out[i + k] = found[k]
        i += SIDE_BY_SIDE
    _find(sequence, length, values + whole, out + whole, n - whole, right)


cdef void _part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Search* s = <Search*>context
    cdef npy_intp n = end - begin
    if s.kind == cnp.NPY_FLOAT:
        _find_all(<const float*>s.sequence, s.length, <const float*>s.values + begin,
                  s.out + begin, n, s.right)
    elif s.kind == cnp.NPY_DOUBLE:
        _find_all(<const double*>s.sequence, s.length, <const double*>s.values + begin,
                  s.out + begin, n, s.right)
    else:
        _find_all(<const int64_t*>s.sequence, s.length, <const int64_t*>s.values + begin,
                  s.out + begin, n, s.right)


def places(ndarray sequences not None, ndarray values not None, bint right):
    """Where values would have to stand in sequences along the last dimension, in int64.

    Both are contiguous and of one dtype: float32, float64 or int64. There is one sequence (length),
    or one (..., length) for each row of values (..., n).
    """
    cdef ndarray out = empty(cnp.NPY_INT64, values.ndim, values.shape)
    cdef npy_intp rows = 1, n = cnp.PyArray_SIZE(values), row
    cdef npy_intp size = cnp.PyArray_ITEMSIZE(values)
    cdef Search s
    s.kind, s.right = cnp.PyArray_TYPE(values), right
    s.length = sequences.shape[sequences.ndim - 1]
    s.sequence = <const char*>cnp.PyArray_DATA(sequences)
    s.values = <const char*>cnp.PyArray_DATA(values)
    s.out = <int64_t*>cnp.PyArray_DATA(out)
    if n and sequences.ndim > 1:
        n = values.shape[values.ndim - 1]
        rows = cnp.PyArray_SIZE(values) // n
    with nogil:
        for row in range(rows):
            parallel_for(n, GRAIN, _part, &s)
            s.sequence += s.length * size
            s.values += n * size
            s.out += n
    return out
