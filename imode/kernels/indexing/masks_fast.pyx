"""The fast case of reading and writing by masks (see `index_fast`)."""
cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.allocator cimport Fields, empty
from imode._core.dispatch cimport INPLACE, CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.parallel cimport parallel_for, skipping
from imode._core.stored cimport run_otherwise
from imode._core.tensor cimport Tensor
from imode.kernels.indexing.placing cimport disjoint, may_write, run_write
from imode.kernels.fast_guards cimport (
    MAX_DIMS, _array, _count, _fill_value, _item, _row_major, _same_shape, array_of, repeat_item)
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef enum:
    GRAIN = 32768                 # fewest elements per thread


cdef bint is_mask(Fields* mask, Fields* a) noexcept:
    return (mask.descr.type_num == cnp.NPY_BOOL and _row_major(mask) and mask.nd <= a.nd
            and _same_shape(mask, a, 0, mask.nd))


cdef npy_intp _true(Fields* mask) noexcept:
    """The number of true elements of a mask."""
    cdef npy_intp i, found = 0
    for i in range(_count(mask, 0, mask.nd)):
        found += (<uint8_t*>mask.data)[i] != 0
    return found


ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef void _compact_words(word* to, const word* a, const uint8_t* flags, npy_intp n,
                         npy_intp found) noexcept nogil:
    """The elements whose flag is true, `found` of them. Each is written, and the next one over it
    if its flag is false: a branch would be guessed wrong half of the time."""
    cdef npy_intp i, k = 0
    for i in range(n):
        if k == found:
            return
        to[k] = a[i]
        k += flags[i] != 0


cdef void compact(char* to, const char* a, const uint8_t* flags, npy_intp n, npy_intp found,
                  npy_intp chunk) noexcept nogil:
    cdef npy_intp i
    if chunk == 1:
        _compact_words(<uint8_t*>to, <const uint8_t*>a, flags, n, found)
    elif chunk == 2:
        _compact_words(<uint16_t*>to, <const uint16_t*>a, flags, n, found)
    elif chunk == 4:
        _compact_words(<uint32_t*>to, <const uint32_t*>a, flags, n, found)
    elif chunk == 8:
        _compact_words(<uint64_t*>to, <const uint64_t*>a, flags, n, found)
    else:
        for i in range(n):
            if flags[i] and found:    # no more than were counted, even if the mask has changed
                memcpy(to, a + i * chunk, chunk)
                to += chunk
                found -= 1


cdef object at_mask(Fields* a, Fields* mask, npy_intp item):
    cdef npy_intp chunk = _count(a, mask.nd, a.nd) * item, found = _true(mask)
    cdef npy_intp dims[MAX_DIMS]
    cdef int d
    cdef ndarray out
    dims[0] = found
    for d in range(mask.nd, a.nd):
        dims[1 + d - mask.nd] = a.dimensions[d]
    out = empty(a.descr.type_num, 1 + a.nd - mask.nd, dims)
    compact(<char*>cnp.PyArray_DATA(out), a.data, <uint8_t*>mask.data, _count(mask, 0, mask.nd),
            found, chunk)
    return wrap(out)


cdef void fill_at_mask(char* data, Fields* a, Fields* mask, npy_intp item,
                       const char* value) noexcept:
    cdef npy_intp i, width = _count(a, mask.nd, a.nd)
    for i in range(_count(mask, 0, mask.nd)):
        if (<uint8_t*>mask.data)[i]:
            repeat_item(data + i * width * item, width, item, value)


# ---- masks of the tensor's shape, or broadcast to it ----

cdef struct Selection:
    char* out
    const char* a
    const uint8_t* mask
    const char* value
    npy_intp item
    npy_intp row                  # elements of a row, along which the mask takes `step` each time
    npy_intp step                 # 1 or 0
    int nd                        # dimensions of rows,
    npy_intp[MAX_DIMS] dims
    npy_intp[MAX_DIMS] steps      # and the mask's steps along them


cdef bint _plan_rows(Fields* a, Fields* mask, Selection* s) noexcept:
    """Whether a mask in row order broadcasts to the shape of `a`; and by which rows."""
    cdef npy_intp size, step = 1
    cdef int added = a.nd - mask.nd, d
    if mask.descr.type_num != cnp.NPY_BOOL or not _row_major(mask) or not 0 <= added <= a.nd:
        return False
    s.row, s.step, s.nd = 1, 1, 0
    for d in range(a.nd - 1, -1, -1):
        size = 1 if d < added else mask.dimensions[d - added]
        if size != 1 and size != a.dimensions[d]:
            return False
        if a.dimensions[d] == 1:
            continue
        if s.row == 1 and s.nd == 0:
            s.step = size != 1
        if s.nd == 0 and s.step == (size != 1):
            s.row *= a.dimensions[d]
        else:
            s.dims[s.nd], s.steps[s.nd] = a.dimensions[d], step if size != 1 else 0
            s.nd += 1
        step *= size
    return True


