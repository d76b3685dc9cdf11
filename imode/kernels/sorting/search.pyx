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
    OF_SORTED = 8                 # the same, where the sequence is sorted

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
    bint is_sorted                # known to be: ascending, without a NaN


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


cdef bint _ascends(const number* sequence, npy_intp length) noexcept nogil:
    """Whether no element is NaN or less than the one before it."""
    cdef npy_intp i
    cdef int64_t beyond = 0
    for i in range(length - 1):
        beyond |= not sequence[i] <= sequence[i + 1]
    return not beyond and sequence[0] == sequence[0]


cdef inline void _find_sorted(const number* sequence, npy_intp length, const number* values,
                              int64_t* out, npy_intp n, bint right) noexcept nogil:
    """What `_find_all` gives where a sequence ascends: all searches halve at the same places."""
    cdef const number* found[OF_SORTED]
    cdef const number* after
    cdef number value[OF_SORTED]
    cdef npy_intp i = 0, k, half, rest
    while i + OF_SORTED <= n:
        for k in range(OF_SORTED):
            found[k], value[k] = sequence, values[i + k]
        rest = length
        while rest > 1:
            half = rest >> 1
            rest -= half
            for k in range(OF_SORTED):
                after = found[k] + half
                found[k] = after if _below((after - 1)[0], value[k], right) else found[k]
        for k in range(OF_SORTED):
            out[i + k] = found[k] - sequence + _below(found[k][0], value[k], right)
        i += OF_SORTED
    _find_all(sequence, length, values + i, out + i, n - i, right)


cdef void _part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Search* s = <Search*>context
    if s.kind == cnp.NPY_FLOAT:
        _find_part(s, <const float*>s.sequence, <const float*>s.values + begin, begin, end - begin)
    elif s.kind == cnp.NPY_DOUBLE:
        _find_part(s, <const double*>s.sequence, <const double*>s.values + begin, begin,
                   end - begin)
    else:
        _find_part(s, <const int64_t*>s.sequence, <const int64_t*>s.values + begin, begin,
                   end - begin)


cdef inline void _find_part(const Search* s, const number* sequence, const number* values,
                            npy_intp begin, npy_intp n) noexcept nogil:
    if not s.is_sorted:
        _find_all(sequence, s.length, values, s.out + begin, n, s.right)
    elif s.right:  # the compiler writes one loop for each
        _find_sorted(sequence, s.length, values, s.out + begin, n, True)
    else:
        _find_sorted(sequence, s.length, values, s.out + begin, n, False)


cdef bint _is_sorted(const Search* s) noexcept nogil:
    if s.kind == cnp.NPY_FLOAT:
        return _ascends(<const float*>s.sequence, s.length)
    if s.kind == cnp.NPY_DOUBLE:
        return _ascends(<const double*>s.sequence, s.length)
    return _ascends(<const int64_t*>s.sequence, s.length)


def places(ndarray sequences not None, ndarray values not None, bint right):
    """Where values would have to stand in sequences along the last dimension, in int64.

    Both are contiguous and of one dtype: float32, float64 or int64. There is one sequence (length),
    or one (..., length) for each row of values (..., n).
    """
    cdef ndarray out = empty(cnp.NPY_INT64, values.ndim, values.shape)
    cdef npy_intp rows = 1, n = cnp.PyArray_SIZE(values), _row
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
        for _row in range(rows):
            # The look at all elements costs less than it saves.
            s.is_sorted = n >= OF_SORTED and 0 < s.length <= 2 * n and _is_sorted(&s)
            parallel_for(n, GRAIN, _part, &s)
            s.sequence += s.length * size
            s.values += n * size
            s.out += n
    return out