cdef inline void _select_words(word* out, const word* a, const uint8_t* mask, word value,
                               npy_intp n) noexcept nogil:
    cdef npy_intp i
    cdef word chosen
    for i in range(n):            # without a branch
        chosen = -<word>(mask[i] != 0)
        out[i] = (value & chosen) | (a[i] & ~chosen)


cdef void _select(const Selection* s, const uint8_t* mask, npy_intp begin,
                  npy_intp n) noexcept nogil:
    """out = value where mask else a, for n elements from `begin` on; out may be a."""
    cdef npy_intp i, item = s.item
    cdef char* out = s.out + begin * item
    cdef const char* a = s.a + begin * item
    if s.step == 0:
        if mask[0]:
            repeat_item(out, n, item, s.value)
        elif out != a:
            memcpy(out, a, n * item)
    elif item == 1:
        _select_words(<uint8_t*>out, <const uint8_t*>a, mask, (<const uint8_t*>s.value)[0], n)
    elif item == 2:
        _select_words(<uint16_t*>out, <const uint16_t*>a, mask, (<const uint16_t*>s.value)[0], n)
    elif item == 4:
        _select_words(<uint32_t*>out, <const uint32_t*>a, mask, (<const uint32_t*>s.value)[0], n)
    elif item == 8:
        _select_words(<uint64_t*>out, <const uint64_t*>a, mask, (<const uint64_t*>s.value)[0], n)
    else:
        for i in range(n):
            memcpy(out + i * item, s.value if mask[i] else a + i * item, item)


cdef void _select_part(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The elements `begin` to `end`, a row after the other."""
    cdef const Selection* s = <const Selection*>context
    cdef npy_intp n, at, left
    cdef const uint8_t* mask
    cdef int d
    while begin < end:
        left = begin // s.row
        at = begin - left * s.row
        n = min(s.row - at, end - begin)
        mask = s.mask + at * s.step
        for d in range(s.nd):
            mask += left % s.dims[d] * s.steps[d]
            left //= s.dims[d]
        _select(s, mask, begin, n)
        begin += n


cdef object _masked_fill(Operator op, keyset_t keys, PyObject** args):
    # Not by `run_write`: the new tensor is copied and filled in one pass.
    cdef Fields* a = _array(args[0])
    cdef Fields* mask = _array(args[1])
    cdef uint64_t value[2]
    cdef char* source = a.data
    cdef char* to = a.data
    cdef ndarray out = None
    cdef ndarray packed
    cdef Selection how
    if not may_write(op, args) or not (
            _row_major(a) or op.role != INPLACE and not skipping()) or not (
            _plan_rows(a, mask, &how) and (
                _fill_value(a.descr.type_num, args[2], <char*>value))):
        return run_otherwise(op, keys, args)
    if op.role == INPLACE:
        if not disjoint((<Tensor>args[0]).array, args[1]):
            return run_otherwise(op, keys, args)
    else:
        out = empty(a.descr.type_num, a.nd, a.dimensions)
        to = <char*>cnp.PyArray_DATA(out)
        if not _row_major(a):         # as an expanded tensor is
            packed = cnp.PyArray_GETCONTIGUOUS(array_of(args[0]))
            source = <char*>cnp.PyArray_DATA(packed)
    how.out, how.a, how.mask, how.value = to, source, <uint8_t*>mask.data, <char*>value
    how.item = _item(args[0])
    parallel_for(_count(a, 0, a.nd), GRAIN, _select_part, &how)
    return <object>args[0] if out is None else wrap(out)


cdef bint _check_scatter(PyObject** args, PyObject* target, void* plan) except -1:
    """Whether the fast case serves masked_scatter's arguments: mask, source."""
    cdef Fields* a = _array(args[0])
    cdef Fields* mask = _array(args[1])
    cdef Fields* source = _array(args[2])
    return (_row_major(a) and _row_major(source) and source.descr.type_num == a.descr.type_num
            and mask.nd == a.nd and is_mask(mask, a)
            and disjoint(target, args[1]) and disjoint(target, args[2])
            and _true(mask) <= _count(source, 0, source.nd))


cdef int _scatter(char* data, PyObject** args, void* plan) except -1:
    """Write the source's elements, one after the other, where the mask is true."""
    cdef Fields* mask = _array(args[1])
    cdef Fields* source = _array(args[2])
    cdef npy_intp most = _count(source, 0, source.nd), item = _item(args[0]), at = 0, i
    for i in range(_count(mask, 0, mask.nd)):
        if (<uint8_t*>mask.data)[i] and at < most:
            if item == 4:
                (<uint32_t*>data)[i] = (<uint32_t*>source.data)[at]
            else:
                memcpy(data + i * item, source.data + at * item, item)
            at += 1
    return 0


cdef object _masked_scatter(Operator op, keyset_t keys, PyObject** args):
    return run_write(op, keys, args, _check_scatter, _scatter, NULL)


masked_fill = CKernel.new(_masked_fill)
masked_scatter = CKernel.new(_masked_scatter)
